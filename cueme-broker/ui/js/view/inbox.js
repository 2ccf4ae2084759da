/** The list of agents, grouped by what they need from a person. */

import { debounce, fill, h, keyed, setText } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { runtimeName } from "../lib/runtimes.js";
import { changeSettings, on, state, waitingAgents } from "../store.js";
import { go, onRoute, route } from "../route.js";
import { t } from "../i18n/index.js";
import { iconButton, textButton } from "./buttons.js";
import { createAgentRow, updateAgentRow } from "./agent-row.js";
import { createNudge } from "./nudge.js";
import { openBroadcast } from "./broadcast.js";
import { openSettings } from "./settings.js";
import { openShortcuts } from "./shortcuts.js";
import { openRuns } from "../runs/list.js";
import { searchResults } from "./search.js";
import { connectGuide } from "./welcome.js";

/** @import * as T from "../types.js" */

/** @typedef {"all" | "waiting" | "unread" | "archived"} Filter */

/** @type {Filter[]} */
const FILTERS = ["all", "waiting", "unread", "archived"];
/** @type {T.AgentState[]} */
const GROUPS = ["waiting", "detached", "working", "quiet"];
/** Quiet agents beyond this many wait behind a button. */
const QUIET_SHOWN = 60;

/** @type {Filter} */
let filter = "all";
let words = "";
let showsAllQuiet = false;

/** Builds the inbox. */
export function createInbox() {
  const line = h("p", { class: "inbox-summary", role: "status" });
  const results = searchResults();
  const groups = h("div", { class: "groups" });
  const chips = h("div", { class: "chips", role: "group", "aria-label": t("filter") });
  const field = searchField((typed) => {
    words = typed;
    results.search(typed);
    render();
  });

  const render = () => {
    renderSummary(line);
    renderChips(chips, render);
    renderGroups(groups, render);
    results.el.hidden = words.trim() === "";
  };
  on("agents", render);
  on("settings", render);
  onRoute(render);
  render();

  return h("nav", { class: "inbox", "aria-label": t("inbox") }, header(line), field, chips, createNudge(), h("div", { class: "inbox-scroll", id: "inbox-scroll" }, groups, results.el));
}

/** @param {HTMLElement} line */
function header(line) {
  return h(
    "header",
    { class: "inbox-head" },
    h("div", { class: "brand" }, h("h1", { class: "wordmark" }, "cueme"), line),
    iconButton("play", t("runs"), openRuns),
    iconButton("users", t("broadcast"), openBroadcast),
    iconButton("help", t("shortcuts"), openShortcuts),
    iconButton("gear", t("settings"), () => openSettings()),
  );
}

/** @param {(typed: string) => void} run */
function searchField(run) {
  const typed = debounce(150, run);
  const input = h("input", {
    type: "search",
    id: "search",
    class: "search-input",
    placeholder: t("search"),
    "aria-label": t("search"),
    autocomplete: "off",
    oninput: () => typed.call(input.value),
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Escape" || event.isComposing) return;
      event.stopPropagation();
      if (input.value === "") input.blur();
      input.value = "";
      run("");
    },
  });
  return h("div", { class: "search", role: "search" }, icon("search"), input, h("kbd", { class: "hint-key", "aria-hidden": "true" }, "/"));
}

/** Who needs a person, in one line. Someone who stopped listening does not wait. */
export function summary() {
  const open = waitingAgents();
  const n = open.filter((agent) => agent.state === "waiting").length;
  if (n > 0) return t(n === 1 ? "summary.one" : "summary.many", { n });
  return open.length > 0 ? t("summary.open", { n: open.length }) : state.isKnown ? t("summary.none") : "";
}

/** @param {HTMLElement} el */
function renderSummary(el) {
  el.classList.toggle("calls", waitingAgents().length > 0);
  setText(el, summary());
}

/**
 * @param {HTMLElement} el
 * @param {() => void} render
 */
function renderChips(el, render) {
  const counts = { all: 0, waiting: 0, unread: 0, archived: 0 };
  for (const agent of state.agents.values()) for (const name of FILTERS) counts[name] += Number(passes(agent, name));
  const chip = (/** @type {Filter} */ name) =>
    h(
      "button",
      {
        type: "button",
        class: "chip",
        "aria-pressed": String(filter === name),
        onclick: () => {
          filter = name;
          render();
        },
      },
      t(`filter.${name}`),
      name !== "all" && counts[name] > 0 && h("span", { class: "chip-count" }, counts[name]),
    );
  const newest = Boolean(state.settings.page.newest_first);
  const turn = () => changeSettings({ page: { ...state.settings.page, newest_first: !newest } }).catch(() => {});
  const sort = iconButton("sort", t(newest ? "sort.newest" : "sort.longest"), turn, "sort");
  const focused = [...el.children].indexOf(/** @type {Element} */ (document.activeElement));
  const key = JSON.stringify([filter, counts, newest]);
  if (el.dataset.drawn === key) return;
  el.dataset.drawn = key;
  fill(el, FILTERS.map(chip), sort);
  /** @type {HTMLElement | undefined} */ (el.children[focused])?.focus();
}

