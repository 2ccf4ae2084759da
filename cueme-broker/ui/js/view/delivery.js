/** What may truthfully be said about a question and its answer. Only an acknowledgement counts as received. */

import { clock, now, toMs } from "../lib/time.js";
import { t } from "../i18n/index.js";

/** @import * as T from "../types.js" */

/** @typedef {{ icon: import("../lib/icons.js").IconName, text: string, tone: "good" | "wait" | "warn" }} Words */

/**
 * Returns the words below an answer.
 * @param {T.CueCard} cue
 * @returns {Words}
 */
export function deliveryWords(cue) {
  if (cue.origin === "import") return { icon: "check", text: t("delivery.imported"), tone: "wait" };
  if (cue.withdrawn) return { icon: "check", text: t("delivery.withdrawn"), tone: "wait" };
  if (cue.acknowledged_at) return { icon: "checks", text: t("delivery.received", { at: clock(cue.acknowledged_at) }), tone: "good" };
  if (isHeld(cue)) return { icon: "clock", text: t("delivery.held"), tone: "wait" };
  if (cue.delivery === "handed") return { icon: "check", text: t("delivery.handed"), tone: "wait" };
  if (cue.waiting > 0) return { icon: "check", text: t("delivery.sent"), tone: "wait" };
  return { icon: "clock", text: t("delivery.gone"), tone: "warn" };
}

/**
 * Says whether an answer can still be taken back.
 * @param {T.CueCard} cue
 */
export const isHeld = (cue) => cue.released_at !== null && toMs(cue.released_at) > now();

/**
 * Says whether a question can be answered.
 * @param {T.CueCard} cue
 */
export const isAnswerable = (cue) => (cue.outcome === "open" || cue.outcome === "superseded") && !cue.damaged;
