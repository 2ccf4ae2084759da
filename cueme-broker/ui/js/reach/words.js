/** The words of this part of the settings, which are loaded with it. */

const en = {
  push: "Push to this device",
  "push.on": "Push questions here, also while the page is closed",
  "push.preview": "Show the question on the lock screen",
  "push.hint": "Without it, a notification says who asks and nothing more, and has no buttons.",
  "push.after": "How long a question waits first",
  "push.test": "Send a test",
  "push.sent": "A test is on its way.",
  "push.secure": "Pushes need https; put TLS in front of the page.",
  "push.none": "This browser has no pushes. On an iPhone, add the page to the home screen first.",
  "push.denied": "This browser blocks notifications for the page; allow them next to the address.",
  "push.failed": "The browser could not subscribe: {why}",
  "after.0": "Not at all",
  "after.30": "30 seconds",
  "after.120": "2 minutes",
  "after.600": "10 minutes",
  reasons: "Told of",
  "reason.question": "Questions",
  "reason.approval": "Approvals",
  "reason.pause": "Pauses",
};

/** @type {typeof en} */
const zh = {
  push: "推送到此设备",
  "push.on": "把问题推送到这里，页面关闭时也推送",
  "push.preview": "在锁屏上显示问题",
  "push.hint": "关闭时，通知只说明谁在提问，没有按钮。",
  "push.after": "问题先等待多久",
  "push.test": "发送测试",
  "push.sent": "测试已发出。",
  "push.secure": "推送需要 https；请在页面前加上 TLS。",
  "push.none": "此浏览器不支持推送。在 iPhone 上，请先把页面添加到主屏幕。",
  "push.denied": "此浏览器阻止了本页面的通知；请在地址栏旁允许。",
  "push.failed": "浏览器无法订阅：{why}",
  "after.0": "不等待",
  "after.30": "30 秒",
  "after.120": "2 分钟",
  "after.600": "10 分钟",
  reasons: "通知内容",
  "reason.question": "提问",
  "reason.approval": "审批",
  "reason.pause": "暂停",
};

/** @typedef {keyof typeof en} Word */
/** @typedef {(word: Word, values?: Record<string, string>) => string} Words */

/**
 * @param {string} language
 * @returns {Words}
 */
export const wordsIn = (language) => (word, values = {}) => (language === "zh" ? zh : en)[word].replace(/\{(\w+)\}/g, (_, key) => values[key] ?? "");
