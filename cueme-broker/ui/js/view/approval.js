/**
 * What words mean as the answer to an approval. A label or a plain yes or no is that button; other words deny, with the words as
 * the reason. The human is told before they are sent.
 */

import { t } from "../i18n/index.js";

/** @import * as T from "../types.js" */

/** @param {string} words */
const plain = (words) => words.trim().replace(/[.!。！]+$/, "").trimEnd().toLowerCase();

/**
 * @param {T.Cue} cue
 * @returns {cue is T.Cue & { payload: T.Confirm }}
 */
export const isApproval = (cue) => cue.origin === "approval" && cue.payload?.type === "confirm";

/**
 * Returns which button the words are, if they are one: the rule of `protocol-spec/src/answer/consent.rs`.
 * @param {T.Cue & { payload: T.Confirm }} cue
 * @param {string} words
 */
export function meantBy({ payload }, words) {
  const word = plain(words);
  if (word === plain(payload.confirm_label)) return true;
  if (word === plain(payload.cancel_label) || payload.no.includes(word)) return false;
  return payload.yes.includes(word) || undefined;
}

/**
 * Says what sending the words does.
 * @param {T.Cue} cue
 * @param {string} words
 */
export function approvalHint(cue, words) {
  if (!isApproval(cue)) return "";
  const { confirm_label: yes, cancel_label: no } = cue.payload;
  const meant = meantBy(cue, words);
  return meant === undefined ? t("approval.denies", { label: no }) : t("approval.means", { label: meant ? yes : no });
}