/**
 * @param {T.Agent} agent
 * @param {Filter} name
 */
function passes(agent, name) {
  if (name === "archived") return agent.archived;
  if (agent.archived) return false;
  if (name === "waiting") return agent.state === "waiting" || agent.state === "detached";
  return name === "all" || agent.unread > 0;
}

/** @param {T.Agent} agent */
function matches(agent) {
  const text = [agent.agent_id, agent.name, agent.project_dir, agent.runtime, runtimeName(agent.runtime)].join(" ").toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

/**
 * The agents of a group in the order they are shown.
 * @param {T.AgentState} group
 */
function agentsOf(group) {
  const wanted = words.trim() ? matches : (/** @type {T.Agent} */ agent) => passes(agent, filter);
  const longest = (group === "waiting" || group === "detached") && !state.settings.page.newest_first;
  return [...state.agents.values()]
    .filter((agent) => agent.state === group && wanted(agent))
    .sort((a, b) => Number(b.pinned) - Number(a.pinned) || (a.since < b.since ? -1 : a.since > b.since ? 1 : 0) * (longest ? 1 : -1));
}

/**
 * @param {HTMLElement} el
 * @param {() => void} render
 */
function renderGroups(el, render) {
  const filled = GROUPS.map((name) => ({ name, agents: agentsOf(name) })).filter((group) => group.agents.length > 0);
  keyed(el, filled, (group) => group.name, (group) => createGroup(group.name), (section, group) => updateGroup(section, group.agents, render));
  const isEmpty = state.isKnown && filled.length === 0;
  el.classList.toggle("is-empty", isEmpty);
  let note = el.querySelector(":scope > .empty-note");
  if (!isEmpty) return void note?.remove();
  const isFirstUse = state.agents.size === 0;
  const key = `${isFirstUse}${words ? "words" : filter}`;
  if (note?.getAttribute("data-note") === key) return;
  note?.remove();
  note = h("div", { class: "empty-note", data: { note: key } }, isFirstUse ? connectGuide() : words ? t("empty.search") : t(`empty.${filter}`));
  el.append(note);
}

/** @param {T.AgentState} name */
function createGroup(name) {
  return h(
    "section",
    { class: "group", data: { state: name } },
    h("h2", { class: "group-title" }, h("span", { class: "dot", "aria-hidden": "true" }), t(`group.${name}`), h("span", { class: "group-count" })),
    h("ul", { class: "rows" }),
  );
}

/**
 * @param {HTMLElement} section
 * @param {T.Agent[]} agents
 * @param {() => void} render
 */
function updateGroup(section, agents, render) {
  const current = route().agent;
  const count = /** @type {HTMLElement} */ (section.querySelector(".group-count"));
  setText(count, String(agents.length));
  const isCut = section.dataset.state === "quiet" && !showsAllQuiet && agents.length > QUIET_SHOWN;
  const shown = isCut ? agents.slice(0, QUIET_SHOWN) : agents;
  const rows = /** @type {HTMLElement} */ (section.querySelector(".rows"));
  keyed(rows, shown, (agent) => agent.agent_id, createAgentRow, (row, agent) => updateAgentRow(row, agent, agent.agent_id === current));
  section.querySelector(".group-more")?.remove();
  if (!isCut) return;
  const showAll = () => {
    showsAllQuiet = true;
    render();
  };
  section.append(textButton(t("group.more", { n: agents.length - QUIET_SHOWN }), showAll, "group-more"));
}

/**
 * Moves to the next or previous agent of the list.
 * @param {1 | -1} step
 */
export function step(step) {
  const rows = [...document.querySelectorAll(".row")];
  const at = rows.findIndex((row) => row.hasAttribute("data-current"));
  const next = /** @type {HTMLAnchorElement | undefined} */ (rows[at === -1 ? (step === 1 ? 0 : rows.length - 1) : at + step]);
  if (!next) return;
  location.hash = next.hash;
  next.scrollIntoView({ block: "nearest" });
}

/** Moves to the agent that waits longest, skipping the one on screen. */
export function goToNextWaiting() {
  const current = route().agent;
  const next = waitingAgents().find((agent) => agent.agent_id !== current);
  if (next) go(next.agent_id);
  return Boolean(next);
}
