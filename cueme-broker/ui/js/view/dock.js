/**
 * The bottom of a conversation: decides which question the composer belongs to. The rule is that nothing is ever replaced under
 * someone's fingers: what arrives while there are words in the composer is announced and waits to be asked for.
 */

import { fill, h } from "../lib/dom.js";
import { masked } from "../lib/values.js";
import { api, ApiError } from "../api.js";
import { copiesOf, dropCopy } from "../draft.js";
import { go } from "../route.js";
import { countReplies, nameOf, on, readAgent, refresh, sameAs, setAnswering, state } from "../store.js";
import { t } from "../i18n/index.js";
import { textButton } from "./buttons.js";
import { createComposer } from "./composer.js";
import { isAnswerable } from "./delivery.js";
import { goToNextWaiting } from "./inbox.js";
import { loadAids, loadQueue, loadReview } from "../tools/load.js";
import { sentToast, toast } from "./toast.js";

/** @import * as T from "../types.js" */

/** How long nobody types after an answer before the next agent is shown. */
const ADVANCE_MS = 700;

/** @param {string} agentId */
export function createDock(agentId) {
  /** @type {import("./composer.js").Composer | null} */
  let composer = null;
  /** @type {T.AgentDetail | null} */
  let agent = null;
  /** Ids of questions answered here: their composer has nothing left to lose. */
  const answered = new Set();
  let isGone = false;
  /** Whether the composer was made of what this browser keeps, because the broker could not be asked. */
  let isOffline = false;
  let hasClaimed = false;
  /** What helps to answer the question on screen, once it was needed. @type {import("../aids/aids.js").Aids | null} */
  let aids = null;
  /** The same question of other agents, as it stood when the one on screen came there. */
  let twins = { of: "", cues: new Set() };
  /** What changes the composer happens one after the other; nothing is decided on what was true before it. */
  let line = Promise.resolve();

  /** What the agent has not got yet, once there was something. @type {ReturnType<typeof loadQueue> | null} */
  let queue = null;
  const notice = h("div", { class: "notice", role: "status", hidden: true });
  const place = h("div", { class: "composer-place", tabindex: "-1" });
  const el = h("section", { class: "dock", "aria-label": t("answer") }, notice, place);

  /** @returns {T.CueCard[]} */
  const open = () => (agent?.open ?? []).filter((cue) => isAnswerable(cue) && !answered.has(cue.cue_id));
  /** @param {string} id */
  const forget = (id) => dropCopy({ kind: "cues", id, agent: agentId });
  const outcomes = { sent: whenSent, said: whenSaid, lost: whenLost, others: () => aids?.others() ?? [] };
  const currentCue = () => (composer?.target.kind === "cue" ? composer.target.cue.cue_id : null);

  /** @param {T.AgentDetail} fresh */
  async function update(fresh) {
    agent = fresh;
    for (const cue of fresh.open) if (cue.outcome === "open" && answered.has(cue.cue_id) && cue.decided_at === null) answered.delete(cue.cue_id);
    void showQueue(fresh.messages).catch(() => (queue = null));
    composer?.setOthers(open().length);
    await then(reconcile);
    if (!hasClaimed) await then(claimCopies);
    hasClaimed = true;
  }

  /** @param {T.Message[]} messages */
  async function showQueue(messages) {
    if (messages.length === 0 && !queue) return;
    const { el: list, update } = await (queue ??= loadQueue(agentId));
    if (list.parentElement !== el) el.prepend(list);
    update(messages);
  }

  /** Finds words that never reached the broker, for questions that are open no more. */
  async function claimCopies() {
    for (const copy of copiesOf(agentId)) {
      const { id, body, isSaved, isSent } = copy;
      if (copy.kind !== "cues" || id === currentCue() || open().some((cue) => cue.cue_id === id)) continue;
      const cue = await api.cue(id).catch(() => null);
      if (!cue) continue;
      const isLeft = !isSaved && body.text && (isSent || cue.answer?.text !== body.text);
      if (isLeft) {
        await put(null, true);
        composer?.add(String(body.text));
        if (!isSent) announceText(t(cue.outcome === "cancelled" ? "dock.cancelled" : "dock.decided", { who: cue.by || t("someone") }));
      }
      forget(id);
    }
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
  const show = (cueId) => then(() => put(cueId, true));
  const showNext = () => then(() => put(first()));
  const first = () => open()[0]?.cue_id ?? null;

  /** @returns {unknown} */
  function reconcile() {
    const wanted = first();
    const current = currentCue();
    if (!composer) return put(wanted);
    // What is on its way says itself what became of it.
    if (composer.isSending()) return;
    const isOpen = open().some((cue) => cue.cue_id === current);
    // Somebody took the answer back: the words that were left over go on.
    if (composer.isFrozen()) return isOpen ? put(current) : undefined;
    if (isOffline && (isOpen || current === null)) return put(current);
    if (current === null) {
      if (wanted === null) return;
      return composer.isDirty() ? announce(wanted) : put(wanted);
    }
    if (isOpen) return;
    if (composer.isSent() || !composer.isMine()) return put(wanted);
    return tellDecided(current);
  }

  /**
   * @param {string | null} cueId
   * @param {boolean} [isWanted] somebody asked for it
   */
  async function put(cueId, isWanted = false) {
    const target = await targetOf(cueId);
    await composer?.composed();
    if (isGone) return;
    const old = composer;
    const rest = old?.isSent() ? old.text.value : "";
    // Words typed on after an answer are no answer to a question that nobody has looked at.
    if (rest && cueId !== null) return put(null);
    const isSame = old && cueId === currentCue() && (old.isFrozen() || isOffline);
    if (!isWanted && !isSame && old?.isMine() && !old.isSent() && !old.isFrozen()) return reconcile();
    const isTyping = old && document.activeElement === old.text;
    const hadFocus = old?.hasFocus();
    const left = isSame && old.isFrozen() ? old.text.value : "";
    old?.close();
    isOffline = false;
    composer = createComposer(target, outcomes);
    fill(place, composer.el);
    if (rest || !composer.text.value.includes(left)) composer.add(rest || left);
    if (old?.isSent() && old.target.kind === "cue") forget(old.target.cue.cue_id);
    notice.hidden = true;
    composer.setOthers(open().length);
    settle();
    // Whoever types goes on typing. The focus of a button never becomes that of a text, where the next command would be a word.
    if (isTyping) composer.text.focus();
    else if (hadFocus) place.focus();
    if (rest && first()) announce(String(first()));
  }

  /**
   * @param {string | null} cueId
   * @returns {Promise<import("./composer.js").Target>}
   */
  async function targetOf(cueId) {
    if (cueId === null) {
      const { draft, messages } = await api.agent(agentId);
      const copy = copiesOf(agentId).find(({ kind }) => kind === "agents");
      // Sent, and left before the page heard of it.
      const isSent = messages.some(({ message_id, text }) => message_id === copy?.decision?.id && text === copy.body.text);
      if (copy && isSent) {
        dropCopy(copy);
        void api.dropDraft("agents", agentId).catch(() => {});
      }
      return { kind: "message", agentId, draft: isSent ? null : draft };
    }
    return { kind: "cue", cue: await api.cue(cueId) };
  }

  /** Puts the composer into the question that it answers, or below all of them while that is not on screen. */
  function settle() {
    const cueId = currentCue();
    const entry = cueId ? document.getElementById(`cue-${cueId}`) : null;
    for (const other of el.parentElement?.querySelectorAll(".answering") ?? []) if (other !== entry) leave(other);
    entry?.classList.add("answering");
    setAnswering(cueId);
    if (entry?.querySelector(".patch")) void loadReview(entry, () => composer).catch(() => {});
    void offerAids(entry);
    const home = entry ?? el;
    if (place.parentElement === home) return;
    const focused = place.contains(document.activeElement) ? document.activeElement : null;
    place.classList.toggle("answer-place", entry !== null);
    home.append(place);
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  }

  /** @param {Element} entry */
  function leave(entry) {
    entry.classList.remove("answering");
    entry.dispatchEvent(new Event("left"));
  }

  /**
   * Shows what helps to answer a question: who else asks it, and what was answered before.
   * @param {HTMLElement | null} entry
   */
  async function offerAids(entry) {
    const target = composer?.target;
    const cue = target?.kind === "cue" ? target.cue : null;
    const card = agent?.open.find((one) => one.cue_id === cue?.cue_id);
    if (cue && card && twins.of !== cue.cue_id) twins = { of: cue.cue_id, cues: new Set(sameAs(card).map((other) => other.cue.cue_id)) };
    const isWanted = cue && entry && composer && !composer.isSent() && (sameAs(card).length > 0 || cue.precedent || aids);
    if (!isWanted) return void (aids?.close(), (aids = null));
    const loaded = aids ?? (await loadAids().catch(() => null));
    if (isGone || !composer || composer.target !== target || composer.isSent()) return;
    aids ??= loaded;
    aids?.update(entry, cue, card, twins.cues, composer);
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
    const cueId = String(currentCue());
    const drop = () => {
      mine.write({});
      forget(cueId);
      void showNext();
    };
    const leave = async () => {
      await show(null);
      composer?.add(words);
      composer?.text.focus();
      forget(cueId);
    };
    const who = details.by || t("someone");
    announceText(
      t(details.outcome === "cancelled" ? "dock.cancelled" : "dock.decided", { who }) + (details.text ? ` “${masked(details.text).slice(0, 160)}”` : ""),
      words.trim() ? textButton(t("dock.keep-as-message"), leave, "strong") : null,
      textButton(t("dock.discard"), drop),
    );
  }

  /**
   * @param {T.Decided} decided
   * @param {T.Answer} sent
   * @param {T.Says} says
   * @param {import("../aids/once.js").Other[]} others
   */
  function whenSent(decided, sent, says, others) {
    answered.add(decided.cue_id);
    void aids?.sent(says, others);
    countReplies(says.text ?? "");
    const name = agent ? nameOf(agent) : agentId;
    sentToast([decided], name, (draft) => {
      answered.delete(decided.cue_id);
      if (isGone) return go(agentId, decided.cue_id);
      void reopen(decided.cue_id, draft?.body ?? sent, sent);
    });
    refresh(agentId);
    void showNext().then(advance);
  }

  /** Goes to the next agent that waits, unless the human goes on writing here. */
  async function advance() {
    if (!state.settings.page.advance || open().length > 0) return;
    if (composer?.hasFocus()) await new Promise((done) => setTimeout(done, ADVANCE_MS));
    if (!isGone && !composer?.isDirty()) goToNextWaiting();
  }

  /**
   * @param {string} cueId
   * @param {T.Answer} body
   * @param {T.Answer} sent
   */
  async function reopen(cueId, body, sent) {
    await readAgent(agentId).catch(() => {});
    if (isGone) return;
    // It may be on screen again already: what somebody is about to press there is not replaced.
    const isHere = () => currentCue() === cueId && !isOffline && !composer?.isSent() && !composer?.isFrozen();
    await then(() => (isHere() ? undefined : put(cueId, true)));
    if (composer === null || currentCue() !== cueId) return;
    if (!composer.isDirty()) composer.write(body);
    composer.addUnpicked(sent);
  }

  /** @param {T.Purpose} purpose */
  function whenSaid(purpose) {
    toast(t(`${purpose}.said`, { name: agent ? nameOf(agent) : agentId }));
    void readAgent(agentId).catch(() => {});
  }

  // What is scrolled into view comes to rest above the composer, not behind it.
  const sizes = new ResizeObserver(() => {
    const timeline = /** @type {HTMLElement | null} */ (el.parentElement?.querySelector(".timeline"));
    if (timeline) timeline.style.scrollPaddingBottom = place.classList.contains("answer-place") ? `${place.offsetHeight}px` : "";
  });
  sizes.observe(place);
  const offAgents = on("agents", () => void offerAids(document.getElementById(`cue-${currentCue()}`)));
  const offDraft = on("draft", (data) => {
    const mine = composer?.target;
    if (mine?.kind === "cue" ? data.cue_id === mine.cue.cue_id : data.agent_id === agentId && !data.cue_id) void composer?.adoptDraft(data.rev).catch(() => {});
  });
  const offSettings = on("settings", () => composer?.drawQuick());

  return {
    el,
    update,
    /** Shows what this browser keeps, while the broker cannot be asked. */
    showCopy() {
      const copy = copiesOf(agentId).find((one) => !one.isSent);
      if (composer || !copy) return;
      isOffline = true;
      composer = createComposer(copy.cue ? { kind: "cue", cue: { ...copy.cue, draft: undefined } } : { kind: "message", agentId, draft: undefined }, outcomes);
      fill(place, composer.el);
      settle();
    },
    /** @param {string} cueId */
    answer: async (cueId) => {
      if (cueId !== currentCue()) await show(cueId);
      composer?.focus();
    },
    settle,
    /** Whether the question that would be answered is on screen. */
    isInSight() {
      const view = el.parentElement?.querySelector(".timeline")?.getBoundingClientRect();
      const box = place.getBoundingClientRect();
      return Boolean(view) && (!currentCue() || (place.classList.contains("answer-place") && box.top < Number(view?.bottom) && box.bottom > Number(view?.top)));
    },
    /** @param {string} cueId */
    has: (cueId) => open().some((cue) => cue.cue_id === cueId),
    /** @param {string} cueId */
    choose: async (cueId) => void (cueId !== currentCue() && (await show(cueId))),
    focus: () => composer?.start(),
    /** @param {boolean} yes */
    confirm: (yes) => composer?.confirm(yes),
    send: () => composer?.el.requestSubmit(),
    again: () => aids?.again(),
    /** @param {number} index */
    pick: (index) => composer?.pick(index),
    /** @param {1 | -1} step */
    stepTab(step) {
      const cues = open();
      const at = cues.findIndex((cue) => cue.cue_id === currentCue());
      const next = cues[(at + step + cues.length) % cues.length];
      if (next && next.cue_id !== currentCue()) void show(next.cue_id);
    },
    decline() {
      const button = /** @type {HTMLElement | null} */ (place.querySelector(".decline"));
      // What denies a request are the words beside its buttons.
      if (button) button.click();
      else if (currentCue()) composer?.text.focus();
    },
    close() {
      isGone = true;
      setAnswering(null);
      composer?.close();
      offDraft();
      offAgents();
      offSettings();
    },
  };
}
