//! One rule: when it fits, and what it does then. Pure.

use std::borrow::Cow;

use protocol_spec::answer::{Answer, Reply};
use protocol_spec::outcome::Origin;
use protocol_spec::payload::{CANCEL_LABEL, CONFIRM_LABEL, Shape};
use protocol_spec::time::Timestamp;
use regex::Regex;
use serde::{Deserialize, Deserializer, de};

use super::glob::fits;
use crate::hours::Hours;

/// How many automatic answers may follow one another unless a rule says otherwise.
pub const IN_A_ROW_DEFAULT: u32 = 3;
/// The longest question a pattern is held against, in bytes. Nobody has looked at a longer one: whatever holds, holds it,
/// and whatever answers does not fit.
const PATTERN_BYTES_MAX: usize = 1024 * 1024;

/// A rule of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Written")]
pub struct Policy {
    /// Its name, shown with everything it does.
    pub name: String,
    /// How many automatic answers may follow one another before a human has to answer.
    pub in_a_row_max: u32,
    agent: Option<String>,
    runtime: Vec<String>,
    project: Option<String>,
    payload: Vec<Asks>,
    origin: Vec<Origin>,
    text: Option<Pattern>,
    hours: Option<Hours>,
    until: Option<Timestamp>,
    action: Action,
}

/// What a rule does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// It answers.
    Answer(Answer),
    /// It leaves the question to a human, whatever later rules say.
    Hold,
}

/// How a question wants to be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asks {
    /// With words.
    None,
    /// By picking.
    Choice,
    /// By yes or no.
    Confirm,
    /// By filling in.
    Form,
    /// By pressing Continue.
    Pause,
}

impl Asks {
    /// Returns how rules name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Choice => "choice",
            Self::Confirm => "confirm",
            Self::Form => "form",
            Self::Pause => "pause",
        }
    }
}

/// A question as rules see it.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// The agent's id.
    pub agent_id: &'a str,
    /// The agent's name.
    pub agent_name: Option<&'a str>,
    /// The agent's runtime.
    pub runtime: &'a str,
    /// The directory it works in.
    pub project_dir: &'a str,
    /// How it wants to be answered.
    pub asks: Asks,
    /// Who opened it.
    pub origin: Origin,
    /// What it says above what is to be answered.
    pub prompt: &'a str,
    /// What is to be answered, which says something too.
    pub shape: Option<&'a Shape>,
    /// The minute of the day, in local time.
    pub minute_of_day: u16,
    /// When a rule is held against it: a rule that has ended fits nothing.
    pub at: Timestamp,
}

/// Returns the first rule that is on and fits.
pub fn first_fitting<'a>(
    policies: &'a [Policy],
    is_on: impl Fn(&Policy) -> bool,
    case: &Case<'_>,
) -> Option<&'a Policy> {
    policies.iter().find(|policy| is_on(policy) && policy.fits(case))
}

impl<'a> Case<'a> {
    /// Returns everything the agent wrote for the human to read, part by part.
    fn words(&self) -> Vec<&'a str> {
        let mut words = vec![self.prompt];
        match self.shape {
            None => {}
            Some(Shape::Choice(choice)) => words.extend(choice.options.iter().map(String::as_str)),
            Some(Shape::Confirm(confirm)) => {
                let labels = [&*confirm.confirm_label, &*confirm.cancel_label];
                // What a button says unless told otherwise is nobody's word.
                let is_written = |label: &&str| ![CONFIRM_LABEL, CANCEL_LABEL].contains(label);
                words.extend(confirm.text.as_deref());
                words.extend(labels.into_iter().filter(is_written));
            }
            Some(Shape::Form(form)) => {
                for field in &form.fields {
                    words.push(&field.label);
                    words.extend(field.options.iter().map(String::as_str));
                }
            }
        }
        words
    }
}

