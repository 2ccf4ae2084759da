/** The inbox: decisions in groups, filters, search. */

import { CTRL, debounce, fill, h, isComposing, keyed, setText } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { parseQuery } from "../lib/query.js";
import { runtimeName } from "../lib/runtimes.js";
import { allRows, on, state, waitingAgents, waitingDecisions } from "../store.js";
import { go, onRoute, route } from "../route.js";
import { groupsOf, rowsIn } from "../rows.js";
import { t } from "../i18n/index.js";
import { iconButton, textButton } from "./buttons.js";
import { createRow, updateRow } from "./row.js";
import { createNudge } from "./nudge.js";
import { searchResults } from "./search.js";
import { openTool } from "../tools/load.js";
import { connectGuide } from "./welcome.js";


/** @typedef {"all" | "waiting" | "unread" | "snoozed" | "archived"} Filter */
/** @import { Group, Row } from "../rows.js" */

/** @type {Filter[]} */
const FILTERS = ["all", "waiting", "unread", "snoozed", "archived"];
/** Filters that are shown while there is nothing in them. */
const ALWAYS = ["all", "waiting", "unread"];
/** Agents that ask nothing, beyond this many, wait behind a button. */
const IDLE_SHOWN = 60;

const STORED = "cueme.filter";

/** @type {Filter} */
let filter = FILTERS.find((name) => name === localStorage.getItem(STORED)) ?? "all";
let words = "";
/** @type {Set<string>} */
const shownWhole = new Set();
const closed = new Set(JSON.parse(localStorage.getItem("cueme.closed-groups") ?? "[]"));

/** Builds the inbox. */
export function createInbox() {
  const line = h("p", { class: "inbox-summary sr", role: "status" });
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
    results.el.hidden = parseQuery(words).words === "";
  };
  on("agents", render);
  on("settings", render);
  on("answering", render);
  onRoute(render);
  render();

  return h("div", { class: "inbox", role: "navigation", "aria-label": t("inbox") }, header(line), field, chips, createNudge(), h("div", { class: "inbox-scroll", id: "inbox-scroll" }, groups, results.el));
}

/** @param {HTMLElement} line */
function header(line) {
  return h(
    "div",
    { class: "inbox-head" },
    h("h1", { class: "wordmark" }, "cueme"),
    line,
    iconButton("sort", t("view"), () => openTool("view")),
    iconButton("play", t("runs"), () => openTool("runs")),
    iconButton("users", t("broadcast"), () => openTool("broadcast")),
    iconButton("help", t("shortcuts"), () => openTool("shortcuts"), "keys-button"),
    iconButton("gear", t("settings"), () => openTool("settings")),
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
      if (isComposing(event)) return;
      if (event.key === "ArrowDown") return void (event.preventDefault(), /** @type {HTMLElement | null} */ (document.querySelector("#inbox-scroll .row"))?.focus());
      if (event.key !== "Escape") return;
      event.stopPropagation();
      if (input.value === "") input.blur();
      input.value = "";
      run("");
    },
  });
  return h("div", { class: "search", role: "search" }, icon("search"), input, paletteButton());
}

function paletteButton() {
  const button = iconButton("command", t("palette.open"), () => openTool("palette"), "palette-button");
  button.append(h("kbd", { "aria-hidden": "true", data: { key: `${CTRL} K` } }));
  return button;
}

/** What needs a person, in one line. An agent that stopped listening does not wait. */
function summary() {
  const n = waitingDecisions();
  const open = waitingAgents().length;
  if (n > 0) return t(n === 1 ? "summary.one" : "summary.many", { n });
  return open > 0 ? t("summary.open", { n: open }) : state.isKnown ? t("summary.none") : "";
}

/** @param {HTMLElement} el */
const renderSummary = (el) => setText(el, summary());

/**
 * @param {HTMLElement} el
 * @param {() => void} render
 */
function renderChips(el, render) {
  const counts = { all: 0, waiting: 0, unread: 0, snoozed: 0, archived: 0 };
  for (const row of allRows()) for (const name of FILTERS) counts[name] += Number(rowsIn(row).some((one) => passes(one, name)));
  counts.waiting = waitingDecisions();
  const chip = (/** @type {Filter} */ name) =>
    h(
      "button",
      {
        type: "button",
        class: "chip",
        data: { filter: name },
        "aria-pressed": String(filter === name),
        onclick: () => {
          filter = name;
          localStorage.setItem(STORED, name);
          render();
        },
      },
      t(`filter.${name}`),
      name !== "all" && counts[name] > 0 && h("span", { class: "chip-count" }, counts[name]),
    );
  const focused = [...el.children].indexOf(/** @type {Element} */ (document.activeElement));
  const key = JSON.stringify([filter, counts]);
  if (el.dataset.drawn === key) return;
  el.dataset.drawn = key;
  fill(el, FILTERS.filter((name) => ALWAYS.includes(name) || counts[name] > 0 || filter === name).map(chip));
  /** @type {HTMLElement | undefined} */ (el.children[focused])?.focus();
}

