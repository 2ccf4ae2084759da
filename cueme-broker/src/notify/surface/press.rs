//! Interprets presses and replies.

use protocol_spec::answer::{Answer, Attachment, Reply, consent};
use protocol_spec::id::CueId;
use protocol_spec::outcome::Kind;
use protocol_spec::payload::{Choice, Payload, Shape};

/// A button.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Press {
    /// Confirms.
    Yes,
    /// Refuses.
    No,
    /// Ends a pause.
    Continue,
    /// Chooses an option, or changes its mark where several can be chosen.
    Option(usize),
    /// Sends the marked options.
    Send {
        /// The marks that stood on the buttons, where the medium does not tell them with the press.
        seen: Option<Marks>,
    },
}

/// Marked options, one bit for each: a number that fits into a button.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Marks(u128);

impl Marks {
    /// Returns the marks of these options. Later options than a medium has buttons for have none.
    pub(super) fn of(marked: &[usize]) -> Self {
        let bit = |index: &usize| {
            u32::try_from(*index)
                .ok()
                .and_then(|index| 1u128.checked_shl(index))
        };
        Self(marked.iter().filter_map(bit).fold(0, |all, bit| all | bit))
    }
}

/// The meaning of a press.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meaning {
    /// An answer.
    Decide(Answer),
    /// These options are marked now.
    Mark(Vec<usize>),
    /// No option is marked yet, so there is nothing to send.
    NothingMarked,
    /// The marked options are not those that the person saw.
    NotSeen,
}

impl Press {
    /// Writes the button for a question, in at most 64 bytes of ASCII.
    pub(super) fn encode(self, cue: CueId) -> String {
        match self {
            Self::Yes => format!("{cue}:y"),
            Self::No => format!("{cue}:n"),
            Self::Continue => format!("{cue}:c"),
            Self::Send { seen: None } => format!("{cue}:s"),
            Self::Send {
                seen: Some(Marks(bits)),
            } => format!("{cue}:s{bits:x}"),
            Self::Option(index) => format!("{cue}:{index}"),
        }
    }

    /// Parses a button; `None` for data that is not ours.
    pub(super) fn decode(text: &str) -> Option<(CueId, Self)> {
        let (cue, code) = text.split_once(':')?;
        let press = match code {
            "y" => Self::Yes,
            "n" => Self::No,
            "c" => Self::Continue,
            "s" => Self::Send { seen: None },
            number => match number.strip_prefix('s') {
                Some(bits) => Self::Send {
                    seen: Some(Marks(u128::from_str_radix(bits, 16).ok()?)),
                },
                None => Self::Option(number.parse().ok()?),
            },
        };
        Some((cue.parse().ok()?, press))
    }

    /// Returns the meaning of a press for a question; `None` when the question has no such button.
    pub(super) fn meaning(self, kind: Kind, payload: Option<&Payload>, marked: &[usize]) -> Option<Meaning> {
        let shape = payload.map(Payload::shape);
        match (self, kind, shape) {
            (Self::Yes | Self::No, Kind::Cue, Some(Shape::Confirm(_))) => Some(decide(Reply::Confirm {
                confirmed: self == Self::Yes,
            })),
            (Self::Continue, Kind::Pause, _) => Some(decide(Reply::Continue)),
            (Self::Option(index), Kind::Cue, Some(Shape::Choice(choice))) => {
                choice.options.get(index)?;
                if !choice.allow_multiple {
                    return Some(chosen(choice, &[index]));
                }
                let mut marked = marked.to_vec();
                match marked.iter().position(|known| *known == index) {
                    Some(place) => drop(marked.remove(place)),
                    None => marked.push(index),
                }
                Some(Meaning::Mark(marked))
            }
            (Self::Send { seen }, Kind::Cue, Some(Shape::Choice(choice))) if choice.allow_multiple => {
                Some(if seen.is_some_and(|seen| seen != Marks::of(marked)) {
                    Meaning::NotSeen
                } else if marked.is_empty() {
                    Meaning::NothingMarked
                } else {
                    chosen(choice, marked)
                })
            }
            _ => None,
        }
    }
}

