/** The keyboard: single keys while nobody is typing, and the few that work everywhere. */

import { goToNextWaiting, step, stepFocus } from "./view/inbox.js";
import { undoLast } from "./view/toast.js";
import { isComposing } from "./lib/dom.js";
import { go } from "./route.js";
import { openTool, useConversation } from "./tools/load.js";

/** @import { Conversation } from "./view/conversation.js" */

const WRITABLE = "input:not([type=radio]):not([type=checkbox]),textarea,select,[contenteditable]";

/** Keys that move, and may be held down. */
const REPEATED = ["j", "k"];

/** A key that follows one typed into a field within this belongs to the same words, wherever the focus went meanwhile. */
const BURST_MS = 500;

/** @param {() => Conversation | null} conversation */
export function listenToKeys(conversation) {
  useConversation(conversation);
  /** @type {Record<string, () => void>} */
  const actions = {
    w: () => void goToNextWaiting(),
    y: () => conversation()?.decide((dock) => dock.confirm(true)),
    n: () => conversation()?.decide((dock) => dock.confirm(false)),
    j: () => step(1),
    k: () => step(-1),
    "/": () => document.getElementById("search")?.focus(),
    Enter: () => conversation()?.dock.focus(),
    "[": () => conversation()?.dock.stepTab(-1),
    "]": () => conversation()?.dock.stepTab(1),
    g: () => conversation()?.timeline.jumpToOpen(),
    u: () => undoLast(),
    U: () => void openTool("unread"),
    s: () => void openTool("snooze"),
    x: () => void openTool("several"),
    d: () => conversation()?.dock.decline(),
    a: () => conversation()?.decide((dock) => dock.again()),
    m: () => void openTool("broadcast"),
    p: () => conversation()?.rail.togglePin(),
    r: () => conversation()?.rail.askName(),
    e: () => conversation()?.head.toggleArchive(),
    ",": () => void openTool("settings"),
    "?": () => void openTool("shortcuts"),
    Escape: () => void (conversation()?.head.closeRail() || go(null)),
  };
  for (let digit = 1; digit <= 9; digit++) actions[String(digit)] = () => conversation()?.dock.pick(digit - 1);

  let typedAt = -BURST_MS;
  addEventListener("pointerdown", () => void (typedAt = -BURST_MS));
  document.addEventListener("keydown", (event) => {
    if (isComposing(event) || event.defaultPrevented || document.querySelector("dialog[open]")) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) return event.repeat ? undefined : conversation()?.decide((dock) => dock.send());
    if (event.key === "k" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      return void openTool("palette");
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = /** @type {Element | null} */ (event.target instanceof Element ? event.target : null);
    if (target?.closest(WRITABLE)) {
      const isLeaving = event.key === "Escape";
      if (isLeaving) /** @type {HTMLElement} */ (target).blur();
      typedAt = isLeaving ? -BURST_MS : event.timeStamp;
      return;
    }
    if (event.timeStamp - typedAt < BURST_MS) return void (typedAt = event.timeStamp);
    if (event.key === "Enter" && target?.closest("a,button,input,summary,form")) return;
    const row = target?.closest(".row");
    if (row && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      return stepFocus(row, event.key === "ArrowDown" ? 1 : -1);
    }
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    // A key that is held down goes on through rows, and does anything else once.
    if (!event.repeat || REPEATED.includes(event.key)) action();
  });
}
