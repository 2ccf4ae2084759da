//! A JSON file as a syntax tree, and the edits on it.

use jsonc_parser::{
    ParseOptions,
    cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode},
};
use serde_json::Value;

use super::{MemberKind, Part, hooks};
use crate::install::Problem;

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Comments and trailing commas are common in settings files; whatever is looser is a mistake that the runtime itself
/// would stumble over.
const DIALECT: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// The result of an installation in one file.
#[derive(Debug)]
pub(in crate::install) struct Installed {
    /// The file's new text.
    pub text: String,
    /// Settings that the user had set to something else, as `name = value`.
    pub kept: Vec<String>,
}

/// Returns the text with our parts in it.
///
/// `before` is the file as it was before we first touched it, if that is known: what it had is not retired.
pub(in crate::install) fn install(
    text: Option<&str>,
    parts: &[Part],
    before: Option<&str>,
) -> Result<Installed, Problem> {
    let document = Document::parse(text.unwrap_or_default())?;
    let before_value = value_before(before);
    let mut kept = Vec::new();
    for part in parts {
        document.install(part, before_value.as_ref(), &mut kept)?;
    }
    Ok(Installed {
        text: document.text(),
        kept,
    })
}

/// Returns the text without our parts; `None` when nothing but our own scaffolding would be left.
///
/// `before` is the file as it was before we first touched it, if that is known: what it had stays.
pub(in crate::install) fn withdraw(
    text: &str,
    parts: &[Part],
    before: Option<&str>,
) -> Result<Option<String>, Problem> {
    let document = Document::parse(text)?;
    let before_value = value_before(before);
    let mut changed = false;
    for part in parts {
        changed |= document.withdraw(part, before_value.as_ref())?;
    }
    if changed && before.is_none() && document.is_only_scaffold(parts) {
        return Ok(None);
    }
    Ok(Some(if changed { document.text() } else { text.to_owned() }))
}

fn value_before(before: Option<&str>) -> Option<Value> {
    before.and_then(|text| Document::parse(text).ok()?.root.to_serde_value())
}

/// Tells whether something that only we write is in the text.
///
/// Settings and permissions do not count: people write those by hand.
pub(in crate::install) fn is_present(text: &str, parts: &[Part]) -> Result<bool, Problem> {
    let value = Document::parse(text)?
        .root
        .to_serde_value()
        .unwrap_or(Value::Null);
    Ok(parts.iter().any(|part| match part {
        Part::Member {
            kind: MemberKind::Ours,
            path,
            key,
            ..
        } => lookup(&value, path).and_then(|object| object.get(key)).is_some(),
        Part::Hooks { .. } | Part::HookList { .. } => hooks::any_of_ours(value.get("hooks")),
        Part::Member { .. }
        | Part::Item { .. }
        | Part::RetiredItem { .. }
        | Part::Scaffold { .. }
        | Part::AddedByHost { .. } => false,
    }))
}

/// Finds the value at a path of object members.
pub(super) fn lookup<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, key| value.get(key))
}

/// Turns a value into what the syntax tree takes.
pub(super) fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(value) => CstInputValue::Number(value.to_string()),
        Value::String(value) => CstInputValue::String(value.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(members) => CstInputValue::Object(
            members
                .iter()
                .map(|(key, value)| (key.clone(), input(value)))
                .collect(),
        ),
    }
}

/// The value at a path.
enum Existing {
    Object(CstObject),
    /// Something else, as `name = value`.
    Other(String),
    Nothing,
}

struct Document {
    root: CstRootNode,
    marked: bool,
}

impl Document {
    fn parse(text: &str) -> Result<Document, Problem> {
        let (marked, text) = match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let text = if text.trim().is_empty() { "{}\n" } else { text };
        let root = CstRootNode::parse(text, &DIALECT).map_err(|error| Problem::Syntax {
            line: error.line_display(),
            column: error.column_display(),
            message: error.kind().to_string(),
        })?;
        if root.object_value().is_none() {
            return Err(Problem::WrongType {
                member: "the file".to_owned(),
                expected: "a JSON object",
            });
        }
        Ok(Document { root, marked })
    }

