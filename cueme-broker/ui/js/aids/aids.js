/** What helps to answer the question on screen. Loaded when there is such help; what it uses of the page is handed to it. */

import { createOnce } from "./once.js";
import { createPrecedent } from "./precedent.js";
import { wordsIn } from "./words.js";
import css from "./aids.css";

/** @import * as T from "../types.js" */
/** @import { Kit } from "../tools/load.js" */
/** @typedef {ReturnType<typeof createAids>} Aids */

/** @param {Kit} kit */
export function createAids(kit) {
  kit.addStyles(css);
  const w = wordsIn(kit.language());
  const once = createOnce(kit, w);
  const precedent = createPrecedent(kit, w, once.keepProject.bind(once));
  const el = kit.h("div", { class: "aids" }, once.el, precedent.el);
  return {
    /**
     * @param {HTMLElement} entry
     * @param {T.Cue} cue
     * @param {T.CueCard | undefined} card
     * @param {Set<string>} twins the same question of other agents, as it stood when this one came on screen
     * @param {import("../view/composer.js").Composer} composer
     */
    update(entry, cue, card, twins, composer) {
      once.update(card, twins, Boolean(cue.names_files), composer);
      precedent.update(cue, composer);
      if (el.parentElement !== entry) entry.querySelector(".answer-place")?.before(el);
    },
    /** Gives the earlier answer again. */
    again: () => precedent.use(),
    /** Who else gets an answer that is given now. */
    others: () => (el.isConnected ? once.chosen() : []),
    /**
     * Passes on what was decided.
     * @param {T.Says} says
     * @param {import("./once.js").Other[]} others those that the human saw ticked
     */
    sent(says, others) {
      el.remove();
      return once.sent(says, others);
    },
    close: () => el.remove(),
  };
}
