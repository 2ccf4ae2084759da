//! Dispatches the subcommands.

use std::time::Instant;

use protocol_spec::exit::Exit;

use super::{acp, agent, chats, cloud};
use super::{
    agents, answer, backup, broker, cancel, completions, cue, decline, demo, docs, doctor, history, hook,
    import, inbox, init, join, last, link, man, mcp, notify, pause, protocol, purge, recall, restore, say,
    show, store, token, tui, ui, undo, update,
};
use crate::cli::{HapVerb, Verb};
use crate::error::CliError;

/// Does what was asked; `started` is when the process began.
pub(crate) fn run(verb: Verb, started: Instant) -> Result<Exit, CliError> {
    match verb {
        Verb::Hap(HapVerb::Join(args)) => join::run(&args),
        Verb::Hap(HapVerb::Recall(args)) => recall::run(&args),
        Verb::Hap(HapVerb::Cue(args)) => cue::run(&args, started),
        Verb::Hap(HapVerb::Pause(args)) => pause::run(&args, started),
        Verb::Tui(args) => tui::run(&args),
        Verb::Ui(args) => ui::run(&args),
        Verb::Token(args) => token::run(&args),
        Verb::Link(args) => link::run(&args),
        Verb::Inbox(args) => inbox::run(&args),
        Verb::Show(args) => show::run(&args),
        Verb::Answer(args) => answer::run(&args),
        Verb::Undo(args) => undo::run(&args),
        Verb::Decline(args) => decline::run(&args),
        Verb::Cancel(args) => cancel::run(&args),
        Verb::Say(args) => say::run(&args),
        Verb::Last(args) => last::run(&args),
        Verb::Agents(args) => agents::run(&args),
        Verb::History(args) => history::run(&args),
        Verb::Agent(args) => agent::run(&args),
        Verb::Cloud(args) => cloud::run(&args),
        Verb::Chats(args) => chats::run(&args),
        Verb::Init(args) => init::run(&args),
        Verb::Notify(args) => notify::run(&args),
        Verb::Protocol(args) => protocol::run(&args),
        Verb::Hook(args) => hook::run(&args, started),
        Verb::Mcp(args) => mcp::run(&args),
        Verb::Acp(args) => acp::run(&args),
        Verb::Broker(args) => broker::run(&args),
        Verb::Backup(args) => backup::run(&args),
        Verb::Restore(args) => restore::run(&args),
        Verb::Store(args) => store::run(args),
        Verb::Purge(args) => purge::run(&args),
        Verb::Import(args) => import::run(&args),
        Verb::Doctor(args) => doctor::run(&args),
        Verb::Demo(args) => demo::run(&args),
        Verb::Docs(args) => docs::run(&args),
        Verb::Completions(args) => completions::run(&args),
        Verb::Man(args) => man::run(&args),
        Verb::Update => update::run(),
    }
}
