/** The broker's HTTP API as functions. Nothing here knows about the screen. */

import { language } from "./i18n/index.js";
import { problemWords } from "./i18n/problems.js";

/** @import * as T from "./types.js" */

const BASE = "/api/v1";

/** A request that did not succeed; `code` is the broker's, or `offline`, and the message is for people. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {{ code?: string, message?: string, hint?: string, details?: any }} body
   */
  constructor(status, body) {
    const code = body.code ?? "unknown";
    super(problemWords(code, body.message));
    this.status = status;
    this.code = code;
    // The broker writes hints in English.
    this.hint = language() === "en" ? (body.hint ?? "") : "";
    this.details = body.details;
  }
}

/** @type {() => void} */
let whenSignedOut = () => {};

/**
 * Names what to do when the broker no longer knows this device.
 * @param {() => void} run
 */
export const onSignedOut = (run) => void (whenSignedOut = run);

/**
 * @param {string} method
 * @param {string} path
 * @param {BodyInit | null} [body]
 * @param {RequestInit} [more]
 * @returns {Promise<any>}
 */
export async function send(method, path, body = null, more = {}) {
  let response;
  try {
    response = await fetch(BASE + path, { method, body, credentials: "same-origin", cache: "no-store", ...more });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, { code: "offline" });
  }
  if (response.status === 204) return null;
  const isJson = response.headers.get("content-type")?.includes("json");
  if (response.ok) return isJson ? response.json() : response.text();
  if (response.status === 401) whenSignedOut();
  const answer = isJson ? await response.json().catch(() => null) : null;
  throw new ApiError(response.status, answer?.error ?? {});
}

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} body
 * @param {RequestInit} [more]
 */
export const json = (method, path, body, more) =>
  send(method, path, JSON.stringify(body), { ...more, headers: { "content-type": "application/json" } });

const id = encodeURIComponent;

/** What the broker wrote into the document, if it did. It is taken once: whoever reads the state later wants the newest. */
function takeFirstState() {
  const place = document.getElementById("state");
  place?.remove();
  if (!place?.textContent) return null;
  const state = JSON.parse(place.textContent);
  // It was written when the document began to come, which may be long ago on a slow line.
  const visit = /** @type {PerformanceNavigationTiming | undefined} */ (performance.getEntriesByType("navigation")[0]);
  const age = visit ? performance.now() - visit.responseStart : 0;
  return { ...state, now: new Date(Date.parse(state.now) + age).toISOString() };
}

/** @type {(kind: "cues" | "agents", of: string) => string} */
const draftPath = (kind, of) => `/${kind}/${id(of)}/draft`;

