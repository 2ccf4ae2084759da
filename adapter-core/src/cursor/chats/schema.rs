//! Turns protobuf messages into JSON with the help of a partial description.
//!
//! A description names the fields we know. Fields it does not name are kept under `#<number>` with the best
//! guess of their shape, so that a chat written by a newer Cursor loses nothing but a name.

use serde_json::{Map, Number, Value};

use super::wire::{Fields, Wire, WireError, is_well_formed};

/// The depth limit of nested messages; deeper ones stay opaque bytes.
pub(super) const DEPTH_MAX: usize = 32;
/// The longest opaque value written out in full; a longer one is replaced by its size.
const OPAQUE_BYTES_MAX: usize = 64;

/// The fields of a message that have a name.
pub(super) type Spec = &'static [FieldSpec];

/// One named field.
#[derive(Debug)]
pub(super) struct FieldSpec {
    pub(super) number: u32,
    pub(super) name: &'static str,
    shape: Shape,
    repeated: bool,
}

/// The type of a field.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    Text,
    Int,
    Bool,
    Bytes,
    /// An enumeration; the names stand at their numbers.
    Enum(&'static [&'static str]),
    Message(Spec),
    /// A `google.protobuf.Value`.
    Json,
    /// A map from text to this shape.
    MapTo(&'static Shape),
    /// A value of any shape.
    Any,
    /// Read elsewhere, and left out here.
    Skip,
}

pub(super) const fn one(number: u32, name: &'static str, shape: Shape) -> FieldSpec {
    FieldSpec {
        number,
        name,
        shape,
        repeated: false,
    }
}

pub(super) const fn many(number: u32, name: &'static str, shape: Shape) -> FieldSpec {
    FieldSpec {
        number,
        name,
        shape,
        repeated: true,
    }
}

/// Decodes a message into a JSON object.
pub(super) fn decode_message(
    message: &[u8],
    spec: Spec,
    depth: usize,
) -> Result<Map<String, Value>, WireError> {
    let mut object = Map::new();
    for field in Fields::new(message) {
        let field = field?;
        match spec.iter().find(|known| known.number == field.number) {
            Some(known) => insert_known(&mut object, known, field.value, depth),
            None => insert_unknown(&mut object, field.number, field.value, depth),
        }
    }
    Ok(object)
}

fn insert_known(object: &mut Map<String, Value>, known: &FieldSpec, value: Wire<'_>, depth: usize) {
    if matches!(known.shape, Shape::Skip) {
        return;
    }
    if let Shape::MapTo(shape) = known.shape {
        let entries = object
            .entry(known.name)
            .or_insert_with(|| Value::Object(Map::new()));
        if let (Value::Object(entries), Some((key, value))) = (entries, decode_entry(value, *shape, depth)) {
            entries.insert(key, value);
        }
        return;
    }
    let decoded = decode_shape(value, known.shape, depth);
    if known.repeated {
        let list = object
            .entry(known.name)
            .or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(list) = list {
            list.push(decoded);
        }
    } else {
        object.insert(known.name.to_owned(), decoded);
    }
}

fn insert_unknown(object: &mut Map<String, Value>, number: u32, value: Wire<'_>, depth: usize) {
    let guess = guess(value, depth);
    match object.entry(format!("#{number}")) {
        serde_json::map::Entry::Vacant(entry) => {
            entry.insert(guess);
        }
        serde_json::map::Entry::Occupied(mut entry) => match entry.get_mut() {
            Value::Array(list) => list.push(guess),
            first => {
                let both = vec![first.take(), guess];
                *first = Value::Array(both);
            }
        },
    }
}

fn decode_shape(value: Wire<'_>, shape: Shape, depth: usize) -> Value {
    match (shape, value) {
        (Shape::Text, Wire::Bytes(bytes)) => Value::String(text(bytes)),
        // Cursor's integers are signed; a negative one is sign-extended to 64 bits on the wire.
        (Shape::Int, Wire::Varint(number)) => Value::from(number as i64),
        (Shape::Bool, Wire::Varint(number)) => Value::Bool(number != 0),
        (Shape::Bytes, Wire::Bytes(bytes)) => opaque(bytes),
        (Shape::Enum(names), Wire::Varint(number)) => enum_name(names, number),
        (Shape::Message(spec), Wire::Bytes(bytes)) if depth < DEPTH_MAX => {
            decode_message(bytes, spec, depth + 1).map_or_else(|_| opaque(bytes), Value::Object)
        }
        (Shape::Json, Wire::Bytes(bytes)) if depth < DEPTH_MAX => {
            decode_json(bytes, depth + 1).unwrap_or_else(|| guess(value, depth))
        }
        _ => guess(value, depth),
    }
}

fn decode_entry(value: Wire<'_>, shape: Shape, depth: usize) -> Option<(String, Value)> {
    let mut key = String::new();
    let mut decoded = Value::Null;
    for field in Fields::new(value.bytes()?) {
        let field = field.ok()?;
        match field.number {
            1 => key = text(field.value.bytes()?),
            2 => decoded = decode_shape(field.value, shape, depth + 1),
            _ => {}
        }
    }
    Some((key, decoded))
}

