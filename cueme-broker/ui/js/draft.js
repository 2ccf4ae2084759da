/**
 * A draft. The broker keeps it, so that it follows its writer to another device; this browser keeps a copy until it is sent,
 * so that a reload or a broker that is away costs no character. Nothing here blocks typing.
 */

import { debounce } from "./lib/dom.js";
import { now, toMs } from "./lib/time.js";
import { api, ApiError } from "./api.js";

/** @import * as T from "./types.js" */

/**
 * @typedef {{ id: string, says: string }} Decision
 * @typedef {{ kind: "cues" | "agents", id: string, agent: string, cue?: T.Cue }} Place
 * @typedef {Place & { body: T.Answer, at: number, isSaved: boolean, isSent: boolean, decision: Decision | null }} Copy
 */

const PAUSE_MS = 500;
/** Words the broker never got give way to a draft of another device that is younger by more than this. */
const YOUNGER_MS = 60_000;
const PREFIX = "cueme.draft.";

/** @param {Place} place */
const keyOf = ({ kind, id }) => `${PREFIX}${kind}.${id}`;

/**
 * @param {string} key
 * @returns {Copy | null}
 */
function readCopy(key) {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null");
  } catch {
    return null;
  }
}

/** @param {Place} place */
export const dropCopy = (place) => localStorage.removeItem(keyOf(place));

/**
 * What this browser keeps for an agent, the newest first.
 * @param {string} agent
 */
export function copiesOf(agent) {
  const keys = Object.keys(localStorage).filter((key) => key.startsWith(PREFIX));
  return keys.flatMap((key) => readCopy(key) ?? []).filter((copy) => copy.agent === agent).sort((a, b) => b.at - a.at);
}

/**
 * @param {Place} place
 * @param {T.Draft | null | undefined} stored what the broker has; undefined while it cannot be asked
 */
export function keepDraft(place, stored) {
  const copy = readCopy(keyOf(place));
  const isNewer = copy && (stored === undefined || !(copy.isSaved || copy.isSent || (stored && toMs(stored.at) > copy.at + YOUNGER_MS)));
  const body = isNewer ? copy.body : stored?.body ?? {};
  let rev = stored?.rev ?? 0;
  let saved = stored ? JSON.stringify(stored.body) : "{}";
  let newest = saved;
  /** @type {Decision | null} */
  let decision = copy?.decision ?? null;
  let isSaving = false;
  let isHeld = false;
  let isSent = false;
  let isClosed = false;
  let line = Promise.resolve();

  /**
   * @param {T.Answer} words
   * @param {boolean} isSaved
   */
  function remember(words, isSaved) {
    newest = JSON.stringify(words);
    try {
      if (newest === "{}") dropCopy(place);
      else localStorage.setItem(keyOf(place), JSON.stringify({ ...place, body: words, at: now(), isSaved, isSent, decision }));
    } catch {
      // No room here: the broker has it half a second later.
    }
  }

  /**
   * @param {T.Answer} words
   * @param {boolean} isLast
   */
  async function save(words, isLast) {
    const text = JSON.stringify(words);
    if (isClosed || isHeld || isSent || text === saved) return;
    if (isSaving && !isLast) return later.call(words, false);
    isSaving = true;
    line = put(words, text, isLast).then(
      () => {
        saved = text;
        if (newest === text) remember(words, true);
      },
      () => {}, // Offline or busy: the next change, or the next visit, tries again.
    );
    await line;
    isSaving = false;
  }

  /**
   * @param {T.Answer} words
   * @param {string} text
   * @param {boolean} isLast
   */
  async function put(words, text, isLast) {
    if (text === "{}") {
      await api.dropDraft(place.kind, place.id);
      rev = 0;
      return;
    }
    try {
      rev = (await api.saveDraft(place.kind, place.id, rev, words, isLast)).rev;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "stale_draft" || isHeld || isSent) throw error;
      // Someone typed elsewhere. The words typed now are the newer ones.
      rev = (await api.saveDraft(place.kind, place.id, error.details?.rev ?? 0, words, isLast)).rev;
    }
  }

  const later = debounce(PAUSE_MS, save);
  if (isNewer) later.call(body, false);
  else remember(body, true);
  return {
    body,
    decision,
    /** @param {T.Answer} words */
    change(words) {
      remember(words, false);
      later.call(words, false);
    },
    /** Saves what is not saved yet, also when the page goes away. */
    flush: () => later.flush(),
    /**
     * Keeps words that are on their way in this browser alone, with the id they are sent under.
     * @param {T.Answer} words
     * @param {Decision} under
     */
    hold(words, under) {
      later.cancel();
      isHeld = true;
      decision = under;
      remember(words, false);
    },
    /**
     * Ends the hold. What was sent is forgotten; `rest` was typed since, or is what was not sent after all.
     * @param {boolean} wasSent
     * @param {T.Answer} rest
     */
    release(wasSent, rest) {
      isHeld = false;
      if (wasSent) decision = null;
      isSent = wasSent && place.kind === "cues";
      if (wasSent && !isSent) {
        rev = 0;
        saved = "{}";
        isSaving = true;
        line = line.then(() => api.dropDraft(place.kind, place.id)).then(() => {}, () => {}).then(() => void (isSaving = false));
      }
      this.change(rest);
    },
    /** Ends saving: the question was decided elsewhere. The copy stays until somebody says what becomes of the words. */
    close() {
      later.cancel();
      isClosed = true;
    },
    /** @param {number | undefined} elsewhere */
    isNews: (elsewhere) => !isSaving && !isHeld && !isSent && newest === saved && elsewhere !== undefined && elsewhere !== rev,
    /** @param {T.Draft | null} draft */
    adopt(draft) {
      rev = draft?.rev ?? 0;
      saved = draft ? JSON.stringify(draft.body) : "{}";
      remember(draft?.body ?? {}, true);
    },
  };
}
