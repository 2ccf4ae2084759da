/** Loads parts of the page when somebody wants one of them: tools of the inbox, dialogs, runs, help to answer. */

import { addStyles, CTRL, debounce, fill, freshId, h, isComposing, keyed, refill, setText } from "../lib/dom.js";
import { colouredLine } from "../lib/highlight.js";
import { icon } from "../lib/icons.js";
import { plain } from "../lib/plain.js";
import { parseQuery } from "../lib/query.js";
import { runtimeGlyph, runtimeName } from "../lib/runtimes.js";
import { clock, now, span } from "../lib/time.js";
import { uuid7 } from "../lib/uuid.js";
import { masked, valueWords } from "../lib/values.js";
import { visible } from "../lib/visible.js";
import { api, ApiError, json, send } from "../api.js";
import { linesOf } from "../review/text.js";
import { go, route } from "../route.js";
import { rowsOf } from "../rows.js";
import { snooze, snoozedUntil } from "../snooze.js";
import { changeSettings, emit, nameOf, on, readAgent, refresh, sameAs, savedReplies, state } from "../store.js";
import { language, t, useLanguage } from "../i18n/index.js";
import { chime } from "../attention.js";
import { setTheme, theme } from "../theme.js";
import { iconButton, textButton } from "../view/buttons.js";
import { copyButton, copyText } from "../view/copy.js";
import { askText, closeOnBack, historySettled, openDialog } from "../view/dialog.js";
import { goToNextWaiting } from "../view/inbox.js";
import { liveSpan } from "../view/live-time.js";
import { createPurpose } from "../view/purpose.js";
import { section, toggle } from "../view/section.js";
import { sentToast, toast } from "../view/toast.js";
import { opened } from "../view/unseen.js";
import { connectGuide } from "../view/welcome.js";

/** @type {() => import("../view/conversation.js").Conversation | null} */
let conversation = () => null;

/** What these parts use of the page. A part imports nothing of it: what it shares with the document would become a file of its own. */
const kit = {
  linesOf, opened, colouredLine, addStyles, CTRL, debounce, fill, freshId, h, isComposing, keyed, refill, setText, icon, parseQuery, plain, runtimeGlyph, runtimeName, clock, now, span, uuid7, masked, valueWords, visible, api, ApiError, json, send, go, route,
  copyButton, copyText, rowsOf, snooze, snoozedUntil, changeSettings, emit, nameOf, on, readAgent, refresh, sameAs, savedReplies, state, language, t, useLanguage,
  askText, closeOnBack, historySettled, createPurpose, liveSpan, openDialog, openTool, section, sentToast, textButton, toast, toggle, iconButton, setTheme, theme,
  chime: () => chime(),
  connectGuide: () => connectGuide(),
  goToNextWaiting: () => goToNextWaiting(),
  loadRules: () => loadRules(),
  loadTokens: (/** @type {HTMLElement} */ el) => loadTokens(el),
  conversation: () => conversation(),
};

/** @typedef {typeof kit} Kit */

/** @param {typeof conversation} current */
export const useConversation = (current) => void (conversation = current);

/** The tools of the inbox, once they are there. */
export const tools = async () => (await import("./tools.js")).createTools(kit);
const dialogs = async () => (await import("../dialogs/dialogs.js")).createDialogs(kit);
/** The rules, once they are there. */
const loadRules = async () => (await import("../rules/rules.js")).createRules(kit);
const runs = async () => (await import("../runs/runs.js")).createRuns(kit);

/** Shows how to connect agents. @param {HTMLElement} el */
export const loadGuide = async (el) => (await import("../guide/guide.js")).fillGuide(kit, el);

/** Shows who may ask over HTTP. @param {HTMLElement} el */
const loadTokens = async (el) => (await import("../tokens/tokens.js")).fillTokens(kit, el);

/** A patch, file by file. @param {string} text */
export const loadPatch = async (text) => (await import("../patch/patch.js")).createPatch(kit, text);

/** What an agent has not got yet. @param {string} agentId */
export const loadQueue = async (agentId) => (await import("../queue/queue.js")).createQueue(kit, agentId);

/**
 * Offers the review of the patches in a question.
 * @param {HTMLElement} entry
 * @param {() => import("../review/offer.js").Holder | null} holder
 */
export const loadReview = async (entry, holder) => (await import("../review/offer.js")).offerReview(kit, entry, holder);

/** What helps to answer a question, once it is there. */
export const loadAids = async () => (await import("../aids/aids.js")).createAids(kit);

/**
 * @param {"palette" | "snooze" | "several" | "unread" | "view" | "broadcast" | "shortcuts" | "runs" | "chat" | "rule" | "settings"} name
 * @param {string} [about]
 */
export async function openTool(name, about = "") {
  try {
    if (name === "broadcast" || name === "shortcuts") (await dialogs())[name]();
    else if (name === "settings") (await (await import("../settings/settings.js")).createSettings(kit))(about);
    else if (name === "rule") (await loadRules()).edit({});
    else if (name === "runs" || name === "chat") (await runs())[name](about);
    else (await tools())[name]();
  } catch {
    // The parts of an older page went with its broker. Whatever was typed is kept.
    if (state.isOutdated) location.reload();
    else toast(t("error.try-again"), "bad");
  }
}
