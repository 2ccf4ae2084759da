use proptest::prelude::*;
use protocol_spec::answer::Reply as Answered;
use protocol_spec::id::CueId;
use protocol_spec::message::{AgentView, CueView, Decided, Reply, Request, Undone};
use protocol_spec::outcome::{Origin, Outcome};
use protocol_spec::time::Timestamp;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::*;
use crate::display::question;

const CHOICE: &str = r#"{"type":"choice","options":["SQLite","PostgreSQL"]}"#;
const CONFIRM: &str = r#"{"type":"confirm","text":"Go?","confirm_label":"Allow","cancel_label":"Deny"}"#;

/// A person at a screen.
struct Person {
    state: State,
    calls: Vec<(CallPurpose, Request)>,
    has_quit: bool,
}

impl Person {
    fn at(columns: u16, rows: u16) -> Self {
        Self {
            state: State::new(Some("ada".to_owned()), (columns, rows), Timestamp::from_millis(0)),
            calls: Vec::new(),
            has_quit: false,
        }
    }

    fn seeing(cues: &[CueView]) -> Self {
        let mut person = Self::at(80, 24);
        person.reads(cues);
        person
    }

    fn happens(&mut self, event: Event) {
        for command in self.state.handle(event, Timestamp::from_millis(1000)) {
            match command {
                Command::Call(about, request) => self.calls.push((about, request)),
                Command::Quit => self.has_quit = true,
                Command::Edit(_) | Command::Suspend | Command::Mouse(_) => {}
            }
        }
    }

    fn reads(&mut self, cues: &[CueView]) {
        self.happens(Event::Inbox(Inbox {
            cues: cues.to_vec(),
            ..Inbox::default()
        }));
    }

    fn presses(&mut self, code: KeyCode) {
        self.happens(Event::Key(KeyEvent::new(code, KeyModifiers::NONE)));
    }

    fn types(&mut self, text: &str) {
        for letter in text.chars() {
            self.presses(KeyCode::Char(letter));
        }
    }

    fn sent(&self) -> Vec<&protocol_spec::message::GiveAnswer> {
        let answers = self.calls.iter().filter_map(|(_, request)| match request {
            Request::Answer(answer) => Some(answer),
            _ => None,
        });
        answers.collect()
    }

    fn draft_text(&self, cue: &CueView) -> Option<String> {
        let draft = self.state.drafts.get(&cue.cue_id)?;
        Some(draft.groups[0].text.as_ref()?.text().to_owned())
    }
}

fn cue(number: u64, prompt: &str, payload: Option<&str>) -> CueView {
    CueView {
        cue_id: CueId::from_random(number),
        seq: i64::try_from(number).unwrap(),
        ..question(prompt, payload)
    }
}

fn decided(cue: &CueView, released_at: Option<Timestamp>) -> Reply {
    Reply::Decided(Decided {
        cue_id: cue.cue_id,
        agent_id: cue.agent_id.clone(),
        outcome: Outcome::Answered,
        handed_to: 1,
        released_at,
    })
}

#[test]
fn an_answer_is_looked_at_once_more_and_then_sent_in_the_persons_name() {
    let asked = cue(1, "Which?", None);
    let mut person = Person::seeing(std::slice::from_ref(&asked));
    person.presses(KeyCode::Enter);
    person.types("use 数据库");
    person.presses(KeyCode::Enter);
    assert!(matches!(person.state.mode(), Mode::Review { text, .. } if text.contains("use 数据库")));
    assert!(person.sent().is_empty());
    person.presses(KeyCode::Enter);
    let sent = person.sent();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].answer.text.as_deref(), Some("use 数据库"));
    assert_eq!(
        (sent[0].by.as_deref(), sent[0].cue.as_str()),
        (Some("ada"), asked.cue_id.as_str())
    );
}

