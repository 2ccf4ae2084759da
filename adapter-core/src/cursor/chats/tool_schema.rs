//! The arguments and results of Cursor's tools, as far as they have names.
//!
//! Field numbers are those of `agent.v1`. The table is deliberately partial: it names what a person reading a
//! chat would look for, and everything else is kept by number.

use super::schema::Shape::{Any, Bool, Bytes, Enum, Int, Json, MapTo, Message, Skip, Text};
use super::schema::{FieldSpec, Spec, many, one};

/// The description of one tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct ToolSpec {
    /// The fields of its arguments.
    pub(super) args: Spec,
    /// The variants of its result, with siblings that are not variants left out.
    pub(super) result: Spec,
}

/// Returns what is known about the tool with this field number.
pub(super) fn tool_spec(field: u32) -> ToolSpec {
    let (args, result): (Spec, Spec) = match field {
        1 => (&SHELL_ARGS, &SHELL_RESULT),
        3 => (&PATH_ARGS, &DELETE_RESULT),
        4 => (&GLOB_ARGS, &GLOB_RESULT),
        5 => (&GREP_ARGS, &GREP_RESULT),
        8 => (&READ_ARGS, &READ_RESULT),
        9 => (&TODO_ARGS, &TODO_RESULT),
        12 => (&EDIT_ARGS, &EDIT_RESULT),
        13 => (&LS_ARGS, &LS_RESULT),
        15 => (&MCP_ARGS, &MCP_RESULT),
        16 => (&SEM_SEARCH_ARGS, &SEM_SEARCH_RESULT),
        17 => (&CREATE_PLAN_ARGS, &PLAIN_RESULT),
        18 => (&WEB_SEARCH_ARGS, &WEB_SEARCH_RESULT),
        19 => (&TASK_ARGS, &TASK_RESULT),
        23 => (&ASK_QUESTION_ARGS, &ASK_QUESTION_RESULT),
        24 => (&FETCH_ARGS, &FETCH_RESULT),
        25 => (&SWITCH_MODE_ARGS, &PLAIN_RESULT),
        37 => (&FETCH_ARGS, &WEB_FETCH_RESULT),
        58 => (&SEND_TO_USER_ARGS, &PLAIN_RESULT),
        _ => (&[], &PLAIN_RESULT),
    };
    ToolSpec { args, result }
}

/// The variants nearly every result has, for tools without a description of their own.
static PLAIN_RESULT: [FieldSpec; 3] = [
    one(1, "success", Any),
    one(2, "error", Message(&ERROR)),
    one(3, "rejected", Message(&REASON)),
];
static ERROR: [FieldSpec; 1] = [one(1, "error", Text)];
static ERROR_MESSAGE: [FieldSpec; 1] = [one(1, "errorMessage", Text)];
static URL_ERROR: [FieldSpec; 2] = [one(1, "url", Text), one(2, "error", Text)];
static PATH_ERROR: [FieldSpec; 2] = [one(1, "path", Text), one(2, "error", Text)];
static PATH_REASON: [FieldSpec; 2] = [one(1, "path", Text), one(2, "reason", Text)];
static REASON: [FieldSpec; 2] = [one(1, "reason", Text), one(2, "isReadonly", Bool)];
static PATH_ONLY: [FieldSpec; 1] = [one(1, "path", Text)];

static PATH_ARGS: [FieldSpec; 2] = [one(1, "path", Text), one(2, "toolCallId", Text)];

