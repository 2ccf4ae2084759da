/** One run: how it stands, what it made, what happened in it. */

import { fill, h, setText } from "../lib/dom.js";
import { clock } from "../lib/time.js";
import { t } from "../i18n/index.js";
import { textButton } from "../view/buttons.js";
import { askText } from "../view/dialog.js";
import { toast } from "../view/toast.js";
import { runsApi } from "./api.js";
import { w } from "./words.js";

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
      setText(state, w(`state.${stateOf(run)}`));
      setText(place, [w(run.kind), run.project, run.status, run.model, clock(run.started_at)].filter(Boolean).join(" · "));
      setText(error, run.error ?? "");
      fill(facts, factsOf(run));
      fill(actions, !isOver && run.followed && textButton(w("stop"), () => stop(run), "bad"), (isOver || !run.followed) && run.session && textButton(w("resume"), () => resume(run, changed)));
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

/** @param {R.RunEvent} event */
const line = (event) => h("li", { data: { what: event.what } }, h("time", { class: "muted small" }, clock(event.at)), " ", h("span", { class: "pill" }, event.what), " ", h("bdi", null, event.text));

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

/** @param {R.Run} run */
function stop(run) {
  return runsApi.stop(run.run_id).then(
    () => toast(w("stopping")),
    (problem) => toast(problem.message || t("error.try-again"), "bad"),
  );
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
