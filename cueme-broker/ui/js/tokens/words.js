/** The words of this part of the settings, which are loaded with it. */

const en = {
  about: "Programs that join or ask over HTTP use a token. It is shown once, when you create it.",
  none: "No tokens yet.",
  "scope.join": "can join agents and ask as them",
  "scope.agent": "can ask as {agent}",
  "scope.human": "can do everything you can here",
  unnamed: "unnamed",
  made: "created {at}",
  used: "last used {at}",
  unused: "not used yet",
  expires: "expires {at}",
  expired: "expired",
  never: "does not expire",
  revoke: "Revoke",
  sure: "Press again to revoke it",
  revoked: "Revoked {name}.",
  name: "Name",
  life: "Expires after",
  "life.0": "Never",
  "life.1": "1 day",
  "life.30": "30 days",
  "life.365": "1 year",
  add: "Create a token",
  once: "Copy it now; it is not shown again.",
};

/** @type {typeof en} */
const zh = {
  about: "通过 HTTP 加入或提问的程序使用令牌。令牌只在创建时显示一次。",
  none: "还没有令牌。",
  "scope.join": "可注册智能体，并以其身份提问",
  "scope.agent": "可以 {agent} 的身份提问",
  "scope.human": "可做你在这里能做的一切",
  unnamed: "未命名",
  made: "创建于 {at}",
  used: "上次使用 {at}",
  unused: "尚未使用",
  expires: "{at} 到期",
  expired: "已过期",
  never: "永不过期",
  revoke: "撤销",
  sure: "再按一次以撤销",
  revoked: "已撤销 {name}。",
  name: "名称",
  life: "有效期",
  "life.0": "永久",
  "life.1": "1 天",
  "life.30": "30 天",
  "life.365": "1 年",
  add: "创建令牌",
  once: "请立即复制，之后不再显示。",
};

/** @typedef {keyof typeof en} Word */
/** @typedef {(word: Word, values?: Record<string, string | number>) => string} Words */

/**
 * @param {string} language
 * @returns {Words}
 */
export const wordsIn = (language) => (word, values = {}) => (language.startsWith("zh") ? zh : en)[word].replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
