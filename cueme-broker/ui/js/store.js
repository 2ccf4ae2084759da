/**
 * What the page knows, and who wants to hear of changes. The broker is the truth: everything here is a copy that is read
 * anew whenever the broker says that something happened.
 */

import { api } from "./api.js";
import { learnClock } from "./lib/time.js";
import { foldSame, rowsOf } from "./rows.js";
import { snoozedUntil } from "./snooze.js";
import { t } from "./i18n/index.js";

/** @import * as T from "./types.js" */

/** More changed agents than this at once, and one snapshot is cheaper than asking for each. */
const SINGLE_READS_MAX = 6;
const GATHER_MS = 40;

/** @typedef {"loading" | "live" | "lost" | "signed-out"} Connection */

export const state = {
  /** @type {Map<string, T.Agent>} */
  agents: new Map(),
  /** @type {T.Settings} */
  settings: /** @type {any} */ ({ notifications: {}, quiet_hours: {}, quick_replies: [], groups: [], page: {}, enter_sends: true }),
  /** @type {T.Policy[]} */
  policies: [],
  /** @type {T.Device | null} */
  device: null,
  /** @type {string | number} */
  epoch: "",
  newest: 0,
  /** Whether the broker has told it once. */
  isKnown: false,
  version: "",
  /** Whether the broker has another version than the one that this page was loaded from. */
  isOutdated: false,
  /** @type {string | null} */
  secureHint: null,
  /** @type {string | null} */
  trouble: null,
  /** The question whose answer is being written. @type {string | null} */
  answering: null,
  /** @type {Connection} */
  connection: "loading",
};

/**
 * @typedef {{
 *   agents: void, settings: void, policies: void, devices: void, runs: void, connection: void, reread: void, answering: void,
 *   change: { what: string, agent_id: string, cue_id?: string },
 *   detail: T.AgentDetail,
 *   draft: { agent_id?: string, cue_id?: string, rev?: number },
 * }} Topics
 */

/** @type {Map<string, Set<(detail: any) => void>>} */
const listeners = new Map();

/**
 * Hears of a topic until the returned function is called.
 * @template {keyof Topics} K
 * @param {K} topic
 * @param {(detail: Topics[K]) => void} run
 */
export function on(topic, run) {
  const all = listeners.get(topic) ?? new Set();
  listeners.set(topic, all.add(run));
  return () => void all.delete(run);
}

/**
 * @template {keyof Topics} K
 * @param {K} topic
 * @param {Topics[K]} detail
 */
export function emit(topic, detail) {
  for (const run of [...(listeners.get(topic) ?? [])]) run(detail);
}

/** @param {string | null} cueId */
export function setAnswering(cueId) {
  if (state.answering === cueId) return;
  state.answering = cueId;
  emit("answering", undefined);
}

/** @param {Connection} connection */
export function setConnection(connection) {
  if (state.connection === connection || state.connection === "signed-out") return;
  state.connection = connection;
  emit("connection", undefined);
}

/** @type {Promise<void> | null} */
let reading = null;
/** @type {Promise<void> | null} */
let nextReading = null;

/**
 * Reads everything anew; calls that come while it runs share one more reading after it.
 * @returns {Promise<void>}
 */
export function readAll() {
  if (reading) {
    nextReading ??= reading.catch(() => {}).then(() => {
      nextReading = null;
      return readAll();
    });
    return nextReading;
  }
  reading = readSnapshot().finally(() => void (reading = null));
  return reading;
}

async function readSnapshot() {
  const snapshot = await api.state();
  learnClock(snapshot.now);
  state.agents = new Map(snapshot.agents.map((agent) => [agent.agent_id, agent]));
  state.settings = snapshot.settings;
  state.policies = snapshot.policies;
  state.device = snapshot.device;
  state.epoch = snapshot.epoch;
  state.newest = snapshot.newest_event;
  state.isOutdated ||= state.isKnown && snapshot.version !== state.version;
  state.version = snapshot.version;
  state.secureHint = snapshot.secure_hint;
  state.isKnown = true;
  state.trouble = snapshot.storage_error ?? snapshot.config_error;
  emit("settings", undefined);
  emit("policies", undefined);
  emit("agents", undefined);
}

/** @type {Set<string>} */
const stale = new Set();
/** @type {ReturnType<typeof setTimeout> | undefined} */
let gathering;

/**
 * Reads an agent anew, together with the others that changed in the same moment.
 * @param {string} agent
 */
