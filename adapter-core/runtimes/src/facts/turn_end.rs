//! Facts about how hosts record and report a turn.

use super::Runtime;

impl Runtime {
    /// Tells whether the agent's last message may reach the transcript after the stop hook was called.
    ///
    /// Copilot CLI 1.0.102 writes it up to a quarter of a second later, followed by a record of the hook itself. Claude
    /// Code under `claude-agent-acp` (once `claude-code-acp`) is as late, and tells the message in the hook's input only in
    /// newer versions. Qwen
    /// Code 0.24.4 hands its records to a queue and calls the hook at once.
    pub fn records_turn_late(self) -> bool {
        matches!(
            self,
            Runtime::CopilotCli | Runtime::Vscode | Runtime::ClaudeCode | Runtime::QwenCode
        )
    }

    /// Tells whether the stop hook is told all texts of the turn instead of the last message.
    ///
    /// Gemini CLI 0.61.0 does so after a hook has continued the turn.
    pub fn tells_all_messages(self) -> bool {
        self == Runtime::GeminiCli
    }

    /// Tells whether words that the human types while a hook runs are recorded at once.
    ///
    /// Claude Code 2.1.197 writes `queue-operation` records.
    pub fn records_typing(self) -> bool {
        self == Runtime::ClaudeCode
    }

    /// Tells whether the host's own dialog stays open while its hook for permissions runs, so that the human may decide there.
    ///
    /// Claude Code 2.1.326 shows it, and lets the hook run on when it was answered.
    pub fn asks_beside_its_hook(self) -> bool {
        self == Runtime::ClaudeCode
    }

    /// Tells whether the prompt hook is called for the host's own requests too.
    ///
    /// Qwen Code 0.24.4 calls it with each tool result.
    pub fn calls_prompt_hook_itself(self) -> bool {
        self == Runtime::QwenCode
    }
}
