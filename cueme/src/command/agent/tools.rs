//! The tools that are run for a custom CLI; a command runs only after the human approved it.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use adapter_core::config::Config;
use adapter_core::guard::Registry;
use adapter_core::tools::{Approval, Approver, Exec, WebFetch, WebSearch};
use protocol_spec::answer::Reply;
use protocol_spec::message::Told;
use protocol_spec::outcome::{Origin, Outcome};

use super::human::BrokerHuman;
use crate::client::Taken;
use crate::error::CliError;
use crate::surroundings;

/// Every name a tool can be called by.
pub(super) const NAMES: [&str; 5] = [
    "web_fetch",
    "mcp_web_fetch",
    "web_search",
    "mcp_web_search",
    "exec",
];
const APPROVAL_PAYLOAD: &str =
    r#"{"type":"confirm","confirm_label":"Run it","cancel_label":"Do not run it"}"#;

/// Builds the tools; without a human nothing can be approved, and `exec` is left out.
pub(super) fn registry(config: &Config, human: Option<&BrokerHuman>, cwd: PathBuf) -> Registry {
    let mut tools = Registry::default();
    let token = config.web_search.token_env.as_deref();
    let search = WebSearch {
        endpoint: config.web_search.endpoint.clone(),
        token: token.and_then(surroundings::variable),
    };
    let fetch = WebFetch {
        allowed: config.web_fetch_allowed.clone(),
    };
    tools.register(Arc::new(fetch));
    tools.register(Arc::new(search));
    if let Some(human) = human {
        let approver = Arc::new(Asking(human.clone()));
        tools.register(Arc::new(Exec::new(approver, Some(cwd))));
    }
    tools
}

/// Asks the human about each command.
#[derive(Debug)]
struct Asking(BrokerHuman);

impl Approver for Asking {
    fn approve<'a>(&'a self, command: &'a str) -> Pin<Box<dyn Future<Output = Approval> + Send + 'a>> {
        let human = self.0.clone();
        let prompt = format!("The agent wants to run this command:\n\n{command}");
        Box::pin(async move {
            match tokio::task::spawn_blocking(move || ask(&human, prompt)).await {
                Ok(Ok(approval)) => approval,
                Ok(Err(error)) => Approval::Refused(error.to_string()),
                Err(error) => Approval::Refused(error.to_string()),
            }
        })
    }
}

/// Asks and waits. Whatever else the agent has missed has no place beside a yes or no, and stays undelivered.
fn ask(human: &BrokerHuman, prompt: String) -> Result<Approval, CliError> {
    let payload = Some(APPROVAL_PAYLOAD.to_owned());
    Ok(match human.consult(prompt, payload, Origin::Approval, None)? {
        Taken::Outcome { told, receipt, .. } => {
            receipt.give(&human.places);
            approval_of(&told)
        }
        Taken::Stopped(_) => Approval::Refused("the wait for an approval was interrupted".to_owned()),
    })
}

/// Only a plain yes approves.
fn approval_of(told: &Told) -> Approval {
    let reply = told.answer.as_ref().and_then(|answer| answer.reply.as_ref());
    let is_yes =
        told.outcome == Outcome::Answered && matches!(reply, Some(Reply::Confirm { confirmed: true }));
    if is_yes {
        Approval::Approved
    } else {
        Approval::Refused(told.text.clone())
    }
}
