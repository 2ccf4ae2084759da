/** Yes or no in the agent's own words. Pressing a label answers; a yes or no to something folded opens it first. */

import { CTRL, h } from "../lib/dom.js";
import { visible } from "../lib/visible.js";
import { t } from "../i18n/index.js";
import { createUnseen } from "./unseen.js";

/** @import * as T from "../types.js" */

/** @typedef {{ el: HTMLElement | null, buttons: HTMLElement, isSeen: () => boolean, press: (yes: boolean) => void }} Direct */

/**
 * @param {T.Cue} cue
 * @param {T.Confirm} payload
 * @param {(reply: T.Reply) => void} send
 * @returns {Direct}
 */
export function createConfirm(cue, payload, send) {
  const unseen = createUnseen(cue);
  const press = (/** @type {boolean} */ confirmed) => (unseen.isSeen() ? send({ type: "confirm", confirmed }) : unseen.show());
  const button = (/** @type {boolean} */ confirmed, /** @type {string} */ label, /** @type {string} */ kind) =>
    h("button", { type: "button", class: `button ${kind}`, data: { confirm: String(confirmed) }, "aria-keyshortcuts": confirmed ? "y" : "n", onclick: () => press(confirmed) }, h("span", { dir: "auto" }, visible(label)), h("kbd", { "aria-hidden": "true" }, confirmed ? "Y" : "N"));
  return {
    el: h("div", { class: "control confirm" }, payload.text && h("p", { class: "confirm-text", dir: "auto" }, visible(payload.text)), unseen.el),
    buttons: h("div", { class: "confirm-buttons", role: "group", "aria-label": payload.text ?? t("confirm") }, button(false, payload.cancel_label, ""), button(true, payload.confirm_label, "primary")),
    isSeen: unseen.isSeen,
    press,
  };
}

/**
 * @param {(reply: T.Reply) => void} send
 * @returns {Direct}
 */
export function createContinue(send) {
  const press = (/** @type {boolean} */ yes) => yes && send({ type: "continue" });
  const button = h("button", { type: "button", class: "button primary", data: { confirm: "continue" }, onclick: () => press(true) }, t("continue"), h("kbd", { "aria-hidden": "true" }, `${CTRL} ↵`));
  return { el: null, buttons: h("div", { class: "confirm-buttons confirm" }, button), isSeen: () => true, press };
}
