/**
 * The bottom of a conversation: decides which question the composer belongs to. The rule is that nothing is ever replaced under
 * someone's fingers: what arrives while there are words in the composer is announced and waits to be asked for.
 */

import { fill, h } from "../lib/dom.js";
import { plain } from "../lib/plain.js";
import { api, ApiError } from "../api.js";
import { nameOf, on, readAgent, refresh, state } from "../store.js";
import { t } from "../i18n/index.js";
import { textButton } from "./buttons.js";
import { createComposer } from "./composer.js";
import { isAnswerable } from "./delivery.js";
import { goToNextWaiting } from "./inbox.js";
import { liveSpan } from "./live-time.js";
import { createQueue } from "./queue.js";
import { sentToast, toast } from "./toast.js";

/** @import * as T from "../types.js" */

/** @param {string} agentId */
export function createDock(agentId) {
  /** @type {import("./composer.js").Composer | null} */
  let composer = null;
  /** @type {T.AgentDetail | null} */
  let agent = null;
  /** Ids of questions answered here: their composer has nothing left to lose. */
  const answered = new Set();
  let isGone = false;
  /** What changes the composer happens one after the other; nothing is decided on what was true before it. */
  let line = Promise.resolve();

  const queue = createQueue(agentId);
  const notice = h("div", { class: "notice", role: "status", hidden: true });
  const tabs = h("div", { class: "tabs", role: "group", "aria-label": t("dock.questions") });
  const place = h("div", { class: "composer-place" });
  const el = h("section", { class: "dock", "aria-label": t("answer") }, queue.el, tabs, notice, place);

  /** @returns {T.CueCard[]} */
  const open = () => (agent?.open ?? []).filter((cue) => isAnswerable(cue) && !answered.has(cue.cue_id));
  const currentCue = () => (composer?.target.kind === "cue" ? composer.target.cue.cue_id : null);

  /** @param {T.AgentDetail} fresh */
  async function update(fresh) {
    agent = fresh;
    for (const cue of fresh.open) if (cue.outcome === "open" && answered.has(cue.cue_id) && cue.decided_at === null) answered.delete(cue.cue_id);
    queue.update(fresh.messages);
    drawTabs();
    await then(reconcile);
  }

  /** @param {() => unknown} step */
  function then(step) {
    const done = line.then(() => (isGone ? undefined : step()));
    line = done.then(
      () => {},
      (error) => {
        if (!(error instanceof ApiError)) reportError(error);
        announceText(t("error.try-again"));
      },
    );
    return line;
  }

  /**
   * Puts the composer of a question, or of a message, on screen.
   * @param {string | null} cueId
   */
  const show = (cueId) => then(() => put(cueId));
  const showNext = () => then(() => put(first()));
  const first = () => open()[0]?.cue_id ?? null;

  async function reconcile() {
    const wanted = first();
    const current = currentCue();
    if (!composer) return put(wanted);
    if (composer.isFrozen()) return;
    if (current === null) {
      if (wanted === null) return;
      return composer.isDirty() ? announce(wanted) : put(wanted);
    }
    if (open().some((cue) => cue.cue_id === current)) return;
    if (answered.has(current) || !composer.isDirty()) return put(wanted);
    await tellDecided(current);
  }

  /** @param {string | null} cueId */
  async function put(cueId) {
    const target = await targetOf(cueId);
    if (isGone) return;
    const hadFocus = Boolean(composer?.hasFocus());
    composer?.close();
    composer = createComposer(target, { sent: whenSent, said: whenSaid, lost: whenLost });
    fill(place, composer.el);
    notice.hidden = true;
    drawTabs();
    if (hadFocus) composer.text.focus();
  }

  /**
   * @param {string | null} cueId
   * @returns {Promise<import("./composer.js").Target>}
   */
  async function targetOf(cueId) {
    if (cueId === null) return { kind: "message", agentId, draft: (await api.agent(agentId)).draft };
    return { kind: "cue", cue: await api.cue(cueId) };
  }

  function drawTabs() {
    const cues = open();
    const current = currentCue();
    tabs.hidden = cues.length < 2;
    fill(
      tabs,
      cues.length > 1 &&
        cues.map((cue, at) =>
          h("button", { type: "button", class: "tab", "aria-pressed": String(cue.cue_id === current), title: cue.beginning, onclick: () => void show(cue.cue_id) }, h("span", { class: "tab-number" }, at + 1), h("bdi", { class: "tab-text" }, plain(cue.beginning)), liveSpan(cue.asked_at)),
        ),
    );
  }

  /** @param {string} cueId */
  function announce(cueId) {
    announceText(t("dock.new-question"), textButton(t("dock.show"), () => show(cueId), "strong"));
  }

  /**
   * @param {string} text
   * @param {...(Node | null)} more
   */
  function announceText(text, ...more) {
    notice.hidden = false;
    fill(notice, h("span", null, text), more);
  }

  /** @param {string} cueId */
  async function tellDecided(cueId) {
    const cue = await api.cue(cueId).catch(() => null);
    if (currentCue() === cueId) whenLost(cue ? { by: cue.by, outcome: cue.outcome } : {});
  }

  /** @param {{ by?: string | null, outcome?: string, text?: string }} details */
  function whenLost(details) {
    if (!composer) return;
    const mine = composer;
    mine.freeze();
    const words = mine.text.value;
    const drop = () => {
      mine.write({});
      void showNext();
    };
    const leave = async () => {
      await show(null);
      composer?.write({ text: words });
      composer?.text.focus();
    };
    const who = details.by || t("someone");
    announceText(
      t(details.outcome === "cancelled" ? "dock.cancelled" : "dock.decided", { who }) + (details.text ? ` “${details.text.slice(0, 160)}”` : ""),
      words.trim() ? textButton(t("dock.keep-as-message"), leave, "strong") : null,
      textButton(t("dock.discard"), drop),
    );
  }

  /** @param {T.Decided} decided */
  function whenSent(decided) {
    answered.add(decided.cue_id);
    const name = agent ? nameOf(agent) : agentId;
    sentToast(decided, name, (draft) => {
      answered.delete(decided.cue_id);
      void reopen(decided.cue_id, draft);
    });
    refresh(agentId);
    void showNext().then(() => {
      if (state.settings.page.advance && open().length === 0) goToNextWaiting();
    });
  }

  /**
   * @param {string} cueId
   * @param {T.Draft | null} draft
   */
  async function reopen(cueId, draft) {
    await readAgent(agentId).catch(() => {});
    if (isGone) return;
    await show(cueId);
    if (draft && composer && !composer.isDirty()) composer.write(draft.body);
    composer?.text.focus();
  }

  function whenSaid() {
    toast(t("toast.said", { name: agent ? nameOf(agent) : agentId }));
    void readAgent(agentId).catch(() => {});
    void show(null).then(() => composer?.text.focus());
  }

  const offDraft = on("draft", (data) => {
    const mine = composer?.target;
    if (mine?.kind === "cue" ? data.cue_id === mine.cue.cue_id : data.agent_id === agentId && !data.cue_id) void composer?.adoptDraft(data.rev).catch(() => {});
  });
  const offSettings = on("settings", () => composer?.drawQuick());

  return {
    el,
    update,
    /** @param {string} cueId */
    answer: async (cueId) => {
      if (cueId !== currentCue()) await show(cueId);
      composer?.focus();
    },
    focus: () => composer?.text.focus(),
    send: () => composer?.el.requestSubmit(),
    /** @param {number} index */
    pick: (index) => composer?.pick(index),
    /** @param {1 | -1} step */
    stepTab(step) {
      const cues = open();
      const at = cues.findIndex((cue) => cue.cue_id === currentCue());
      const next = cues[(at + step + cues.length) % cues.length];
      if (next) void show(next.cue_id);
    },
    decline: () => /** @type {HTMLElement | null} */ (el.querySelector(".decline"))?.click(),
    close() {
      isGone = true;
      composer?.close();
      offDraft();
      offSettings();
    },
  };
}
