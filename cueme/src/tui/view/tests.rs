use protocol_spec::message::CueView;
use protocol_spec::time::Timestamp;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::*;
use crate::display::question;
use crate::tui::state::{Event, Inbox, State};

const SIZES: [(u16, u16); 3] = [(80, 24), (160, 50), (60, 20)];

/// Draws a state at its size; whatever it is, this must not panic.
pub(in crate::tui) fn draws(state: &State) -> String {
    let (columns, rows) = state.size();
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    let style = Style { has_colours: true };
    terminal.draw(|frame| draw(frame, state, style)).unwrap();
    let buffer = terminal.backend().buffer();
    let mut text = String::new();
    for row in 0..rows {
        let mut column = 0;
        while column < columns {
            let symbol = buffer[(column, row)].symbol();
            text.push_str(symbol);
            column += u16::try_from(unicode_width::UnicodeWidthStr::width(symbol).max(1)).unwrap();
        }
        text.push('\n');
    }
    text
}

fn state(size: (u16, u16), cues: Vec<CueView>) -> State {
    let mut state = State::new(None, size, Timestamp::from_millis(0));
    let inbox = Inbox {
        cues,
        ..Inbox::default()
    };
    state.handle(Event::Inbox(inbox), Timestamp::from_millis(0));
    state
}

fn press(state: &mut State, code: KeyCode) {
    let key = KeyEvent::new(code, KeyModifiers::NONE);
    state.handle(Event::Key(key), Timestamp::from_millis(0));
}

#[test]
fn the_question_what_it_offers_and_the_keys_are_on_every_screen() {
    for size in SIZES {
        let payload = r#"{"type":"choice","options":["SQLite","PostgreSQL"]}"#;
        let screen = draws(&state(size, vec![question("用哪个**数据库**?", Some(payload))]));
        for words in [
            "1 open",
            "bako-nefi",
            "用哪个**数据库**?",
            "1. ( ) SQLite",
            "2. ( ) PostgreSQL",
            "other:",
            "Enter answer",
        ] {
            assert!(screen.contains(words), "{size:?} has no {words}:\n{screen}");
        }
    }
}

#[test]
fn what_does_not_fit_is_counted_and_every_line_is_reached_by_turning_pages() {
    let prompt: Vec<String> = (0..100).map(|line| format!("line-{line:03}")).collect();
    for size in SIZES {
        let mut state = state(size, vec![question(&prompt.join("\n"), None)]);
        let mut seen = draws(&state);
        assert!(seen.contains("more lines below · PgDn"), "{seen}");
        for _ in 0..100 {
            press(&mut state, KeyCode::PageDown);
            seen.push_str(&draws(&state));
        }
        for line in &prompt {
            assert!(seen.contains(line.as_str()), "{size:?} never shows {line}");
        }
        assert_eq!(state.unread(), 0);
    }
}

#[test]
fn hostile_text_does_not_act_wherever_it_stands() {
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}";
    let payload = format!(
        r#"{{"type":"form","fields":[{{"label":"La{}bel","options":["o{}p"]}}]}}"#,
        "\\u001b[31m", "\\u009b31m"
    );
    let cue = CueView {
        project_dir: format!("/srv/{evil}"),
        ..question(&format!("rm{evil} -rf"), Some(&payload))
    };
    for size in SIZES {
        let mut state = state(size, vec![cue.clone()]);
        press(&mut state, KeyCode::Enter);
        let screen = draws(&state);
        assert!(
            !screen.contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}']),
            "{screen:?}"
        );
        assert!(screen.contains("rm␛]0;owned␇␛[2J<U+202E> -rf"), "{screen}");
        assert!(
            screen.contains("La␛[31mbel") && screen.contains("o<U+009B>31mp"),
            "{screen}"
        );
    }
}

#[test]
fn a_password_is_dots_while_it_is_typed_and_redacted_in_the_last_look() {
    let payload = r#"{"type":"form","fields":[{"label":"Key","kind":"password"}]}"#;
    let mut state = state((80, 24), vec![question("Deploy?", Some(payload))]);
    press(&mut state, KeyCode::Enter);
    for letter in "hunter2".chars() {
        press(&mut state, KeyCode::Char(letter));
    }
    let screen = draws(&state);
    assert!(
        screen.contains("•••••••") && !screen.contains("hunter2"),
        "{screen}"
    );
    press(&mut state, KeyCode::Enter);
    let screen = draws(&state);
    assert!(
        screen.contains("Key: [redacted]") && !screen.contains("hunter2"),
        "{screen}"
    );
}

#[test]
fn a_lost_broker_is_named_on_the_screen_and_the_help_has_all_keys() {
    let mut state = state((80, 24), vec![question("A?", None)]);
    let lost = Event::Lost("the broker went away".to_owned());
    state.handle(lost, Timestamp::from_millis(0));
    assert!(draws(&state).contains("reconnecting: the broker went away"));
    press(&mut state, KeyCode::Char('?'));
    let screen = draws(&state);
    assert!(
        screen.contains("take back your last answer") && screen.contains("sends it and ends"),
        "{screen}"
    );
}

#[test]
fn a_question_of_a_run_offers_to_end_it() {
    let cue = CueView {
        in_run: true,
        ..question("Go on?", None)
    };
    let mut state = state((80, 24), vec![cue]);
    press(&mut state, KeyCode::Enter);
    press(&mut state, KeyCode::Char('a'));
    press(&mut state, KeyCode::Enter);
    assert!(draws(&state).contains("d sends it and ends the run"));
}
