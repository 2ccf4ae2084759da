/** Questions that the human put off, until a time or until their agent asks again. The broker keeps the list with the settings. */

import { now } from "./lib/time.js";
import { state } from "./store.js";

/** @import * as T from "./types.js" */

/**
 * Until when a question is put off, in milliseconds; 0 is until its agent asks again, undefined is not at all.
 * @param {T.CueCard} cue
 */
export function snoozedUntil(cue) {
  const entry = state.settings.page.snoozed?.[cue.cue_id];
  if (entry === undefined) return undefined;
  if (entry > 0) return entry > now() ? entry : undefined;
  const isNewest = (state.agents.get(cue.agent_id)?.open ?? []).every((other) => other.seq <= cue.seq);
  return isNewest ? 0 : undefined;
}
