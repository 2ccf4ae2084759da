/** One agent in the inbox: who, where, what it asks, since when. */

import { fill, h, setText } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { plain } from "../lib/plain.js";
import { runtimeMark, runtimeName } from "../lib/runtimes.js";
import { nameOf } from "../store.js";
import { t } from "../i18n/index.js";
import { setSince } from "./live-time.js";

/** @import * as T from "../types.js" */

/**
 * @typedef {{
 *   mark: HTMLElement, name: HTMLElement, place: HTMLElement, text: HTMLElement, time: HTMLTimeElement,
 *   flags: HTMLElement, label: HTMLElement,
 * }} Parts
 */

/** @type {WeakMap<HTMLElement, Parts>} */
const partsOf = new WeakMap();

/** @param {T.Agent} agent */
export function createAgentRow(agent) {
  const parts = {
    mark: h("span", { class: "mark", "aria-hidden": "true" }, runtimeMark(agent.runtime)),
    name: h("bdi", { class: "row-name" }),
    place: h("span", { class: "row-place" }),
    text: h("span", { class: "row-text", dir: "auto" }),
    time: h("time", { class: "row-time" }),
    flags: h("span", { class: "row-flags" }),
    label: h("span", { class: "sr" }),
  };
  const link = h(
    "a",
    { class: "row", href: `#/agent/${encodeURIComponent(agent.agent_id)}` },
    parts.mark,
    h("span", { class: "row-head" }, parts.name, parts.label, parts.time),
    h("span", { class: "row-sub" }, parts.place, parts.flags),
    parts.text,
  );
  const el = h("li", { class: "row-item" }, link);
  partsOf.set(el, parts);
  return el;
}

/**
 * @param {HTMLElement} el
 * @param {T.Agent} agent
 * @param {boolean} isOpen
 */
export function updateAgentRow(el, agent, isOpen) {
  const parts = /** @type {Parts} */ (partsOf.get(el));
  const link = /** @type {HTMLElement} */ (el.firstElementChild);
  el.dataset.state = agent.state;
  el.classList.toggle("unread", agent.unread > 0);
  link.toggleAttribute("data-current", isOpen);
  if (isOpen) link.setAttribute("aria-current", "page");
  else link.removeAttribute("aria-current");
  setText(parts.name, nameOf(agent));
  setText(parts.place, [agent.project, runtimeName(agent.runtime)].filter(Boolean).join(" · "));
  parts.place.title = agent.project_dir;
  const cue = agent.open[0] ?? agent.last;
  setText(parts.text, cue ? plain(cue.beginning) : t("row.nothing-yet"));
  setText(parts.label, `, ${t(`state.${agent.state}`)}${agent.unread ? `, ${t("row.unread", { n: agent.unread })}` : ""}, `);
  setSince(parts.time, agent.since);
  updateFlags(parts.flags, agent);
}

/**
 * @param {HTMLElement} el
 * @param {T.Agent} agent
 */
function updateFlags(el, agent) {
  const open = agent.open.filter((cue) => cue.outcome === "open").length;
  const damaged = agent.damaged.length;
  const key = [agent.pinned, open, damaged, agent.queued, Boolean(agent.standing)].join();
  if (el.dataset.flags === key) return;
  el.dataset.flags = key;
  fill(
    el,
    open > 1 && h("span", { class: "pill", title: t("row.open", { n: open }) }, open),
    damaged > 0 && h("span", { class: "flag damaged", title: t("row.damaged", { n: damaged }) }, icon("help"), t("damaged")),
    agent.queued > 0 && h("span", { class: "flag", title: t("row.queued", { n: agent.queued }) }, icon("send"), agent.queued),
    agent.standing && h("span", { class: "flag", title: t("standing") }, icon("tag")),
    agent.pinned && h("span", { class: "flag", title: t("pinned") }, icon("pin")),
  );
}
