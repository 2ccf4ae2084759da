/**
 * The event stream. The browser reconnects by itself and says what it saw last; after each reconnect everything is read
 * anew, because who listens is not in the log.
 */

import { openEvents } from "./api.js";
import { emit, readAll, refresh, setConnection, state } from "./store.js";

const RETRY_MS_MIN = 400;
const RETRY_MS_MAX = 8_000;
/** A broker that restarts is back within this; a shorter gap is nobody's business. */
const GRACE_MS = 700;

/** @type {EventSource | null} */
let source = null;
let retryMs = RETRY_MS_MIN;
let isFirst = true;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let retry;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let grace;

/** Connects, and keeps connected. */
export function connect() {
  clearTimeout(retry);
  source?.close();
  source = openEvents();
  listen(source, "ready", whenReady);
  listen(source, "resync", () => void catchUp());
  listen(source, "change", (data) => {
    refresh(data.agent_id);
    emit("change", data);
  });
  listen(source, "presence", (data) => {
    refresh(data.agent_id);
    emit("change", data);
  });
  listen(source, "notice", whenNoticed);
  source.onerror = whenBroken;
}

/** Reads everything anew, for example when a sleeping phone wakes up. */
export async function catchUp() {
  try {
    await readAll();
    emit("reread", undefined);
    setConnection("live");
  } catch {
    whenBroken();
  }
}

/**
 * @param {EventSource} from
 * @param {string} name
 * @param {(data: any) => void} run
 */
function listen(from, name, run) {
  from.addEventListener(name, (event) => run(JSON.parse(/** @type {MessageEvent} */ (event).data)));
}

/** @param {{ newest: number, epoch: string | number }} data */
function whenReady(data) {
  retryMs = RETRY_MS_MIN;
  clearTimeout(grace);
  grace = undefined;
  const isCurrent = isFirst && data.newest === state.newest && data.epoch === state.epoch;
  isFirst = false;
  if (isCurrent) setConnection("live");
  else void catchUp();
}

/** @param {{ what: string, agent_id?: string, cue_id?: string, rev?: number, epoch?: string | number }} data */
function whenNoticed(data) {
  if (data.epoch !== undefined) state.epoch = data.epoch;
  if (data.what === "draft") emit("draft", data);
  else if (data.what === "devices") emit("devices", undefined);
  else if (data.what === "runs") emit("runs", undefined);
  else if (data.what === "read" && data.agent_id) refresh(data.agent_id);
  else void readAll().catch(() => {});
}

function whenBroken() {
  grace ??= setTimeout(() => setConnection("lost"), GRACE_MS);
  if (source && source.readyState !== EventSource.CLOSED) return;
  clearTimeout(retry);
  retry = setTimeout(tryAgain, retryMs);
  retryMs = Math.min(retryMs * 2, RETRY_MS_MAX);
}

/** The stream does not say why it was refused. A plain request does, for example that this device was signed out. */
async function tryAgain() {
  await readAll().catch(() => {});
  if (state.connection !== "signed-out") connect();
}
