//! `cueme answer`: a human answers, with arguments or by being asked.

use std::io::{self, IsTerminal};
use std::path::Path;

use protocol_spec::answer::{Answer, Attachment, FieldAnswer, Question, Reply, consent};
use protocol_spec::endpoint::Places;
use protocol_spec::exit::Exit;
use protocol_spec::message::{CueView, GiveAnswer, Request};
use protocol_spec::outcome::{Kind, Origin};
use protocol_spec::payload::{Payload, Shape};
use protocol_spec::visible::{has_hidden, quoted};

use super::{decided, inbox, show};
use crate::cli::AnswerArgs;
use crate::dialogue::{Dialogue, option_named};
use crate::display::{Paint, full, now};
use crate::error::CliError;
use crate::input::{read_text, text_of, words_of};
use crate::{environment, output};

/// The time to undo an answer given in a dialogue; the page's default.
pub(crate) const UNDO_WINDOW_MS: u64 = 5000;

pub(super) fn run(args: &AnswerArgs) -> Result<Exit, CliError> {
    let places = environment::places()?;
    let (cue, answer, hold_ms) = match (&args.cue_id, has_answer(args)) {
        (Some(cue), true) => {
            let answer = answer_of(args)?;
            let found = show::find(&places, cue)?;
            if answer.reply.is_none() {
                warn_of_refusal(&found, &answer);
            }
            (cue.clone(), fitted(&found, answer)?, 0)
        }
        (_, false) => match ask_person(&places, args.cue_id.as_deref())? {
            Some((cue, answer)) => (cue, answer, UNDO_WINDOW_MS),
            None => return Ok(Exit::NotFound),
        },
        (None, true) => {
            return Err(CliError::usage("the question's id is missing").with_hint("`cueme inbox` shows it"));
        }
    };
    let request = GiveAnswer {
        cue,
        answer,
        by: environment::user(),
        hold_ms,
    };
    decided::send(&places, &Request::Answer(request))
}

/// Spells options as they are offered, and names the flags that fit where the answer does not.
fn fitted(cue: &CueView, mut answer: Answer) -> Result<Answer, CliError> {
    let payload = cue
        .payload
        .as_ref()
        .and_then(|raw| Payload::parse(raw.get()).ok());
    let shape = payload.as_ref().map(Payload::shape);
    match (&mut answer.reply, shape) {
        (Some(Reply::Choice { selected, .. }), Some(Shape::Choice(choice))) => {
            spell(selected, &choice.options)
        }
        (Some(Reply::Form { fields }), Some(Shape::Form(form))) => {
            for answer in fields {
                let field = form.fields.iter().find(|field| field.label == answer.label);
                spell(
                    &mut answer.values,
                    field.map_or(&[], |field| field.options.as_slice()),
                );
            }
        }
        _ => {}
    }
    // A question that is decided already is refused by the broker, which knows by whom.
    if cue.is_answerable() {
        let question = Question::new(cue.kind, payload.as_ref());
        answer.clone().check(question).map_err(|error| {
            CliError::usage(error.to_string()).with_hint(format!(
                "{}; {}",
                error.hint(),
                flags_for(cue, shape)
            ))
        })?;
    }
    Ok(answer)
}

fn spell(values: &mut [String], options: &[String]) {
    for value in values {
        if let Some(option) = option_named(value, options) {
            option.clone_into(value);
        }
    }
}

/// Returns a call whose flags fit the question.
fn flags_for(cue: &CueView, shape: Option<&Shape>) -> String {
    let flags = match (cue.kind, shape) {
        (Kind::Pause, _) => "--confirm".to_owned(),
        (Kind::Cue, None) => "\"your answer\"".to_owned(),
        (Kind::Cue, Some(Shape::Choice(choice))) => {
            let option = choice.options.first().map_or("", String::as_str);
            format!("--select {}` or `--other \"your words\"", shell_word(option))
        }
        (Kind::Cue, Some(Shape::Confirm(_))) => "--confirm` or `--cancel".to_owned(),
        (Kind::Cue, Some(Shape::Form(form))) => {
            let label = form.fields.first().map_or("", |field| field.label.as_str());
            format!("--field {}", shell_word(&format!("{label}=value")))
        }
    };
    format!("use `cueme answer {} {flags}`", cue.cue_id)
}

