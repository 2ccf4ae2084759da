/** Runs and chats of agents, loaded when somebody opens them. */

import { openChat } from "./chat.js";
import { openRuns } from "./list.js";
import { usePage } from "./page.js";

/** @param {import("../tools/load.js").Kit} kit */
export function createRuns(kit) {
  usePage(kit);
  return { runs: openRuns, chat: openChat };
}
