/** The words of the dialogs, which are loaded with them. */

export const en = {
  "broadcast.agents": "Agents",
  "broadcast.groups": "Groups",
  "broadcast.everyone": "Everyone",
  "broadcast.save": "Save selection as a group",
  "broadcast.name": "Group name",
  "broadcast.forget": "Delete the group {name}",
  "broadcast.count": "{n} selected",
  "broadcast.choose": "Choose at least one agent.",
  "broadcast.done": "Queued for {n} agents",
  "broadcast.done.one": "Queued for 1 agent",
  "broadcast.some": "Queued: {ok}. Could not be reached: {failed}.",
  "key.search": "Search",
  "key.focus": "Write an answer",
  "key.pick": "Choose an option",
  "key.open": "Jump to the open question",
  "key.send": "Send from anywhere",
  "key.newline": "New line",
  "key.undo": "Undo the last answer",
  "key.decline": "Decline",
  "key.again": "Use the earlier answer",
  "key.broadcast": "Message several agents",
  "key.pin": "Pin",
  "key.rename": "Rename",
  "key.archive": "Archive",
  "key.settings": "Settings",
  "key.leave": "Leave the field; back to the inbox",
  "key.confirm": "Yes, no",
  "key.review": "In a diff: next line, previous line, comment (with Shift: a range)",
  "key.palette": "Search, or run a command",
  "key.snooze": "Snooze",
  "key.unread": "Mark unread",
  "key.several": "Select multiple",
};

/** @typedef {keyof typeof en} Word */
/** @typedef {(word: Word, values?: Record<string, string | number>) => string} Words */

/**
 * @param {typeof en} words
 * @returns {Words}
 */
export const wordsOf = (words) => (word, values = {}) => words[word].replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
