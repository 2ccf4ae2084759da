/** The tools of the inbox (palette, snooze, several at once), loaded when somebody wants one of them. */

import { addStyles, fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { plain } from "../lib/plain.js";
import { clock, span } from "../lib/time.js";
import { uuid7 } from "../lib/uuid.js";
import { api } from "../api.js";
import { go, route } from "../route.js";
import { rowsOf } from "../rows.js";
import { snooze, snoozedUntil } from "../snooze.js";
import { changeSettings, nameOf, readAgent, state } from "../store.js";
import { language, t } from "../i18n/index.js";
import { openRuns } from "../runs/list.js";
import { openBroadcast } from "../view/broadcast.js";
import { openDialog } from "../view/dialog.js";
import { openSettings } from "../view/settings.js";
import { openShortcuts } from "../view/shortcuts.js";
import { toggle } from "../view/section.js";
import { toast } from "../view/toast.js";

/** @type {() => import("../view/conversation.js").Conversation | null} */
let conversation = () => null;

/** What the tools use of the page. */
const kit = {
  addStyles, fill, h, icon, plain, clock, span, uuid7, api, go, route, rowsOf, snooze, snoozedUntil, changeSettings, nameOf, readAgent, state, language, t,
  openRuns, openBroadcast, openDialog, openSettings, openShortcuts, toast, toggle,
  conversation: () => conversation(),
};

/** @typedef {typeof kit} Kit */

/** @param {typeof conversation} current */
export const useConversation = (current) => void (conversation = current);

/** The tools, once they are there. */
export const tools = async () => (await import("./tools.js")).createTools(kit);

/** @param {"palette" | "snooze" | "several" | "unread" | "view"} name */
export async function openTool(name) {
  try {
    (await tools())[name]();
  } catch {
    toast(t("error.try-again"), "bad");
  }
}
