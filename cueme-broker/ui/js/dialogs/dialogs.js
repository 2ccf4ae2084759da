/** Dialogs that are loaded when they are opened. What they use of the page is handed to them. */

import { openBroadcast } from "./broadcast.js";
import { openShortcuts } from "./shortcuts.js";
import { en, wordsOf } from "./words.js";

/** @import { Kit } from "../tools/load.js" */

/** @param {Kit} kit */
export async function createDialogs(kit) {
  const w = wordsOf(kit.language() === "en" ? en : (await import("./zh.js")).zh);
  return { broadcast: () => openBroadcast(kit, w), shortcuts: () => openShortcuts(kit, w) };
}