/// Decodes a `google.protobuf.Value`; none if the bytes are not one.
fn decode_json(bytes: &[u8], depth: usize) -> Option<Value> {
    if depth > DEPTH_MAX {
        return Some(opaque(bytes));
    }
    let mut value = Value::Null;
    for field in Fields::new(bytes) {
        let field = field.ok()?;
        value = match (field.number, field.value) {
            (1, Wire::Varint(_)) => Value::Null,
            (2, Wire::Fixed64(bits)) => json_number(f64::from_bits(bits)),
            (3, Wire::Bytes(bytes)) => Value::String(String::from_utf8(bytes.to_vec()).ok()?),
            (4, Wire::Varint(flag)) => Value::Bool(flag != 0),
            (5, Wire::Bytes(bytes)) => {
                let mut object = Map::new();
                for entry in Fields::new(bytes) {
                    let (key, value) = decode_entry(entry.ok()?.value, Shape::Json, depth)?;
                    object.insert(key, value);
                }
                Value::Object(object)
            }
            (6, Wire::Bytes(bytes)) => {
                let items = Fields::new(bytes).map(|item| decode_json(item.ok()?.value.bytes()?, depth + 1));
                Value::Array(items.collect::<Option<_>>()?)
            }
            _ => return None,
        };
    }
    Some(value)
}

/// Writes whole numbers as integers, since protobuf's JSON knows only doubles.
fn json_number(number: f64) -> Value {
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= EXACT_MAX {
        return Value::from(number as i64);
    }
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}

fn enum_name(names: &[&str], number: u64) -> Value {
    match usize::try_from(number).ok().and_then(|index| names.get(index)) {
        Some(name) => Value::from(*name),
        None => Value::from(number),
    }
}

/// Shows a value of unknown shape as text if it reads as text, else as a message, else as bytes.
fn guess(value: Wire<'_>, depth: usize) -> Value {
    match value {
        Wire::Varint(number) | Wire::Fixed64(number) => Value::from(number),
        Wire::Fixed32(number) => Value::from(number),
        Wire::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) if reads_as_text(text) => Value::from(text),
            _ if depth < DEPTH_MAX && !bytes.is_empty() && is_well_formed(bytes) => {
                decode_message(bytes, &[], depth + 1).map_or_else(|_| opaque(bytes), Value::Object)
            }
            _ => opaque(bytes),
        },
    }
}

fn reads_as_text(text: &str) -> bool {
    text.chars()
        .all(|c| !c.is_control() || matches!(c, '\n' | '\r' | '\t'))
}

fn opaque(bytes: &[u8]) -> Value {
    if bytes.len() > OPAQUE_BYTES_MAX {
        return Value::String(format!("({} bytes)", bytes.len()));
    }
    Value::String(hex(bytes))
}

/// Returns text, replacing what is not UTF-8: a tool's output may be cut in the middle of a character.
pub(super) fn text(bytes: &[u8]) -> String {
    match simdutf8::basic::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// Returns lowercase hexadecimal, the form the store's ids have.
pub(super) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        out.push(char::from(DIGITS[usize::from(byte >> 4)]));
        out.push(char::from(DIGITS[usize::from(byte & 0xf)]));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    static INNER: [FieldSpec; 1] = [one(1, "label", Shape::Text)];
    static OUTER: [FieldSpec; 4] = [
        one(1, "path", Shape::Text),
        many(2, "items", Shape::Message(&INNER)),
        one(3, "mode", Shape::Enum(&["OFF", "ON"])),
        one(4, "args", Shape::MapTo(&Shape::Json)),
    ];

    fn decode(message: &[u8]) -> Value {
        Value::Object(decode_message(message, &OUTER, 0).unwrap())
    }

    #[test]
    fn named_fields_get_their_names_and_lists_stay_lists() {
        let message = [0x0a, 1, b'p', 0x12, 3, 0x0a, 1, b'x', 0x18, 1];
        assert_eq!(
            decode(&message),
            json!({"path": "p", "items": [{"label": "x"}], "mode": "ON"})
        );
    }

    #[test]
    fn fields_without_a_name_are_kept_with_their_number() {
        let message = [0x4a, 2, b'h', b'i', 0x50, 7, 0x50, 8];
        assert_eq!(decode(&message), json!({"#9": "hi", "#10": [7, 8]}));
    }

    #[test]
    fn json_values_inside_maps_are_decoded() {
        // args["n"] = 2.0, args["b"] = [true]
        let number = [0x22, 14, 0x0a, 1, b'n', 0x12, 9, 0x11, 0, 0, 0, 0, 0, 0, 0, 0x40];
        let list = [0x22, 11, 0x0a, 1, b'b', 0x12, 6, 0x32, 4, 0x0a, 2, 0x20, 1];
        let message = [&number[..], &list[..]].concat();
        assert_eq!(decode(&message), json!({"args": {"n": 2, "b": [true]}}));
    }

    #[test]
    fn nesting_beyond_the_limit_is_opaque_and_does_not_overflow_the_stack() {
        let mut message = vec![0x7a, 1, 0x01];
        for _ in 0..2_000 {
            let mut outer = vec![0x7a];
            let mut length = message.len();
            while length >= 0x80 {
                outer.push((length & 0x7f) as u8 | 0x80);
                length >>= 7;
            }
            outer.push(length as u8);
            outer.extend(&message);
            message = outer;
        }
        let mut depth = 0;
        let mut value = &decode(&message);
        while let Some(inner) = value.get("#15") {
            value = inner;
            depth += 1;
        }
        assert!(depth <= DEPTH_MAX + 1, "{depth}");
    }
}