export function refresh(agent) {
  stale.add(agent);
  gathering ??= setTimeout(readStale, GATHER_MS);
}

async function readStale() {
  const ids = [...stale];
  stale.clear();
  try {
    if (ids.length > SINGLE_READS_MAX) {
      await readAll();
      emit("reread", undefined);
    } else await Promise.all(ids.map(readAgent));
  } catch {
    // The event stream notices a lost broker, and everything is read again when it is back.
  } finally {
    gathering = undefined;
    if (stale.size) gathering = setTimeout(readStale, GATHER_MS);
  }
}

/**
 * Reads one agent with its messages and draft.
 * @param {string} id
 */
export async function readAgent(id) {
  const detail = await api.agent(id);
  state.agents.set(id, detail);
  emit("agents", undefined);
  emit("detail", detail);
  return detail;
}

/** @type {Promise<unknown>} */
let lastChange = Promise.resolve();

/**
 * Changes settings here and at the broker: at once, and one change after the other, so that a second one that is built on
 * the settings does not undo the first.
 * @param {Partial<T.Settings>} change
 */
export async function changeSettings(change) {
  const before = state.settings;
  state.settings = { ...before, ...change };
  const sent = lastChange.catch(() => {}).then(() => api.changeSettings(change));
  lastChange = sent;
  try {
    const settled = await sent;
    if (lastChange === sent) state.settings = settled;
  } catch (error) {
    if (lastChange === sent) state.settings = before;
    throw error;
  } finally {
    emit("settings", undefined);
  }
}

/** What the broker has before anybody has edited it, in its own language. */
const DEFAULT_REPLIES = "Continue\nLooks good, go on\nStop here\nExplain first";

/** The saved replies; those nobody has edited are in the language of the page. */
export function savedReplies() {
  const replies = state.settings.quick_replies;
  return replies.join("\n") === DEFAULT_REPLIES ? t("quick.defaults").split("\n") : replies;
}

/** The saved replies, those that were sent most often first. */
export function repliesByUse() {
  const used = state.settings.page.replies_used ?? {};
  return [...savedReplies()].sort((a, b) => (used[b] ?? 0) - (used[a] ?? 0));
}

/**
 * Counts the saved replies in an answer that was sent.
 * @param {string} text
 */
export function countReplies(text) {
  const lines = text.split("\n");
  const used = state.settings.page.replies_used ?? {};
  const replies = savedReplies();
  if (!replies.some((reply) => lines.includes(reply))) return;
  const counts = replies.map((reply) => [reply, (used[reply] ?? 0) + Number(lines.includes(reply))]).filter(([, count]) => count);
  void changeSettings({ page: { ...state.settings.page, replies_used: Object.fromEntries(counts) } }).catch(() => {});
}

/** Every decision, also of agents that are archived; the same question of several agents is one. */
export const allRows = () => foldSame([...state.agents.values()].flatMap((agent) => rowsOf(agent, snoozedUntil)));

/** How many decisions agents wait for now. */
export const waitingDecisions = () => allRows().filter((row) => row.state === "waiting" && !row.agent.archived).length;

/** Agents with a question nobody has answered, longest-waiting first. */
export function waitingAgents() {
  return [...state.agents.values()]
    .filter((agent) => !agent.archived && (agent.state === "waiting" || agent.state === "detached") && agent.open.some((cue) => cue.outcome === "open" && snoozedUntil(cue) === undefined))
    .sort((a, b) => (a.state === b.state ? (a.since < b.since ? -1 : 1) : a.state === "waiting" ? -1 : 1));
}

/**
 * The same question, asked by other agents: each with its agent, the longest wait first.
 * @param {T.CueCard | undefined} cue
 */
export function sameAs(cue) {
  const isSame = (/** @type {T.CueCard} */ other) => other.content === cue?.content && other.origin === cue?.origin && other.agent_id !== cue?.agent_id && other.decided_at === null && snoozedUntil(other) === undefined;
  const agents = cue?.content ? [...state.agents.values()].filter((agent) => !agent.archived) : [];
  return agents.flatMap((agent) => agent.open.filter(isSame).map((other) => ({ agent, cue: other }))).sort((a, b) => (a.cue.asked_at < b.cue.asked_at ? -1 : 1));
}

/**
 * The name an agent goes by.
 * @param {T.Agent} agent
 */
export const nameOf = (agent) => agent.name || agent.agent_id;
