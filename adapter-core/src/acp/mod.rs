//! The Agent Client Protocol (ACP): an agent that asks inside of its turn.
//!
//! The [`agent`] drives one, over a [`transport`] of lines, and reads its [`update`]s.
//!
//! Pure, and used by the driver and by the proxy alike: [`calls`] remembers what tools were called with, and
//! [`question`] makes a question for a human of what an agent asks, and the agent's reply of what the human said;
//! [`permission`], [`cursor`] and [`elicitation`] are the three families of questions.

mod agent;
mod transport;
mod update;

mod calls;
mod cursor;
mod elicitation;
mod permission;
mod question;

pub use agent::{AcpAgent, AcpHuman, Answering};
pub use calls::ToolCalls;
pub use question::{AcpForm, AcpQuestion};
