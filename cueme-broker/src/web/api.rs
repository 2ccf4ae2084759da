//! The routes, in one table with what they take and give.

use std::sync::Arc;

use axum::Json;
use axum::Router;
use axum::http::StatusCode;
use axum::routing::{delete, get, patch, post, put};
use serde_json::Value;

use super::error::ApiError;
use super::openapi::{Description, Operation, Table};
use super::state::Shared;
use super::view::{AgentCard, Cue, DraftShown, Markup};
use super::{
    agents, assets, channels, connect, cues, decide, devices, document, drafts, events, files, guide, hap,
    messages, policies, preview, public, push, runs, settings, snapshot, uploads,
};
use crate::policy::WrittenRule;

/// Builds the router of everything behind the door.
pub(super) fn router(web: Shared) -> Router {
    let table = humans(Table::new());
    let table = runs::routes(page(table));
    let (routes, description) = public::describe(agents_own(table)).finish();
    let description = Arc::new(description);
    routes
        .route(
            "/api/v1/openapi.json",
            get(move || describe(Arc::clone(&description))),
        )
        .route("/", get(document::document))
        .fallback(assets::asset)
        .method_not_allowed_fallback(method_not_allowed)
        .with_state(web)
}

async fn describe(description: Arc<Description>) -> Json<Value> {
    Json(description.document())
}

pub(super) async fn method_not_allowed() -> ApiError {
    ApiError::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        "this cannot be done here",
    )
}

/// Reading and deciding.
fn humans(table: Table) -> Table {
    table
        .route(
            get_op("/connect", "Upgrades to the protocol of the local socket").gives_nothing(),
            get(connect::connect),
        )
        .route(
            get_op("/state", "Returns everything the page begins with").gives::<snapshot::Snapshot>(200),
            get(snapshot::state),
        )
        .route(
            get_op("/status", "Describes the broker").gives::<Value>(200),
            get(snapshot::status),
        )
        .route(
            get_op("/events", "Follows what happens")
                .query::<events::EventsQuery>()
                .gives_as::<String>(200, "text/event-stream"),
            get(events::events),
        )
        .route(
            get_op("/agents", "Lists the agents").gives::<snapshot::Agents>(200),
            get(snapshot::agents),
        )
        .route(
            get_op("/agents/{agent_id}", "Returns one agent").gives::<agents::AgentWhole>(200),
            get(agents::agent),
        )
        .route(
            Operation::new(
                "patch",
                "/agents/{agent_id}",
                "Names, pins, archives or instructs an agent",
            )
            .takes::<agents::AgentPatch>()
            .gives::<AgentCard>(200),
            patch(agents::amend),
        )
        .route(
            put_op("/agents/{agent_id}/read", "Notes how far a human has read")
                .takes::<agents::ReadMark>()
                .gives_nothing(),
            put(agents::mark_read),
        )
        .route(
            get_op(
                "/agents/{agent_id}/timeline",
                "Returns an agent's questions, newest first",
            )
            .query::<cues::TimelineQuery>()
            .gives::<cues::Timeline>(200),
            get(cues::timeline),
        )
        .route(
            get_op("/cues", "Lists the questions that can be answered").gives::<snapshot::OpenCues>(200),
            get(snapshot::open_cues),
        )
        .route(
            get_op("/cues/{cue_id}", "Returns one question").gives::<Cue>(200),
            get(cues::cue),
        )
        .route(
            get_op("/cues/{cue_id}/prompt", "Returns a part of a question as HTML")
                .query::<cues::PartQuery>()
                .gives::<Markup>(200),
            get(cues::prompt_part),
        )
        .route(
            get_op(
                "/cues/{cue_id}/text",
                "Returns a part of what the agent reads as HTML",
            )
            .query::<cues::PartQuery>()
            .gives::<Markup>(200),
            get(cues::text_part),
        )
        .route(
            get_op(
                "/cues/{cue_id}/prompt.txt",
                "Returns a question as it was written",
            )
            .gives_as::<String>(200, "text/plain"),
            get(cues::prompt_source),
        )
        .route(
            get_op("/cues/{cue_id}/text.txt", "Returns what the agent reads")
                .gives_as::<String>(200, "text/plain"),
            get(cues::text_source),
        )
        .route(
            get_op(
                "/cues/{cue_id}/files/{number}",
                "Gives an image that a question names, or a patch as a review",
            )
            .gives_as::<Value>(200, "application/octet-stream"),
            get(files::give),
        )
        .route(
            get_op("/search", "Finds agents and questions by their words")
                .query::<cues::SearchQuery>()
                .gives::<cues::Found>(200),
            get(cues::search),
        )
        .route(
            post_op("/cues/{cue_id}/answer", "Answers a question")
                .takes::<decide::AnswerBody>()
                .gives::<decide::Decided>(200)
                .refuses(&[409]),
            post(decide::answer),
        )
        .route(
            post_op("/cues/{cue_id}/decline", "Declines a question")
                .takes::<decide::CloseBody>()
                .gives::<decide::Decided>(200)
                .refuses(&[409]),
            post(decide::decline),
        )
        .route(
            post_op("/cues/{cue_id}/cancel", "Closes a question without an answer")
                .takes::<decide::CloseBody>()
                .gives::<decide::Decided>(200)
                .refuses(&[409]),
            post(decide::cancel),
        )
        .route(
            post_op("/cues/{cue_id}/undo", "Takes a decision back")
                .takes::<decide::Empty>()
                .gives::<decide::Undone>(200)
                .refuses(&[409]),
            post(decide::undo),
        )
        .route(
            put_op("/cues/{cue_id}/draft", "Keeps the draft of an answer")
                .takes::<drafts::DraftBody>()
                .gives::<DraftShown>(200)
                .refuses(&[409]),
            put(drafts::keep_for_cue),
        )
        .route(
            delete_op("/cues/{cue_id}/draft", "Throws the draft of an answer away").gives_nothing(),
            delete(drafts::drop_for_cue),
        )
        .route(
            put_op("/agents/{agent_id}/draft", "Keeps the draft of a message")
                .takes::<drafts::DraftBody>()
                .gives::<DraftShown>(200)
                .refuses(&[409]),
            put(drafts::keep_for_agent),
        )
        .route(
            delete_op("/agents/{agent_id}/draft", "Throws the draft of a message away").gives_nothing(),
            delete(drafts::drop_for_agent),
        )
}

