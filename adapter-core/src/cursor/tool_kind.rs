//! The kinds of tool a Cursor agent can call, under one set of names.
//!
//! Cursor names a tool three ways: by a protobuf field number in the chat store, by a JSON key in the CLI's
//! stream, and by a word on screen. This table is the one place that ties them together, so that a chat read
//! from disk and a turn read from the stream speak of the same tools. It is data; decoding lives with its users.

/// The name given to a tool that is not in the table.
pub const UNKNOWN_TOOL_NAME: &str = "Unknown";

/// The key reported for a tool whose field number is not in the table.
pub const UNKNOWN_TOOL_KEY: &str = "unknown";

/// One kind of tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolKind {
    /// The field number of this kind in the `agent.v1.ToolCall` oneof.
    pub field: u32,
    /// The key of this kind in the stream's JSON, for example `shellToolCall`.
    pub key: &'static str,
    /// The normalised name, shared with other agent runtimes where they have the same tool.
    pub name: &'static str,
}

/// Every kind Cursor's published schema knows, in ascending order of field number.
///
/// The `pi*` kinds are a second harness's spelling of the basic tools, so they carry the basic tools' names.
pub const TOOL_KINDS: [ToolKind; 69] = [
    kind(1, "shellToolCall", "Bash"),
    kind(3, "deleteToolCall", "Delete"),
    kind(4, "globToolCall", "Glob"),
    kind(5, "grepToolCall", "Grep"),
    kind(8, "readToolCall", "Read"),
    kind(9, "updateTodosToolCall", "TodoWrite"),
    kind(10, "readTodosToolCall", "TodoRead"),
    kind(12, "editToolCall", "Edit"),
    kind(13, "lsToolCall", "Ls"),
    kind(14, "readLintsToolCall", "ReadLints"),
    kind(15, "mcpToolCall", "Mcp"),
    kind(16, "semSearchToolCall", "SemSearch"),
    kind(17, "createPlanToolCall", "CreatePlan"),
    kind(18, "webSearchToolCall", "WebSearch"),
    kind(19, "taskToolCall", "Task"),
    kind(20, "listMcpResourcesToolCall", "ListMcpResources"),
    kind(21, "readMcpResourceToolCall", "ReadMcpResource"),
    kind(22, "applyAgentDiffToolCall", "ApplyAgentDiff"),
    kind(23, "askQuestionToolCall", "AskQuestion"),
    kind(24, "fetchToolCall", "Fetch"),
    kind(25, "switchModeToolCall", "SwitchMode"),
    kind(28, "generateImageToolCall", "GenerateImage"),
    kind(29, "recordScreenToolCall", "RecordScreen"),
    kind(30, "computerUseToolCall", "ComputerUse"),
    kind(31, "writeShellStdinToolCall", "WriteShellStdin"),
    kind(32, "reflectToolCall", "Reflect"),
    kind(33, "setupVmEnvironmentToolCall", "SetupVmEnvironment"),
    kind(34, "truncatedToolCall", "Truncated"),
    kind(35, "startGrindExecutionToolCall", "StartGrindExecution"),
    kind(36, "startGrindPlanningToolCall", "StartGrindPlanning"),
    kind(37, "webFetchToolCall", "WebFetch"),
    kind(38, "reportBugfixResultsToolCall", "ReportBugfixResults"),
    kind(39, "aiAttributionToolCall", "AiAttribution"),
    kind(40, "prManagementToolCall", "PrManagement"),
    kind(41, "mcpAuthToolCall", "McpAuth"),
    kind(42, "awaitToolCall", "Await"),
    kind(43, "blameByFilePathToolCall", "BlameByFilePath"),
    kind(44, "getMcpToolsToolCall", "GetMcpTools"),
    kind(45, "reportBugToolCall", "ReportBug"),
    kind(46, "setActiveBranchToolCall", "SetActiveBranch"),
    kind(48, "communicateUpdateToolCall", "CommunicateUpdate"),
    kind(49, "sendFinalSummaryToolCall", "SendFinalSummary"),
    kind(50, "updatePrCodeTourToolCall", "UpdatePrCodeTour"),
    kind(51, "replaceEnvToolCall", "ReplaceEnv"),
    kind(52, "editPrLabelsToolCall", "EditPrLabels"),
    kind(
        53,
        "recordCiInvestigationFindingsToolCall",
        "RecordCiInvestigationFindings",
    ),
    kind(55, "sendMessageToolCall", "SendMessage"),
    kind(56, "fetchCloudAgentDataToolCall", "FetchCloudAgentData"),
    kind(58, "sendToUserToolCall", "SendToUser"),
    kind(61, "piReadToolCall", "Read"),
    kind(62, "piBashToolCall", "Bash"),
    kind(63, "piEditToolCall", "Edit"),
    kind(64, "piWriteToolCall", "Write"),
    kind(65, "piGrepToolCall", "Grep"),
    kind(66, "piFindToolCall", "Glob"),
    kind(67, "piLsToolCall", "Ls"),
    kind(68, "connectScmToolCall", "ConnectScm"),
    kind(69, "searchConversationsToolCall", "SearchConversations"),
    kind(70, "createGoalToolCall", "CreateGoal"),
    kind(71, "updateGoalToolCall", "UpdateGoal"),
    kind(72, "adoptToolCall", "Adopt"),
    kind(73, "getAgentStatusToolCall", "GetAgentStatus"),
    kind(74, "sendToAgentToolCall", "SendToAgent"),
    kind(75, "readAgentTranscriptToolCall", "ReadAgentTranscript"),
    kind(76, "createAgentToolCall", "CreateAgent"),
    kind(77, "stopAgentToolCall", "StopAgent"),
    kind(78, "getPrCodeTourToolCall", "GetPrCodeTour"),
    kind(79, "writeCanvasToolCall", "WriteCanvas"),
    kind(80, "readCanvasToolCall", "ReadCanvas"),
];