#[test]
fn an_option_is_picked_by_its_number_or_with_the_cursor_and_words_are_another_answer() {
    let replies = |keys: &[KeyCode]| {
        let mut person = Person::seeing(&[cue(1, "Which?", Some(CHOICE))]);
        person.presses(KeyCode::Enter);
        keys.iter().for_each(|key| person.presses(*key));
        person.presses(KeyCode::Enter);
        person.presses(KeyCode::Enter);
        person.sent().first().and_then(|sent| sent.answer.reply.clone())
    };
    let picked = |option: &str| {
        Some(Answered::Choice {
            selected: vec![option.to_owned()],
            other: None,
        })
    };
    assert_eq!(replies(&[KeyCode::Char('2')]), picked("PostgreSQL"));
    assert_eq!(replies(&[KeyCode::Down]), picked("PostgreSQL"));
    assert_eq!(replies(&[]), picked("SQLite"));
    let other = Some(Answered::Choice {
        selected: vec![],
        other: Some("files".to_owned()),
    });
    assert_eq!(
        replies(&"files".chars().map(KeyCode::Char).collect::<Vec<_>>()),
        other
    );
}

#[test]
fn only_a_question_of_a_run_can_end_the_run() {
    for (in_run, ends) in [(true, vec![true]), (false, vec![])] {
        let asked = CueView {
            in_run,
            ..cue(1, "Which?", None)
        };
        let mut person = Person::seeing(&[asked]);
        person.presses(KeyCode::Enter);
        person.types("push");
        person.presses(KeyCode::Enter);
        person.presses(KeyCode::Char('d'));
        let sent: Vec<bool> = person.sent().iter().map(|sent| sent.answer.ends_run).collect();
        assert_eq!(sent, ends);
    }
}

#[test]
fn an_approval_is_answered_only_after_all_of_it_was_on_the_screen() {
    let long = (0..80)
        .map(|line| format!("line {line}"))
        .collect::<Vec<_>>()
        .join("\n");
    let asked = CueView {
        origin: Origin::Approval,
        ..cue(1, &long, Some(CONFIRM))
    };
    let mut person = Person::seeing(&[asked]);
    person.presses(KeyCode::Enter);
    person.presses(KeyCode::Char('1'));
    person.presses(KeyCode::Enter);
    assert!(
        person
            .state
            .notice()
            .is_some_and(|notice| notice.contains("is still unread"))
    );
    assert_eq!(*person.state.mode(), Mode::Answer);
    while person.state.unread() > 0 {
        person.presses(KeyCode::PageDown);
    }
    person.presses(KeyCode::Enter);
    person.presses(KeyCode::Enter);
    assert_eq!(
        person.sent()[0].answer.reply,
        Some(Answered::Confirm { confirmed: true })
    );
}

#[test]
fn words_that_are_no_button_are_said_to_deny_an_approval() {
    let asked = CueView {
        origin: Origin::Approval,
        ..cue(1, "rm -rf build", Some(CONFIRM))
    };
    let mut person = Person::seeing(&[asked]);
    person.presses(KeyCode::Enter);
    person.types("later");
    person.presses(KeyCode::Enter);
    assert!(
        matches!(person.state.mode(), Mode::Review { remark: Some(remark), .. } if remark.contains("denies"))
    );
}

#[test]
fn a_question_answered_elsewhere_is_withdrawn_at_once_and_the_draft_stays() {
    let (first, second) = (cue(1, "First?", None), cue(2, "Second?", None));
    let mut person = Person::seeing(&[first.clone(), second.clone()]);
    person.presses(KeyCode::Enter);
    person.types("half an ans");
    person.reads(&[second]);
    assert_eq!(*person.state.mode(), Mode::List);
    assert_eq!(person.state.selected(), Some(&Entry::Gone(first.cue_id)));
    let elsewhere = CallPurpose::Elsewhere(first.cue_id);
    assert!(person.calls.iter().any(|(about, _)| *about == elsewhere));
    let told = CueView {
        outcome: Outcome::Answered,
        by: Some("grace".to_owned()),
        text: Some("yes".to_owned()),
        ..first.clone()
    };
    let about = CallPurpose::Elsewhere(first.cue_id);
    person.happens(Event::Reply(about, Ok(vec![Reply::Cue(Box::new(told))])));
    let notice = person.state.notice().unwrap_or_default().to_owned();
    assert!(
        notice.contains("answered by grace") && notice.contains("draft"),
        "{notice}"
    );
    assert_eq!(person.draft_text(&first).as_deref(), Some("half an ans"));
}

