/** Questions that the human put off, until a time or until their agent asks again. The broker keeps the list with the settings. */

import { now } from "./lib/time.js";
import { changeSettings, emit, state } from "./store.js";

/** @import * as T from "./types.js" */

const TICK_MS = 10_000;
/** How many questions can be put off; the oldest give way. */
const SNOOZED_MAX = 100;

/**
 * Until when a question is put off, in milliseconds; 0 is until its agent asks again, undefined is not at all.
 * @param {T.CueCard} cue
 */
export function snoozedUntil(cue) {
  const until = state.settings.page.snoozed?.[cue.cue_id];
  if (until === undefined) return undefined;
  if (until > 0) return until > now() ? until : undefined;
  const isNewest = (state.agents.get(cue.agent_id)?.open ?? []).every((other) => other.seq <= cue.seq);
  return isNewest ? 0 : undefined;
}

/**
 * Puts a question off, or brings it back.
 * @param {string} cueId
 * @param {number | null} until
 */
export async function snooze(cueId, until) {
  const kept = Object.entries(state.settings.page.snoozed ?? {}).filter(([id, at]) => id !== cueId && (at === 0 || at > now()));
  if (until !== null) kept.push([cueId, until]);
  await changeSettings({ page: { ...state.settings.page, snoozed: Object.fromEntries(kept.slice(-SNOOZED_MAX)) } });
  emit("agents", undefined);
}

/** Brings back what was put off until now. */
export function startSnoozeClock() {
  let isDueAt = 0;
  setInterval(() => {
    const times = Object.values(state.settings.page.snoozed ?? {});
    if (times.some((at) => at > isDueAt && at <= now())) emit("agents", undefined);
    isDueAt = now();
  }, TICK_MS);
}
