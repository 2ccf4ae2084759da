//! A question as a person reads it.

use protocol_spec::message::CueView;
use protocol_spec::outcome::{Delivery, Kind, Origin, Outcome};
use protocol_spec::payload::{Field, Payload, Shape};
use protocol_spec::time::Timestamp;

use super::markdown::{markdown_lines, plain_lines};
use super::paint::Paint;
use super::tone::{Piece, StyledLine, Tone, piece};
use super::visible::{visible, visible_line};
use super::when::{ago, at};
use super::width::{shorten, wrap};

/// The most lines of a prompt in a list.
const CARD_LINES_MAX: usize = 6;

/// Returns a question as an entry of a list.
pub(crate) fn card(cue: &CueView, now: Timestamp, columns: usize, paint: Paint) -> String {
    let head = format!(
        "{}  {}  {}  {}",
        paint.bold(cue.cue_id.as_str()),
        paint.cyan(cue.agent_id.as_str()),
        cue.agent_runtime,
        paint.piece(&state_words(cue, now))
    );
    let mut lines = vec![
        head,
        paint.dim(&format!(
            "  {}",
            shorten(&visible_line(&cue.project_dir), columns - 2)
        )),
    ];
    let prompt = wrap(&visible(&cue.prompt), columns - 2);
    let is_cut = prompt.len() > CARD_LINES_MAX;
    lines.extend(
        prompt
            .into_iter()
            .take(CARD_LINES_MAX)
            .map(|line| format!("  {line}")),
    );
    if is_cut {
        lines.push(paint.dim(&format!("  … `cueme show {}` shows all of it", cue.cue_id)));
    }
    lines.extend(
        payload_lines(cue, columns - 2)
            .into_iter()
            .map(|line| format!("  {line}")),
    );
    lines.join("\n")
}

/// Returns everything about a question.
pub(crate) fn full(cue: &CueView, now: Timestamp, columns: usize, paint: Paint) -> String {
    let mut lines = full_head(cue, now);
    lines.extend(question_lines(cue, columns));
    let payload = payload_lines(cue, columns);
    if !payload.is_empty() {
        lines.push(StyledLine::new());
        lines.extend(payload.into_iter().map(|line| vec![piece(Tone::Plain, line)]));
    }
    if cue.in_run && cue.outcome.is_answerable() {
        let words = format!(
            "your answer lets its run go on; `cueme answer {} --done` ends the run",
            cue.cue_id
        );
        lines.extend([StyledLine::new(), vec![piece(Tone::Quiet, words)]]);
    }
    lines.extend(decision_lines(cue, columns));
    let lines: Vec<String> = lines.iter().map(|line| paint.line(line)).collect();
    lines.join("\n")
}

/// Returns whose question it is, how it stands, and a blank line.
pub(crate) fn full_head(cue: &CueView, now: Timestamp) -> Vec<StyledLine> {
    let verb = match cue.kind {
        Kind::Cue => "cue",
        Kind::Pause => "pause",
    };
    let origin = format!(
        "{verb} of {} ({}) in {}, asked {}",
        cue.agent_id,
        cue.agent_runtime,
        visible_line(&cue.project_dir),
        at(cue.asked_at)
    );
    vec![
        vec![
            piece(Tone::Strong, cue.cue_id.as_str()),
            piece(Tone::Plain, "  "),
            state_words(cue, now),
        ],
        vec![piece(Tone::Quiet, origin)],
        StyledLine::new(),
    ]
}

/// Returns the question itself.
pub(crate) fn question_lines(cue: &CueView, columns: usize) -> Vec<StyledLine> {
    markdown_lines(&cue.prompt, columns)
}

/// Returns what was decided and how far it has come; nothing while the question is open.
pub(crate) fn decision_lines(cue: &CueView, columns: usize) -> Vec<StyledLine> {
    let Some(text) = &cue.text else {
        return Vec::new();
    };
    let by = cue
        .by
        .as_deref()
        .map(|by| format!(" by {}", visible_line(by)))
        .unwrap_or_default();
    let when = cue
        .decided_at
        .map(|time| format!(", {}", at(time)))
        .unwrap_or_default();
    let head = format!("{}{by}{when}:", decision_words(cue));
    let mut lines = vec![StyledLine::new(), vec![piece(Tone::Strong, head)]];
    lines.extend(plain_lines(text, columns, Tone::Plain));
    lines.push(vec![piece(Tone::Quiet, delivery_words(cue))]);
    lines
}

