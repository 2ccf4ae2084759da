/** The words of the dialogs, which are loaded with them. */

const en = {
  "broadcast.agents": "Agents",
  "broadcast.groups": "Groups",
  "broadcast.everyone": "Everyone",
  "broadcast.save": "Save selection as a group",
  "broadcast.name": "Group name",
  "broadcast.forget": "Delete the group {name}",
  "broadcast.count": "{n} chosen",
  "broadcast.choose": "Choose at least one agent.",
  "broadcast.done": "Left for {n} agents",
  "broadcast.some": "Left for {ok} agents; {failed} could not be reached",
  "key.search": "Search",
  "key.focus": "Write an answer",
  "key.pick": "Choose an option",
  "key.open": "Jump to the open question",
  "key.send": "Send from anywhere",
  "key.newline": "New line",
  "key.undo": "Undo the last answer",
  "key.decline": "Decline",
  "key.again": "Give the earlier answer again",
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
  "key.several": "Select several",
};

/** @type {typeof en} */
const zh = {
  "broadcast.agents": "智能体",
  "broadcast.groups": "分组",
  "broadcast.everyone": "所有",
  "broadcast.save": "把所选存为分组",
  "broadcast.name": "分组名称",
  "broadcast.forget": "删除分组 {name}",
  "broadcast.count": "已选 {n} 个",
  "broadcast.choose": "请至少选择一个智能体。",
  "broadcast.done": "已给 {n} 个智能体留言",
  "broadcast.some": "已给 {ok} 个留言，{failed} 个失败",
  "key.search": "搜索",
  "key.focus": "写回答",
  "key.pick": "选择选项",
  "key.open": "跳到待答问题",
  "key.send": "随处发送",
  "key.newline": "换行",
  "key.undo": "撤销刚才的回答",
  "key.decline": "拒绝",
  "key.again": "再用之前的回答",
  "key.broadcast": "给多个智能体留言",
  "key.pin": "置顶",
  "key.rename": "重命名",
  "key.archive": "归档",
  "key.settings": "设置",
  "key.leave": "离开输入框；返回收件箱",
  "key.confirm": "是，否",
  "key.review": "在差异中：下一行、上一行、评论（按住 Shift 选择范围）",
  "key.palette": "搜索或执行命令",
  "key.snooze": "推迟",
  "key.unread": "标为未读",
  "key.several": "选择多个",
};

/** @typedef {keyof typeof en} Word */
/** @typedef {(word: Word, values?: Record<string, string | number>) => string} Words */

/**
 * @param {string} language
 * @returns {Words}
 */
export const wordsIn = (language) => (word, values = {}) => (language.startsWith("zh") ? zh : en)[word].replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