/// Returns words for a call that a person pastes into a shell, where an agent's words must not run. Words that are not shown
/// as they are cannot be pasted, and are left out.
fn shell_word(words: &str) -> String {
    let is_shown_as_it_is = !words.chars().any(char::is_control) && !has_hidden(words);
    match shlex::try_quote(words) {
        Ok(word) if is_shown_as_it_is => word.into_owned(),
        _ => "…".to_owned(),
    }
}

fn has_answer(args: &AnswerArgs) -> bool {
    let has_choice = !args.select.is_empty() || args.other.is_some() || args.confirm || args.cancel;
    has_choice
        || args.done
        || !args.text.is_empty()
        || !args.rest.is_empty()
        || !args.field.is_empty()
        || !args.attach.is_empty()
}

fn answer_of(args: &AnswerArgs) -> Result<Answer, CliError> {
    let text = words_of(&args.text, &args.rest);
    let from_stdin = args.field.iter().filter(|pair| pair.ends_with("=-")).count();
    if from_stdin + usize::from(text == ["-"]) > 1 {
        return Err(CliError::usage("only one value can be read from stdin")
            .with_hint("run `cueme answer <cue_id>` without an answer: it asks for each value"));
    }
    Ok(Answer {
        text: text_of(&text, "the answer")?,
        reply: reply_of(args)?,
        attachments: args
            .attach
            .iter()
            .map(|path| attachment(path))
            .collect::<Result<_, _>>()?,
        ends_run: args.done,
    })
}

fn reply_of(args: &AnswerArgs) -> Result<Option<Reply>, CliError> {
    let is_choice = !args.select.is_empty() || args.other.is_some();
    let is_confirm = args.confirm || args.cancel;
    let is_form = !args.field.is_empty();
    if [is_choice, is_confirm, is_form]
        .into_iter()
        .filter(|given| *given)
        .count()
        > 1
    {
        return Err(
            CliError::usage("--select, --field and --confirm answer different kinds of questions")
                .with_hint("`cueme show <cue_id>` shows which kind it is"),
        );
    }
    Ok(if is_choice {
        Some(Reply::Choice {
            selected: args.select.clone(),
            other: args.other.clone(),
        })
    } else if is_confirm {
        Some(Reply::Confirm {
            confirmed: args.confirm,
        })
    } else if is_form {
        Some(Reply::Form {
            fields: fields_of(&args.field)?,
        })
    } else {
        None
    })
}

/// Collects `LABEL=VALUE` pairs; a label given twice has two values.
fn fields_of(pairs: &[String]) -> Result<Vec<FieldAnswer>, CliError> {
    let mut fields: Vec<FieldAnswer> = Vec::new();
    for pair in pairs {
        let Some((label, value)) = pair.split_once('=') else {
            return Err(CliError::usage(format!("{} is not LABEL=VALUE", quoted(pair)))
                .with_hint(format!("write --field {}", shell_word(&format!("{pair}=value")))));
        };
        let (label, value) = (label.trim(), field_value(label.trim(), value)?);
        match fields.iter_mut().find(|field| field.label == label) {
            Some(field) => field.values.push(value),
            None => fields.push(FieldAnswer {
                label: label.to_owned(),
                values: vec![value],
                other: None,
            }),
        }
    }
    Ok(fields)
}

/// Returns a value as it is given, or for `-` from stdin, so that a password need not stand among the arguments, where
/// every user of the machine reads it. A person at a terminal is asked for it without an echo.
fn field_value(label: &str, value: &str) -> Result<String, CliError> {
    match value {
        "-" if io::stdin().is_terminal() => Dialogue::with_terminal().ask_value(label),
        "-" => read_text(&format!("the value of {}", quoted(label))),
        value => Ok(value.to_owned()),
    }
}

