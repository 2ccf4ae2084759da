/** The words of what an agent has not got yet, which are loaded with it. */

const en = {
  title: "Not delivered yet",
  up: "Move up",
  down: "Move down",
  edit: "Change the text",
  delete: "Delete",
  changed: "The list has changed since you opened it.",
};

/** @type {typeof en} */
const zh = {
  title: "尚未送达",
  up: "上移",
  down: "下移",
  edit: "修改内容",
  delete: "删除",
  changed: "列表在此期间已有变化。",
};

/** @typedef {keyof typeof en} Word */

/** @type {(language: string) => (word: Word) => string} */
export const wordsIn = (language) => (word) => (language.startsWith("zh") ? zh : en)[word];