export const api = {
  /** @returns {Promise<T.Snapshot>} */
  state: async () => takeFirstState() ?? send("GET", "/state"),
  /** @type {(agent: string) => Promise<T.AgentDetail>} */
  agent: (agent) => send("GET", `/agents/${id(agent)}`),
  /** @type {(agent: string, before?: number) => Promise<{ cues: T.Cue[], more: boolean }>} */
  timeline: (agent, before) => send("GET", `/agents/${id(agent)}/timeline${before === undefined ? "" : `?before=${before}`}`),
  /** @type {(cue: string) => Promise<T.Cue>} */
  cue: (cue) => send("GET", `/cues/${id(cue)}`),
  /** @type {(cue: string, part: "prompt" | "text", from: number, to: number) => Promise<T.Markup>} */
  more: (cue, part, from, to) => send("GET", `/cues/${id(cue)}/${part}?from=${from}&to=${to}`),
  /** @type {(cue: string, part: "prompt" | "text") => Promise<string>} */
  source: (cue, part) => send("GET", `/cues/${id(cue)}/${part}.txt`),
  /** @type {(cue: string, part: "prompt" | "text") => string} */
  sourceUrl: (cue, part) => `${BASE}/cues/${id(cue)}/${part}.txt`,
  /** A file that a question names, as markup. @type {(url: string) => Promise<T.Markup>} */
  patch: (url) => send("GET", url.slice(BASE.length)),
  /** @type {(words: string, before: number | undefined, signal: AbortSignal) => Promise<T.Found>} */
  search: (words, before, signal) => send("GET", `/search?q=${id(words)}${before ? `&before=${before}` : ""}`, null, { signal }),

  /** @type {(cue: string, decision: string, answer: T.Answer) => Promise<T.Decided>} */
  answer: (cue, decision, answer) => json("POST", `/cues/${id(cue)}/answer`, { id: decision, answer }),
  /** @type {(cue: string, decision: string, reason: string) => Promise<T.Decided>} */
  decline: (cue, decision, reason) => json("POST", `/cues/${id(cue)}/decline`, { id: decision, ...(reason && { reason }) }),
  /** @type {(cue: string, decision: string) => Promise<T.Decided>} */
  close: (cue, decision) => json("POST", `/cues/${id(cue)}/cancel`, { id: decision, hold_ms: 0 }),
  /** @type {(cue: string) => Promise<{ cue_id: string, draft: T.Draft | null }>} */
  undo: (cue) => json("POST", `/cues/${id(cue)}/undo`, {}),
  /** @type {(kind: "cues" | "agents", of: string, rev: number, body: T.Answer, last: boolean) => Promise<T.Draft>} */
  saveDraft: (kind, of, rev, body, last) => json("PUT", draftPath(kind, of), { rev, body }, { keepalive: last }),
  /** @type {(kind: "cues" | "agents", of: string) => Promise<null>} */
  dropDraft: (kind, of) => send("DELETE", draftPath(kind, of)),

  /** @type {(agent: string, change: object) => Promise<T.Agent>} */
  changeAgent: (agent, change) => json("PATCH", `/agents/${id(agent)}`, change),
  /** @type {(agent: string, seq: number) => Promise<null>} */
  markRead: (agent, seq) => json("PUT", `/agents/${id(agent)}/read`, { seq }),
  /** @type {(agent: string, seq: number) => Promise<null>} */
  markUnread: (agent, seq) => json("PUT", `/agents/${id(agent)}/read`, { seq, unread: true }),
  /** @type {(message: string, agents: string[], text: string, purpose: T.Purpose) => Promise<{ results: any[] }>} */
  say: (message, agents, text, purpose) => json("POST", "/messages", { id: message, agents, text, ...(purpose !== "note" && { purpose }) }),
  /** @type {(agent: string, messages: string[]) => Promise<{ messages: T.Message[] }>} */
  orderMessages: (agent, messages) => json("PUT", `/agents/${id(agent)}/messages/order`, { messages }),
  /** @type {(agent: string, message: string, text: string) => Promise<{ messages: T.Message[] }>} */
  changeMessage: (agent, message, text) => json("PATCH", `/agents/${id(agent)}/messages/${id(message)}`, { text }),
  /** @type {(agent: string, message: string) => Promise<null>} */
  dropMessage: (agent, message) => send("DELETE", `/agents/${id(agent)}/messages/${id(message)}`),

  /** @type {(file: File) => Promise<T.Attachment>} */
  upload: (file) =>
    send("POST", `/uploads?name=${id(file.name || "file")}`, file, { headers: { "content-type": file.type || "application/octet-stream" } }),
  /** @type {(upload: string) => Promise<null>} */
  dropUpload: (upload) => send("DELETE", `/uploads/${id(upload)}`),
  /** @type {(markdown: string) => Promise<T.Markup>} */
  preview: (markdown) => json("POST", "/preview", { markdown }),

  /** @type {(change: Partial<T.Settings>) => Promise<T.Settings>} */
  changeSettings: (change) => json("PATCH", "/settings", change),
  /** @type {() => Promise<{ policies: T.Policy[] }>} */
  policies: () => send("GET", "/policies"),
  /** @type {(name: string, enabled: boolean) => Promise<T.Policy>} */
  changePolicy: (name, enabled) => json("PATCH", `/policies/${id(name)}`, { enabled }),
  /** @type {(rule: T.Rule) => Promise<T.Policy>} */
  makeRule: (rule) => json("POST", "/policies", rule),
  /** @type {(name: string, rule: T.Rule) => Promise<T.Policy>} */
  changeRule: (name, rule) => json("PUT", `/policies/${id(name)}`, rule),
  /** @type {(name: string) => Promise<null>} */
  endRule: (name) => send("DELETE", `/policies/${id(name)}`),
  /** @type {(cue: string) => Promise<{ project: string, payload: string, says: string }>} */
  exactRule: (cue) => send("GET", `/cues/${id(cue)}/rule`),
  /** @type {() => Promise<{ devices: T.Device[] }>} */
  devices: () => send("GET", "/devices"),
  /** @type {(device: string, name: string) => Promise<T.Device>} */
  renameDevice: (device, name) => json("PATCH", `/devices/${id(device)}`, { name }),
  /** @type {(device: string) => Promise<null>} */
  dropDevice: (device) => send("DELETE", `/devices/${id(device)}`),
  /** @type {() => Promise<{ url: string, svg: string, expires_at: string, hint: string | null }>} */
  link: () => json("POST", "/links", {}),
};

/** @type {() => EventSource} */
export const openEvents = () => new EventSource(`${BASE}/events`);
