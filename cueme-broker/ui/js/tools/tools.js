/** The tools of the inbox. What they use of the page is handed to them. */

import { showFound } from "./found.js";
import { openPalette } from "./palette.js";
import { openSeveral } from "./several.js";
import { openSnooze } from "./snooze.js";
import { openView } from "./view.js";
import { wordsIn } from "./words.js";
import css from "./tools.css";

/** @import { Kit } from "./load.js" */

/** @param {Kit} kit */
export function createTools(kit) {
  kit.addStyles(css);
  const w = wordsIn(kit.language());
  const tools = {
    snooze: () => openSnooze(kit, w),
    /** @type {(el: HTMLElement, found: import("../types.js").Found, words: string) => void} */
    found: (el, found, words) => showFound(kit, el, found, words),
    view: () => openView(kit, w),
    several: () => openSeveral(kit, w),
    /** Makes the question on screen unread, and leaves it: what is looked at is read. */
    unread() {
      const { agent: id } = kit.route();
      const agent = id && kit.state.agents.get(id);
      const cue = agent && (agent.open.find((one) => one.cue_id === kit.state.answering) ?? agent.open[0]);
      if (!agent || !cue) return kit.toast(w("snooze.none"));
      kit.go(null);
      void kit.api.markUnread(agent.agent_id, cue.seq).then(() => kit.readAgent(agent.agent_id)).catch(() => kit.toast(kit.t("error.try-again"), "bad"));
    },
    palette: () => openPalette(kit, w, tools),
  };
  return tools;
}
