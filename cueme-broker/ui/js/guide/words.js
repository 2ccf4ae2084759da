/** The words of the guide, which are loaded with it. */

const en = {
  title: "Nobody is waiting for you yet",
  text: "Connect an agent once. From then on it asks here and waits for your answer.",
  "agents-md": "Programs that read AGENTS.md",
  other: "Anything that can run a shell command can ask: cueme join, then cueme cue.",
  demo: "See it work",
  "demo-text": "A demo agent joins this inbox and waits for your answer.",
  "connect-text": "Run one of these. It shows every change before it writes; --remove undoes all of it.",
  and: "; ",
  "role.rule": "instructions that tell the agent to ask",
  "role.permission": "permission to run cueme’s four agent commands",
  "role.hooks": "hooks for the start of a session, a prompt and the end of a turn",
  "role.mcp": "cueme as an MCP server",
  writes: "{n} files",
  "writes.one": "1 file",
};

/** @type {typeof en} */
const zh = {
  title: "还没有智能体在等你",
  text: "只需连接一次，之后智能体会在这里提问，并等待你的回答。",
  "agents-md": "读取 AGENTS.md 的程序",
  other: "凡是能运行命令的程序都能提问：先 cueme join，再 cueme cue。",
  demo: "先看演示",
  "demo-text": "演示智能体会加入这个收件箱，并等待你的回答。",
  "connect-text": "运行其中一条命令。写入前会显示每处改动；--remove 可全部撤销。",
  and: "；",
  "role.rule": "要求智能体提问的指令",
  "role.permission": "运行 cueme 四个智能体命令的许可",
  "role.hooks": "会话开始、收到提示词和回合结束时触发的钩子",
  "role.mcp": "把 cueme 设为 MCP 服务器",
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