static SHELL_ARGS: [FieldSpec; 12] = [
    one(1, "command", Text),
    one(2, "workingDirectory", Text),
    one(3, "timeout", Int),
    one(4, "toolCallId", Text),
    many(5, "simpleCommands", Text),
    one(6, "hasInputRedirect", Bool),
    one(7, "hasOutputRedirect", Bool),
    one(11, "isBackground", Bool),
    one(13, "timeoutBehavior", Int),
    one(14, "hardTimeout", Int),
    one(15, "description", Text),
    one(17, "closeStdin", Bool),
];
static SHELL_RESULT: [FieldSpec; 9] = [
    one(1, "success", Message(&SHELL_SUCCESS)),
    one(2, "failure", Message(&SHELL_FAILURE)),
    one(3, "timeout", Message(&SHELL_TIMEOUT)),
    one(4, "rejected", Message(&SHELL_REJECTED)),
    one(5, "spawnError", Message(&SHELL_ERROR)),
    one(7, "permissionDenied", Message(&SHELL_ERROR)),
    one(102, "isBackground", Bool),
    one(103, "terminalsFolder", Text),
    one(104, "pid", Int),
];
static SHELL_SUCCESS: [FieldSpec; 10] = [
    one(1, "command", Text),
    one(2, "workingDirectory", Text),
    one(3, "exitCode", Int),
    one(4, "signal", Text),
    one(5, "stdout", Text),
    one(6, "stderr", Text),
    one(7, "executionTime", Int),
    one(9, "shellId", Int),
    one(10, "interleavedOutput", Text),
    one(11, "pid", Int),
];
static SHELL_FAILURE: [FieldSpec; 10] = [
    one(1, "command", Text),
    one(2, "workingDirectory", Text),
    one(3, "exitCode", Int),
    one(4, "signal", Text),
    one(5, "stdout", Text),
    one(6, "stderr", Text),
    one(7, "executionTime", Int),
    one(9, "interleavedOutput", Text),
    one(10, "abortReason", Int),
    one(11, "aborted", Bool),
];
static SHELL_TIMEOUT: [FieldSpec; 3] = [
    one(1, "command", Text),
    one(2, "workingDirectory", Text),
    one(3, "timeoutMs", Int),
];
static SHELL_REJECTED: [FieldSpec; 4] = [
    one(1, "command", Text),
    one(2, "workingDirectory", Text),
    one(3, "reason", Text),
    one(4, "isReadonly", Bool),
];
static SHELL_ERROR: [FieldSpec; 4] = [
    one(1, "command", Text),
    one(2, "workingDirectory", Text),
    one(3, "error", Text),
    one(4, "isReadonly", Bool),
];

static READ_ARGS: [FieldSpec; 4] = [
    one(1, "path", Text),
    one(2, "offset", Int),
    one(3, "limit", Int),
    one(5, "includeLineNumbers", Bool),
];
static READ_RESULT: [FieldSpec; 2] = [
    one(1, "success", Message(&READ_SUCCESS)),
    one(2, "error", Message(&ERROR_MESSAGE)),
];
static READ_SUCCESS: [FieldSpec; 9] = [
    one(1, "content", Text),
    one(2, "isEmpty", Bool),
    one(3, "exceededLimit", Bool),
    one(4, "totalLines", Int),
    one(5, "fileSize", Int),
    one(6, "data", Bytes),
    one(7, "path", Text),
    one(9, "dataBlobId", Bytes),
    one(10, "contentBlobId", Bytes),
];

static EDIT_ARGS: [FieldSpec; 2] = [one(1, "path", Text), one(6, "streamContent", Text)];
static EDIT_RESULT: [FieldSpec; 6] = [
    one(1, "success", Message(&EDIT_SUCCESS)),
    one(2, "fileNotFound", Message(&PATH_ONLY)),
    one(3, "readPermissionDenied", Message(&PATH_ONLY)),
    one(4, "writePermissionDenied", Message(&PATH_ERROR)),
    one(6, "rejected", Message(&PATH_REASON)),
    one(7, "error", Message(&EDIT_ERROR)),
];
static EDIT_SUCCESS: [FieldSpec; 7] = [
    one(1, "path", Text),
    one(3, "linesAdded", Int),
    one(4, "linesRemoved", Int),
    one(5, "diffString", Text),
    one(6, "beforeFullFileContent", Text),
    one(7, "afterFullFileContent", Text),
    one(8, "message", Text),
];
static EDIT_ERROR: [FieldSpec; 3] = [
    one(1, "path", Text),
    one(2, "error", Text),
    one(5, "modelVisibleError", Text),
];

