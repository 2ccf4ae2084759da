/** One decision in the inbox: what is asked, since when, and small below it by whom. */

import { fill, h, setText } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { plain } from "../lib/plain.js";
import { runtimeGlyph, runtimeName } from "../lib/runtimes.js";
import { clock } from "../lib/time.js";
import { nameOf } from "../store.js";
import { t } from "../i18n/index.js";
import { hashOf } from "../route.js";
import { rowsIn } from "../rows.js";
import { setSince } from "./live-time.js";

/** @import * as T from "../types.js" */
/** @import { Row } from "../rows.js" */

/**
 * @typedef {{
 *   glyphs: HTMLElement, kind: HTMLElement, place: HTMLElement, runtime: HTMLElement, name: HTMLElement, text: HTMLElement, time: HTMLTimeElement, flags: HTMLElement,
 *   label: HTMLElement,
 * }} Parts
 */

/** @type {WeakMap<HTMLElement, Parts>} */
const partsOf = new WeakMap();

/** @param {Row} _row */
export function createRow(_row) {
  const parts = {
    glyphs: h("span", { class: "row-glyphs" }),
    kind: h("span"),
    place: h("bdi", { class: "row-place" }),
    runtime: h("span"),
    name: h("bdi", { class: "row-name" }),
    text: h("span", { class: "row-text", dir: "auto" }),
    time: h("time", { class: "row-time" }),
    flags: h("span", { class: "row-flags" }),
    label: h("span", { class: "sr" }),
  };
  const link = h("a", { class: "row" }, h("span", null, parts.label, parts.text), parts.time, h("span", { class: "row-sub" }, parts.glyphs, parts.kind, parts.place, parts.runtime, parts.name, parts.flags));
  const el = h("li", { class: "row-item" }, link);
  partsOf.set(el, parts);
  return el;
}

/**
 * @param {HTMLElement} el
 * @param {Row} row
 * @param {{ isCurrent: boolean, showsProject: boolean }} how
 */
export function updateRow(el, row, { isCurrent, showsProject }) {
  const parts = /** @type {Parts} */ (partsOf.get(el));
  const link = /** @type {HTMLAnchorElement} */ (el.firstElementChild);
  const { agent, cue, state } = row;
  const all = rowsIn(row);
  const isUnread = all.some((one) => one.agent.unread > 0) && state !== "superseded";
  el.dataset.state = state;
  el.classList.toggle("unread", isUnread);
  el.classList.toggle("same", Boolean(row.others));
  el.classList.toggle("settled", !isQuestion(state));
  el.classList.toggle("idle", state === "working" || state === "quiet");
  link.href = hashOf(agent.agent_id, row.isOnly ? undefined : cue?.cue_id);
  link.title = agent.project_dir;
  link.toggleAttribute("data-current", isCurrent);
  if (isCurrent) link.setAttribute("aria-current", "page");
  else link.removeAttribute("aria-current");
  setText(parts.text, cue ? plain(cue.beginning) : t("row.nothing-yet"));
  setText(parts.label, [t(`state.${state}`), isUnread && t("row.unread", { n: agent.unread }), ""].filter((word) => word !== false).join(t("list.and")));
  const runtime = runtimeName(agent.runtime);
  updateGlyphs(parts.glyphs, all);
  setText(parts.kind, isQuestion(state) && cue && state !== "detached" ? `${kindOf(cue)} ·` : "");
  parts.kind.hidden = parts.kind.textContent === "";
  const projects = [...new Set(all.map((one) => one.agent.project))].join(t("list.and"));
  const place = row.others ? (showsProject ? projects : "") : state === "detached" ? t("row.detached") : showsProject ? agent.project : "";
  setText(parts.place, place && `${place} ·`);
  parts.place.hidden = place === "";
  setText(parts.runtime, isQuestion(state) && state !== "detached" && !row.others ? runtime : "");
  parts.runtime.hidden = parts.runtime.textContent === "";
  setText(parts.name, row.others ? t("once.agents", { n: all.length }) : nameOf(agent));
  parts.name.title = runtime;
  showTime(parts.time, row);
  updateFlags(parts.flags, agent);
}

/**
 * The runtimes that ask, each once.
 * @param {HTMLElement} el
 * @param {Row[]} rows
 */
function updateGlyphs(el, rows) {
  const glyphs = [...new Set(rows.map(({ agent }) => runtimeGlyph(agent.runtime)))];
  if (el.dataset.drawn === glyphs.join()) return;
  el.dataset.drawn = glyphs.join();
  fill(el, glyphs.map(icon));
}

/** @param {Row["state"]} state */
const isQuestion = (state) => state === "waiting" || state === "detached" || state === "snoozed";

/**
 * @param {HTMLTimeElement} el
 * @param {Row} row
 */
function showTime(el, row) {
  if (row.state === "snoozed") {
    delete el.dataset.since;
    return fill(el, icon("clock"), row.until ? clock(row.until) : t("snooze.next-short"));
  }
  if (row.state === "superseded" || row.state === "working") {
    delete el.dataset.since;
    return setText(el, t(`state.${row.state}`));
  }
  setSince(el, row.since);
}

/**
 * What kind of answer a question wants.
 * @param {T.CueCard} cue
 */
export const kindOf = (cue) => t(cue.origin === "approval" ? "type.approval" : `type.${cue.type}`);

/**
 * @param {HTMLElement} el
 * @param {T.Agent} agent
 */
function updateFlags(el, agent) {
  const damaged = agent.damaged.length;
  const key = [agent.pinned, damaged, agent.queued, Boolean(agent.standing)].join();
  if (el.dataset.flags === key) return;
  el.dataset.flags = key;
  fill(
    el,
    damaged > 0 && flag(" damaged", t("row.damaged", { n: damaged }), icon("help"), t("damaged")),
    agent.queued > 0 && flag("", t("row.queued", { n: agent.queued }), icon("send"), agent.queued),
    agent.standing && flag("", t("standing"), icon("tag")),
    agent.pinned && flag("", t("pinned"), icon("pin")),
  );
}

/**
 * A mark of an agent, named for people who do not see it.
 * @param {string} more further classes
 * @param {string} name
 * @param {...(Node | string | number)} shown
 */
const flag = (more, name, ...shown) => [h("span", { class: `flag${more}`, title: name, "aria-hidden": "true" }, shown), h("span", { class: "sr" }, `${t("list.and")}${name}`)];
