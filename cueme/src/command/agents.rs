//! `cueme agents`: who has joined, and who waits.

use protocol_spec::exit::Exit;
use protocol_spec::id::AgentId;
use protocol_spec::message::{AgentView, Amend, Nothing, Request};
use protocol_spec::time::Timestamp;

use crate::cli::{AgentsArgs, AgentsVerb};
use crate::client::{call, expect_reply, list};
use crate::display::{Paint, ago, now, pad, shorten, visible_line};
use crate::error::CliError;
use crate::{environment, output};

pub(super) fn run(args: &AgentsArgs) -> Result<Exit, CliError> {
    match &args.verb {
        None => show(args),
        Some(AgentsVerb::Rename { agent_id, name }) => rename(agent_id, &name.join(" ")),
        Some(AgentsVerb::Forget { agent_id }) => forget(agent_id),
    }
}

fn rename(agent: &str, name: &str) -> Result<Exit, CliError> {
    let agent = amend(Amend {
        agent: agent.to_owned(),
        name: Some(name.to_owned()),
        archived: None,
    })?;
    output::print_line(&if name.trim().is_empty() {
        format!("{agent} has no name now")
    } else {
        format!("{agent} is now named {}", visible_line(name.trim()))
    })?;
    Ok(Exit::Done)
}

fn forget(agent: &str) -> Result<Exit, CliError> {
    let agent = amend(Amend {
        agent: agent.to_owned(),
        name: None,
        archived: Some(true),
    })?;
    output::print_line(&format!(
        "{agent} is off the list until it asks again; `cueme history --agent {agent}` shows its questions"
    ))?;
    Ok(Exit::Done)
}

fn amend(amend: Amend) -> Result<AgentId, CliError> {
    let reply = call(&environment::places()?, &Request::Amend(amend))?;
    Ok(expect_reply!(reply, Amended)?.agent_id)
}

fn show(args: &AgentsArgs) -> Result<Exit, CliError> {
    let mut agents: Vec<AgentView> = Vec::new();
    list(&environment::places()?, &Request::Agents(Nothing {}), |reply| {
        let agent = *expect_reply!(reply, Agent)?;
        // A question brings an agent back.
        agents.extend((!agent.archived || agent.open_cues > 0).then_some(agent));
        Ok(())
    })?;
    let has_agents = !agents.is_empty();
    agents.retain(|agent| fits(args, agent));
    if args.json {
        output::print_json(&agents)?;
    } else if agents.is_empty() && has_agents {
        output::print_line("no agent matches; `cueme agents` without filters lists all of them")?;
    } else if agents.is_empty() {
        output::print_line("no agent has joined yet; an agent does so with `cueme join <agent_runtime>`")?;
    } else {
        output::print(&table(&agents, now(), output::columns(), Paint::for_stdout()))?;
    }
    Ok(Exit::Done)
}

/// Says whether an agent passes every filter that is given.
fn fits(args: &AgentsArgs, agent: &AgentView) -> bool {
    let contains = |text: &str, part: &str| text.to_lowercase().contains(&part.to_lowercase());
    let is_named = |part: &String| {
        contains(agent.agent_id.as_str(), part)
            || agent.name.as_deref().is_some_and(|name| contains(name, part))
    };
    args.project
        .as_ref()
        .is_none_or(|part| contains(&agent.project_dir, part))
        && args
            .runtime
            .as_ref()
            .is_none_or(|runtime| agent.agent_runtime.as_str() == runtime)
        && args.name.as_ref().is_none_or(is_named)
}

fn table(agents: &[AgentView], now: Timestamp, columns: usize, paint: Paint) -> String {
    let mut text = String::new();
    for agent in agents {
        let line = format!(
            "{}  {}",
            pad(agent.agent_id.as_str(), 10),
            pad(agent.agent_runtime.as_str(), 12)
        );
        let state = state_words(agent, now);
        let state = if agent.waiting > 0 {
            paint.green(&state)
        } else {
            state
        };
        text.push_str(&format!("{}  {state}\n", paint.cyan(&line)));
        let place = match &agent.name {
            Some(name) => format!("{}, {}", visible_line(name), visible_line(&agent.project_dir)),
            None => visible_line(&agent.project_dir),
        };
        text.push_str(&paint.dim(&format!("  {}\n", shorten(&place, columns - 2))));
    }
    text
}

fn state_words(agent: &AgentView, now: Timestamp) -> String {
    let mut parts = Vec::new();
    if agent.open_cues > 0 {
        parts.push(format!("{} open", agent.open_cues));
    }
    if agent.waiting > 0 {
        parts.push("waiting".to_owned());
    }
    if agent.queued > 0 {
        parts.push(format!("{} of your messages not read yet", agent.queued));
    }
    parts.push(format!("seen {} ago", ago(now, agent.seen_at)));
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_listed_with_what_is_true_about_it() {
        let agent = AgentView {
            agent_id: "bako-nefi".parse().unwrap(),
            agent_runtime: "cursor".parse().unwrap(),
            project_dir: "/srv/\u{1b}[31mshop".into(),
            agent_terminal: "zsh".into(),
            name: None,
            joined_at: Timestamp::from_millis(0),
            seen_at: Timestamp::from_millis(0),
            open_cues: 2,
            waiting: 1,
            queued: 0,
            archived: false,
        };
        let text = table(&[agent], Timestamp::from_millis(120_000), 80, Paint::off());
        assert!(text.contains("2 open, waiting, seen 2 min ago"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
}