/// Messages, files, settings and devices.
fn page(table: Table) -> Table {
    table
        .route(
            post_op("/messages", "Leaves a message for one or several agents")
                .takes::<messages::MessageBody>()
                .gives::<messages::MessageResults>(200),
            post(messages::send),
        )
        .route(
            get_op(
                "/agents/{agent_id}/messages",
                "Lists the messages that wait for an agent",
            )
            .gives::<messages::Messages>(200),
            get(messages::list),
        )
        .route(
            put_op(
                "/agents/{agent_id}/messages/order",
                "Puts messages in another order",
            )
            .takes::<messages::OrderBody>()
            .gives::<messages::Messages>(200)
            .refuses(&[409]),
            put(messages::reorder),
        )
        .route(
            Operation::new(
                "patch",
                "/agents/{agent_id}/messages/{message_id}",
                "Writes a message anew",
            )
            .takes::<messages::RewordBody>()
            .gives::<messages::Messages>(200),
            patch(messages::reword),
        )
        .route(
            delete_op("/agents/{agent_id}/messages/{message_id}", "Takes a message back").gives_nothing(),
            delete(messages::delete),
        )
        .route(
            post_op("/uploads", "Takes a file in")
                .query::<uploads::UploadQuery>()
                .takes_bytes()
                .gives::<uploads::UploadShown>(201)
                .refuses(&[507]),
            post(uploads::take),
        )
        .route(
            get_op("/uploads/{upload_id}", "Gives a file back")
                .gives_as::<Value>(200, "application/octet-stream"),
            get(uploads::give),
        )
        .route(
            delete_op(
                "/uploads/{upload_id}",
                "Throws a file away that no answer carries",
            )
            .gives_nothing()
            .refuses(&[409]),
            delete(uploads::discard),
        )
        .route(
            post_op("/preview", "Renders Markdown")
                .takes::<preview::PreviewBody>()
                .gives::<Markup>(200),
            post(preview::preview),
        )
        .route(
            get_op("/settings", "Returns the settings").gives::<crate::settings::Settings>(200),
            get(settings::settings),
        )
        .route(
            Operation::new("patch", "/settings", "Changes some of the settings")
                .takes::<settings::SettingsPatch>()
                .gives::<crate::settings::Settings>(200),
            patch(settings::change),
        )
        .route(
            get_op("/policies", "Lists the rules").gives::<policies::Policies>(200),
            get(policies::list),
        )
        .route(
            Operation::new("patch", "/policies/{name}", "Turns a rule on or off")
                .takes::<policies::PolicySwitch>()
                .gives::<policies::PolicyShown>(200),
            patch(policies::switch),
        )
        .route(
            post_op("/policies", "Makes a rule")
                .takes::<WrittenRule>()
                .gives::<policies::PolicyShown>(201),
            post(policies::make),
        )
        .route(
            put_op("/policies/{name}", "Changes a rule that was made in the page")
                .takes::<WrittenRule>()
                .gives::<policies::PolicyShown>(200),
            put(policies::rewrite),
        )
        .route(
            delete_op("/policies/{name}", "Ends a rule that was made in the page").gives_nothing(),
            delete(policies::end),
        )
        .route(
            post_op(
                "/rule-trials",
                "Tries a rule on the newest questions, without making it",
            )
            .takes::<WrittenRule>()
            .gives::<policies::TrialShown>(200),
            post(policies::attempt),
        )
        .route(
            get_op(
                "/cues/{cue_id}/rule",
                "Returns what a rule has to say to fit exactly this question",
            )
            .gives::<policies::Exact>(200),
            get(policies::exact),
        )
        .route(
            get_op("/guide", "Tells what connects each runtime, and what that writes")
                .gives::<guide::GuideShown>(200),
            get(guide::guide),
        )
        .route(
            get_op("/devices", "Lists the devices that are signed in").gives::<devices::Devices>(200),
            get(devices::list),
        )
        .route(
            Operation::new("patch", "/devices/{device_id}", "Names a device")
                .takes::<devices::NameBody>()
                .gives::<devices::DeviceShown>(200),
            patch(devices::rename),
        )
        .route(
            delete_op("/devices/{device_id}", "Locks a device out").gives_nothing(),
            delete(devices::revoke),
        )
        .route(
            get_op("/channels", "Lists the channels that tell people elsewhere")
                .gives::<channels::Channels>(200),
            get(channels::list),
        )
        .route(
            post_op("/channels", "Adds a channel")
                .takes::<channels::ChannelBody>()
                .gives::<channels::ChannelShown>(201),
            post(channels::add),
        )
        .route(
            Operation::new("patch", "/channels/{name}", "Changes what a channel is about")
                .takes::<channels::ChannelPatch>()
                .gives::<channels::ChannelShown>(200),
            patch(channels::amend),
        )
        .route(
            delete_op("/channels/{name}", "Removes a channel").gives_nothing(),
            delete(channels::remove),
        )
        .route(
            post_op("/channels/{name}/test", "Sends a test to a channel")
                .gives_nothing()
                .refuses(&[502]),
            post(channels::test),
        )
        .route(
            get_op("/push", "Returns what this device needs to get pushes").gives::<push::PushState>(200),
            get(push::state),
        )
        .route(
            put_op("/push", "Subscribes this device to pushes")
                .takes::<push::PushBody>()
                .gives::<push::PushState>(200),
            put(push::subscribe),
        )
        .route(
            delete_op("/push", "Ends the pushes to this device").gives_nothing(),
            delete(push::unsubscribe),
        )
        .route(
            post_op("/push/test", "Pushes something to this device")
                .gives_nothing()
                .refuses(&[502]),
            post(push::test),
        )
        .route(
            post_op(
                "/push/press",
                "Decides a question as a button of its notification says",
            )
            .takes::<push::PressBody>()
            .gives_nothing()
            .refuses(&[409]),
            post(push::pressed),
        )
        .route(
            post_op("/links", "Makes a link that signs one device in")
                .takes::<devices::LinkBody>()
                .gives::<devices::Link>(200),
            post(devices::link),
        )
        .route(
            get_op("/tokens", "Lists the tokens of programs").gives::<devices::Tokens>(200),
            get(devices::list_tokens),
        )
        .route(
            post_op("/tokens", "Makes a token for an agent's program")
                .takes::<devices::TokenBody>()
                .gives::<devices::TokenShown>(201),
            post(devices::mint),
        )
        .route(
            delete_op("/tokens/{token_id}", "Revokes a token").gives_nothing(),
            delete(devices::revoke_token),
        )
}

