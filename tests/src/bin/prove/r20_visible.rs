//! Generated prompts in the page: what the browser shows of each holds every character that the agent wrote.
//!
//! The prompts go the whole way: an agent asks, the broker stores and renders, a real browser shows the conversation. What
//! the page leaves out must be marks of Markdown, and the question must offer its source.

use std::fmt::Write;
use std::io::ErrorKind;
use std::process::Command;

use cueme_tests::browser::{Browser, DESKTOP};
use cueme_tests::{Home, Random, Wire};
use protocol_spec::message::{Ask, Reply, Request, WebLink};
use protocol_spec::outcome::{Kind, Origin};
use serde_json::Value;

use crate::load::join_all;
use crate::r05_fuzz::readers::visible::{FRAGMENTS, check};
use crate::trial::{NotRun, Trial};

/// The number of prompts in one conversation: as many as the page reads at once.
const PROMPTS_PER_AGENT: usize = 25;
/// The most fragments a prompt is put together from.
const FRAGMENTS_MAX: u64 = 60;
/// One prompt in so many asks for an approval.
const APPROVALS: u64 = 5;

/// Returns what is shown of each question, whether its source is offered, and how many lines it says are folded.
const SHOWN: &str = "return [...document.querySelectorAll('.entry')].map((entry) => [entry.id.slice(4), entry.querySelector('.fold').innerText, Boolean(entry.querySelector('.source-button')), [...entry.querySelectorAll('[data-folded]')].reduce((sum, el) => sum + Number(el.dataset.folded), 0)])";

/// A prompt that was asked.
struct Asked {
    cue: String,
    prompt: String,
    origin: Origin,
}

pub(crate) fn run(trial: &mut Trial) -> Result<(), NotRun> {
    for program in ["chromium", "chromedriver"] {
        if let Err(error) = Command::new(program).arg("--version").output()
            && error.kind() == ErrorKind::NotFound
        {
            trial.lack("the page in a real browser", program);
            return Ok(());
        }
    }
    let prompts: usize = trial.size(500, 10_000, 100_000);
    let home = Home::new();
    let agents = join_all(&home, prompts.div_ceil(PROMPTS_PER_AGENT));
    let browser = Browser::open(&link(&home), DESKTOP);
    // Everything is laid out, also what is far from the view: the text that is read is the text that would be seen.
    let (mut held, mut approvals) = (0, 0);
    for (number, agent) in (0..).zip(&agents) {
        let asked = ask_all(&home, agent, &mut trial.random);
        let shown = read(&browser, agent, asked.len());
        for asked in &asked {
            match is_shown(asked, &shown) {
                Ok(()) => held += 1,
                Err(missing) => trial.violation(missing),
            }
            approvals += usize::from(asked.origin == Origin::Approval);
        }
        trial.progress(number + 1, agents.len() as u64);
    }
    trial.figure("prompts whose every character was shown", held);
    trial.figure("of them approvals, shown as they were written", approvals);
    Ok(())
}

fn link(home: &Home) -> String {
    match home.wire().call(&Request::WebLink(WebLink::default())) {
        Some(Reply::WebLink(link)) => link.url,
        other => panic!("no link: {other:?}"),
    }
}

/// Asks with prompts by chance.
fn ask_all(home: &Home, agent: &str, random: &mut Random) -> Vec<Asked> {
    (0..PROMPTS_PER_AGENT)
        .map(|number| {
            let origin = if random.below(APPROVALS) == 0 {
                Origin::Approval
            } else {
                Origin::Agent
            };
            let prompt = prompt(number, random);
            let request = Request::Ask(Ask {
                agent_id: agent.parse().unwrap_or_else(|_| panic!("not an agent: {agent}")),
                kind: Kind::Cue,
                prompt: prompt.clone(),
                payload: None,
                origin,
                nonce: None,
            });
            // No client waits for the answer: the connection ends here.
            let mut wire: Wire = home.wire();
            let cue = match wire.call(&request) {
                Some(Reply::Asked(asked)) => asked.cue_id.to_string(),
                other => panic!("not asked: {other:?}"),
            };
            Asked { cue, prompt, origin }
        })
        .collect()
}

/// Puts a prompt together; a number in front keeps it from being blank.
fn prompt(number: usize, random: &mut Random) -> String {
    let mut prompt = String::new();
    let count = 1 + random.below(FRAGMENTS_MAX);
    for _ in 0..count {
        prompt.push_str(random.pick(&FRAGMENTS).copied().unwrap_or_default());
    }
    // Writing to a string cannot fail.
    let _ = write!(
        prompt,
        "{}q{number}",
        if random.below(2) == 0 { "\n\n" } else { "" }
    );
    prompt
}

/// Opens a conversation and returns what is shown of each question.
fn read(browser: &Browser, agent: &str, count: usize) -> Value {
    browser.script(&format!("location.hash = '#/agent/{agent}'"));
    browser.until(&format!(
        "for (const el of document.querySelectorAll('.entry')) el.style.contentVisibility = 'visible'; return document.querySelector('.conversation-head .head-place')?.title.includes('{agent}') && document.querySelectorAll('.entry').length === {count} && !document.querySelector('.code pre code.language-diff')"
    ));
    browser.script(SHOWN)
}

fn is_shown(asked: &Asked, shown: &Value) -> Result<(), String> {
    let entry = shown
        .as_array()
        .into_iter()
        .flatten()
        .find(|entry| entry[0] == asked.cue.as_str());
    let Some(entry) = entry else {
        return Err(format!("the question {:?} is not in the page", asked.prompt));
    };
    let (text, offers_source) = (entry[1].as_str().unwrap_or_default(), entry[2] == true);
    if entry[3] != 0 {
        return Err(format!("{:?} is folded, though it is short", asked.prompt));
    }
    let hides_marks = offers_source && asked.origin != Origin::Approval;
    check(&asked.prompt, text, hides_marks)
}
