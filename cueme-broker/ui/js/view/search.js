/** Full-text search over questions and answers, below the agents whose names fit. */

import { debounce, fill, h } from "../lib/dom.js";
import { parseQuery } from "../lib/query.js";
import { api } from "../api.js";
import { state } from "../store.js";
import { t } from "../i18n/index.js";
import { tools } from "../tools/load.js";

const WORDS_CHARS_MIN = 2;
/** How many pages of hits are read for one that belongs to an agent that is wanted. */
const PAGES_MAX = 5;

/** @import * as T from "../types.js" */
/** @typedef {ReturnType<typeof parseQuery>} Query */

/** Builds the list of what was found; `search` is told each change of the words. */
export function searchResults() {
  const el = h("section", { class: "group results", "aria-live": "polite", hidden: true });
  /** @type {AbortController | null} */
  let running = null;

  const ask = debounce(150, async (/** @type {Query} */ query) => {
    running?.abort();
    running = new AbortController();
    try {
      const found = await find(query, running.signal);
      (await tools()).found(el, found, query.words);
    } catch (error) {
      if (!(error instanceof DOMException)) fill(el, h("p", { class: "muted pad" }, t("search.failed")));
    }
  });

  return {
    el,
    /** @param {string} typed */
    search(typed) {
      const query = parseQuery(typed);
      running?.abort();
      if (query.words.length < WORDS_CHARS_MIN) {
        ask.cancel();
        fill(el);
      } else ask.call(query);
    },
  };
}

/**
 * Finds questions and answers of the agents that are wanted.
 * @param {Query} query
 * @param {AbortSignal} signal
 * @returns {Promise<T.Found>}
 */
async function find({ words, fits }, signal) {
  /** @type {number | undefined} */
  let before;
  for (let page = 1; ; page++) {
    const found = await api.search(words, before, signal);
    const cues = found.cues.filter((cue) => fits(state.agents.get(cue.agent_id)));
    before = found.cues.at(-1)?.seq;
    if (cues.length > 0 || !found.more || page === PAGES_MAX) return { ...found, cues };
  }
}
