/** What a search has found. Loaded with the first search. */

/** @import * as T from "../types.js" */
/** @import { Kit } from "./load.js" */

/**
 * @param {Kit} kit
 * @param {HTMLElement} el
 * @param {T.Found} found
 * @param {string} words
 */
export function showFound(kit, el, found, words) {
  const { fill, h, t } = kit;
  const title = h("h2", { class: "group-title" }, t("search.texts"), h("span", { class: "group-count" }, found.more ? `${found.cues.length}+` : found.cues.length));
  if (found.cues.length === 0) return fill(el, title, h("p", { class: "muted pad" }, t("search.nothing", { words })));
  fill(el, title, h("ul", { class: "rows" }, found.cues.map((cue) => hit(kit, cue, words))));
}

/**
 * @param {Kit} kit
 * @param {T.CueCard & { snippet: string }} cue
 * @param {string} words
 */
function hit({ clock, h, masked, nameOf, plain, state }, cue, words) {
  const agent = state.agents.get(cue.agent_id);
  return h(
    "li",
    { class: "row-item" },
    h(
      "a",
      { class: "row hit", href: `#/agent/${encodeURIComponent(cue.agent_id)}/${encodeURIComponent(cue.cue_id)}` },
      h("span", { class: "row-text", dir: "auto" }, marked(h, plain(masked(cue.snippet || cue.beginning)), words)),
      h("time", { class: "row-time", datetime: cue.asked_at }, clock(cue.asked_at)),
      h("span", { class: "row-sub" }, h("bdi", { class: "row-place" }, agent ? `${agent.project} ·` : ""), h("bdi", { class: "row-name" }, agent ? nameOf(agent) : cue.agent_id)),
    ),
  );
}

/**
 * Splits a text at the words that were looked for.
 * @param {Kit["h"]} h
 * @param {string} text
 * @param {string} words
 */
function marked(h, text, words) {
  const escaped = words.split(/\s+/).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return text.split(new RegExp(`(${escaped.join("|")})`, "gi")).map((part, at) => (at % 2 ? h("mark", null, part) : part));
}