/// Says how far the outcome has come, and only what is known.
fn delivery_words(cue: &CueView) -> String {
    if cue.origin == Origin::Import {
        return "imported; it is unknown whether the agent received it".to_owned();
    }
    if cue.is_withdrawn() {
        return "nobody closed it; the agent gets no outcome".to_owned();
    }
    match (cue.delivery, cue.acknowledged_at) {
        (Delivery::Acknowledged, Some(time)) => format!("received by the agent, {}", at(time)),
        (Delivery::Acknowledged, None) => "received by the agent".to_owned(),
        (Delivery::Handed, _) => {
            "delivered to a client that has not acknowledged it; the agent gets it again".to_owned()
        }
        (Delivery::None, _) => "not received yet; the agent gets it when it asks again".to_owned(),
    }
}

/// Returns what is offered, one line each.
pub(crate) fn payload_lines(cue: &CueView, columns: usize) -> Vec<String> {
    let Some(raw) = &cue.payload else {
        return Vec::new();
    };
    let lines = match Payload::parse(raw.get()) {
        Ok(payload) => shape_lines(payload.shape()),
        Err(_) => vec![format!("payload: {}", raw.get())],
    };
    lines
        .iter()
        .flat_map(|line| wrap(&visible_line(line), columns))
        .collect()
}

fn shape_lines(shape: &Shape) -> Vec<String> {
    match shape {
        Shape::Choice(choice) => {
            let mark = if choice.allow_multiple { "[ ]" } else { "( )" };
            choice
                .options
                .iter()
                .map(|option| format!("{mark} {option}"))
                .collect()
        }
        Shape::Confirm(confirm) => {
            let buttons = format!("[{}]  [{}]", confirm.confirm_label, confirm.cancel_label);
            confirm.text.iter().cloned().chain([buttons]).collect()
        }
        Shape::Form(form) => form.fields.iter().map(field_line).collect(),
    }
}

fn field_line(field: &Field) -> String {
    let required = if field.required { " (required)" } else { "" };
    if field.options.is_empty() {
        format!("{}{required}: <{}>", field.label, field.kind.name())
    } else {
        format!("{}{required}: {}", field.label, field.options.join(" | "))
    }
}

/// Names an outcome.
fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Open => "open",
        Outcome::Answered => "answered",
        Outcome::Declined => "declined",
        Outcome::Cancelled => "cancelled",
        Outcome::Superseded => "superseded",
    }
}

/// Says that a question is out of service, and how to close it.
fn damaged_words(cue: &CueView) -> String {
    let remedy = match cue.delivery {
        Delivery::None | Delivery::Handed => format!("; `cueme cancel {}` closes it", cue.cue_id),
        Delivery::Acknowledged => String::new(),
    };
    format!("out of service: its record is damaged, and the agent gets no outcome{remedy}")
}

/// Says how a question was decided.
pub(crate) fn decision_words(cue: &CueView) -> String {
    let word = outcome_word(cue.outcome);
    if cue.damaged {
        return damaged_words(cue);
    }
    if cue.is_withdrawn() {
        return "withdrawn by the program that asked".to_owned();
    }
    if cue.from_queue {
        format!("{word} from the queue, before a human saw it")
    } else {
        word.to_owned()
    }
}

