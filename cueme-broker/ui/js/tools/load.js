/** Loads parts of the page when somebody wants one of them: tools of the inbox, dialogs, runs, help to answer. */

import { addStyles, debounce, fill, freshId, h, keyed, setText } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { plain } from "../lib/plain.js";
import { runtimeGlyph, runtimeName } from "../lib/runtimes.js";
import { clock, now, span } from "../lib/time.js";
import { uuid7 } from "../lib/uuid.js";
import { visible } from "../lib/visible.js";
import { api, ApiError, json, send } from "../api.js";
import { go, route } from "../route.js";
import { rowsOf } from "../rows.js";
import { snooze, snoozedUntil } from "../snooze.js";
import { changeSettings, emit, nameOf, on, readAgent, refresh, sameAs, state } from "../store.js";
import { language, runWords, t } from "../i18n/index.js";
import { textButton } from "../view/buttons.js";
import { copyButton } from "../view/copy.js";
import { askText, closeOnBack, openDialog } from "../view/dialog.js";
import { liveSpan } from "../view/live-time.js";
import { openSettings } from "../view/settings.js";
import { createPurpose } from "../view/purpose.js";
import { toggle } from "../view/section.js";
import { sentToast, toast } from "../view/toast.js";

/** @type {() => import("../view/conversation.js").Conversation | null} */
let conversation = () => null;

/** What these parts use of the page. A part imports nothing of it: what it shares with the document would become a file of its own. */
const kit = {
  addStyles, debounce, fill, freshId, h, keyed, setText, icon, plain, runtimeGlyph, runtimeName, clock, now, span, uuid7, visible, api, ApiError, json, send, go, route,
  copyButton, rowsOf, snooze, snoozedUntil, changeSettings, emit, nameOf, on, readAgent, refresh, sameAs, state, language, t,
  askText, closeOnBack, createPurpose, liveSpan, openDialog, openSettings, openTool, sentToast, textButton, toast, toggle,
  runWords: () => runWords,
  loadRules: () => loadRules(),
  conversation: () => conversation(),
};

/** @typedef {typeof kit} Kit */

/** @param {typeof conversation} current */
export const useConversation = (current) => void (conversation = current);

/** The tools of the inbox, once they are there. */
export const tools = async () => (await import("./tools.js")).createTools(kit);
const dialogs = async () => (await import("../dialogs/dialogs.js")).createDialogs(kit);
/** The rules, once they are there. */
export const loadRules = async () => (await import("../rules/rules.js")).createRules(kit);
const runs = async () => (await import("../runs/runs.js")).createRuns(kit);

/** Shows how to connect agents. @param {HTMLElement} el */
export const loadGuide = async (el) => (await import("../guide/guide.js")).fillGuide(kit, el);

/** What helps to answer a question, once it is there. */
export const loadAids = async () => (await import("../aids/aids.js")).createAids(kit);

/**
 * @param {"palette" | "snooze" | "several" | "unread" | "view" | "broadcast" | "shortcuts" | "runs" | "chat" | "rule"} name
 * @param {string} [about]
 */
export async function openTool(name, about = "") {
  try {
    if (name === "broadcast" || name === "shortcuts") (await dialogs())[name]();
    else if (name === "rule") (await loadRules()).edit({});
    else if (name === "runs" || name === "chat") (await runs())[name](about);
    else (await tools())[name]();
  } catch {
    toast(t("error.try-again"), "bad");
  }
}