static DELETE_RESULT: [FieldSpec; 7] = [
    one(1, "success", Message(&DELETE_SUCCESS)),
    one(2, "fileNotFound", Message(&PATH_ONLY)),
    one(3, "notFile", Message(&PATH_ONLY)),
    one(4, "permissionDenied", Message(&PATH_ONLY)),
    one(5, "fileBusy", Message(&PATH_ONLY)),
    one(6, "rejected", Message(&PATH_REASON)),
    one(7, "error", Message(&PATH_ERROR)),
];
static DELETE_SUCCESS: [FieldSpec; 3] = [
    one(1, "path", Text),
    one(2, "deletedFile", Text),
    one(3, "fileSize", Int),
];

static GLOB_ARGS: [FieldSpec; 2] = [one(1, "targetDirectory", Text), one(2, "globPattern", Text)];
static GLOB_RESULT: [FieldSpec; 2] = [
    one(1, "success", Message(&GLOB_SUCCESS)),
    one(2, "error", Message(&ERROR)),
];
static GLOB_SUCCESS: [FieldSpec; 6] = [
    one(1, "pattern", Text),
    one(2, "path", Text),
    many(3, "files", Text),
    one(4, "totalFiles", Int),
    one(5, "clientTruncated", Bool),
    one(6, "ripgrepTruncated", Bool),
];

static GREP_ARGS: [FieldSpec; 12] = [
    one(1, "pattern", Text),
    one(2, "path", Text),
    one(3, "glob", Text),
    one(4, "outputMode", Text),
    one(5, "contextBefore", Int),
    one(6, "contextAfter", Int),
    one(7, "context", Int),
    one(8, "caseInsensitive", Bool),
    one(9, "type", Text),
    one(10, "headLimit", Int),
    one(11, "multiline", Bool),
    one(14, "toolCallId", Text),
];
static GREP_RESULT: [FieldSpec; 2] = [
    one(1, "success", Message(&GREP_SUCCESS)),
    one(2, "error", Message(&ERROR)),
];
static GREP_SUCCESS: [FieldSpec; 4] = [
    one(1, "pattern", Text),
    one(2, "path", Text),
    one(3, "outputMode", Text),
    one(4, "workspaceResults", MapTo(&Message(&GREP_UNION))),
];
static GREP_UNION: [FieldSpec; 3] = [
    one(1, "count", Message(&GREP_COUNT)),
    one(2, "files", Message(&GREP_FILES)),
    one(3, "content", Message(&GREP_CONTENT)),
];
static GREP_COUNT: [FieldSpec; 3] = [
    many(1, "counts", Message(&GREP_FILE_COUNT)),
    one(2, "totalFiles", Int),
    one(3, "totalMatches", Int),
];
static GREP_FILE_COUNT: [FieldSpec; 2] = [one(1, "file", Text), one(2, "count", Int)];
static GREP_FILES: [FieldSpec; 4] = [
    many(1, "files", Text),
    one(2, "totalFiles", Int),
    one(3, "clientTruncated", Bool),
    one(4, "ripgrepTruncated", Bool),
];
static GREP_CONTENT: [FieldSpec; 5] = [
    many(1, "matches", Message(&GREP_FILE_MATCH)),
    one(2, "totalLines", Int),
    one(3, "totalMatchedLines", Int),
    one(4, "clientTruncated", Bool),
    one(5, "ripgrepTruncated", Bool),
];
static GREP_FILE_MATCH: [FieldSpec; 2] = [one(1, "file", Text), many(2, "matches", Message(&GREP_MATCH))];
static GREP_MATCH: [FieldSpec; 4] = [
    one(1, "lineNumber", Int),
    one(2, "content", Text),
    one(3, "contentTruncated", Bool),
    one(4, "isContextLine", Bool),
];

