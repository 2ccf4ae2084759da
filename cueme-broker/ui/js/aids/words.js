/** The words of what helps to answer, which are loaded with it. */

const en = {
  once: "The same question from several agents",
  "once.to": "Your answer goes to {n} of {all} agents.",
  "once.all": "Your answer goes to all {n} agents.",
  "once.both": "Your answer goes to both agents.",
  "once.of": "{n} of {all} agents",
  "once.this": "this question",
  "once.open": "The others stay open.",
  "once.failed": "Not sent to {name}: {why} The question is still open.",
  precedent: "You answered a question like this before",
  "precedent.same": "You answered this before",
  "precedent.open": "Open the earlier question",
  "precedent.use": "Use this answer",
  "precedent.rule": "Make a rule…",
  "precedent.written": "You have written something else here. Send or delete it first.",
};

/** @type {typeof en} */
const zh = {
  once: "多个智能体的同一个问题",
  "once.to": "回答将发给 {all} 个智能体中的 {n} 个。",
  "once.all": "回答将发给全部 {n} 个智能体。",
  "once.both": "回答将发给两个智能体。",
  "once.of": "{all} 个智能体中的 {n} 个",
  "once.this": "当前问题",
  "once.open": "其余问题保持未答。",
  "once.failed": "未能发送给 {name}：{why}该问题仍未回答。",
  precedent: "你回答过类似的问题",
  "precedent.same": "你回答过这个问题",
  "precedent.open": "打开之前的问题",
  "precedent.use": "使用这个回答",
  "precedent.rule": "设为规则…",
  "precedent.written": "回答中已有其他内容，请先发送或删除。",
};

/** @typedef {keyof typeof en} Word */
/** @typedef {(word: Word, values?: Record<string, string | number>) => string} Words */

/**
 * @param {string} language
 * @returns {Words}
 */
export const wordsIn = (language) => (word, values = {}) => (language.startsWith("zh") ? zh : en)[word].replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
