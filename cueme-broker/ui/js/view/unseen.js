/**
 * What of a question nobody has looked at. Everything that is folded says in `data-folded` how many lines it hides, and a file that
 * is not there yet says nothing; a yes counts only when it was opened, or when the human says that they have seen it.
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
 * Says how much of a question is folded. `isSeen` says whether all of it was seen, `show` opens what is folded and moves to it.
 * @param {T.Cue} cue
 */
export function createUnseen(cue) {
  const el = h("div", { class: "notice unseen", role: "status" });
  let wasThere = false;
  let isSeen = false;
  let show = () => {};
  const look = () => {
    wasThere ||= el.isConnected;
    if (wasThere && !el.isConnected) return document.removeEventListener(CHANGED, look);
    const entry = document.getElementById(`cue-${cue.cue_id}`);
    const folds = /** @type {HTMLElement[]} */ ([...(entry?.querySelectorAll("[data-folded]") ?? [])]);
    const lines = folds.reduce((sum, fold) => sum + Number(fold.dataset.folded), 0);
    isSeen = Boolean(entry) && (folds.length === 0 || entry?.dataset.seen === "true");
    show = () => {
      if (!entry) return go(cue.agent_id, cue.cue_id);
      folds[0]?.scrollIntoView({ block: "start" });
      for (const fold of folds) /** @type {HTMLElement | null} */ (fold.querySelector("summary,button"))?.click();
    };
    const declare = () => {
      if (entry) entry.dataset.seen = "true";
      look();
    };
    el.hidden = isSeen;
    fill(el, h("span", null, t(!entry ? "unseen.away" : lines === 0 ? "unseen.file" : "unseen", { n: lines })), textButton(t("dock.show"), () => show(), "strong"), entry && textButton(t("unseen.declare"), declare));
  };
  document.addEventListener(CHANGED, look);
  look();
  return { el, isSeen: () => (look(), isSeen), show: () => show() };
}