#[test]
fn an_answer_that_did_not_arrive_is_a_draft_again() {
    let asked = cue(1, "Which?", None);
    let mut person = Person::seeing(std::slice::from_ref(&asked));
    person.presses(KeyCode::Enter);
    person.types("yes");
    person.presses(KeyCode::Enter);
    person.presses(KeyCode::Enter);
    person.happens(Event::Lost("the broker went away".to_owned()));
    person.happens(Event::Reply(
        CallPurpose::Answer(asked.cue_id),
        Err("the broker went away".to_owned()),
    ));
    assert_eq!(person.draft_text(&asked).as_deref(), Some("yes"));
    assert!(matches!(person.state.connection(), Connection::Lost(_)));
    person.reads(&[asked]);
    assert_eq!(*person.state.connection(), Connection::Up);
}

#[test]
fn undo_brings_the_question_back_with_what_was_written() {
    let asked = cue(1, "Which?", None);
    let mut person = Person::seeing(std::slice::from_ref(&asked));
    person.presses(KeyCode::Enter);
    person.types("yes");
    person.presses(KeyCode::Enter);
    person.presses(KeyCode::Enter);
    let until = Timestamp::from_millis(6000);
    person.happens(Event::Reply(
        CallPurpose::Answer(asked.cue_id),
        Ok(vec![decided(&asked, Some(until))]),
    ));
    person.reads(&[]);
    assert_eq!(
        person.state.notice().map(|notice| notice.contains("elsewhere")),
        Some(false)
    );
    person.presses(KeyCode::Char('u'));
    assert!(
        person
            .calls
            .iter()
            .any(|(_, request)| matches!(request, Request::Undo(_)))
    );
    let undone = Undone {
        cue_id: asked.cue_id,
        answer: None,
    };
    person.happens(Event::Reply(
        CallPurpose::Undo(asked.cue_id),
        Ok(vec![Reply::Undone(undone)]),
    ));
    // This one was read before the undo.
    person.reads(&[]);
    person.reads(std::slice::from_ref(&asked));
    assert_eq!(person.state.selected(), Some(&Entry::Open(asked.cue_id)));
    assert_eq!(person.draft_text(&asked).as_deref(), Some("yes"));
}

#[test]
fn leaving_with_an_unsent_draft_needs_a_second_press() {
    let mut person = Person::seeing(&[cue(1, "Which?", None)]);
    person.presses(KeyCode::Enter);
    person.types("draft");
    person.presses(KeyCode::Esc);
    person.presses(KeyCode::Char('q'));
    assert!(
        !person.has_quit
            && person
                .state
                .notice()
                .is_some_and(|notice| notice.contains("not sent"))
    );
    person.presses(KeyCode::Char('q'));
    assert!(person.has_quit);
    let mut person = Person::seeing(&[]);
    person.presses(KeyCode::Char('q'));
    assert!(person.has_quit);
}

#[test]
fn a_note_and_a_queued_answer_go_to_the_selected_agent() {
    let mut person = Person::seeing(&[cue(1, "Which?", None)]);
    person.presses(KeyCode::Char('n'));
    person.presses(KeyCode::Enter);
    assert!(
        person
            .state
            .notice()
            .is_some_and(|notice| notice.contains("empty"))
    );
    person.types("use staging");
    person.presses(KeyCode::Tab);
    person.presses(KeyCode::Enter);
    let said = person.calls.iter().find_map(|(_, request)| match request {
        Request::Say(say) => Some((say.agent.as_str(), say.text.as_str(), say.purpose)),
        _ => None,
    });
    let queued = protocol_spec::message::Purpose::QueuedAnswer;
    assert_eq!(said, Some(("bako-nefi", "use staging", queued)));
}

