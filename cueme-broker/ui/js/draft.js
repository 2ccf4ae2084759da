/**
 * A draft, kept by the broker so that it survives reload and follows its writer to another device. Nothing here blocks
 * typing: a draft that cannot be saved is tried again with the next key.
 */

import { debounce } from "./lib/dom.js";
import { api, ApiError } from "./api.js";

/** @import * as T from "./types.js" */

const PAUSE_MS = 500;

/**
 * @param {"cues" | "agents"} kind
 * @param {string} id
 * @param {T.Draft | null} stored
 */
export function keepDraft(kind, id, stored) {
  let rev = stored?.rev ?? 0;
  let saved = stored ? JSON.stringify(stored.body) : "{}";
  let isSaving = false;
  let saving = Promise.resolve();
  let isClosed = false;

  /**
   * @param {T.Answer} body
   * @param {boolean} last
   */
  async function save(body, last) {
    const text = JSON.stringify(body);
    if (isClosed || text === saved) return;
    if (isSaving && !last) return later.call(body, false);
    isSaving = true;
    saving = put(body, text, last).then(
      () => void (saved = text),
      () => {}, // Offline or busy: the next change tries again.
    );
    await saving;
    isSaving = false;
  }

  /**
   * @param {T.Answer} body
   * @param {string} text
   * @param {boolean} last
   */
  async function put(body, text, last) {
    if (text === "{}") {
      await api.dropDraft(kind, id);
      rev = 0;
      return;
    }
    try {
      rev = (await api.saveDraft(kind, id, rev, body, last)).rev;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "stale_draft") throw error;
      // Someone typed elsewhere. Whoever types now has the newer words.
      rev = (await api.saveDraft(kind, id, error.details?.rev ?? 0, body, last)).rev;
    }
  }

  const later = debounce(PAUSE_MS, save);
  return {
    /** @param {T.Answer} body */
    change: (body) => later.call(body, false),
    /** Saves what is not saved yet, also when the page goes away. */
    flush: () => later.flush(),
    /** Forgets what is not saved, because the answer was sent; what is being saved comes before what follows. */
    close() {
      later.cancel();
      isClosed = true;
      return saving;
    },
    /** @param {number | undefined} elsewhere */
    isNews: (elsewhere) => !isSaving && elsewhere !== undefined && elsewhere > rev,
    /** @param {T.Draft | null} draft */
    adopt(draft) {
      rev = draft?.rev ?? 0;
      saved = draft ? JSON.stringify(draft.body) : "{}";
    },
  };
}