/// Says what is true about a question right now.
fn state_words(cue: &CueView, now: Timestamp) -> Piece {
    if cue.damaged {
        return piece(Tone::Attention, decision_words(cue));
    }
    if !cue.outcome.is_answerable() {
        return piece(Tone::Plain, decision_words(cue));
    }
    let since = ago(now, cue.asked_at);
    if cue.outcome == Outcome::Superseded && cue.waiting == 0 {
        let stopped = cue
            .detached_at
            .map(|detached| format!(", stopped listening {} ago", ago(now, detached)))
            .unwrap_or_default();
        let words = format!(
            "superseded: asked {since} ago, the agent has asked something else since{stopped}; it can still be answered"
        );
        return piece(Tone::Quiet, words);
    }
    let (tone, words) = match (cue.waiting, cue.detached_at) {
        (0, Some(detached)) => (
            Tone::Attention,
            format!(
                "asked {since} ago; the agent stopped listening {} ago and gets the answer when it asks again",
                ago(now, detached)
            ),
        ),
        (0, None) => (
            Tone::Attention,
            format!("asked {since} ago; the agent gets the answer when it asks again"),
        ),
        (1, _) => (Tone::Good, format!("waiting {since}")),
        (clients, _) => (Tone::Good, format!("waiting {since} ({clients} clients)")),
    };
    piece(tone, words)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use protocol_spec::id::CueId;

    /// A question that is open and waited for.
    pub(crate) fn question(prompt: &str, payload: Option<&str>) -> CueView {
        CueView {
            cue_id: CueId::from_random(77),
            seq: 1,
            agent_id: "bako-nefi".parse().unwrap(),
            agent_runtime: "cursor".parse().unwrap(),
            project_dir: "/srv/shop".into(),
            kind: Kind::Cue,
            origin: Origin::Agent,
            prompt: prompt.into(),
            payload: payload.map(|json| serde_json::value::RawValue::from_string(json.into()).unwrap()),
            outcome: Outcome::Open,
            delivery: Delivery::None,
            asked_at: Timestamp::from_millis(0),
            waiting: 1,
            detached_at: None,
            decided_at: None,
            released_at: None,
            acknowledged_at: None,
            by: None,
            from_queue: false,
            damaged: false,
            in_run: false,
            text: None,
            answer: None,
            ends_run: false,
        }
    }

    fn shown(cue: &CueView) -> String {
        card(cue, Timestamp::from_millis(180_000), 80, Paint::off())
    }

    #[test]
    fn a_card_says_who_waits_since_when_and_what_is_offered() {
        let text = shown(&question(
            "用哪个数据库?",
            Some(r#"{"type":"choice","options":["SQLite","PostgreSQL"]}"#),
        ));
        for part in [
            "bako-nefi",
            "cursor",
            "waiting 3 min",
            "用哪个数据库?",
            "( ) SQLite",
            "( ) PostgreSQL",
        ] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
    }

    #[test]
    fn a_question_nobody_listens_for_says_so() {
        let cue = CueView {
            waiting: 0,
            detached_at: Some(Timestamp::from_millis(60_000)),
            ..question("A?", None)
        };
        assert!(shown(&cue).contains("stopped listening 2 min ago"));
    }

    #[test]
    fn a_superseded_question_says_so_and_not_that_it_waits() {
        let cue = CueView {
            waiting: 0,
            outcome: Outcome::Superseded,
            detached_at: Some(Timestamp::from_millis(60_000)),
            ..question("A?", None)
        };
        for text in [
            shown(&cue),
            full(&cue, Timestamp::from_millis(180_000), 80, Paint::off()),
        ] {
            let first = text.lines().next().unwrap_or_default();
            assert!(
                first.contains("superseded: asked 3 min ago, the agent has asked something else since")
                    && first.contains("stopped listening 2 min ago"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_question_that_a_hook_took_back_is_withdrawn_and_received_by_nobody() {
        let withdrawn = CueView {
            origin: Origin::Hook,
            outcome: Outcome::Cancelled,
            delivery: Delivery::Acknowledged,
            text: Some(
                "cancelled: the question was closed without an answer (the agent's program ended)".into(),
            ),
            ..question("Done?", None)
        };
        let shown = |cue: &CueView| full(cue, Timestamp::from_millis(0), 80, Paint::off());
        let text = shown(&withdrawn);
        assert!(
            text.contains("withdrawn by the program that asked") && !text.contains("received"),
            "{text}"
        );
        let closed = CueView {
            by: Some("ada".into()),
            ..withdrawn
        };
        assert!(shown(&closed).contains("cancelled by ada"), "{}", shown(&closed));
    }

    #[test]
    fn a_damaged_question_says_how_to_close_it_in_every_state() {
        for outcome in [Outcome::Open, Outcome::Answered] {
            let cue = CueView {
                outcome,
                damaged: true,
                ..question("Delete?", None)
            };
            let text = shown(&cue);
            let remedy = format!("`cueme cancel {}` closes it", cue.cue_id);
            assert!(
                text.contains("out of service: ") && text.contains(&remedy),
                "{text}"
            );
            assert!(!text.contains("waiting"), "{text}");
        }
    }

    #[test]
    fn a_hostile_prompt_or_option_cannot_act_on_the_terminal() {
        let payload = r#"{"type":"choice","options":["\u001b[31mred"]}"#;
        let text = shown(&question("a\u{1b}]0;title\u{7}", Some(payload)));
        assert!(!text.contains('\u{1b}') && !text.contains('\u{7}'), "{text:?}");
        assert!(text.contains("␛[31mred"), "{text}");
    }

    #[test]
    fn delivery_claims_only_what_was_confirmed() {
        let handed = CueView {
            delivery: Delivery::Handed,
            ..question("A?", None)
        };
        assert!(delivery_words(&handed).contains("not acknowledged"));
        let acknowledged = CueView {
            delivery: Delivery::Acknowledged,
            ..question("A?", None)
        };
        assert!(delivery_words(&acknowledged).starts_with("received"));
    }
}