#[test]
fn a_search_filters_the_list_and_finds_past_questions() {
    let cues = [cue(1, "数据库 first", None), cue(2, "second", None)];
    let mut person = Person::seeing(&cues);
    person.presses(KeyCode::Char('/'));
    person.types("数据");
    assert_eq!(person.state.entries(), [Entry::Open(cues[0].cue_id)]);
    person.presses(KeyCode::Enter);
    assert!(
        person
            .calls
            .iter()
            .any(|(about, _)| *about == CallPurpose::Search)
    );
    let past = CueView {
        outcome: Outcome::Answered,
        ..cue(9, "数据库 past", None)
    };
    person.happens(Event::Reply(
        CallPurpose::Search,
        Ok(vec![Reply::Cue(Box::new(past.clone()))]),
    ));
    assert!(person.state.entries().contains(&Entry::Found(past.cue_id)));
    person.presses(KeyCode::Esc);
    assert_eq!(person.state.entries().len(), 2);
}

fn agent(id: &str) -> AgentView {
    AgentView {
        agent_id: id.parse().unwrap(),
        agent_runtime: "cursor".parse().unwrap(),
        project_dir: "/srv".to_owned(),
        agent_terminal: "zsh".to_owned(),
        name: None,
        joined_at: Timestamp::from_millis(0),
        seen_at: Timestamp::from_millis(0),
        open_cues: 0,
        waiting: 0,
        queued: 0,
        archived: false,
    }
}

/// Questions that a random inbox is made of.
fn stock() -> Vec<CueView> {
    let form = r#"{"type":"form","fields":[{"label":"Env","options":["a","b"],"allow_multiple":true},{"label":"Key","kind":"password"}]}"#;
    let mut stock = vec![
        cue(1, "plain", None),
        cue(2, "choice", Some(CHOICE)),
        CueView {
            origin: Origin::Approval,
            ..cue(3, &"approval\n".repeat(40), Some(CONFIRM))
        },
        cue(4, "form", Some(form)),
        CueView {
            kind: protocol_spec::outcome::Kind::Pause,
            ..cue(5, "pause", None)
        },
    ];
    stock.push(CueView {
        damaged: true,
        ..cue(6, "damaged", None)
    });
    stock
}

fn keys() -> impl Strategy<Value = KeyEvent> {
    let codes = prop::sample::select(vec![
        KeyCode::Enter,
        KeyCode::Esc,
        KeyCode::Tab,
        KeyCode::BackTab,
        KeyCode::Up,
        KeyCode::Down,
        KeyCode::Left,
        KeyCode::PageDown,
        KeyCode::PageUp,
        KeyCode::Backspace,
        KeyCode::Char(' '),
        KeyCode::Char('1'),
        KeyCode::Char('a'),
        KeyCode::Char('数'),
        KeyCode::Char('y'),
        KeyCode::Char('d'),
        KeyCode::Char('x'),
        KeyCode::Char('n'),
        KeyCode::Char('u'),
        KeyCode::Char('/'),
        KeyCode::Char('?'),
        KeyCode::Char('j'),
    ]);
    let modifiers = prop::sample::select(vec![
        KeyModifiers::NONE,
        KeyModifiers::NONE,
        KeyModifiers::CONTROL,
        KeyModifiers::ALT,
    ]);
    (codes, modifiers).prop_map(|(code, modifiers)| KeyEvent::new(code, modifiers))
}

