/** Short messages at the edge of the screen, and the way to take an answer back. */

import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { now, toMs } from "../lib/time.js";
import { api, ApiError } from "../api.js";
import { t } from "../i18n/index.js";
import { textButton } from "./buttons.js";
import { on, waitingAgents } from "../store.js";
import { go } from "../route.js";

/** @import * as T from "../types.js" */

const SHOWN_MS = 4_500;
const STEP_MS = 200;

const region = h("div", { class: "toasts", role: "status", "aria-live": "polite" });

/** The place for toasts, to be put into the page once. */
export const toastRegion = () => region;

/**
 * Shows a message for a while.
 * @param {string} text
 * @param {"plain" | "bad"} [tone]
 */
export function toast(text, tone = "plain") {
  const el = h("div", { class: "toast", data: { tone } }, h("span", null, text));
  region.append(el);
  setTimeout(() => el.remove(), SHOWN_MS);
}

/** How to take back the answers that can be taken back, the newest last. @type {(() => void)[]} */
const undos = [];

/** Takes the newest answer back while that is possible. */
export const undoLast = () => undos.at(-1)?.();

/**
 * Takes an answer back; says so when it is too late.
 * @param {string} cueId
 */
export async function takeBack(cueId) {
  try {
    return await api.undo(cueId);
  } catch (error) {
    toast(error instanceof ApiError && error.code === "already_released" ? t("undo.late") : t("error.try-again"), "bad");
    return null;
  }
}

/**
 * Says that answers are on their way, with the time left to take them back.
 * @param {[T.Decided, ...T.Decided[]]} decided
 * @param {string} name
 * @param {(draft: T.Draft | null) => void} reopened
 * @param {{ sending: string, sent: string }} [says]
 */
export function sentToast(decided, name, reopened, says) {
  const [{ agent_id, cue_id, handed_to, outcome, released_at }] = decided;
  const held = new Set(decided.map((one) => one.cue_id));
  const until = released_at ? toMs(released_at) : 0;
  if (until <= now()) return toast(says?.sent ?? t(handed_to > 0 ? "toast.sent" : "toast.kept", { name }));
  const total = until - now();
  const left = h("span", { class: "toast-left", "aria-hidden": "true" });
  const bar = h("span", { class: "toast-bar", "aria-hidden": "true" });
  const undoButton = h("button", { type: "button", class: "text-button strong", onclick: () => void undo() }, icon("undo"), t("undo"));
  const next = waitingAgents().find((agent) => agent.agent_id !== agent_id);
  const el = h(
    "div",
    { class: "toast", data: { cue: cue_id } },
    h("span", null, says?.sending ?? t(outcome === "declined" ? "toast.declining" : "toast.sending", { name })),
    undoButton,
    left,
    next && textButton(t("toast.next"), () => go(next.agent_id)),
    bar,
  );

  async function undo() {
    finish();
    for (const one of held) {
      const undone = await takeBack(one);
      if (undone) reopened(undone.draft);
    }
  }

  const tick = () => {
    const rest = until - now();
    if (rest <= 0) return finish();
    left.textContent = String(Math.ceil(rest / 1000));
    bar.style.transform = `scaleX(${rest / total})`;
  };
  const finish = () => {
    clearInterval(timer);
    off();
    el.remove();
    undos.splice(0, undos.length, ...undos.filter((one) => one !== run));
  };
  const run = () => void undo();
  undos.push(run);
  // Taken back in another tab, or gone to the agent.
  const off = on("change", ({ what, cue_id }) => /reopened|released|delivered/.test(what) && held.delete(String(cue_id)) && held.size === 0 && finish());
  const timer = setInterval(tick, STEP_MS);
  tick();
  region.append(el);
}
