/** The list of keys, shown by `?`. */

import { h } from "../lib/dom.js";
import { t } from "../i18n/index.js";
import { openDialog } from "./dialog.js";

/** @import { Word } from "../i18n/index.js" */

/** @type {[string[], Word][]} */
const KEYS = [
  [["w"], "key.next-waiting"],
  [["y", "n"], "key.confirm"],
  [["j", "k"], "key.step"],
  [["Ctrl", "K"], "key.palette"],
  [["s"], "key.snooze"],
  [["Shift", "U"], "key.unread"],
  [["x"], "key.several"],
  [["/"], "key.search"],
  [["Enter"], "key.focus"],
  [["1", "…", "9"], "key.pick"],
  [["[", "]"], "key.question"],
  [["g"], "key.open"],
  [["Ctrl", "Enter"], "key.send"],
  [["Shift", "Enter"], "key.newline"],
  [["u"], "key.undo"],
  [["d"], "key.decline"],
  [["m"], "key.broadcast"],
  [["p"], "key.pin"],
  [["r"], "key.rename"],
  [["e"], "key.archive"],
  [[","], "key.settings"],
  [["j", "k", "c"], "key.review"],
  [["Esc"], "key.leave"],
  [["?"], "key.help"],
];

/** Opens the list. */
export function openShortcuts() {
  openDialog(t("shortcuts"), () => [h("dl", { class: "keys", tabindex: "0" }, KEYS.map(([keys, word]) => h("div", { class: "key-line" }, h("dt", null, keys.map((key) => h("kbd", null, key))), h("dd", null, t(word)))))]);
}
