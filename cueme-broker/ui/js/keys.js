/** The keyboard: single keys while nobody is typing, and the few that work everywhere. */

import { goToNextWaiting, step } from "./view/inbox.js";
import { openBroadcast, openSettings, openShortcuts } from "./view/open.js";
import { undoLast } from "./view/toast.js";
import { go } from "./route.js";

/** @import { Conversation } from "./view/conversation.js" */

const WRITABLE = "input:not([type=radio]):not([type=checkbox]),textarea,select,[contenteditable]";

/** @param {() => Conversation | null} conversation */
export function listenToKeys(conversation) {
  /** @type {Record<string, () => void>} */
  const actions = {
    n: () => void goToNextWaiting(),
    j: () => step(1),
    k: () => step(-1),
    "/": () => document.getElementById("search")?.focus(),
    Enter: () => conversation()?.dock.focus(),
    "[": () => conversation()?.dock.stepTab(-1),
    "]": () => conversation()?.dock.stepTab(1),
    g: () => conversation()?.timeline.jumpToOpen(),
    u: () => undoLast(),
    d: () => conversation()?.dock.decline(),
    m: () => openBroadcast(),
    p: () => conversation()?.head.togglePin(),
    r: () => conversation()?.head.askName(),
    e: () => conversation()?.head.toggleArchive(),
    ",": () => openSettings(),
    "?": () => openShortcuts(),
    Escape: () => go(null),
  };
  for (let digit = 1; digit <= 9; digit++) actions[String(digit)] = () => conversation()?.dock.pick(digit - 1);

  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.keyCode === 229 || event.defaultPrevented || document.querySelector("dialog[open]")) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) return conversation()?.dock.send();
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = /** @type {Element | null} */ (event.target instanceof Element ? event.target : null);
    if (target?.closest(WRITABLE)) {
      if (event.key === "Escape") /** @type {HTMLElement} */ (target).blur();
      return;
    }
    if (event.key === "Enter" && target?.closest("a,button,input,summary,form")) return;
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}