/// Words that name one option and are the number of another.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ambiguous;

/// Turns words and files in reply to a question into an answer.
pub(super) fn written(
    text: &str,
    attachments: Vec<Attachment>,
    kind: Kind,
    payload: Option<&Payload>,
) -> Result<Answer, Ambiguous> {
    let text = text.trim();
    let reply = match (kind, payload.map(Payload::shape)) {
        (Kind::Cue, Some(Shape::Confirm(confirm))) => {
            consent(text, confirm).map(|confirmed| Reply::Confirm { confirmed })
        }
        (Kind::Cue, Some(Shape::Choice(choice))) => picked(text, choice)?.map(|selected| Reply::Choice {
            selected,
            other: None,
        }),
        _ => None,
    };
    let is_reply = reply.is_some();
    Ok(Answer {
        reply,
        text: (!is_reply && !text.is_empty()).then(|| text.to_owned()),
        attachments,
        ends_run: false,
    })
}

/// Reads options by their spelling or by their numbers, such as `2` or `1, 3`.
fn picked(text: &str, choice: &Choice) -> Result<Option<Vec<String>>, Ambiguous> {
    let spelled = |part: &str| {
        choice
            .options
            .iter()
            .find(|option| option.trim() == part)
            .cloned()
    };
    let numbered = |part: &str| {
        let number: usize = part.parse().ok()?;
        choice.options.get(number.checked_sub(1)?).cloned()
    };
    let each = |separators: &[char], read: &dyn Fn(&str) -> Option<String>| {
        let parts = text
            .split(separators)
            .map(str::trim)
            .filter(|part| !part.is_empty());
        let found: Vec<String> = parts.map(read).collect::<Option<_>>()?;
        let fits = found.len() == 1 || (choice.allow_multiple && !found.is_empty());
        fits.then_some(found)
    };
    let by_name = spelled(text)
        .map(|option| vec![option])
        .or_else(|| each(&[','], &spelled));
    match (by_name, each(&[',', ' '], &numbered)) {
        (Some(by_name), Some(by_number)) if by_name != by_number => Err(Ambiguous),
        (by_name, by_number) => Ok(by_name.or(by_number)),
    }
}

fn chosen(choice: &Choice, marked: &[usize]) -> Meaning {
    let selected = marked
        .iter()
        .filter_map(|index| choice.options.get(*index).cloned())
        .collect();
    decide(Reply::Choice {
        selected,
        other: None,
    })
}

