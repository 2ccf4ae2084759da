/** Dialogs that are loaded when they are opened. What they use of the page is handed to them. */

import { openBroadcast } from "./broadcast.js";
import { openShortcuts } from "./shortcuts.js";
import { wordsIn } from "./words.js";

/** @import { Kit } from "../tools/load.js" */

/** @param {Kit} kit */
export function createDialogs(kit) {
  const w = wordsIn(kit.language());
  return { broadcast: () => openBroadcast(kit, w), shortcuts: () => openShortcuts(kit, w) };
}