/**
 * @param {Row} row
 * @param {Filter} name
 */
function passes({ agent, state }, name) {
  if (name === "archived") return agent.archived;
  if (agent.archived) return false;
  if (name === "waiting") return state === "waiting" || state === "detached";
  if (name === "snoozed") return state === "snoozed";
  return name === "all" || (agent.unread > 0 && state !== "superseded");
}

/**
 * Says whether the words name an agent. `project:` and `runtime:` narrow it.
 * @param {Row} row
 */
function matches({ agent }) {
  const query = parseQuery(words);
  const text = `${agent.agent_id} ${agent.name ?? ""} ${agent.project_dir} ${agent.runtime} ${runtimeName(agent.runtime)}`.toLowerCase();
  return query.fits(agent) && query.words.toLowerCase().split(" ").every((word) => text.includes(word));
}

/**
 * @param {HTMLElement} el
 * @param {() => void} render
 */
function renderGroups(el, render) {
  const wanted = (/** @type {Row} */ row) => rowsIn(row).some((one) => (words.trim() ? matches(one) : passes(one, filter)));
  const { group_by_state: byState, newest_first: newestFirst } = state.settings.page;
  const groups = groupsOf(allRows().filter(wanted), { byProject: !byState, newestFirst: Boolean(newestFirst) });
  keyed(el, groups, (group) => group.key, (group) => createGroup(group, render), (section, group) => updateGroup(section, group, render));
  const isEmpty = state.isKnown && groups.length === 0;
  el.classList.toggle("is-empty", isEmpty);
  let note = el.querySelector(":scope > .empty-note");
  if (!isEmpty) return void note?.remove();
  const isFirstUse = state.agents.size === 0;
  const key = `${isFirstUse}${words ? "words" : filter}`;
  if (note?.getAttribute("data-note") === key) return;
  note?.remove();
  note = h("div", { class: "empty-note", data: { note: key } }, isFirstUse ? [h("p", null, t("empty.first")), connectGuide()] : words ? t("empty.search") : t(`empty.${filter}`));
  el.append(note);
}

/**
 * @param {Group} group
 * @param {() => void} render
 */
function createGroup(group, render) {
  const fold = () => {
    if (!closed.delete(group.key)) closed.add(group.key);
    localStorage.setItem("cueme.closed-groups", JSON.stringify([...closed]));
    render();
  };
  const projects = new Set(group.rows.flatMap((row) => rowsIn(row).map(({ agent }) => agent.project_dir)));
  const name = group.kind === "project" ? group.name : t(`group.${group.kind}`, { n: projects.size });
  const path = h("bdi", { class: "group-path cut" }, group.path);
  const head = h("button", { type: "button", class: "group-title", onclick: fold }, icon("chevron"), h("bdi", { class: "group-name" }, name), group.kind === "project" ? path : group.kind !== "once" && group.kind !== "waiting" && h("span", { class: "group-count" }));
  return h("section", { class: "group", data: { state: group.kind } }, h("h2", null, head), h("ul", { class: "rows" }));
}

/**
 * @param {HTMLElement} section
 * @param {Group} group
 * @param {() => void} render
 */
function updateGroup(section, { key, kind, rows: all }, render) {
  const current = route();
  const count = section.querySelector(".group-count");
  if (count) setText(count, String(all.length));
  const isClosed = closed.has(key);
  section.querySelector(".group-title")?.setAttribute("aria-expanded", String(!isClosed));
  const isCut = (kind === "quiet" || kind === "working") && !shownWhole.has(key) && all.length > IDLE_SHOWN;
  const shown = isClosed ? [] : isCut ? all.slice(0, IDLE_SHOWN) : all;
  const rows = /** @type {HTMLElement} */ (section.querySelector(".rows"));
  const isCurrent = (/** @type {Row} */ row) => rowsIn(row).some((one) => one.agent.agent_id === current.agent && (row.isOnly || one.cue?.cue_id === state.answering));
  keyed(rows, shown, (row) => row.key, createRow, (el, row) => updateRow(el, row, { isCurrent: isCurrent(row), showsProject: kind !== "project" }));
  section.querySelector(".group-more")?.remove();
  if (!isCut || isClosed) return;
  const showAll = () => {
    shownWhole.add(key);
    render();
  };
  section.append(textButton(t("group.more", { n: all.length - IDLE_SHOWN }), showAll, "group-more"));
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

/**
 * Moves the focus from a row to the next or previous one; above the first is the search.
 * @param {Element} row
 * @param {1 | -1} step
 */
export function stepFocus(row, step) {
  const rows = [...document.querySelectorAll("#inbox-scroll .row")];
  const next = rows[rows.indexOf(row) + step] ?? (step === -1 ? document.getElementById("search") : null);
  if (next instanceof HTMLElement) next.focus();
}

/** Moves to the agent that waits longest, skipping the one on screen. */
export function goToNextWaiting() {
  const current = route().agent;
  const next = waitingAgents().find((agent) => agent.agent_id !== current);
  if (next) go(next.agent_id);
  return Boolean(next);
}
