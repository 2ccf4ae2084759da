/** Getting someone's attention, and letting go of it once the question is answered, here or elsewhere. */

import { plain } from "./lib/plain.js";
import { now } from "./lib/time.js";
import { snoozedUntil } from "./snooze.js";
import { nameOf, on, state, waitingDecisions } from "./store.js";
import { go, route } from "./route.js";
import { t } from "./i18n/index.js";

/** @import * as T from "./types.js" */

const TITLE = "cueme";
/** A question asked longer ago than this was not just asked, for example after the page was away. */
const FRESH_MS = 60_000;

/** @type {Map<string, Notification>} */
const shown = new Map();
/** @type {Set<string>} */
const told = new Set();
/** Questions that were put off: when they are back, they call like new ones. @type {Set<string>} */
const asleep = new Set();
/** Of several tabs only the one that holds this lock makes a noise; without locks each does. */
let isLoud = !("locks" in navigator);

/** Starts watching for questions. */
export function startAttention() {
  if ("locks" in navigator) {
    void navigator.locks.request("cueme-attention", () => {
      isLoud = true;
      return new Promise(() => {});
    });
  }
  for (const agent of state.agents.values()) for (const cue of agent.open) (snoozedUntil(cue) === undefined ? told : asleep).add(cue.cue_id);
  on("agents", update);
  navigator.serviceWorker?.addEventListener("message", (event) => {
    if (typeof event.data?.agent === "string") go(event.data.agent);
    if (typeof event.data?.cue === "string") location.hash = `#/cue/${encodeURIComponent(event.data.cue)}`;
  });
  document.addEventListener("visibilitychange", update);
  update();
}

function update() {
  /** @type {Map<string, [T.Agent, T.CueCard]>} */
  const open = new Map();
  for (const agent of state.agents.values()) {
    for (const cue of agent.open) {
      if (cue.outcome === "open" && snoozedUntil(cue) === undefined) open.set(cue.cue_id, [agent, cue]);
      else if (cue.outcome === "open") asleep.add(cue.cue_id);
      else asleep.delete(cue.cue_id);
    }
  }
  badge(waitingDecisions());
  for (const cueId of told) if (!open.has(cueId)) revoke(cueId);
  for (const [cueId, [agent, cue]] of open) {
    if (told.has(cueId)) continue;
    told.add(cueId);
    if (asleep.delete(cueId) || now() - Date.parse(cue.asked_at) < FRESH_MS) call(agent, cue);
  }
}

/** Plays the sound of a new question; without it the title and the notification have to do. */
export const chime = () => import("./sound/sound.js").then((sound) => sound.chime(), () => {});

/** @param {number} waiting */
function badge(waiting) {
  const title = waiting ? `(${waiting}) ${TITLE}` : TITLE;
  if (document.title !== title) document.title = title;
  const link = /** @type {HTMLLinkElement | null} */ (document.querySelector("link[rel=icon]"));
  const href = waiting ? "/icons/icon-waiting.svg" : "/icons/icon.svg";
  if (link && link.getAttribute("href") !== href) link.setAttribute("href", href);
  if ("setAppBadge" in navigator) void navigator.setAppBadge(waiting).catch(() => {});
}

/**
 * @param {T.Agent} agent
 * @param {T.CueCard} cue
 */
function call(agent, cue) {
  const isLookedAt = document.hasFocus() && !document.hidden && route().agent === agent.agent_id;
  if (isLookedAt || isQuiet() || !isLoud) return;
  if (state.settings.notifications.sound) void chime();
  if (state.settings.notifications.browser && "Notification" in window && Notification.permission === "granted") void notify(agent, cue);
}

/**
 * @param {T.Agent} agent
 * @param {T.CueCard} cue
 */
async function notify(agent, cue) {
  const title = t("notify.title", { name: nameOf(agent) });
  const options = { body: plain(cue.beginning), tag: cue.cue_id, icon: "/icons/icon-192.png", data: { agent: agent.agent_id } };
  const worker = await navigator.serviceWorker?.getRegistration();
  if (worker?.active) return worker.showNotification(title, options);
  const notification = new Notification(title, options);
  notification.onclick = () => {
    window.focus();
    go(agent.agent_id);
    notification.close();
  };
  shown.set(cue.cue_id, notification);
}

/** @param {string} cueId */
function revoke(cueId) {
  told.delete(cueId);
  shown.get(cueId)?.close();
  shown.delete(cueId);
  void navigator.serviceWorker
    ?.getRegistration()
    .then((worker) => worker?.getNotifications({ tag: cueId }))
    .then((all) => all?.forEach((one) => one.close()))
    .catch(() => {});
}

/** Says whether now is within the quiet hours, which may cross midnight. The same time twice is the whole day, as for the broker. */
function isQuiet() {
  const { enabled, from, to } = state.settings.quiet_hours;
  if (!enabled) return false;
  const time = new Date().toTimeString().slice(0, 5);
  return from < to ? time >= from && time < to : time >= from || time < to;
}