/// Names a file by its absolute path, so that the agent finds it from any directory.
fn attachment(path: &Path) -> Result<Attachment, CliError> {
    let wrong = |why: String| {
        CliError::usage(format!("could not attach {}: {why}", path.display()))
            .with_hint("give the path of a file that exists")
    };
    let absolute = std::fs::canonicalize(path).map_err(|error| wrong(error.to_string()))?;
    if !absolute.is_file() {
        return Err(wrong("it is not a file".to_owned()));
    }
    let text = absolute
        .to_str()
        .ok_or_else(|| wrong("its path is not UTF-8".to_owned()))?;
    Ok(Attachment {
        path: text.to_owned(),
        name: path.file_name().map(|name| name.to_string_lossy().into_owned()),
        media_type: media_type(&absolute).map(str::to_owned),
    })
}

fn media_type(path: &Path) -> Option<&'static str> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    match extension.as_str() {
        "png" => Some("image/png"),
        "jpg" | "jpeg" => Some("image/jpeg"),
        "gif" => Some("image/gif"),
        "webp" => Some("image/webp"),
        "svg" => Some("image/svg+xml"),
        "pdf" => Some("application/pdf"),
        "json" => Some("application/json"),
        "txt" | "log" => Some("text/plain"),
        "md" => Some("text/markdown"),
        "csv" => Some("text/csv"),
        _ => None,
    }
}

/// Shows a question and asks for the answer; `None` when there is nothing to answer.
fn ask_person(places: &Places, cue: Option<&str>) -> Result<Option<(String, Answer)>, CliError> {
    if !io::stdin().is_terminal() {
        return Err(
            CliError::usage("no answer was given, and there is no terminal to ask in").with_hint(
                "run `cueme answer <cue_id> \"your answer\"`, or `cueme help answer` for all forms",
            ),
        );
    }
    let mut dialogue = Dialogue::with_terminal();
    let cue = match cue {
        Some(cue) => show::find(places, cue)?,
        None => {
            let mut cues = inbox::open_cues(places)?;
            cues.retain(CueView::is_answerable);
            match cues.len() {
                0 => {
                    output::print_line("no agent is waiting for you")?;
                    return Ok(None);
                }
                1 => cues.swap_remove(0),
                _ => dialogue.pick_cue(cues)?,
            }
        }
    };
    if cue.damaged {
        return Err(CliError::new(
            Exit::NotFound,
            format!("question {} is out of service: its record is damaged", cue.cue_id),
        )
        .with_hint(format!("`cueme cancel {}` closes it", cue.cue_id)));
    }
    if !cue.outcome.is_answerable() {
        return Err(CliError::new(
            Exit::NotFound,
            format!("question {} is decided already", cue.cue_id),
        )
        .with_hint(format!("`cueme show {}` shows it", cue.cue_id)));
    }
    output::print_line(&full(&cue, now(), output::columns(), Paint::for_stdout()))?;
    let answer = dialogue.answer(&cue)?;
    Ok(Some((cue.cue_id.to_string(), answer)))
}