impl<'a> Case<'a> {
    /// Returns what an answer agrees to: the command or the input of a tool where one is to be approved, else the prompt;
    /// and what a confirm says besides.
    fn agreed_to(&self) -> String {
        let subject = match self.origin {
            Origin::Approval => approved(self.prompt),
            Origin::Agent | Origin::Hook | Origin::Adapter | Origin::Import => Cow::Borrowed(self.prompt),
        };
        let mut parts = vec![subject.trim()];
        if let Some(Shape::Confirm(_)) = self.shape
            && self.origin != Origin::Approval
        {
            parts.extend(self.words().into_iter().skip(1));
        }
        parts.join("\n")
    }
}

impl Case<'_> {
    /// Returns what a rule has to say to fit exactly this.
    pub fn says(&self) -> String {
        self.agreed_to().trim().replace('\\', r"\\").replace('*', r"\*")
    }
}

/// Returns what is to be approved: what stands below the heading, block by block, without the fences.
///
/// A heading names the tool and the folder. Below it stand the command, and then the rest of the tool's input as JSON.
/// A text of another form is taken whole.
fn approved(prompt: &str) -> Cow<'_, str> {
    let Some((heading, rest)) = prompt.split_once("\n\n") else {
        return prompt.into();
    };
    if heading.contains('\n') {
        return prompt.into();
    }
    if !rest.starts_with("```") {
        return rest.into();
    }
    match blocks(rest) {
        Some(blocks) => blocks.join("\n").into(),
        None => prompt.into(),
    }
}

/// Splits a text into the contents of its fenced blocks; nothing where there is anything else in it.
fn blocks(text: &str) -> Option<Vec<&str>> {
    let mut blocks = Vec::new();
    let mut rest = text.trim_end();
    while !rest.is_empty() {
        let (fence, inside) = rest.split_once('\n')?;
        if fence.len() < 3 || !fence.bytes().all(|letter| letter == b'`') {
            return None;
        }
        let end = format!("\n{fence}");
        let (block, after) = inside.split_once(&end)?;
        blocks.push(block);
        rest = match after {
            "" => "",
            after => after.strip_prefix("\n\n")?,
        };
    }
    Some(blocks)
}

impl Policy {
    /// Returns what it does.
    pub fn action(&self) -> &Action {
        &self.action
    }

    /// Says whether its end is past.
    pub fn has_ended(&self, at: Timestamp) -> bool {
        self.until.is_some_and(|until| until <= at)
    }

    /// Returns when it ends, if it does.
    pub fn until(&self) -> Option<Timestamp> {
        self.until
    }

    /// Says whether it fits a question.
    pub fn fits(&self, case: &Case<'_>) -> bool {
        !self.has_ended(case.at)
            && self.fits_agent(case)
            && self.fits_origin(case.origin)
            && (self.payload.is_empty() || self.payload.contains(&case.asks))
            && self.hours.is_none_or(|hours| hours.contains(case.minute_of_day))
            && self.fits_text(case)
    }

    fn fits_text(&self, case: &Case<'_>) -> bool {
        let Some(pattern) = &self.text else { return true };
        let words = case.words();
        if words.iter().map(|part| part.len()).sum::<usize>() > PATTERN_BYTES_MAX {
            return self.action == Action::Hold;
        }
        match self.action {
            // Caution may be about any part of it.
            Action::Hold => pattern.is_in(&words),
            // A yes is for exactly what the rule's author wrote down: nothing before it, nothing behind it.
            Action::Answer(_) => pattern.is_all_of(&case.agreed_to()),
        }
    }

    fn fits_agent(&self, case: &Case<'_>) -> bool {
        let is_named = |pattern: &String| {
            fits(pattern, case.agent_id) || case.agent_name.is_some_and(|name| fits(pattern, name))
        };
        self.agent.as_ref().is_none_or(is_named)
            && (self.runtime.is_empty() || self.runtime.iter().any(|runtime| fits(runtime, case.runtime)))
            && self
                .project
                .as_ref()
                .is_none_or(|project| fits(project, case.project_dir))
    }

    /// What a hook or an approval opened has consequences of its own: a rule must name it.
    fn fits_origin(&self, origin: Origin) -> bool {
        match origin {
            Origin::Agent | Origin::Adapter => self.origin.is_empty() || self.origin.contains(&origin),
            Origin::Hook | Origin::Approval | Origin::Import => self.origin.contains(&origin),
        }
    }