    fn text(&self) -> String {
        let mark = if self.marked { BYTE_ORDER_MARK } else { "" };
        format!("{mark}{}", self.root)
    }

    fn object(&self) -> Result<CstObject, Problem> {
        self.root.object_value().ok_or(Problem::WrongType {
            member: "the file".to_owned(),
            expected: "a JSON object",
        })
    }

    fn install(&self, part: &Part, before: Option<&Value>, kept: &mut Vec<String>) -> Result<(), Problem> {
        match part {
            Part::Member {
                kind: MemberKind::Retired,
                ..
            }
            | Part::RetiredItem { .. } => self.withdraw(part, before).map(drop),
            Part::Member {
                kind: MemberKind::OfExisting,
                path,
                key,
                value,
            } => match self.existing(path)? {
                Existing::Object(object) => set(&object, path, key, value),
                Existing::Nothing => Ok(()),
                // One word for all of it: the rest of the file can still be ours.
                Existing::Other(said) => {
                    if !kept.contains(&said) {
                        kept.push(said);
                    }
                    Ok(())
                }
            },
            Part::Member {
                kind,
                path,
                key,
                value,
            } => {
                let object = self.made_object(path)?;
                match (kind, member(&object, path, key)?) {
                    (MemberKind::Setting, Some(there)) if value_of(&there) != *value => {
                        kept.push(format!("{} = {}", dotted(path, key), value_of(&there)));
                    }
                    (MemberKind::Setting | MemberKind::Filler, Some(_)) => {}
                    _ => set(&object, path, key, value)?,
                }
                Ok(())
            }
            Part::Item { path, text } => {
                let array = self.made_array(path)?;
                if !array.elements().iter().any(|element| value_of(element) == *text) {
                    array.append(CstInputValue::String(text.clone()));
                }
                Ok(())
            }
            Part::Hooks { nesting, events } => {
                let object = self.made_object(&["hooks"])?;
                hooks::install(&object, *nesting, events)
            }
            Part::HookList { entries } => {
                hooks::install_list(&self.made_array(&["hooks"])?, entries);
                Ok(())
            }
            Part::AddedByHost { .. } => Ok(()),
            Part::Scaffold { key, value } => {
                let object = self.object()?;
                if member(&object, &[], key)?.is_none() {
                    object.insert(0, key, input(value));
                }
                Ok(())
            }
        }
    }

    /// Takes a part out and tells whether anything was there.
    fn withdraw(&self, part: &Part, before: Option<&Value>) -> Result<bool, Problem> {
        let removed = match part {
            Part::Member {
                kind: MemberKind::Ours,
                path,
                key,
                ..
            } => self.remove_member(path, key, |_| true)?,
            Part::Member {
                kind: MemberKind::OfExisting | MemberKind::Retired,
                path,
                ..
            } if !matches!(self.existing(path)?, Existing::Object(_)) => false,
            Part::Member { path, key, value, .. } => {
                let was_there = before.and_then(|before| lookup(before, path)?.get(key)).is_some();
                !was_there && self.remove_member(path, key, |there| there == value)?
            }
            Part::Item { path, text } => self.withdraw_item(path, text, before)?,
            Part::RetiredItem { path, text } => self.withdraw_item(path, text, before)?,
            Part::Hooks { nesting, .. } => match self.existing_object(&["hooks"])? {
                Some(object) => hooks::withdraw(&object, *nesting, before)?,
                None => false,
            },
            Part::HookList { .. } => match self.existing_array(&["hooks"])? {
                Some(array) => hooks::withdraw_list(&array),
                None => false,
            },
            Part::Scaffold { .. } | Part::AddedByHost { .. } => return Ok(false),
        };
        if removed {
            self.prune(part.container(), before)?;
        }
        Ok(removed)
    }

