/** Starts the page: reads the state, builds the two panes, keeps them current. */

import { fill, h, isNarrow } from "./lib/dom.js";
import { firstSeen } from "./lib/seen.js";
import { api, ApiError, onSignedOut } from "./api.js";
import { startAttention } from "./attention.js";
import { listenToKeys } from "./keys.js";
import { catchUp, connect } from "./live.js";
import { hashOf, linkedCue, onRoute, route } from "./route.js";
import { startSnoozeClock } from "./snooze.js";
import { emit, on, readAll, setConnection, state, waitingAgents } from "./store.js";
import { applyTheme } from "./theme.js";
import { loadWords, t, useLanguage } from "./i18n/index.js";
import { createBanner } from "./view/banner.js";
import { createConversation } from "./view/conversation.js";
import { createInbox } from "./view/inbox.js";
import { textButton } from "./view/buttons.js";
import { startClock } from "./view/live-time.js";
import { startResize } from "./view/resize.js";
import { toast, toastRegion } from "./view/toast.js";
import { connectGuide } from "./view/welcome.js";

const AWAY_MS = 20_000;
const WORKER_PAUSE_MS = 1_000;

/** @type {import("./view/conversation.js").Conversation | null} */
let conversation = null;

void start();

async function start() {
  onSignedOut(() => setConnection("signed-out"));
  // While the broker is away the page shows what it has: the words that were not sent yet.
  await Promise.all([readAll().catch(() => setConnection("lost")), loadWords()]);
  if (state.isKnown && useLanguage(state.settings.language)) return location.reload();
  build();
  applyTheme();
  startClock();
  startSnoozeClock();
  startResize();
  listenToKeys(() => conversation);
  performance.mark("ready");
  // Whatever else there is to do would make the first look wait. Events that happen meanwhile are noticed.
  await firstSeen();
  connect();
  startAttention();
  wakeUp();
  document.documentElement.dataset.ready = "true";
  // It fetches everything once more, to keep it.
  setTimeout(() => void navigator.serviceWorker?.register("/sw.js").catch(() => {}), WORKER_PAUSE_MS);
}

function build() {
  const pane = h("div", { class: "pane" });
  const inbox = createInbox();
  const shell = h("div", { class: "shell" }, inbox, pane);
  const skip = h("a", { class: "skip", href: "#main", onclick: (/** @type {Event} */ event) => (event.preventDefault(), document.getElementById("main")?.focus()) }, t("skip"));
  // What stood here has done its work, but for the styles, which may have been read by now or not.
  for (const el of document.body.querySelectorAll("script,noscript")) el.remove();
  document.body.prepend(skip, createBanner(), shell, toastRegion());

  const show = () => {
    const linked = linkedCue();
    if (linked && !pane.hasChildNodes()) fill(pane, blank());
    if (linked) return void follow(linked, pane);
    const { agent, cue } = route();
    shell.classList.toggle("has-agent", agent !== null);
    // On a phone the list is all there is, until a question is opened.
    inbox.setAttribute("role", agent === null && isNarrow() ? "main" : "navigation");
    if (agent !== null && conversation?.agentId === agent) return void (cue && conversation.show(cue));
    conversation?.close();
    conversation = null;
    if (agent === null) return fill(pane, blank());
    conversation = createConversation(agent);
    fill(pane, conversation.el);
    void conversation.open(cue);
  };
  onRoute(show);
  show();
  on("agents", () => {
    if (!conversation && route().agent === null) refreshBlank(pane);
  });
}

/**
 * Goes on from a link that names a question alone.
 * @param {string} cueId
 * @param {HTMLElement} pane
 */
async function follow(cueId, pane) {
  const isLeft = () => linkedCue() !== cueId;
  const known = [...state.agents.values()].flatMap((agent) => agent.open).find((cue) => cue.cue_id === cueId);
  try {
    const { agent_id } = known ?? (await api.cue(cueId));
    if (!isLeft()) location.replace(hashOf(agent_id, cueId));
  } catch (error) {
    if (isLeft()) return;
    if (!(error instanceof ApiError && [400, 404].includes(error.status))) {
      conversation?.close();
      conversation = null;
      return fill(pane, missing(() => void follow(cueId, pane)));
    }
    toast(t("unknown-cue"), "bad");
    location.replace("#/");
  }
}

/** @param {() => void} again */
const missing = (again) => h("main", { class: "blank", id: "main", tabindex: "-1" }, t("part.missing"), textButton(t("banner.retry"), again, "strong"));

const isEmpty = () => state.agents.size === 0;

/** What the right side shows while no agent is chosen. */
function blank() {
  const waiting = waitingAgents().length;
  const isNew = isEmpty();
  if (!state.isKnown) return h("main", { class: "blank", id: "main", tabindex: "-1" }, t("part.missing"));
  return h(
    "main",
    { class: "blank", id: "main", tabindex: "-1", data: { waiting: String(waiting), isNew: String(isNew) } },
    isNew ? h("div", { class: "blank-guide" }, connectGuide()) : [h("p", { class: "blank-title" }, waiting ? t("blank.choose") : t("blank.calm")), h("p", { class: "muted" }, waiting ? longestWait() : t("blank.text"))],
  );
}

/** Names the key of the longest wait, where the language has it. */
function longestWait() {
  const [before, after] = t("blank.press").split("{key}");
  return [before, h("kbd", null, "W"), after];
}

/** @param {HTMLElement} pane */
function refreshBlank(pane) {
  const drawn = /** @type {HTMLElement | null} */ (pane.querySelector(".blank"));
  const key = `${waitingAgents().length}${isEmpty()}`;
  if (drawn && `${drawn.dataset.waiting}${drawn.dataset.isNew}` === key) return;
  fill(pane, blank());
}

/** A phone that slept may have a dead connection that nobody told it about. */
function wakeUp() {
  let hiddenAt = 0;
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) hiddenAt = Date.now();
    else if (Date.now() - hiddenAt > AWAY_MS) {
      connect();
      void catchUp();
    }
  });
  addEventListener("online", connect);
  emit("connection", undefined);
}
