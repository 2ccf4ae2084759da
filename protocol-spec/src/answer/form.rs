//! Checks the fields of an answer against the fields of a form.

use super::check::{CheckedReply, Picked, check_picked};
use super::render::{Block, Line};
use super::suggest::closest;
use super::value::check_value;
use super::{AnswerError, FieldAnswer, Reply};
use crate::payload::{Field, Form};
use crate::text::{is_blank, shorten};

/// Checks every given field, and that every required field is given.
///
/// A field that was left empty is as good as not given. The result is in the order of the form.
pub(super) fn check_form(answers: Vec<FieldAnswer>, form: &Form) -> Result<CheckedReply, AnswerError> {
    let mut given = by_field(answers, form)?;
    let (mut fields, mut lines) = (Vec::new(), Vec::new());
    for (field, answer) in form.fields.iter().zip(&mut given) {
        let picked = match answer.take() {
            Some(answer) => check_field(answer, field)?,
            None => Picked {
                selected: Vec::new(),
                other: None,
            },
        };
        if !picked.is_empty() {
            lines.push(line(field, &picked));
            fields.push(FieldAnswer {
                label: field.label.clone(),
                values: picked.selected,
                other: picked.other,
            });
        } else if field.required {
            return Err(AnswerError::MissingField {
                label: field.label.clone(),
            });
        }
    }
    if fields.is_empty() {
        return Ok((None, Block::Nothing));
    }
    Ok((Some(Reply::Form { fields }), Block::Fields(lines)))
}

/// Checks one field by itself, for a dialogue that asks field by field.
pub fn check_one_field(answer: FieldAnswer, field: &Field) -> Result<(), AnswerError> {
    if check_field(answer, field)?.is_empty() && field.required {
        return Err(AnswerError::MissingField {
            label: field.label.clone(),
        });
    }
    Ok(())
}

/// Puts each answer beside its field.
fn by_field(answers: Vec<FieldAnswer>, form: &Form) -> Result<Vec<Option<FieldAnswer>>, AnswerError> {
    let mut given: Vec<Option<FieldAnswer>> = vec![None; form.fields.len()];
    for answer in answers {
        let Some(index) = form.fields.iter().position(|field| field.label == answer.label) else {
            return Err(unknown_field(&answer.label, form));
        };
        if given[index].is_some() {
            return Err(AnswerError::RepeatedField { label: answer.label });
        }
        given[index] = Some(answer);
    }
    Ok(given)
}

fn unknown_field(label: &str, form: &Form) -> AnswerError {
    let known: Vec<String> = form.fields.iter().map(|field| field.label.clone()).collect();
    AnswerError::UnknownField {
        label: shorten(label),
        closest: closest(label, &known).cloned(),
        known,
    }
}

fn check_field(answer: FieldAnswer, field: &Field) -> Result<Picked, AnswerError> {
    let place = format!("field \"{}\"", shorten(&field.label));
    if field.options.is_empty() {
        free_values(&answer, field, &place)
    } else {
        offered_values(answer, field, &place)
    }
}

fn offered_values(answer: FieldAnswer, field: &Field, place: &str) -> Result<Picked, AnswerError> {
    let values: Vec<String> = answer
        .values
        .into_iter()
        .filter(|value| !is_left_empty(value, field))
        .collect();
    let mut picked = check_picked(&values, answer.other, &field.options, field.allow_multiple, place)
        .map_err(|error| {
            if field.is_secret() {
                error.without_value()
            } else {
                error
            }
        })?;
    if let Some(other) = picked.other {
        picked.other = Some(check_value(&other, &field.kind, place)?);
    }
    Ok(picked)
}

/// Without options everything is free text, so the other text is a value like any.
fn free_values(answer: &FieldAnswer, field: &Field, place: &str) -> Result<Picked, AnswerError> {
    let mut selected = Vec::new();
    for value in answer
        .values
        .iter()
        .chain(&answer.other)
        .filter(|value| !is_left_empty(value, field))
    {
        selected.push(check_value(value, &field.kind, place)?);
    }
    let count = selected.len();
    if count > 1 && !field.allow_multiple {
        return Err(AnswerError::TooManyValues {
            place: place.to_owned(),
            count,
        });
    }
    Ok(Picked {
        selected,
        other: None,
    })
}

/// A password may well be blanks; any other value of blanks was left empty.
fn is_left_empty(value: &str, field: &Field) -> bool {
    value.is_empty() || (!field.is_secret() && is_blank(value))
}

fn line(field: &Field, picked: &Picked) -> Line {
    Line {
        label: field.label.clone(),
        values: picked.selected.iter().chain(&picked.other).cloned().collect(),
        may_be_several: field.allow_multiple,
        is_secret: field.is_secret(),
    }
}
