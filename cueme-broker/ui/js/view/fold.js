/** Long texts: folded until someone wants them, and read from the broker part by part. */

import { h } from "../lib/dom.js";
import { rendered } from "../lib/rendered.js";
import { api } from "../api.js";
import { t } from "../i18n/index.js";
import { textButton } from "./buttons.js";

/** @import * as T from "../types.js" */

/** Texts longer than this are folded once they are history. */
const FOLD_BYTES = 2_400;

/**
 * Builds a text of the broker.
 * @param {T.Cue} cue
 * @param {"prompt" | "text"} part
 * @param {boolean} unfolded
 */
export function foldable(cue, part, unfolded) {
  const markup = /** @type {T.Markup} */ (cue[part]);
  const body = h("div", { class: "fold-body" }, rendered(markup.html));
  const el = h("div", { class: "fold" }, body);
  if (markup.bytes > FOLD_BYTES && !unfolded) el.append(foldButton(el));
  if (markup.next !== null) el.append(rest(cue.cue_id, part, markup, body));
  return el;
}

/** @param {HTMLElement} el */
function foldButton(el) {
  el.classList.add("folded");
  const button = textButton(t("fold.more"), () => {
    const isFolded = el.classList.toggle("folded");
    button.setAttribute("aria-expanded", String(!isFolded));
    button.textContent = isFolded ? t("fold.more") : t("fold.less");
    if (isFolded) el.scrollIntoView({ block: "nearest" });
  });
  button.setAttribute("aria-expanded", "false");
  return button;
}

/**
 * The end of what was read so far, with the ways to the rest.
 * @param {string} cueId
 * @param {"prompt" | "text"} part
 * @param {T.Markup} markup
 * @param {HTMLElement} body
 */
function rest(cueId, part, markup, body) {
  let next = markup.next;
  const progress = h("span", { class: "muted small" });
  const more = textButton(t("rest.more"), readOn);
  const el = h("div", { class: "rest" }, more, h("a", { class: "text-button", href: api.sourceUrl(cueId, part), target: "_blank", rel: "noopener" }, t("rest.all")), progress);
  const say = () => (progress.textContent = t("rest.of", { shown: size(next ?? markup.bytes), all: size(markup.bytes) }));
  async function readOn() {
    if (next === null) return;
    more.disabled = true;
    try {
      const following = await api.more(cueId, part, next);
      body.append(rendered(following.html));
      next = following.next;
    } catch {
      progress.textContent = t("error.try-again");
      return;
    } finally {
      more.disabled = false;
    }
    say();
    if (next === null) el.remove();
  }
  say();
  return el;
}

/** @param {number} bytes */
export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
