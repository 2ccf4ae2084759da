/** The purpose of a message to an agent: a note, or an answer to a question it has not asked yet. The human says which. */

import { h } from "../lib/dom.js";
import { t } from "../i18n/index.js";

/** @import * as T from "../types.js" */

/** @type {T.Purpose[]} */
const PURPOSES = ["note", "queued_answer"];

/** @param {() => void} onchange */
export function createPurpose(onchange) {
  /** @type {T.Purpose} */
  let purpose = "note";
  const hint = h("span", { class: "muted small" });
  const buttons = PURPOSES.map((one) => h("button", { type: "button", class: "chip", data: { purpose: one }, onclick: () => (write(one), onchange()) }, t(`${one}.name`)));
  /** @param {T.Purpose} wanted */
  function write(wanted) {
    purpose = wanted;
    buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(PURPOSES[at] === purpose)));
    hint.textContent = t(`${purpose}.hint`);
  }
  write(purpose);
  return { el: h("div", { class: "chips purpose", role: "group", "aria-label": t("purpose") }, buttons, hint), read: () => purpose, write };
}
