/** Times that move: one clock for the whole page. */

import { h, setText } from "../lib/dom.js";
import { full, span } from "../lib/time.js";

const TICK_MS = 1_000;

/**
 * A duration that keeps counting.
 * @param {string} since
 * @param {{ precise?: boolean, className?: string }} [how]
 */
export function liveSpan(since, { precise = false, className = "" } = {}) {
  const el = h("time", { class: className });
  setSince(el, since, precise);
  return el;
}

/**
 * @param {HTMLTimeElement} el
 * @param {string} since
 * @param {boolean} [precise]
 */
export function setSince(el, since, precise = false) {
  if (el.dateTime !== since) {
    el.dateTime = since;
    el.title = "";
  }
  el.dataset.since = precise ? "precise" : "short";
  setText(el, span(since, precise));
}

/** Starts the clock, and tells the whole date and time of whatever is pointed at. */
export function startClock() {
  document.addEventListener("pointerover", (event) => {
    const el = event.target instanceof Element && event.target.closest("time[datetime]");
    if (el instanceof HTMLTimeElement && !el.title) el.title = full(el.dateTime);
  });
  setInterval(() => {
    if (document.hidden) return;
    for (const el of document.querySelectorAll("time[data-since]")) {
      const time = /** @type {HTMLTimeElement} */ (el);
      setText(time, span(time.dateTime, time.dataset.since === "precise"));
    }
  }, TICK_MS);
}