static LS_ARGS: [FieldSpec; 3] = [
    one(1, "path", Text),
    many(2, "ignore", Text),
    one(3, "toolCallId", Text),
];
static LS_RESULT: [FieldSpec; 4] = [
    one(1, "success", Message(&LS_SUCCESS)),
    one(2, "error", Message(&PATH_ERROR)),
    one(3, "rejected", Message(&PATH_REASON)),
    one(4, "timeout", Message(&LS_SUCCESS)),
];
static LS_SUCCESS: [FieldSpec; 1] = [one(1, "directoryTreeRoot", Message(&LS_NODE))];
static LS_NODE: [FieldSpec; 6] = [
    one(1, "absPath", Text),
    many(2, "childrenDirs", Message(&LS_NODE)),
    many(3, "childrenFiles", Message(&LS_FILE)),
    one(4, "childrenWereProcessed", Bool),
    one(5, "fullSubtreeExtensionCounts", MapTo(&Int)),
    one(6, "numFiles", Int),
];
static LS_FILE: [FieldSpec; 1] = [one(1, "name", Text)];

static TODO_ARGS: [FieldSpec; 2] = [many(1, "todos", Message(&TODO_ITEM)), one(2, "merge", Bool)];
static TODO_RESULT: [FieldSpec; 2] = [
    one(1, "success", Message(&TODO_SUCCESS)),
    one(2, "error", Message(&ERROR)),
];
static TODO_SUCCESS: [FieldSpec; 3] = [
    many(1, "todos", Message(&TODO_ITEM)),
    one(2, "totalCount", Int),
    one(3, "wasMerge", Bool),
];
static TODO_ITEM: [FieldSpec; 6] = [
    one(1, "id", Text),
    one(2, "content", Text),
    one(
        3,
        "status",
        Enum(&[
            "TODO_STATUS_UNSPECIFIED",
            "TODO_STATUS_PENDING",
            "TODO_STATUS_IN_PROGRESS",
            "TODO_STATUS_COMPLETED",
            "TODO_STATUS_CANCELLED",
        ]),
    ),
    one(4, "createdAt", Int),
    one(5, "updatedAt", Int),
    many(6, "dependencies", Text),
];

static MCP_ARGS: [FieldSpec; 6] = [
    one(1, "name", Text),
    one(2, "args", MapTo(&Json)),
    one(3, "toolCallId", Text),
    one(4, "providerIdentifier", Text),
    one(5, "toolName", Text),
    one(9, "serverIdentifier", Text),
];
static MCP_RESULT: [FieldSpec; 4] = [
    one(1, "success", Message(&MCP_SUCCESS)),
    one(2, "error", Message(&ERROR)),
    one(3, "rejected", Message(&REASON)),
    one(4, "permissionDenied", Message(&ERROR)),
];
static MCP_SUCCESS: [FieldSpec; 2] = [many(1, "content", Message(&MCP_CONTENT)), one(2, "isError", Bool)];
static MCP_CONTENT: [FieldSpec; 2] = [one(1, "text", Message(&MCP_TEXT)), one(2, "image", Any)];
static MCP_TEXT: [FieldSpec; 1] = [one(1, "text", Text)];

static SEM_SEARCH_ARGS: [FieldSpec; 3] = [
    one(1, "query", Text),
    many(2, "targetDirectories", Text),
    one(3, "explanation", Text),
];
static SEM_SEARCH_RESULT: [FieldSpec; 2] = [
    one(1, "success", Message(&SEM_SEARCH_SUCCESS)),
    one(2, "error", Message(&ERROR_MESSAGE)),
];
static SEM_SEARCH_SUCCESS: [FieldSpec; 1] = [one(1, "results", Text)];

