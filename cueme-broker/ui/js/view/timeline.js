/** The questions and answers of one agent, oldest on top, read from the broker page by page. */

import { h, keyed, setText } from "../lib/dom.js";
import { plain } from "../lib/plain.js";
import { day } from "../lib/time.js";
import { api, ApiError } from "../api.js";
import { t } from "../i18n/index.js";
import { textButton } from "./buttons.js";
import { createEntry, updateEntry } from "./entry.js";
import { unfold } from "./fold.js";
import { foldsChanged } from "./unseen.js";

/** @import * as T from "../types.js" */

/** How many frames without growth mean that the layout is still, and how many are waited for that at most. */
const STILL_FRAMES = 3;
const SETTLE_FRAMES_MAX = 60;
/** How much of what follows the open question is in sight with it. */
const BELOW_PX = 12;
/** How near to the end counts as reading along. */
const NEAR_END_PX = 120;
/** How near to the top the older ones are fetched. */
const NEAR_TOP_PX = 600;
/** How many questions after one that was looked for are shown with it. */
const SHOWN_AFTER = 8;

/**
 * @param {string} agentId
 * @param {import("./entry.js").EntryActions & { seen: (seq: number) => void, drawn: () => void }} actions
 */
export function createTimeline(agentId, actions) {
  /** @type {T.Cue[]} */
  let cues = [];
  let hasOlder = false;
  let isLoading = false;
  let isGone = false;
  /** Whether what is on screen ends before the newest question, because something far back was looked for. */
  let isBehind = false;
  /** Whether the reader is at the end, where a composer that grows must not cover what it asks about. */
  let followsEnd = true;
  /** The scrolling that is under way. @type {object | null} */
  let settling = null;

  const list = h("div", { class: "entries" });
  const older = textButton(t("timeline.older"), loadOlder, "older");
  const note = h("p", { class: "muted timeline-note", hidden: true });
  const newer = textButton(t("timeline.newest"), () => loadNewest().then(jumpToOpen), "older");
  const el = h("div", { class: "timeline", role: "log", "aria-live": "off", "aria-label": t("timeline"), tabindex: "0" }, h("div", { class: "timeline-in" }, older, note, list, newer));
  // Times that tick are no news; a question is.
  const news = h("p", { class: "sr", role: "status" });
  older.hidden = newer.hidden = true;
  const jump = h("button", { type: "button", class: "jump", hidden: true, onclick: () => jumpToOpen() }, t("timeline.jump"));

  const draw = () => {
    keyed(list, withDays(cues), keyOf, (item) => ("cue_id" in item ? createEntry(item, actions) : dayLine(item.day)), (entry, item) => {
      if ("cue_id" in item) updateEntry(entry, item, actions);
    });
    older.hidden = !hasOlder;
    newer.hidden = !isBehind;
    note.hidden = cues.length > 0 || isLoading;
    note.textContent = t("timeline.empty");
    actions.drawn();
    updateJump();
    foldsChanged();
  };

  /** The question that is being answered, or else the newest that is open. */
  function openEntry() {
    const open = cues.findLast((cue) => cue.outcome === "open");
    return list.querySelector(".answering") ?? (open ? document.getElementById(`cue-${open.cue_id}`) : null);
  }

  function updateJump() {
    const entry = openEntry();
    if (!entry) return void (jump.hidden = true);
    const box = entry.getBoundingClientRect();
    const view = el.getBoundingClientRect();
    jump.hidden = view.height === 0 || (box.top < view.bottom - 40 && box.bottom > view.top + 40);
  }

  /** Shows the beginning of the open question, or else the end. */
  function jumpToOpen() {
    if (isBehind && !openEntry()) return void loadNewest().then(jumpToOpen).catch(() => {});
    followsEnd = true;
    settle(() => {
      const entry = openEntry();
      if (!(entry instanceof HTMLElement)) return void (el.scrollTop = el.scrollHeight);
      const [box, view] = [entry.getBoundingClientRect(), el.getBoundingClientRect()];
      el.scrollTop += box.height > view.height ? box.top - view.top : box.bottom - view.bottom + BELOW_PX;
    });
  }

  /**
   * Scrolls, and again until the layout is still: entries outside of the view have only an estimated height until they are
   * near it. Whoever scrolls meanwhile ends it.
   * @param {() => void} scroll
   */
  function settle(scroll) {
    const mine = (settling = {});
    let height = -1;
    let still = 0;
    let frames = 0;
    const step = () => {
      if (settling !== mine || isGone) return;
      scroll();
      still = el.scrollHeight === height ? still + 1 : 0;
      height = el.scrollHeight;
      frames += 1;
      if (still < STILL_FRAMES && frames < SETTLE_FRAMES_MAX) return void requestAnimationFrame(step);
      settling = null;
      updateJump();
    };
    step();
  }

  /** @param {boolean} [isAgain] nobody asked for it: the page was away for a moment */
  async function loadNewest(isAgain = false) {
    if (isAgain && isBehind) return;
    const page = await api.timeline(agentId);
    if (isGone) return;
    const fresh = page.cues.reverse();
    const first = fresh[0]?.seq ?? 0;
    const known = cues.filter((cue) => cue.seq < first);
    const isGapless = !isBehind && known.length > 0 && cues.some((cue) => cue.seq >= first);
    if (!isGapless) hasOlder = page.more;
    const wasAtEnd = isAtEnd();
    cues = isGapless ? [...known, ...fresh] : fresh;
    isBehind = false;
    draw();
    if (wasAtEnd) jumpToOpen();
    tellSeen();
  }

  async function loadOlder() {
    const first = cues[0];
    if (isLoading || !hasOlder || !first) return;
    isLoading = true;
    older.disabled = true;
    try {
      const page = await api.timeline(agentId, first.seq);
      if (isGone) return;
      const fromEnd = el.scrollHeight - el.scrollTop;
      cues = [...page.cues.reverse(), ...cues];
      hasOlder = page.more;
      draw();
      el.scrollTop = el.scrollHeight - fromEnd;
    } catch {
      older.textContent = t("error.try-again");
    } finally {
      isLoading = false;
      older.disabled = false;
    }
  }

  /** @param {string} cueId */
  async function loadAround(cueId) {
    try {
      const { seq } = await api.cue(cueId);
      // Numbers are shared by all agents, so the page may end earlier than hoped; the question itself is always in it.
      const page = await api.timeline(agentId, seq + SHOWN_AFTER);
      if (isGone) return;
      cues = page.cues.reverse();
      hasOlder = page.more;
      isBehind = true;
      draw();
    } catch {
      // The question is gone; what is on screen stays.
    }
  }

  /** @param {string} cueId */
  async function refreshCue(cueId) {
    try {
      const cue = await api.cue(cueId);
      if (isGone || cue.agent_id !== agentId) return;
      const at = cues.findIndex((known) => known.cue_id === cueId);
      if (at !== -1) cues[at] = cue;
      else if (isBehind) return;
      else if (cues.length === 0 || cue.seq > (cues[0]?.seq ?? 0)) {
        cues = [...cues, cue].sort((a, b) => a.seq - b.seq);
        if (cue.outcome === "open") setText(news, t("timeline.new", { text: plain(cue.beginning) }));
      } else return;
      const wasAtEnd = isAtEnd();
      draw();
      if (wasAtEnd) settle(() => void (el.scrollTop = el.scrollHeight));
      tellSeen();
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) cues = cues.filter((cue) => cue.cue_id !== cueId);
    }
  }

  const isAtEnd = () => el.scrollHeight - el.scrollTop - el.clientHeight < NEAR_END_PX;
  const tellSeen = () => {
    const newest = cues.at(-1);
    if (newest && !document.hidden) actions.seen(newest.seq);
  };

  // The focus in a line of the question, or in a comment on one, stays in sight.
  const isAtLine = () => list.contains(document.activeElement) && !document.activeElement?.closest(".answer-place");
  const sizes = new ResizeObserver(() => {
    if (followsEnd && !isAtLine()) jumpToOpen();
  });
  sizes.observe(el);
  list.addEventListener("patched", () => actions.drawn());
  for (const content of el.children) sizes.observe(content);
  const takeOver = () => void (settling = null);
  for (const gesture of ["wheel", "touchmove", "pointerdown", "keydown"]) el.addEventListener(gesture, takeOver, { passive: true });
  el.addEventListener("focusin", () => isAtLine() && takeOver());
  el.addEventListener("scroll", () => {
    if (!settling) followsEnd = isAtEnd();
    if (el.scrollTop < NEAR_TOP_PX && hasOlder) void loadOlder();
    updateJump();
  }, { passive: true });

  return {
    el,
    jump,
    news,
    loadNewest,
    refreshCue,
    jumpToOpen,
    tellSeen,
    /**
     * Shows a question that may be far back.
     * @param {string} cueId
     */
    async show(cueId) {
      if (!cues.some((cue) => cue.cue_id === cueId)) await loadAround(cueId);
      const entry = document.getElementById(`cue-${cueId}`);
      if (!entry) return;
      followsEnd = false;
      unfold(entry);
      entry.classList.add("found");
      entry.focus({ preventScroll: true });
      settle(() => entry.scrollIntoView({ block: "start" }));
    },
    close: () => void (isGone = true),
  };
}

/** @typedef {{ day: string }} DayLine */

/**
 * @param {T.Cue[]} cues
 * @returns {(T.Cue | DayLine)[]}
 */
function withDays(cues) {
  let last = "";
  return cues.flatMap((cue) => {
    const name = day(cue.asked_at);
    if (name === last) return [cue];
    last = name;
    return [{ day: name }, cue];
  });
}

/** @param {T.Cue | DayLine} item */
const keyOf = (item) => ("cue_id" in item ? item.cue_id : `day:${item.day}`);

/** @param {string} name */
const dayLine = (name) => h("div", { class: "day" }, h("span", null, name));
