/** Yes or no in the agent's own words. Pressing a label answers. */

import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { visible } from "../lib/visible.js";
import { t } from "../i18n/index.js";
import { createUnseen } from "./unseen.js";

/** @import * as T from "../types.js" */

/**
 * @param {T.Cue} cue
 * @param {T.Confirm} payload
 * @param {(reply: T.Reply) => void} send
 */
export function createConfirm(cue, payload, send) {
  const button = (/** @type {boolean} */ confirmed, /** @type {string} */ label, /** @type {string} */ kind) =>
    h("button", { type: "button", class: `button ${kind}`, dir: "auto", data: { confirm: String(confirmed) }, onclick: () => send({ type: "confirm", confirmed }) }, visible(label));
  const buttons = [button(true, payload.confirm_label, "primary"), button(false, payload.cancel_label, "")];
  const unseen = createUnseen(cue, (isSeen) => buttons.forEach((one) => (one.disabled = !isSeen)));
  return h(
    "div",
    { class: "control confirm", role: "group", "aria-label": payload.text ?? t("confirm") },
    payload.text && h("p", { class: "confirm-text", dir: "auto" }, visible(payload.text)),
    unseen,
    h("div", { class: "confirm-buttons" }, buttons),
  );
}

/** @param {(reply: T.Reply) => void} send */
export function createContinue(send) {
  return h("div", { class: "control confirm" }, h("button", { type: "button", class: "button primary wide", data: { confirm: "continue" }, onclick: () => send({ type: "continue" }) }, icon("play"), t("continue")));
}
