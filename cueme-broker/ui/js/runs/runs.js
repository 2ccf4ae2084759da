/** Runs and chats of agents, loaded when somebody opens them. */

import { openChat } from "./chat.js";
import { openRuns } from "./list.js";
import { en } from "./en.js";
import { usePage } from "./page.js";
import css from "./runs.css";

/** @param {import("../tools/load.js").Kit} kit */
export async function createRuns(kit) {
  kit.addStyles(css);
  usePage(kit, kit.language() === "en" ? en : (await import("./zh.js")).zh);
  return { runs: openRuns, chat: openChat };
}
