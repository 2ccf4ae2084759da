//! The types that describe our members in a JSON file.

use serde_json::Value;

/// One thing that is ours in a JSON file.
#[derive(Debug, Clone)]
pub(in crate::install) enum Part {
    /// A member of an object.
    Member {
        /// When it is written and taken out.
        kind: MemberKind,
        /// The object it is in, from the root.
        path: Vec<&'static str>,
        /// Its name.
        key: &'static str,
        /// Its value.
        value: Value,
    },
    /// A text in an array.
    Item {
        /// The array, from the root.
        path: Vec<&'static str>,
        /// The text.
        text: String,
    },
    /// A text in an array that an older version wrote: taken out, unless the user had it before us.
    RetiredItem {
        /// The array, from the root.
        path: Vec<&'static str>,
        /// The text.
        text: &'static str,
    },
    /// Our entries in the object `hooks`: an array per event. Entries of ours under other events are retired.
    Hooks {
        /// The position of an entry in its array.
        nesting: Nesting,
        /// Our entry for each event, as an element of that array.
        events: Vec<(&'static str, Value)>,
    },
    /// Our entries in the array `hooks`, each known by its `name`.
    HookList {
        /// The entries.
        entries: Vec<Value>,
    },
    /// A member that the format requires in every file, with our entries or without.
    Scaffold {
        /// The member's name, at the root.
        key: &'static str,
        /// Its value.
        value: Value,
    },
    /// A member that the runtime adds to any file: we never write it, but a file of ours that holds nothing else is
    /// deleted.
    AddedByHost {
        /// The member's name, at the root.
        key: &'static str,
        /// Its value.
        value: Value,
    },
}

/// When a member is written and taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::install) enum MemberKind {
    /// It is ours by its name.
    Ours,
    /// A setting of the runtime: a value that the user already set stays.
    Setting,
    /// The format wants it, but its value is the user's affair: ours is only for when the user has none.
    Filler,
    /// It is added only to an object that is already there.
    OfExisting,
    /// An older version wrote it: taken out while it has our value, unless the user had it before us.
    Retired,
}

/// The position of a hook in the array of its event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::install) enum Nesting {
    /// The hook is an element.
    Flat,
    /// An element is a group whose `hooks` are hooks.
    Grouped,
}