    /// Says in words when it fits and what it does.
    pub fn describe(&self) -> String {
        let mut when = Vec::new();
        when.extend(self.agent.as_ref().map(|agent| format!("agent {agent}")));
        if !self.runtime.is_empty() {
            when.push(format!("runtime {}", self.runtime.join(" or ")));
        }
        when.extend(self.project.as_ref().map(|project| format!("project {project}")));
        if !self.payload.is_empty() {
            let kinds: Vec<String> = self.payload.iter().map(|kind| kind.name().to_owned()).collect();
            when.push(format!("payload {}", kinds.join(" or ")));
        }
        if !self.origin.is_empty() {
            let origins: Vec<String> = self
                .origin
                .iter()
                .map(|origin| format!("{origin:?}").to_lowercase())
                .collect();
            when.push(format!("opened by {}", origins.join(" or ")));
        }
        when.extend(self.text.as_ref().map(Pattern::describe));
        when.extend(self.hours.map(|hours| format!("at {hours}")));
        let when = if when.is_empty() {
            "always".to_owned()
        } else {
            when.join(", ")
        };
        let then = match &self.action {
            Action::Hold => "leave it to a human".to_owned(),
            Action::Answer(answer) => format!("answer {}", in_words(answer)),
        };
        format!("{when}: {then}")
    }
}

fn in_words(answer: &Answer) -> String {
    let reply = match &answer.reply {
        Some(Reply::Choice { selected, .. }) => Some(selected.join(", ")),
        Some(Reply::Confirm { confirmed: true }) => Some("yes".to_owned()),
        Some(Reply::Confirm { confirmed: false }) => Some("no".to_owned()),
        Some(Reply::Continue) => Some("continue".to_owned()),
        Some(Reply::Form { .. }) | None => None,
    };
    let parts: Vec<String> = reply
        .into_iter()
        .chain(answer.text.clone())
        .map(|part| format!("\"{part}\""))
        .collect();
    parts.join(" and ")
}

/// A regular expression that is known to be one, with the text that it was made of, if it was made of one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern(String, Option<String>);

impl Pattern {
    /// Takes a text as it is, but for `*`, which stands for anything; `\*` and `\\` stand for themselves. Case does not count.
    fn of_words(words: &str) -> Self {
        let mut pattern = "(?is)".to_owned();
        let mut letters = words.trim().chars();
        while let Some(letter) = letters.next() {
            match letter {
                '*' => pattern.push_str(".*"),
                '\\' => pattern.push_str(&regex::escape(&letters.next().unwrap_or('\\').to_string())),
                _ => pattern.push_str(&regex::escape(&letter.to_string())),
            }
        }
        Self(pattern, Some(words.trim().to_owned()))
    }

    fn describe(&self) -> String {
        match &self.1 {
            Some(words) => format!("text {words:?}"),
            None => format!("text like /{}/", self.0),
        }
    }

    /// Says whether it is found somewhere.
    fn is_in(&self, words: &[&str]) -> bool {
        // It was compiled when the configuration was read.
        Regex::new(&self.0).is_ok_and(|pattern| words.iter().any(|part| pattern.is_match(part)))
    }

    /// Says whether it describes a text from the first character to the last.
    fn is_all_of(&self, text: &str) -> bool {
        Regex::new(&format!(r"\A(?:{})\z", self.0)).is_ok_and(|pattern| pattern.is_match(text))
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Regex::new(&text).map_err(|error| de::Error::custom(format!("{text:?} is no pattern: {error}")))?;
        Ok(Self(text, None))
    }
}

/// A rule as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    agent: Option<String>,
    #[serde(default)]
    runtime: OneOrMore<String>,
    project: Option<String>,
    #[serde(default)]
    payload: OneOrMore<Asks>,
    #[serde(default)]
    origin: OneOrMore<Origin>,
    text: Option<Pattern>,
    says: Option<String>,
    hours: Option<Hours>,
    until: Option<Timestamp>,
    in_a_row_max: Option<u32>,
    answer: Option<String>,
    #[serde(default)]
    choose: OneOrMore<String>,
    confirm: Option<bool>,
    #[serde(rename = "continue", default)]
    continues: bool,
    #[serde(default)]
    hold: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore<T> {
    One(T),
    More(Vec<T>),
}

