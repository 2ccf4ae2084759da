/** The words of the guide, which are loaded with it. */

const en = {
  title: "Nobody is waiting for you yet",
  text: "Connect an agent once. From then on it asks here and waits for your answer.",
  other: "Anything that can run a shell command can ask: cueme join, then cueme cue.",
  demo: "See it work",
  "demo-text": "A demo agent joins this inbox and waits for your answer.",
  "connect-text": "Run one of these. It shows every change before it writes; --remove takes all of it back.",
  writes: "{n} files",
  "writes.one": "1 file",
};

/** @type {typeof en} */
const zh = {
  title: "还没有智能体在等你",
  text: "只需连接一次，之后智能体会在这里提问并等待。",
  other: "凡是能运行命令的程序都能提问：先 cueme join，再 cueme cue。",
  demo: "先看演示",
  "demo-text": "演示智能体会加入这个收件箱，并等待你的回答。",
  "connect-text": "运行其中一条。写入前会显示每处改动；--remove 可全部撤回。",
  writes: "{n} 个文件",
  "writes.one": "1 个文件",
};

/** @typedef {keyof typeof en} Word */
/** @typedef {(word: Word, values?: Record<string, string | number>) => string} Words */

/**
 * @param {string} language
 * @returns {Words}
 */
export const wordsIn = (language) => (word, values = {}) => (language.startsWith("zh") ? zh : en)[word].replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
