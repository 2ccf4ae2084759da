/** The list of keys, shown by `?`. */

/** @import { Kit } from "../tools/load.js" */
/** @import { Word, Words } from "./words.js" */

/** Keys with their meaning; the page itself has the words that it shows beside a question, too.
 * @type {[string[], Word | null, import("../i18n/index.js").Word?][]} */
const KEYS = [
  [["w"], null, "key.next-waiting"],
  [["y", "n"], "key.confirm"],
  [["j", "k"], null, "key.step"],
  [["Ctrl", "K"], "key.palette"],
  [["s"], "key.snooze"],
  [["Shift", "U"], "key.unread"],
  [["x"], "key.several"],
  [["/"], "key.search"],
  [["Enter"], "key.focus"],
  [["1", "…", "9"], "key.pick"],
  [["[", "]"], null, "key.question"],
  [["g"], "key.open"],
  [["Ctrl", "Enter"], "key.send"],
  [["Shift", "Enter"], "key.newline"],
  [["u"], "key.undo"],
  [["d"], "key.decline"],
  [["a"], "key.again"],
  [["m"], "key.broadcast"],
  [["p"], "key.pin"],
  [["r"], "key.rename"],
  [["e"], "key.archive"],
  [[","], "key.settings"],
  [["j", "k", "c"], "key.review"],
  [["Esc"], "key.leave"],
  [["?"], null, "key.all"],
];

/**
 * Opens the list.
 * @param {Kit} kit
 * @param {Words} w
 */
export function openShortcuts({ CTRL, h, openDialog, t }, w) {
  openDialog(t("shortcuts"), () => [h("dl", { class: "keys", tabindex: "0" }, KEYS.map(([keys, word, shared]) => h("div", { class: "key-line" }, h("dt", null, keys.map((key) => h("kbd", null, key === "Ctrl" ? CTRL : key.length === 1 ? key.toUpperCase() : key))), h("dd", null, word ? w(word) : shared && t(shared)))))], { wide: true });
}