fn decide(reply: Reply) -> Meaning {
    Meaning::Decide(Answer {
        reply: Some(reply),
        ..Answer::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(json: &str) -> Payload {
        Payload::parse(json).unwrap()
    }

    fn many() -> Payload {
        payload(r#"{"type":"choice","options":["a","b","c"],"allow_multiple":true}"#)
    }

    #[test]
    fn a_button_is_read_back_and_nothing_else_is() {
        let cue = CueId::from_random(u64::MAX);
        for press in [
            Press::Yes,
            Press::No,
            Press::Continue,
            Press::Send { seen: None },
            Press::Send {
                seen: Some(Marks::of(&(0..99).collect::<Vec<_>>())),
            },
            Press::Option(199),
        ] {
            let written = press.encode(cue);
            assert!(written.len() <= 64, "{written}");
            assert_eq!(Press::decode(&written), Some((cue, press)));
        }
        for wrong in ["", ":", "x:y", "7k3:", "7k3:-1", "7k3:yes", "7k3:sz"] {
            assert_eq!(Press::decode(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn marks_are_toggled_and_sent_together() {
        let many = many();
        let press = |press: Press, marked: &[usize]| press.meaning(Kind::Cue, Some(&many), marked);
        assert_eq!(press(Press::Option(2), &[]), Some(Meaning::Mark(vec![2])));
        assert_eq!(press(Press::Option(2), &[0, 2]), Some(Meaning::Mark(vec![0])));
        let send = Press::Send { seen: None };
        assert_eq!(press(send, &[]), Some(Meaning::NothingMarked));
        assert_eq!(press(Press::Option(3), &[]), None);
        let Some(Meaning::Decide(answer)) = press(send, &[2, 0]) else {
            panic!("not an answer");
        };
        let selected = vec!["c".to_owned(), "a".to_owned()];
        assert_eq!(
            answer.reply,
            Some(Reply::Choice {
                selected,
                other: None
            })
        );
    }

    #[test]
    fn marks_that_the_person_did_not_see_are_not_sent() {
        let many = many();
        let press = |seen: &[usize], marked: &[usize]| {
            let seen = Some(Marks::of(seen));
            Press::Send { seen }.meaning(Kind::Cue, Some(&many), marked)
        };
        assert_eq!(press(&[0], &[0, 1]), Some(Meaning::NotSeen));
        assert_eq!(press(&[0], &[]), Some(Meaning::NotSeen));
        assert!(matches!(press(&[1, 0], &[0, 1]), Some(Meaning::Decide(_))));
    }

    #[test]
    fn a_button_of_another_question_means_nothing() {
        let confirm = payload(r#"{"type":"confirm"}"#);
        for press in [Press::Continue, Press::Option(0), Press::Send { seen: None }] {
            assert_eq!(press.meaning(Kind::Cue, Some(&confirm), &[]), None);
            assert_eq!(Press::Yes.meaning(Kind::Cue, None, &[]), None);
        }
        assert_eq!(Press::Yes.meaning(Kind::Pause, None, &[]), None);
    }

    #[test]
    fn words_in_reply_are_a_button_only_when_they_spell_one() {
        let confirm = payload(r#"{"type":"confirm"}"#);
        let of = |text: &str, payload: &Payload| written(text, Vec::new(), Kind::Cue, Some(payload)).unwrap();
        assert_eq!(
            of("Yes!", &confirm).reply,
            Some(Reply::Confirm { confirmed: true })
        );
        assert_eq!(
            of("no", &confirm).reply,
            Some(Reply::Confirm { confirmed: false })
        );
        let words = of("yes, but later", &confirm);
        assert_eq!(
            (words.reply, words.text.as_deref()),
            (None, Some("yes, but later"))
        );
        let picks = |text: &str| match of(text, &many()).reply {
            Some(Reply::Choice { selected, .. }) => Some(selected.join("+")),
            _ => None,
        };
        assert_eq!(picks("b").as_deref(), Some("b"));
        assert_eq!(picks("1, 3").as_deref(), Some("a+c"));
        assert_eq!(picks("c, a").as_deref(), Some("c+a"));
        assert_eq!(picks("4"), None);
        assert_eq!(picks("neither"), None);
    }

    #[test]
    fn a_number_that_is_also_the_name_of_another_option_picks_none() {
        let picks = |text: &str, many: bool| {
            let payload = format!(r#"{{"type":"choice","options":["1","3","5"],"allow_multiple":{many}}}"#);
            let answer = written(text, Vec::new(), Kind::Cue, Some(&self::payload(&payload)));
            answer.map(|answer| match answer.reply {
                Some(Reply::Choice { selected, .. }) => selected.join("+"),
                _ => "words".to_owned(),
            })
        };
        assert_eq!(picks("1", false).as_deref(), Ok("1"), "both readings agree");
        assert_eq!(picks("5", false).as_deref(), Ok("5"));
        assert_eq!(picks("2", false).as_deref(), Ok("3"));
        assert_eq!(picks("3", false), Err(Ambiguous));
        assert_eq!(picks("1, 3", true), Err(Ambiguous));
        assert_eq!(picks("1, 5", true).as_deref(), Ok("1+5"));
        assert_eq!(picks("neither", true).as_deref(), Ok("words"));
    }
}