static CREATE_PLAN_ARGS: [FieldSpec; 4] = [
    one(1, "plan", Text),
    many(2, "todos", Message(&TODO_ITEM)),
    one(3, "overview", Text),
    one(4, "name", Text),
];

static WEB_SEARCH_ARGS: [FieldSpec; 2] = [one(1, "searchTerm", Text), one(2, "toolCallId", Text)];
static WEB_SEARCH_RESULT: [FieldSpec; 3] = [
    one(1, "success", Message(&WEB_SEARCH_SUCCESS)),
    one(2, "error", Message(&ERROR)),
    one(3, "rejected", Message(&REASON)),
];
static WEB_SEARCH_SUCCESS: [FieldSpec; 1] = [many(1, "references", Message(&WEB_REFERENCE))];
static WEB_REFERENCE: [FieldSpec; 3] = [one(1, "title", Text), one(2, "url", Text), one(3, "chunk", Text)];

static TASK_ARGS: [FieldSpec; 6] = [
    one(1, "description", Text),
    one(2, "prompt", Text),
    one(3, "subagentType", Any),
    one(4, "model", Text),
    one(5, "resume", Text),
    one(6, "agentId", Text),
];
static TASK_RESULT: [FieldSpec; 2] = [
    one(1, "success", Message(&TASK_SUCCESS)),
    one(2, "error", Message(&ERROR)),
];
static TASK_SUCCESS: [FieldSpec; 6] = [
    // The sub-agent's steps are read as messages by the tool decoder.
    many(1, "conversationSteps", Skip),
    one(2, "agentId", Text),
    one(3, "isBackground", Bool),
    one(4, "durationMs", Int),
    one(5, "resultSuffix", Text),
    one(7, "transcriptPath", Text),
];

static ASK_QUESTION_ARGS: [FieldSpec; 3] = [
    one(1, "title", Text),
    many(2, "questions", Message(&QUESTION)),
    one(5, "runAsync", Bool),
];
static QUESTION: [FieldSpec; 4] = [
    one(1, "id", Text),
    one(2, "prompt", Text),
    many(3, "options", Message(&QUESTION_OPTION)),
    one(4, "allowMultiple", Bool),
];
static QUESTION_OPTION: [FieldSpec; 2] = [one(1, "id", Text), one(2, "label", Text)];
static ASK_QUESTION_RESULT: [FieldSpec; 4] = [
    one(1, "success", Message(&ANSWERS)),
    one(2, "error", Message(&ERROR)),
    one(3, "rejected", Message(&REASON)),
    one(4, "async", Any),
];
static ANSWERS: [FieldSpec; 1] = [many(1, "answers", Message(&ANSWER))];
static ANSWER: [FieldSpec; 3] = [
    one(1, "questionId", Text),
    many(2, "selectedOptionIds", Text),
    one(3, "freeformText", Text),
];

static FETCH_ARGS: [FieldSpec; 2] = [one(1, "url", Text), one(2, "toolCallId", Text)];
static FETCH_RESULT: [FieldSpec; 2] = [
    one(1, "success", Message(&FETCH_SUCCESS)),
    one(2, "error", Message(&URL_ERROR)),
];
static FETCH_SUCCESS: [FieldSpec; 4] = [
    one(1, "url", Text),
    one(2, "content", Text),
    one(3, "statusCode", Int),
    one(4, "contentType", Text),
];
static WEB_FETCH_RESULT: [FieldSpec; 3] = [
    one(1, "success", Message(&WEB_FETCH_SUCCESS)),
    one(2, "error", Message(&URL_ERROR)),
    one(3, "rejected", Message(&REASON)),
];
static WEB_FETCH_SUCCESS: [FieldSpec; 2] = [one(1, "url", Text), one(2, "markdown", Text)];

static SWITCH_MODE_ARGS: [FieldSpec; 2] = [one(1, "targetModeId", Text), one(2, "explanation", Text)];
static SEND_TO_USER_ARGS: [FieldSpec; 1] = [one(1, "message", Text)];