impl<T> Default for OneOrMore<T> {
    fn default() -> Self {
        Self::More(Vec::new())
    }
}

impl<T> From<OneOrMore<T>> for Vec<T> {
    fn from(values: OneOrMore<T>) -> Self {
        match values {
            OneOrMore::One(value) => vec![value],
            OneOrMore::More(values) => values,
        }
    }
}

impl TryFrom<Written> for Policy {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let name = written.name.trim().to_owned();
        if name.is_empty() || name.contains('/') || name.chars().any(char::is_control) {
            return Err("a policy needs a name without slashes".to_owned());
        }
        if written.text.is_some() && written.says.is_some() {
            return Err(format!("policy {name:?} has both text and says"));
        }
        let says = written.says.filter(|says| !says.trim().is_empty());
        let chosen: Vec<String> = written.choose.into();
        let replies = [
            (!chosen.is_empty()).then_some(Reply::Choice {
                selected: chosen,
                other: None,
            }),
            written.confirm.map(|confirmed| Reply::Confirm { confirmed }),
            written.continues.then_some(Reply::Continue),
        ];
        let mut replies = replies.into_iter().flatten();
        let reply = replies.next();
        if replies.next().is_some() {
            return Err(format!(
                "policy {name:?} has more than one of choose, confirm and continue"
            ));
        }
        let says_something = written.answer.is_some() || reply.is_some();
        let action = match (written.hold, says_something) {
            (true, false) => Action::Hold,
            (false, true) => Action::Answer(Answer {
                text: written.answer,
                reply,
                attachments: Vec::new(),
                ends_run: false,
            }),
            (true, true) => return Err(format!("policy {name:?} both answers and holds")),
            (false, false) => {
                return Err(format!(
                    "policy {name:?} does nothing; add answer, choose, confirm, continue or hold"
                ));
            }
        };
        Ok(Self {
            name,
            in_a_row_max: written.in_a_row_max.unwrap_or(IN_A_ROW_DEFAULT),
            agent: written.agent,
            runtime: written.runtime.into(),
            project: written.project,
            payload: written.payload.into(),
            origin: written.origin.into(),
            text: written.text.or(says.map(|says| Pattern::of_words(&says))),
            hours: written.hours,
            until: written.until,
            action,
        })
    }
}

#[cfg(test)]
mod tests {
    use protocol_spec::payload::Payload;

    use super::*;

    fn policies(text: &str) -> Vec<Policy> {
        #[derive(Deserialize)]
        struct Config {
            policy: Vec<Policy>,
        }
        toml::from_str::<Config>(text).unwrap().policy
    }