/// What agents do with tokens of their own.
pub(super) fn agents_own(table: Table) -> Table {
    table
        .route(
            post_op("/hap/join", "Registers an agent")
                .takes::<hap::JoinBody>()
                .gives::<hap::JoinedShown>(201),
            post(hap::join),
        )
        .route(
            post_op("/hap/recall", "Finds an agent by what it asked and was told")
                .takes::<hap::RecallBody>()
                .gives::<hap::RecalledShown>(200),
            post(hap::recall),
        )
        .route(
            post_op("/hap/cue", "Asks and waits")
                .takes::<hap::CueBody>()
                .gives::<hap::Heard>(200)
                .gives::<hap::Heard>(202),
            post(hap::cue),
        )
        .route(
            post_op("/hap/pause", "Pauses and waits")
                .takes::<hap::PauseBody>()
                .gives::<hap::Heard>(200)
                .gives::<hap::Heard>(202),
            post(hap::pause),
        )
        .route(
            get_op("/hap/cues/{cue_id}", "Waits again")
                .query::<hap::WaitQuery>()
                .gives::<hap::Heard>(200)
                .gives::<hap::Heard>(202),
            get(hap::wait_again),
        )
        .route(
            post_op("/hap/ack", "Settles outcomes that were passed on to the agent")
                .takes::<hap::AckBody>()
                .gives::<hap::AckBody>(200),
            post(hap::ack),
        )
        .route(
            get_op("/hap/connect", "Upgrades to the protocol of the local socket").gives_nothing(),
            get(connect::connect),
        )
}

pub(super) fn get_op(path: &'static str, summary: &'static str) -> Operation {
    Operation::new("get", path, summary)
}

pub(super) fn post_op(path: &'static str, summary: &'static str) -> Operation {
    Operation::new("post", path, summary)
}

fn put_op(path: &'static str, summary: &'static str) -> Operation {
    Operation::new("put", path, summary)
}

fn delete_op(path: &'static str, summary: &'static str) -> Operation {
    Operation::new("delete", path, summary)
}
