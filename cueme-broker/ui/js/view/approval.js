/**
 * What words mean as the answer to an approval. A label or a plain yes or no is that button; other words deny, with the words as
 * the reason. The human is told before they are sent.
 */

import { h } from "../lib/dom.js";
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

/** A line that only opens or closes a block of code. */
const FENCE = /^`{3,}\w*$/;

/**
 * Tells the headline of a request and the marks around its code apart from the rest, and changes no character.
 * @param {HTMLElement} request
 * @param {boolean} isBeginning
 */
export function markLines(request, isBeginning) {
  // The question has one as well, and this one would lie on what it copies.
  for (const copy of request.querySelectorAll(".copy")) copy.remove();
  for (const code of request.querySelectorAll("pre > code")) {
    const lines = linesOf(code);
    lines.forEach((line, at) => {
      if (at === 0 && isBeginning) line.className = "request";
      else if (FENCE.test(line.textContent?.trim() ?? "")) line.className = "fence";
    });
    code.replaceChildren(...lines);
  }
  return request;
}

/** The nodes of a text, line by line, each with the break that ends it. @param {Element} code */
function linesOf(code) {
  const lines = [h("span", null)];
  for (const node of [...code.childNodes]) {
    if (!(node instanceof Text)) {
      lines.at(-1)?.append(node);
      continue;
    }
    for (const piece of node.data.split(/(?<=\n)/)) {
      lines.at(-1)?.append(piece);
      if (piece.endsWith("\n")) lines.push(h("span", null));
    }
  }
  return lines;
}

/**
 * Says whether words deny a request, with themselves as the reason.
 * @param {T.Cue} cue
 * @param {string} words
 */
export const denies = (cue, words) => isApproval(cue) && meantBy(cue, words) === undefined;

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
