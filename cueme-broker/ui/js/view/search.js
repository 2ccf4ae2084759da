/** Full-text search over questions and answers, below the agents whose names fit. */

import { debounce, fill, h } from "../lib/dom.js";
import { api } from "../api.js";
import { t } from "../i18n/index.js";
import { tools } from "../tools/load.js";

const WORDS_CHARS_MIN = 2;

/** Builds the list of what was found; `search` is told each change of the words. */
export function searchResults() {
  const el = h("section", { class: "group results", "aria-live": "polite", hidden: true });
  /** @type {AbortController | null} */
  let running = null;

  const ask = debounce(150, async (/** @type {string} */ words) => {
    running?.abort();
    running = new AbortController();
    try {
      const found = await api.search(words, running.signal);
      (await tools()).found(el, found, words);
    } catch (error) {
      if (!(error instanceof DOMException)) fill(el, h("p", { class: "muted pad" }, t("search.failed")));
    }
  });

  return {
    el,
    /** @param {string} words */
    search(words) {
      running?.abort();
      if (words.trim().length < WORDS_CHARS_MIN) {
        ask.cancel();
        fill(el);
      } else ask.call(words.trim());
    },
  };
}
