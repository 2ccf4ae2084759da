//! Our hooks among those of others.
//!
//! An entry is ours when its command runs cueme, not by its place or its exact words: so an update finds what an
//! older version wrote, and a removal finds what a person moved about.

use jsonc_parser::cst::{CstArray, CstNode, CstObject};
use serde_json::Value;

use super::{
    Nesting,
    document::{input, is_bare_and_empty, lookup, made_array_in, member, value_of},
};
use crate::install::{Problem, command_line};

/// Puts our entry into the array of each event and takes our entries out of all others.
pub(super) fn install(
    hooks: &CstObject,
    nesting: Nesting,
    events: &[(&'static str, Value)],
) -> Result<(), Problem> {
    for (event, wanted) in events {
        let array = made_array_in(hooks, &["hooks"], event)?;
        match nesting {
            Nesting::Flat => put_flat(&array, wanted),
            Nesting::Grouped => put_grouped(&array, wanted),
        }
    }
    for event in event_names(hooks) {
        if !events.iter().any(|(name, _)| *name == event) {
            withdraw_event(hooks, &event, nesting, None)?;
        }
    }
    Ok(())
}

/// Takes all our entries out and tells whether there were any.
pub(super) fn withdraw(hooks: &CstObject, nesting: Nesting, before: Option<&Value>) -> Result<bool, Problem> {
    let mut removed = false;
    for event in event_names(hooks) {
        removed |= withdraw_event(hooks, &event, nesting, before)?;
    }
    Ok(removed)
}

/// Puts our entries into a list of hooks, each in the place of the one with its name.
pub(super) fn install_list(list: &CstArray, wanted: &[Value]) {
    let is_wanted = |there: &Value| wanted.iter().any(|entry| entry.get("name") == there.get("name"));
    for element in list.elements() {
        let there = value_of(&element);
        if is_ours(&there) && !is_wanted(&there) {
            element.remove();
        }
    }
    for entry in wanted {
        let same = list.elements().into_iter().find(|element| {
            is_ours(&value_of(element)) && value_of(element).get("name") == entry.get("name")
        });
        match same {
            Some(element) => replace(&element, entry),
            None => {
                list.append(input(entry));
            }
        }
    }
}

/// Takes all our entries out of a list of hooks and tells whether there were any.
pub(super) fn withdraw_list(list: &CstArray) -> bool {
    let ours: Vec<CstNode> = list
        .elements()
        .into_iter()
        .filter(|element| is_ours(&value_of(element)))
        .collect();
    let found = !ours.is_empty();
    ours.into_iter().for_each(CstNode::remove);
    found
}

/// Tells whether any hook below this value is ours.
pub(super) fn any_of_ours(value: Option<&Value>) -> bool {
    match value {
        Some(Value::Array(values)) => values
            .iter()
            .any(|value| is_ours(value) || any_of_ours(Some(value))),
        Some(Value::Object(members)) => members.values().any(|value| any_of_ours(Some(value))),
        _ => false,
    }
}

/// Tells whether one hook runs cueme.
fn is_ours(hook: &Value) -> bool {
    let commands = [
        hook.get("command"),
        hook.get("bash"),
        hook.get("powershell"),
        lookup(hook, &["action", "command"]),
    ];
    commands
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .any(command_line::is_ours)
}

fn put_flat(array: &CstArray, wanted: &Value) {
    let mut ours = array
        .elements()
        .into_iter()
        .filter(|element| is_ours(&value_of(element)));
    match ours.next() {
        Some(element) => {
            ours.for_each(CstNode::remove);
            replace(&element, wanted);
        }
        None => {
            array.append(input(wanted));
        }
    }
}

fn put_grouped(array: &CstArray, wanted: &Value) {
    let mut groups = array.elements().into_iter().filter(holds_ours);
    let Some(group) = groups.next() else {
        array.append(input(wanted));
        return;
    };
    groups.for_each(|extra| {
        withdraw_from_group(extra);
    });
    let inner = inner_hooks(&group);
    if inner.iter().all(|hook| is_ours(&value_of(hook))) {
        replace(&group, wanted);
    } else if let Some(entry) = wanted.get("hooks").and_then(|hooks| hooks.get(0)) {
        // Someone put a hook of their own beside ours: only ours is brought up to date.
        if let Some(hook) = inner.into_iter().find(|hook| is_ours(&value_of(hook))) {
            replace(&hook, entry);
        }
    }
}

fn withdraw_event(
    hooks: &CstObject,
    event: &str,
    nesting: Nesting,
    before: Option<&Value>,
) -> Result<bool, Problem> {
    let Some(node) = member(hooks, &["hooks"], event)? else {
        return Ok(false);
    };
    // A member that is no array cannot hold a hook, so none of ours either.
    let Some(array) = node.as_array() else {
        return Ok(false);
    };
    let removed = match nesting {
        Nesting::Flat => withdraw_list(&array),
        Nesting::Grouped => {
            let groups: Vec<CstNode> = array.elements().into_iter().filter(holds_ours).collect();
            let found = !groups.is_empty();
            groups.into_iter().for_each(withdraw_from_group);
            found
        }
    };
    let was_there = before.is_some_and(|before| lookup(before, &["hooks", event]).is_some());
    if removed
        && !was_there
        && is_bare_and_empty(&node)
        && let Some(property) = hooks.get(event)
    {
        property.remove();
    }
    Ok(removed)
}

fn withdraw_from_group(group: CstNode) {
    let inner = inner_hooks(&group);
    if inner.iter().all(|hook| is_ours(&value_of(hook))) {
        group.remove();
    } else {
        inner
            .into_iter()
            .filter(|hook| is_ours(&value_of(hook)))
            .for_each(CstNode::remove);
    }
}

fn holds_ours(group: &CstNode) -> bool {
    inner_hooks(group).iter().any(|hook| is_ours(&value_of(hook)))
}

fn inner_hooks(group: &CstNode) -> Vec<CstNode> {
    group
        .as_object()
        .and_then(|object| object.array_value("hooks"))
        .map(|array| array.elements())
        .unwrap_or_default()
}

fn event_names(hooks: &CstObject) -> Vec<String> {
    hooks
        .properties()
        .iter()
        .filter_map(|property| property.decoded_name())
        .collect()
}

/// Makes an entry of ours what it should be, value by value, so that its layout stays.
fn replace(node: &CstNode, wanted: &Value) {
    if value_of(node) == *wanted {
        return;
    }
    match (node.as_object(), node.as_array(), wanted) {
        (Some(object), _, Value::Object(members)) => {
            for property in object.properties() {
                let is_wanted = property
                    .decoded_name()
                    .is_some_and(|name| members.contains_key(&name));
                if !is_wanted {
                    property.remove();
                }
            }
            for (name, value) in members {
                set_member(&object, name, value);
            }
        }
        (_, Some(array), Value::Array(values)) => {
            let elements = array.elements();
            elements
                .iter()
                .zip(values)
                .for_each(|(element, value)| replace(element, value));
        }
        _ => {}
    }
}

fn set_member(object: &CstObject, name: &str, value: &Value) {
    let Some(property) = object.get(name) else {
        object.append(name, input(value));
        return;
    };
    match property.value() {
        Some(node) if has_shape(&node, value) => replace(&node, value),
        _ => property.set_value(input(value)),
    }
}

/// Tells whether a value can be brought up to date piece by piece.
fn has_shape(node: &CstNode, value: &Value) -> bool {
    match value {
        Value::Object(_) => node.as_object().is_some(),
        Value::Array(values) => node.as_array().is_some_and(|array| {
            let elements = array.elements();
            elements.len() == values.len()
                && elements
                    .iter()
                    .zip(values)
                    .all(|(element, value)| value.is_object() && element.as_object().is_some())
        }),
        _ => false,
    }
}
