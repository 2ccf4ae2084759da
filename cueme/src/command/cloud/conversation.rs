//! `cueme cloud conversation`: what was said.

use adapter_core::cursor::cloud::{CloudEvent, Redactor, format_event};
use protocol_spec::exit::Exit;

use super::session::{find, run_of};
use super::settings::{configured, connect, failed};
use crate::cli::{CloudConversationArgs, CloudFields};
use crate::command::agent::runtime;
use crate::display::visible;
use crate::error::CliError;
use crate::{environment, output};

pub(super) fn run(args: &CloudConversationArgs) -> Result<Exit, CliError> {
    let places = environment::places()?;
    let config = configured(&places, &CloudFields::default())?;
    let session = find(&places, &config, &args.id)?.session;
    let api = connect(&config, session.api)?;
    let read = runtime()?.block_on(async {
        let run = run_of(&*api, &session).await?;
        api.conversation(&run).await
    });
    let conversation = read.map_err(|error| failed(&error))?;
    let is_json = args.json || !output::is_terminal();
    for message in conversation.messages {
        // The first message of a run holds its one-time token.
        let text = Redactor::default().text(&message.text);
        let event = if message.is_assistant {
            CloudEvent::Assistant { text }
        } else {
            CloudEvent::User { text }
        };
        output::print_line(&if is_json {
            output::json_text(event.line())
        } else {
            visible(&format_event(&event))
        })?;
    }
    Ok(Exit::Done)
}
