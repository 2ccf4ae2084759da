/** What the inbox shows: a row for each decision, in groups. It knows agents and choices of the human, and nothing of the screen. */

/** @import * as T from "./types.js" */

/**
 * @typedef {"waiting" | "detached" | "superseded" | "working" | "quiet" | "snoozed"} RowState
 * @typedef {{ key: string, agent: T.Agent, cue: T.CueCard | null, state: RowState, since: string, isOnly: boolean, until?: number, others?: Row[] }} Row
 * @typedef {{ key: string, kind: "project" | "once" | RowState, name: string, path: string, rows: Row[] }} Group
 */

/** @type {RowState[]} */
const STATES = ["waiting", "detached", "superseded", "working", "quiet", "snoozed"];

/**
 * The decisions of an agent; one that asks nothing has a row for what it asked last.
 * @param {T.Agent} agent
 * @param {(cue: T.CueCard) => number | undefined} snoozedUntil
 * @returns {Row[]}
 */
export function rowsOf(agent, snoozedUntil) {
  const open = agent.open.filter((cue) => !cue.damaged);
  if (open.length === 0) {
    const state = agent.state === "working" ? "working" : "quiet";
    return [{ key: agent.agent_id, agent, cue: agent.damaged[0] ?? agent.last, state, since: agent.since, isOnly: true }];
  }
  return open.map((cue) => {
    const until = cue.outcome === "open" ? snoozedUntil(cue) : undefined;
    const isWaiting = cue.waiting > 0;
    const state = cue.outcome === "superseded" ? "superseded" : until !== undefined ? "snoozed" : isWaiting ? "waiting" : "detached";
    const since = isWaiting ? cue.asked_at : cue.detached_at ?? cue.asked_at;
    return { key: cue.cue_id, agent, cue, state, since, isOnly: open.length === 1, ...(until !== undefined && { until }) };
  });
}

/**
 * Folds the same question of several agents into the row of the agent that waits longest.
 * @param {Row[]} rows
 * @returns {Row[]}
 */
export function foldSame(rows) {
  /** @type {Map<string, Row[]>} */
  const same = new Map();
  const isFolded = (/** @type {Row} */ row) => row.cue?.content && !row.agent.archived && (row.state === "waiting" || row.state === "detached");
  const keyOf = (/** @type {Row} */ row) => (isFolded(row) ? `same ${row.cue?.origin} ${row.cue?.content}` : row.key);
  for (const row of rows) same.set(keyOf(row), [...(same.get(keyOf(row)) ?? []), row]);
  return [...same].flatMap(([key, all]) => {
    const [first, ...others] = all.sort(byWait(false));
    return others.length > 0 && first ? [{ ...first, key, others, isOnly: false }] : all;
  });
}

/**
 * All rows that a row stands for.
 * @param {Row} row
 */
export const rowsIn = (row) => [row, ...(row.others ?? [])];

/**
 * Rows in groups, the longest wait first. A project is a group while one of its agents asks; agents that ask nothing stand with
 * their project then, and else below all questions.
 * @param {Row[]} rows
 * @param {{ byProject: boolean, newestFirst: boolean }} how
 * @returns {Group[]}
 */
export function groupsOf(rows, { byProject, newestFirst }) {
  const order = byWait(newestFirst);
  const sorted = [...rows].sort(order);
  const asking = new Set(sorted.filter(isQuestion).map((row) => row.agent.project_dir));
  const projectOf = (/** @type {Row} */ row) => (byProject && (isQuestion(row) || (row.state === "working" && asking.has(row.agent.project_dir))) ? row.agent.project_dir : null);
  /** @type {Map<string, Group>} */
  const groups = new Map();
  const put = (/** @type {Row} */ row, /** @type {Group} */ fresh) => (groups.get(fresh.key) ?? (groups.set(fresh.key, fresh), fresh)).rows.push(row);
  for (const row of sorted) {
    const project = projectOf(row);
    if (project !== null && rowsIn(row).some(({ agent }) => agent.project_dir !== project)) put(row, { key: row.key, kind: "once", name: "", path: "", rows: [] });
    else if (project !== null) put(row, { key: `in ${project}`, kind: "project", name: row.agent.project || project, path: parentOf(project), rows: [] });
  }
  for (const state of STATES) {
    for (const row of sorted) if (row.state === state && projectOf(row) === null) put(row, { key: state, kind: state, name: "", path: "", rows: [] });
  }
  return [...groups.values()];
}

/** @param {Row} row */
const isQuestion = (row) => row.state === "waiting" || row.state === "detached" || row.state === "superseded";

/** @param {boolean} newestFirst */
function byWait(newestFirst) {
  return (/** @type {Row} */ a, /** @type {Row} */ b) => {
    const states = STATES.indexOf(a.state) - STATES.indexOf(b.state);
    const longest = a.state === "waiting" || a.state === "detached" ? !newestFirst : false;
    const times = a.since < b.since ? -1 : a.since > b.since ? 1 : 0;
    return Number(b.agent.pinned) - Number(a.agent.pinned) || states || times * (longest ? 1 : -1);
  };
}

/** A path with more parts or letters is shortened. */
const PARTS_MAX = 3;
const LETTERS_MAX = 28;

/**
 * A path with its middle left out, so that where it begins and what it ends with stay in sight.
 * @param {string} path
 */
export function shortPath(path) {
  const parts = path.replace(/^(\/home\/[^/]+|\/Users\/[^/]+|\/root)(?=\/|$)/, "~").replace(/\/+$/, "").split("/");
  const whole = parts.join("/");
  const isShort = parts.length <= PARTS_MAX || (parts.length === PARTS_MAX + 1 && whole.length <= LETTERS_MAX);
  return isShort ? whole : [...parts.slice(0, 2), "…", ...parts.slice(-1)].join("/");
}

/** @param {string} path */
const parentOf = (path) => shortPath(path.replace(/\/+$/, "").replace(/\/[^/]*$/, ""));
