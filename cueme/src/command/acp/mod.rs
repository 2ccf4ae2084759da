//! `cueme acp`: stands between an editor and an ACP agent, and takes the agent's questions to the inbox as well.
//!
//! Every message passes through as it was written. [`message`] reads a line, [`proxy`] decides what follows, purely;
//! [`lines`] moves bytes, [`inbox`] asks the human, and [`run()`] puts a process and its pipes around them.

mod run;

mod inbox;
mod lines;

mod message;
mod proxy;
#[cfg(test)]
mod tests;

pub(crate) use run::AcpArgs;
pub(super) use run::run;
