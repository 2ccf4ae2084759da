/**
 * What of a question nobody has looked at. Everything that is folded says in `data-folded` how many lines it hides; a yes counts
 * only when it was opened, or when the human says that they have seen it.
 */

import { fill, h } from "../lib/dom.js";
import { go } from "../route.js";
import { t } from "../i18n/index.js";
import { textButton } from "./buttons.js";

/** @import * as T from "../types.js" */

const CHANGED = "folds";

/** Tells that something was folded, opened or drawn. */
export const foldsChanged = () => document.dispatchEvent(new Event(CHANGED));

/**
 * Notes that something folded was opened.
 * @param {HTMLElement} el
 */
export function opened(el) {
  delete el.dataset.folded;
  foldsChanged();
}

/**
 * Says how much of a question is folded, and tells `allow` whether all of it was seen.
 * @param {T.Cue} cue
 * @param {(isSeen: boolean) => void} allow
 */
export function createUnseen(cue, allow) {
  const el = h("div", { class: "notice unseen", role: "status" });
  let wasThere = false;
  const look = () => {
    wasThere ||= el.isConnected;
    if (wasThere && !el.isConnected) return document.removeEventListener(CHANGED, look);
    const entry = document.getElementById(`cue-${cue.cue_id}`);
    const folds = /** @type {HTMLElement[]} */ ([...(entry?.querySelectorAll("[data-folded]") ?? [])]);
    const lines = folds.reduce((sum, fold) => sum + Number(fold.dataset.folded), 0);
    const isSeen = Boolean(entry) && (lines === 0 || entry?.dataset.seen === "true");
    const show = () => (entry ? folds.forEach((fold) => /** @type {HTMLElement | null} */ (fold.querySelector("summary,button"))?.click()) : go(cue.agent_id, cue.cue_id));
    const declare = () => {
      if (entry) entry.dataset.seen = "true";
      look();
    };
    el.hidden = isSeen;
    fill(el, h("span", null, entry ? t("unseen", { n: lines }) : t("unseen.away")), textButton(t("dock.show"), show, "strong"), entry && textButton(t("unseen.declare"), declare));
    allow(isSeen);
  };
  document.addEventListener(CHANGED, look);
  look();
  return el;
}