#[derive(Debug, Clone)]
enum Step {
    Key(KeyEvent),
    Paste(String),
    Resize(u16, u16),
    Inbox(u8),
    Lost,
    Answered(bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => keys().prop_map(Step::Key),
        1 => "[a-z\u{1b}\r\n数]{0,9}".prop_map(Step::Paste),
        1 => (0u16..130, 0u16..40).prop_map(|(columns, rows)| Step::Resize(columns, rows)),
        2 => (0u8..64).prop_map(Step::Inbox),
        1 => Just(Step::Lost),
        2 => any::<bool>().prop_map(Step::Answered),
    ];
    prop::collection::vec(step, 0..80)
}

proptest! {
    #[test]
    fn whatever_happens_answers_fit_open_questions_and_no_draft_is_lost(steps in steps()) {
        let stock = stock();
        let mut person = Person::at(80, 24);
        let mut open = Vec::new();
        let mut taken = 0;
        for step in steps {
            let before: Vec<_> = person.state.drafts.iter().filter(|(_, draft)| draft.is_touched())
                .map(|(id, _)| *id).collect();
            let is_key = matches!(step, Step::Key(_));
            match step {
                Step::Key(key) => person.happens(Event::Key(key)),
                Step::Paste(text) => person.happens(Event::Paste(text)),
                Step::Resize(columns, rows) => person.happens(Event::Resize(columns, rows)),
                Step::Lost => person.happens(Event::Lost("gone".to_owned())),
                Step::Inbox(mask) => {
                    open = stock.iter().enumerate().filter(|(at, _)| mask >> at & 1 == 1).map(|(_, cue)| cue.clone()).collect();
                    person.happens(Event::Inbox(Inbox { cues: open.clone(), unseen: vec![], agents: vec![agent("bako-nefi"), agent("nefi-bako")] }));
                }
                Step::Answered(is_fine) => {
                    let sent = person.calls[taken..].iter().find_map(|(about, _)| match about { CallPurpose::Answer(id) => Some(*id), _ => None });
                    taken = person.calls.len();
                    if let Some(id) = sent {
                        let cue = stock.iter().find(|cue| cue.cue_id == id).unwrap();
                        let result = if is_fine { Ok(vec![decided(cue, Some(Timestamp::from_millis(9000)))]) } else { Err("no".to_owned()) };
                        person.happens(Event::Reply(CallPurpose::Answer(id), result));
                    }
                }
            }
            // A draft changes by keys alone; anything else leaves it, or moves it to what is being sent.
            if !is_key {
                for id in before {
                    prop_assert!(person.state.drafts.contains_key(&id));
                }
            }
            for (about, request) in &person.calls {
                if let (CallPurpose::Answer(id), Request::Answer(sent)) = (about, request) {
                    let cue = stock.iter().find(|cue| cue.cue_id == *id).unwrap();
                    prop_assert!(!cue.damaged);
                    let payload = cue.payload.as_ref().map(|raw| protocol_spec::payload::Payload::parse(raw.get()).unwrap());
                    let question = protocol_spec::answer::Question::new(cue.kind, payload.as_ref());
                    prop_assert!(sent.answer.clone().check(question).is_ok());
                }
            }
            let entries = person.state.entries();
            prop_assert_eq!(person.state.selected().is_some(), !entries.is_empty());
            if let Some(selected) = person.state.selected() {
                prop_assert!(entries.contains(selected));
            }
            super::super::view::tests::draws(&person.state);
        }
        let _ = open;
    }
}

#[test]
fn options_take_the_rows_that_a_short_question_leaves_and_never_more_than_half_of_a_long_one() {
    let options: Vec<String> = (0..9).map(|option| format!("option {option}")).collect();
    let payload = serde_json::json!({ "type": "choice", "options": options }).to_string();
    let rows = |prompt: &str| {
        let person = Person::seeing(&[cue(1, prompt, Some(&payload))]);
        let layout = Layout::of(&person.state);
        (layout.body.height, layout.panel.height)
    };
    let (_, short) = rows("Which?");
    assert!(short > 9, "all of the options and the rule above them: {short}");
    let (body, long) = rows(&"Which?\n\n".repeat(60));
    assert!(long.abs_diff(body) <= 1, "{body} {long}");
}
