/** The words of the review, which are loaded with it. */

const en = {
  unified: "Unified",
  split: "Split",
  new: "New comment",
  line: "line {at}",
  lines: "lines {at}",
  range: "Shift+click for a range",
  "range-tap": "Tap another line for a range",
  add: "Add comment",
  save: "Save comment",
  sure: "Press Esc again to discard it.",
  discard: "Discard",
  edit: "Edit",
  delete: "Delete",
  you: "You",
  added: "added",
  removed: "removed",
};

/** @type {typeof en} */
const zh = {
  unified: "合并视图",
  split: "并排视图",
  new: "新评论",
  line: "第 {at} 行",
  lines: "第 {at} 行",
  range: "Shift+点击选择范围",
  "range-tap": "轻点另一行选择范围",
  add: "添加评论",
  save: "保存评论",
  sure: "再按一次 Esc 放弃这条评论。",
  discard: "放弃",
  edit: "编辑",
  delete: "删除",
  you: "你",
  added: "新增",
  removed: "删除",
};

/** @typedef {keyof typeof en} Word */

/**
 * @param {string} language
 * @returns {(word: Word, values?: Record<string, string | number>) => string}
 */
export const wordsIn = (language) => (word, values = {}) => (language.startsWith("zh") ? zh : en)[word].replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