    fn case() -> Case<'static> {
        Case {
            agent_id: "bako-nefi",
            agent_name: Some("Build bot"),
            runtime: "cursor",
            project_dir: "/home/me/web",
            asks: Asks::None,
            origin: Origin::Agent,
            prompt: "Tests are green. Shall I continue?",
            shape: None,
            minute_of_day: 12 * 60,
            at: Timestamp::from_millis(1_000),
        }
    }

    fn name<'a>(policies: &'a [Policy], case: &Case<'_>) -> Option<&'a str> {
        first_fitting(policies, |_| true, case).map(|policy| policy.name.as_str())
    }

    #[test]
    fn the_first_rule_that_fits_decides() {
        let rules = policies(
            "[[policy]]\nname = \"never here\"\nproject = \"*/secret*\"\nhold = true\n\
             [[policy]]\nname = \"go on\"\nagent = \"build*\"\ntext = \"(?i).*shall i continue.\"\nanswer = \"Yes.\"\n\
             [[policy]]\nname = \"rest\"\nanswer = \"?\"",
        );
        assert_eq!(name(&rules, &case()), Some("go on"));
        assert_eq!(
            name(
                &rules,
                &Case {
                    project_dir: "/home/me/secrets",
                    ..case()
                }
            ),
            Some("never here")
        );
        assert_eq!(
            name(
                &rules,
                &Case {
                    prompt: "Which one?",
                    ..case()
                }
            ),
            Some("rest")
        );
        let without = first_fitting(&rules, |policy| policy.name != "go on", &case());
        assert_eq!(without.map(|policy| policy.name.as_str()), Some("rest"));
    }

    /// A careful human's rules: what sounds dangerous is theirs, anything else is confirmed or answered.
    fn careful() -> Vec<Policy> {
        policies(
            "[[policy]]\nname = \"hold\"\ntext = \"(?i)delete|drop|force\"\nhold = true\n\
             [[policy]]\nname = \"confirm\"\npayload = \"confirm\"\nconfirm = true\n\
             [[policy]]\nname = \"go on\"\ntext = \"(?is)shall i.*\"\nanswer = \"Yes.\"",
        )
    }

    #[test]
    fn a_text_is_looked_for_in_everything_the_human_would_read() {
        let rules = careful();
        for (payload, fitting) in [
            (
                r#"{"type":"confirm","text":"Delete the production database?"}"#,
                "hold",
            ),
            (r#"{"type":"confirm","confirm_label":"Delete it"}"#, "hold"),
            (r#"{"type":"confirm","cancel_label":"\u0044rop it"}"#, "hold"),
            (r#"{"type":"confirm","text":"Tidy up?"}"#, "confirm"),
        ] {
            let payload = Payload::parse(payload).unwrap();
            let case = Case {
                prompt: "Please confirm",
                asks: Asks::Confirm,
                shape: Some(payload.shape()),
                ..case()
            };
            assert_eq!(name(&rules, &case), Some(fitting), "{payload:?}");
        }
        for payload in [
            r#"{"type":"choice","options":["Stop","Force-push"]}"#,
            r#"{"type":"form","fields":[{"label":"Table to drop"}]}"#,
            r#"{"type":"form","fields":[{"label":"What","options":["keep","delete"]}]}"#,
        ] {
            let payload = Payload::parse(payload).unwrap();
            let case = Case {
                shape: Some(payload.shape()),
                ..case()
            };
            assert_eq!(name(&rules, &case), Some("hold"), "{payload:?}");
        }
    }

    #[test]
    fn what_a_button_says_by_itself_is_not_looked_at() {
        let rules = policies("[[policy]]\nname = \"x\"\ntext = \"Confirm|Cancel\"\nhold = true");
        let payload = Payload::parse(r#"{"type":"confirm"}"#).unwrap();
        let case = Case {
            shape: Some(payload.shape()),
            ..case()
        };
        assert_eq!(name(&rules, &case), None);
    }

    #[test]
    fn a_text_is_found_however_late_it_comes() {
        let prompt = format!("{} Shall I delete it?", "-".repeat(270_000));
        let case = Case {
            prompt: &prompt,
            ..case()
        };
        assert_eq!(name(&careful(), &case), Some("hold"));
    }

    #[test]
    fn a_question_too_long_to_be_looked_at_is_a_humans() {
        let rules = careful();
        let prompt = format!("Shall I?{}", "-".repeat(PATTERN_BYTES_MAX));
        let case = Case {
            prompt: &prompt,
            ..case()
        };
        assert_eq!(name(&rules, &case), Some("hold"));
        assert_eq!(name(&rules[2..], &case), None);
    }

    #[test]
    fn a_rule_that_answers_agrees_to_the_whole_text_and_to_nothing_appended() {
        let rules = policies(
            "[[policy]]\nname = \"go on\"\ntext = \"Shall I run the tests\\\\?\"\nanswer = \"Yes.\"",
        );
        for (prompt, fits) in [
            ("Shall I run the tests?", true),
            ("Shall I run the tests?\n", true),
            ("Shall I run the tests? And push to production?", false),
            ("Shall I run the tests?\n\nAnd push?", false),
            ("Not only this. Shall I run the tests?", false),
        ] {
            assert_eq!(
                name(&rules, &Case { prompt, ..case() }).is_some(),
                fits,
                "{prompt}"
            );
        }
        let confirm =
            policies("[[policy]]\nname = \"x\"\ntext = \"Go on.\"\npayload = \"confirm\"\nconfirm = true");
        for (payload, fits) in [
            (r#"{"type":"confirm"}"#, true),
            (r#"{"type":"confirm","text":"and delete everything"}"#, false),
            (r#"{"type":"confirm","confirm_label":"Delete"}"#, false),
        ] {
            let payload = Payload::parse(payload).unwrap();
            let case = Case {
                prompt: "Go on?",
                asks: Asks::Confirm,
                shape: Some(payload.shape()),
                ..case()
            };
            assert_eq!(name(&confirm, &case).is_some(), fits, "{payload:?}");
        }
    }

    #[test]
    fn an_approval_is_matched_by_its_command_and_not_by_the_tool_or_the_folder() {
        let rules = policies(
            "[[policy]]\nname = \"tests\"\norigin = \"approval\"\ntext = \"(cargo|npm) test( .*)?\"\nconfirm = true",
        );
        for (prompt, fits) in [
            ("May Bash run in /home/me/web?\n\n```\nnpm test\n```", true),
            (
                "The agent wants to run this command:\n\ncargo test --workspace",
                true,
            ),
            ("May Bash run in /srv/cargo test?\n\n```\nrm -rf /\n```", false),
            ("May Bash run?\n\n```\nnpm test\nrm -rf /\n```", false),
            ("May Bash run?\n\n````\nnpm test\n```\nrm\n````", false),
            ("May Bash run?\n\n```\nrm -rf /\n```\n\n```\nnpm test\n```", false),
            (
                "May Bash run?\n\n```\nnpm test\n```\n\n```\n{ \"sandbox\": false }\n```",
                false,
            ),
            ("npm test\n\nrm -rf /", false),
        ] {
            let case = Case {
                prompt,
                origin: Origin::Approval,
                ..case()
            };
            assert_eq!(name(&rules, &case).is_some(), fits, "{prompt}");
        }
        let all = policies(
            "[[policy]]\nname = \"x\"\norigin = \"approval\"\ntext = '''npm test\\n\\{ \"timeout\": \\d+ \\}'''\nconfirm = true",
        );
        let case = Case {
            prompt: "May `Bash` run in `/app`?\n\n```\nnpm test\n```\n\n```\n{ \"timeout\": 9 }\n```",
            origin: Origin::Approval,
            ..case()
        };
        assert_eq!(name(&all, &case), Some("x"), "all of the input is seen");
    }

    #[test]
    fn each_condition_counts() {
        let rules = policies(
            "[[policy]]\nname = \"x\"\nruntime = [\"cursor\", \"codex\"]\npayload = \"choice\"\nhours = \"09:00-17:00\"\nchoose = \"A\"",
        );
        let fitting = Case {
            asks: Asks::Choice,
            ..case()
        };
        assert_eq!(name(&rules, &fitting), Some("x"));
        assert_eq!(name(&rules, &case()), None);
        assert_eq!(
            name(
                &rules,
                &Case {
                    runtime: "kiro",
                    ..fitting
                }
            ),
            None
        );
        assert_eq!(
            name(
                &rules,
                &Case {
                    minute_of_day: 17 * 60,
                    ..fitting
                }
            ),
            None
        );
    }

    #[test]
    fn hooks_and_approvals_are_answered_only_by_rules_that_name_them() {
        let rules = policies("[[policy]]\nname = \"all\"\nanswer = \"Yes.\"");
        for (origin, fits) in [
            (Origin::Agent, true),
            (Origin::Adapter, true),
            (Origin::Hook, false),
            (Origin::Approval, false),
        ] {
            assert_eq!(
                name(&rules, &Case { origin, ..case() }).is_some(),
                fits,
                "{origin:?}"
            );
        }
        let rules = policies("[[policy]]\nname = \"approve\"\norigin = \"approval\"\nconfirm = true");
        assert_eq!(
            name(
                &rules,
                &Case {
                    origin: Origin::Approval,
                    ..case()
                }
            ),
            Some("approve")
        );
        assert_eq!(name(&rules, &case()), None);
    }

    #[test]
    fn a_rule_that_makes_no_sense_is_refused_with_the_reason() {
        let refused = |text: &str| toml::from_str::<Policy>(text).unwrap_err().to_string();
        assert!(refused("name = \"x\"").contains("does nothing"));
        assert!(refused("name = \"x\"\nanswer = \"y\"\nhold = true").contains("both"));
        assert!(refused("name = \"x\"\nconfirm = true\nchoose = \"y\"").contains("more than one"));
        assert!(refused("name = \"x\"\nanswer = \"y\"\ntext = \"(\"").contains("pattern"));
        assert!(refused("name = \"x\"\nanser = \"y\"").contains("anser"));
        assert!(refused("name = \"a/b\"\nhold = true").contains("name"));
        assert!(
            refused("name = \"x\"\nanswer = \"y\"\ntext = \"a\"\nsays = \"a\"")
                .contains("both text and says")
        );
    }

    #[test]
    fn words_are_taken_as_they_are_but_for_the_star() {
        let rules =
            policies("[[policy]]\nname = \"x\"\nsays = 'Tests are green. Shall I *?'\nanswer = \"go\"");
        assert_eq!(name(&rules, &case()), Some("x"));
        for prompt in [
            "Tests are green. Shall I deploy?",
            "tests are green. shall I first\nwait?",
        ] {
            assert_eq!(name(&rules, &Case { prompt, ..case() }), Some("x"), "{prompt}");
        }
        for prompt in ["Testsxare green. Shall I go?", "No. Tests are green. Shall I go?"] {
            assert_eq!(name(&rules, &Case { prompt, ..case() }), None, "{prompt}");
        }
        let literal = policies("[[policy]]\nname = \"x\"\nsays = '\\*\\*Now\\*\\* a\\\\b?'\nanswer = \"go\"");
        assert_eq!(
            name(
                &literal,
                &Case {
                    prompt: r"**Now** a\b?",
                    ..case()
                }
            ),
            Some("x")
        );
        assert_eq!(
            name(
                &literal,
                &Case {
                    prompt: r"--Now-- a\b?",
                    ..case()
                }
            ),
            None
        );
        assert_eq!(
            literal[0].describe(),
            r#"text "\\*\\*Now\\*\\* a\\\\b?": answer "go""#
        );
    }

    #[test]
    fn what_a_question_says_is_escaped_into_a_rule_that_fits_it_and_nothing_else() {
        let prompt = r"Drop `*.log` in C:\tmp?";
        let asked = Case { prompt, ..case() };
        let rule = format!(
            "[[policy]]\nname = \"x\"\nsays = '{}'\nanswer = \"go\"",
            asked.says()
        );
        let rules = policies(&rule);
        assert_eq!(name(&rules, &asked), Some("x"));
        assert_eq!(
            name(
                &rules,
                &Case {
                    prompt: r"Drop `all.log` in C:\tmp?",
                    ..case()
                }
            ),
            None
        );
    }

    #[test]
    fn a_rule_ends() {
        let rules = policies("[[policy]]\nname = \"x\"\nuntil = \"1970-01-01T00:00:01Z\"\nanswer = \"go\"");
        assert_eq!(name(&rules, &case()), None);
        assert_eq!(
            name(
                &rules,
                &Case {
                    at: Timestamp::from_millis(999),
                    ..case()
                }
            ),
            Some("x")
        );
    }

    #[test]
    fn a_rule_says_in_words_what_it_does() {
        let rules = policies(
            "[[policy]]\nname = \"x\"\nagent = \"b*\"\nhours = \"09:00-17:00\"\nchoose = \"A\"\nanswer = \"go\"",
        );
        assert_eq!(
            rules[0].describe(),
            "agent b*, at 09:00-17:00: answer \"A\" and \"go\""
        );
    }
}