/// A kind that older versions wrote and the current schema has no number for.
const LEGACY_WRITE_KEY: &str = "writeToolCall";
const LEGACY_WRITE_NAME: &str = "Write";

const fn kind(field: u32, key: &'static str, name: &'static str) -> ToolKind {
    ToolKind { field, key, name }
}

/// Returns the kind with this field number in the protobuf oneof.
pub fn tool_kind_by_field(field: u32) -> Option<&'static ToolKind> {
    let index = TOOL_KINDS.binary_search_by_key(&field, |kind| kind.field).ok()?;
    TOOL_KINDS.get(index)
}

/// Returns the kind with this JSON key.
pub fn tool_kind_by_key(key: &str) -> Option<&'static ToolKind> {
    TOOL_KINDS.iter().find(|kind| kind.key == key)
}

/// Returns the normalised name for a JSON key, including the keys of older versions.
pub fn tool_name(key: &str) -> &'static str {
    match tool_kind_by_key(key) {
        Some(kind) => kind.name,
        None if key == LEGACY_WRITE_KEY => LEGACY_WRITE_NAME,
        None => UNKNOWN_TOOL_NAME,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn field_numbers_ascend_so_that_binary_search_finds_each_kind() {
        assert!(TOOL_KINDS.windows(2).all(|pair| pair[0].field < pair[1].field));
        for kind in &TOOL_KINDS {
            assert_eq!(tool_kind_by_field(kind.field), Some(kind));
        }
    }

    #[test]
    fn every_key_is_unique_and_ends_in_tool_call() {
        let keys: HashSet<_> = TOOL_KINDS.iter().map(|kind| kind.key).collect();
        assert_eq!(keys.len(), TOOL_KINDS.len());
        assert!(keys.iter().all(|key| key.ends_with("ToolCall")));
    }

    #[test]
    fn the_basic_tools_carry_the_names_other_runtimes_use() {
        let names = [
            ("readToolCall", "Read"),
            ("editToolCall", "Edit"),
            ("writeToolCall", "Write"),
            ("shellToolCall", "Bash"),
            ("lsToolCall", "Ls"),
            ("grepToolCall", "Grep"),
            ("globToolCall", "Glob"),
            ("piBashToolCall", "Bash"),
        ];
        for (key, name) in names {
            assert_eq!(tool_name(key), name, "{key}");
        }
    }

    #[test]
    fn a_tool_from_the_future_is_unknown_rather_than_guessed() {
        assert_eq!(tool_name("futureToolCall"), UNKNOWN_TOOL_NAME);
        assert_eq!(tool_kind_by_field(999), None);
        assert_eq!(tool_kind_by_field(57), None, "57 is the call id, never a kind");
    }
}
