//! What is known about how hosts record the end of a turn.

use super::Runtime;

impl Runtime {
    /// Tells whether the agent's last message may reach the transcript after the stop hook was called.
    ///
    /// Copilot CLI 1.0.102 writes it up to a quarter of a second later, followed by a record of the hook itself. Claude
    /// Code under `claude-code-acp` is as late, and tells the message in the hook's input only in newer versions.
    pub fn records_turn_late(self) -> bool {
        matches!(self, Runtime::CopilotCli | Runtime::Vscode | Runtime::ClaudeCode)
    }

    /// Tells whether words that the human types while a hook runs are recorded at once.
    ///
    /// Claude Code 2.1.197 writes `queue-operation` records.
    pub fn records_typing(self) -> bool {
        self == Runtime::ClaudeCode
    }
}
