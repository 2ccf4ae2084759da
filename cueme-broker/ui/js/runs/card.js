/** One run: how it stands, what it made, what happened in it. */

import { askText, clock, fill, h, setText, t, textButton, toast } from "./page.js";
import { runsApi } from "./api.js";
import { known, w } from "./words.js";

/** @import * as R from "../types.js" */

/** @type {WeakMap<HTMLElement, { update: (run: R.Run) => void }>} */
const cards = new WeakMap();

/**
 * Builds the card of a run.
 * @param {() => void} changed
 */
export function createCard(changed) {
  const state = h("span", { class: "pill run-state" });
  const title = h("bdi", { class: "strong run-title" });
  const place = h("p", { class: "muted small run-place" });
  const facts = h("p", { class: "run-facts" });
  const error = h("p", { class: "field-error run-error" });
  const happened = h("ol", { class: "run-events" });
  const more = h("details", { class: "run-more" }, h("summary", null, w("events")), happened);
  const actions = h("span", { class: "pair" });
  const el = h("li", { class: "card run" }, h("div", { class: "line" }, h("span", null, title, state), actions), place, facts, error, more);
  /** @type {R.Run | undefined} */
  let shown;

  const drawEvents = async () => {
    if (!more.open || !shown) return;
    const { events } = await runsApi.one(shown.run_id).catch(() => ({ events: [] }));
    fill(happened, events.length ? events.map(line) : h("li", { class: "muted" }, w("events.none")));
  };
  more.addEventListener("toggle", () => void drawEvents());

  cards.set(el, {
    update(run) {
      const isOver = run.end !== null;
      el.dataset.run = run.run_id;
      el.dataset.state = stateOf(run);
      setText(title, run.title || run.session || run.run_id);
      fill(state, h("span", { class: "run-mark", "aria-hidden": "true" }, MARKS[stateOf(run)]), " ", w(`state.${stateOf(run)}`));
      setText(place, [w(run.kind), run.project, statusWords(run.status), run.model, clock(run.started_at)].filter(Boolean).join(" · "));
      setText(error, run.error ?? "");
      fill(facts, factsOf(run));
      const isLeft = !isOver && !run.followed;
      const canStop = !isOver && (run.followed || isInCloud(run));
      fill(
        actions,
        isLeft && isInCloud(run) && textButton(w("watch"), () => watch(run, changed)),
        canStop && textButton(w("stop"), () => stop(run, changed), "bad"),
        (isOver || isLeft) && run.session && textButton(w("resume"), () => resume(run, changed)),
      );
      const isNew = shown?.changed_at !== run.changed_at;
      shown = run;
      if (isNew) void drawEvents();
    },
  });
  return el;
}

/**
 * @param {HTMLElement} el
 * @param {R.Run} run
 */
export const updateCard = (el, run) => cards.get(el)?.update(run);

/** @param {R.Run} run */
const stateOf = (run) => run.end ?? (run.followed ? "running" : "left");

/** A sign for each state, so that colour is not all that tells them apart. */
const MARKS = { running: "▶", left: "⚠", succeeded: "✓", failed: "✕", cancelled: "■" };

/**
 * Says whether something goes on in the cloud that can be watched and stopped without a driver here.
 * @param {R.Run} run
 */
const isInCloud = (run) => run.kind === "cloud" && Boolean(run.session);

/** The status of a run; what a runtime says beyond those that are known stays as it is. @param {string} status */
const statusWords = (status) => known("status", status);

/** @param {R.RunEvent} event */
const line = (event) => h("li", { data: { what: event.what } }, h("time", { class: "muted small" }, clock(event.at)), " ", h("span", { class: "pill" }, known("event", event.what)), " ", h("bdi", null, event.what === "status" ? statusWords(event.text) : event.text));

/** @param {R.Run} run */
function factsOf(run) {
  const link = (/** @type {string} */ href, /** @type {string} */ label, /** @type {string} */ kind) => h("a", { href, class: kind, target: "_blank", rel: "noopener noreferrer" }, label);
  return [
    run.branch && h("span", { class: "run-branch" }, `${w("branch")}: `, h("code", null, run.branch)),
    run.pr_url && link(run.pr_url, w("pr"), "run-pr"),
    run.url && link(run.url, w("page"), "run-url"),
    run.agent_id && h("a", { href: `#/agent/${run.agent_id}`, class: "run-agent", onclick: () => document.querySelectorAll("dialog").forEach((dialog) => dialog.close()) }, `${w("agent")}: ${run.agent_id}`),
  ];
}

/**
 * @param {R.Run} run
 * @param {() => void} changed
 */
const stop = (run, changed) => order(runsApi.stop(run.run_id), w("stopping"), changed);

/**
 * @param {R.Run} run
 * @param {() => void} changed
 */
const watch = (run, changed) => order(runsApi.watch(run.run_id), w("watching"), changed);

/**
 * Tells what came of an order, with what to do where it was refused.
 * @param {Promise<null>} sent
 * @param {string} done
 * @param {() => void} changed
 */
async function order(sent, done, changed) {
  try {
    await sent;
    toast(done);
  } catch (problem) {
    const { message, hint } = /** @type {{ message?: string, hint?: string }} */ (problem);
    toast([message || t("error.try-again"), hint].filter(Boolean).join(" — "), "bad");
  }
  changed();
}

/**
 * @param {R.Run} run
 * @param {() => void} changed
 */
function resume(run, changed) {
  askText({
    title: w("resume.title"),
    label: w("resume.label"),
    confirm: w("resume.send"),
    lines: 4,
    run: async (prompt) => {
      await runsApi.resume(run.run_id, prompt);
      toast(w("started"));
      changed();
    },
  });
}