    fn withdraw_item(&self, path: &[&str], text: &str, before: Option<&Value>) -> Result<bool, Problem> {
        let had = before.and_then(|before| lookup(before, path)?.as_array());
        let was_there = had.is_some_and(|items| items.iter().any(|item| item == text));
        Ok(!was_there && self.remove_item(path, text)?)
    }

    fn remove_member(
        &self,
        path: &[&str],
        key: &str,
        is_ours: impl Fn(&Value) -> bool,
    ) -> Result<bool, Problem> {
        let Some(object) = self.existing_object(path)? else {
            return Ok(false);
        };
        match object.get(key) {
            Some(property) if property.value().is_some_and(|there| is_ours(&value_of(&there))) => {
                property.remove();
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn remove_item(&self, path: &[&str], text: &str) -> Result<bool, Problem> {
        let Some(array) = self.existing_array(path)? else {
            return Ok(false);
        };
        let ours: Vec<CstNode> = array
            .elements()
            .into_iter()
            .filter(|element| value_of(element) == *text)
            .collect();
        let found = !ours.is_empty();
        ours.into_iter().for_each(CstNode::remove);
        Ok(found)
    }

    /// Removes containers on a path that are empty now and were not there before us, innermost first.
    fn prune(&self, path: &[&str], before: Option<&Value>) -> Result<(), Problem> {
        for depth in (1..=path.len()).rev() {
            let here = &path[..depth];
            if before.is_some_and(|before| lookup(before, here).is_some()) {
                return Ok(());
            }
            let (key, parents) = (here[depth - 1], &here[..depth - 1]);
            let Some(property) = self.existing_object(parents)?.and_then(|object| object.get(key)) else {
                return Ok(());
            };
            if !property.value().is_some_and(|value| is_bare_and_empty(&value)) {
                return Ok(());
            }
            property.remove();
        }
        Ok(())
    }

    fn is_only_scaffold(&self, parts: &[Part]) -> bool {
        let Some(object) = self.root.object_value() else {
            return false;
        };
        let commented = object
            .children()
            .iter()
            .chain(&self.root.children())
            .any(CstNode::is_comment);
        let is_scaffold = |name: &str, there: &Value| {
            parts
                .iter()
                .any(|part| matches!(part, Part::Scaffold { key, value } | Part::AddedByHost { key, value } if *key == name && value == there))
        };
        !commented
            && object
                .properties()
                .iter()
                .all(|property| match (property.decoded_name(), property.value()) {
                    (Some(name), Some(there)) => is_scaffold(&name, &value_of(&there)),
                    _ => false,
                })
    }

    /// Finds what is at a path, where the user may have written something else than an object.
    fn existing(&self, path: &[&str]) -> Result<Existing, Problem> {
        let mut object = self.object()?;
        for (depth, key) in path.iter().enumerate() {
            let Some(node) = member(&object, &path[..depth], key)? else {
                return Ok(Existing::Nothing);
            };
            match node.as_object() {
                Some(inner) => object = inner,
                None => {
                    let said = format!("{} = {}", path[..=depth].join("."), value_of(&node));
                    return Ok(Existing::Other(said));
                }
            }
        }
        Ok(Existing::Object(object))
    }

    fn existing_object(&self, path: &[&str]) -> Result<Option<CstObject>, Problem> {
        let mut object = self.object()?;
        for (depth, key) in path.iter().enumerate() {
            match member(&object, &path[..depth], key)? {
                Some(node) => object = as_object(&node, &path[..=depth])?,
                None => return Ok(None),
            }
        }
        Ok(Some(object))
    }

    fn existing_array(&self, path: &[&str]) -> Result<Option<CstArray>, Problem> {
        let Some((key, parents)) = path.split_last() else {
            return Ok(None);
        };
        match self.existing_object(parents)? {
            Some(object) => member(&object, parents, key)?
                .map(|node| as_array(&node, path))
                .transpose(),
            None => Ok(None),
        }
    }

    fn made_object(&self, path: &[&str]) -> Result<CstObject, Problem> {
        let mut object = self.object()?;
        for (depth, key) in path.iter().enumerate() {
            if member(&object, &path[..depth], key)?.is_none() {
                object.append(key, CstInputValue::Object(Vec::new()));
            }
            object = match member(&object, &path[..depth], key)? {
                Some(node) => as_object(&node, &path[..=depth])?,
                None => return Err(wrong_type(&path[..=depth], "an object")),
            };
        }
        Ok(object)
    }

    fn made_array(&self, path: &[&str]) -> Result<CstArray, Problem> {
        let Some((key, parents)) = path.split_last() else {
            return Err(wrong_type(path, "an array"));
        };
        let object = self.made_object(parents)?;
        made_array_in(&object, parents, key)
    }
}

impl Part {
    /// The containers around the part that we may have made.
    fn container(&self) -> &[&'static str] {
        match self {
            Part::Member { path, .. } | Part::Item { path, .. } | Part::RetiredItem { path, .. } => path,
            Part::Hooks { .. } | Part::HookList { .. } => &["hooks"],
            Part::Scaffold { .. } | Part::AddedByHost { .. } => &[],
        }
    }
}

/// Finds a member's value, refusing a name that occurs twice.
pub(super) fn member(object: &CstObject, path: &[&str], key: &str) -> Result<Option<CstNode>, Problem> {
    let mut found = object
        .properties()
        .into_iter()
        .filter(|property| property.decoded_name().as_deref() == Some(key));
    let first = found.next().and_then(|property| property.value());
    match found.next() {
        Some(_) => Err(Problem::Duplicate {
            member: dotted(path, key),
        }),
        None => Ok(first),
    }
}

/// Finds the array that a member holds, making it if there is none.
pub(super) fn made_array_in(object: &CstObject, path: &[&str], key: &str) -> Result<CstArray, Problem> {
    if member(object, path, key)?.is_none() {
        object.append(key, CstInputValue::Array(Vec::new()));
    }
    let full: Vec<&str> = path.iter().copied().chain([key]).collect();
    match member(object, path, key)? {
        Some(node) => as_array(&node, &full),
        None => Err(wrong_type(&full, "an array")),
    }
}

/// Reads a node as a plain value.
pub(super) fn value_of(node: &CstNode) -> Value {
    node.to_serde_value().unwrap_or(Value::Null)
}

/// Tells whether a node is an empty object or array without so much as a comment in it.
pub(super) fn is_bare_and_empty(node: &CstNode) -> bool {
    (node.as_object().is_some() || node.as_array().is_some())
        && node
            .children()
            .iter()
            .all(|child| child.is_token() || child.is_whitespace() || child.is_newline())
}

fn set(object: &CstObject, path: &[&str], key: &str, value: &Value) -> Result<(), Problem> {
    match member(object, path, key)? {
        Some(there) if value_of(&there) == *value => {}
        Some(_) => {
            if let Some(property) = object.get(key) {
                property.set_value(input(value));
            }
        }
        None => {
            object.append(key, input(value));
        }
    }
    Ok(())
}

fn as_object(node: &CstNode, path: &[&str]) -> Result<CstObject, Problem> {
    node.as_object().ok_or_else(|| wrong_type(path, "an object"))
}

fn as_array(node: &CstNode, path: &[&str]) -> Result<CstArray, Problem> {
    node.as_array().ok_or_else(|| wrong_type(path, "an array"))
}

fn wrong_type(path: &[&str], expected: &'static str) -> Problem {
    Problem::WrongType {
        member: path.join("."),
        expected,
    }
}

fn dotted(path: &[&str], key: &str) -> String {
    path.iter().copied().chain([key]).collect::<Vec<_>>().join(".")
}
