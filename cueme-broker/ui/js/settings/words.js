/** The words of the settings, which are loaded with them. */

export const en = {
  "settings.looks": "Appearance",
  "theme": "Theme",
  "theme.auto": "System",
  "theme.light": "Light",
  "theme.dark": "Dark",
  "language": "Language",
  "language.auto": "Browser default",
  "settings.answering": "Answering",
  "settings.enter": "Enter sends (Shift+Enter starts a new line)",
  "settings.advance": "After answering, open the next waiting question",
  "settings.undo": "Undo window, in seconds",
  "settings.quick": "Saved replies, one per line",
  "settings.attention": "Notifications",
  "settings.browser": "Browser notifications",
  "settings.sound": "Sound",
  "settings.desktop": "Desktop notifications from the broker",
  "settings.quiet": "Quiet hours",
  "settings.quiet-hours": "Between",
  "settings.from": "Quiet from",
  "settings.to": "Quiet to",
  "settings.denied": "This browser blocks notifications for this page; allow them next to the address bar.",
  "https": "Notifications and installation need HTTPS. Set up a TLS reverse proxy, or open the page on localhost through an SSH tunnel.",
  "policy.none": "No rules. A rule answers questions for you until a date you set.",
  "policy.new": "New rule",
  "reach": "Phone and chat apps",
  "devices.add": "Add a phone or another browser",
  "devices.this": "this device",
  "devices.seen": "last seen {at}",
  "devices.revoke": "Sign out",
  "devices.leave": "Sign out here",
  "devices.qr": "QR code of the link",
  "devices.once": "Works once, until {at}.",
};

/** @typedef {keyof typeof en} Word */
/** @typedef {(word: Word, values?: Record<string, string | number>) => string} Words */

/**
 * @param {typeof en} words
 * @returns {Words}
 */
export const wordsOf = (words) => (word, values = {}) => words[word].replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