/// Tells a person, before it is sent, that words which are no button refuse an approval.
fn warn_of_refusal(cue: &CueView, answer: &Answer) {
    let Some(text) = answer.text.as_deref().filter(|_| answer.reply.is_none()) else {
        return;
    };
    if cue.origin != Origin::Approval {
        return;
    }
    let payload = cue
        .payload
        .as_ref()
        .and_then(|raw| Payload::parse(raw.get()).ok());
    if let Some(Shape::Confirm(confirm)) = payload.as_ref().map(Payload::shape)
        && consent(text, confirm).is_none()
    {
        output::tell(&format!(
            "note: this is neither {} nor {}; it denies the request, with your words as the reason",
            quoted(&confirm.confirm_label),
            quoted(&confirm.cancel_label)
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::display::question;

    #[test]
    fn a_label_given_twice_has_two_values_and_a_value_may_hold_an_equals_sign() {
        let pairs = ["Env=prod", "Tags=a", "Tags=b=c", "Empty="].map(str::to_owned);
        let fields = fields_of(&pairs).unwrap();
        let found: Vec<(&str, Vec<&str>)> = fields
            .iter()
            .map(|field| {
                (
                    field.label.as_str(),
                    field.values.iter().map(String::as_str).collect(),
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                ("Env", vec!["prod"]),
                ("Tags", vec!["a", "b=c"]),
                ("Empty", vec![""])
            ]
        );
    }

    #[test]
    fn a_field_without_a_value_is_refused_with_the_right_form() {
        let error = fields_of(&["Env".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("--field 'Env=value'"), "{error}");
    }

    #[test]
    fn answers_of_two_kinds_at_once_are_refused() {
        let args = AnswerArgs {
            select: vec!["A".into()],
            confirm: true,
            ..AnswerArgs::default()
        };
        assert!(reply_of(&args).is_err());
        let args = AnswerArgs {
            cancel: true,
            ..AnswerArgs::default()
        };
        assert_eq!(
            reply_of(&args).unwrap(),
            Some(Reply::Confirm { confirmed: false })
        );
    }

    #[test]
    fn an_option_is_picked_in_any_case_where_only_one_fits_and_errors_name_the_flags() {
        let choice = |select: &str| {
            let cue = question(
                "A?",
                Some(r#"{"type":"choice","options":["SQLite","Postgres","postgres"]}"#),
            );
            let reply = Reply::Choice {
                selected: vec![select.to_owned()],
                other: None,
            };
            let answer = Answer {
                reply: Some(reply),
                ..Answer::default()
            };
            match fitted(&cue, answer) {
                Ok(answer) => Ok(format!("{:?}", answer.reply)),
                Err(error) => Err(error.to_string()),
            }
        };
        assert!(choice("sqlite").is_ok_and(|reply| reply.contains("\"SQLite\"")));
        assert!(choice("postgres").is_ok_and(|reply| reply.contains("\"postgres\"")));
        let error = choice("POSTGRES").unwrap_err();
        assert!(
            error.contains("--select SQLite`") && error.contains("--other"),
            "{error}"
        );
        let confirm = question("A?", Some(r#"{"type":"confirm","text":"Go?"}"#));
        let reply = Reply::Form { fields: vec![] };
        let wrong = Answer {
            reply: Some(reply),
            ..Answer::default()
        };
        let error = fitted(&confirm, wrong).unwrap_err().to_string();
        assert!(error.contains("--confirm` or `--cancel`"), "{error}");
    }

    #[test]
    fn no_shell_runs_an_agents_words_in_the_call_of_a_hint() {
        let wrong = || Answer {
            reply: Some(Reply::Confirm { confirmed: true }),
            ..Answer::default()
        };
        let hint = |payload: serde_json::Value| {
            let cue = question("A?", Some(&payload.to_string()));
            fitted(&cue, wrong()).unwrap_err().to_string()
        };
        for words in [
            "$(id)",
            "`id`",
            "it's",
            "a \"b\"",
            "'\"$(id)`id`\"'",
            "a; id",
            "-n",
            "数据库",
        ] {
            let choice = serde_json::json!({"type": "choice", "options": [words, "B"]});
            let shown = hint(choice);
            let (_, call) = shown.split_once("--select ").unwrap();
            let (call, _) = call.split_once("` or `--other").unwrap();
            assert_eq!(shlex::split(call), Some(vec![words.to_owned()]), "{shown}");

            let form = serde_json::json!({"type": "form", "fields": [{"label": words, "kind": "text"}]});
            let shown = hint(form);
            let (_, call) = shown.split_once("--field ").unwrap();
            let call = call.strip_suffix('`').unwrap();
            assert_eq!(
                shlex::split(call),
                Some(vec![format!("{words}=value")]),
                "{shown}"
            );
        }
        for hidden in ["a\u{202e}b", "a\nid"] {
            let shown = hint(serde_json::json!({"type": "choice", "options": [hidden, "B"]}));
            assert!(shown.contains("--select …`"), "{shown}");
        }
    }

    #[test]
    fn an_attachment_is_named_by_its_absolute_path_and_must_be_a_file() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("shot.PNG");
        std::fs::write(&file, "x").unwrap();
        let found = attachment(&file).unwrap();
        assert!(Path::new(&found.path).is_absolute());
        assert_eq!(found.media_type.as_deref(), Some("image/png"));
        assert!(attachment(home.path()).is_err());
        assert!(attachment(&home.path().join("missing")).is_err());
    }
}
