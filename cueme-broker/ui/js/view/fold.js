/** Long texts: folded until someone wants them, and read from the broker part by part. */

import { h } from "../lib/dom.js";
import { rendered } from "../lib/rendered.js";
import { api } from "../api.js";
import { t } from "../i18n/index.js";
import { textButton } from "./buttons.js";
import { foldsChanged, opened } from "./unseen.js";

/** @import * as T from "../types.js" */

/** Texts longer than this are folded once they are history. */
const FOLD_BYTES = 2_400;

/**
 * Builds a text of the broker: its beginning and its end, with the rest between them.
 * @param {T.Cue} cue
 * @param {"prompt" | "text"} part
 * @param {boolean} unfolded
 */
export function foldable(cue, part, unfolded) {
  const markup = /** @type {T.Markup} */ (cue[part]);
  const body = h("div", { class: "fold-body" }, rendered(markup.html), markup.next !== null && rest(cue.cue_id, part, markup), markup.end && rendered(markup.end.html));
  const el = h("div", { class: "fold" }, body);
  if (markup.bytes > FOLD_BYTES && !unfolded) el.append(foldButton(el, markup.lines));
  return el;
}

/**
 * @param {HTMLElement} el
 * @param {number} lines
 */
function foldButton(el, lines) {
  el.classList.add("folded");
  el.dataset.folded = String(lines);
  const button = textButton(t("fold.more", { n: lines }), () => {
    const isFolded = el.classList.toggle("folded");
    button.setAttribute("aria-expanded", String(!isFolded));
    button.textContent = isFolded ? t("fold.more", { n: lines }) : t("fold.less");
    if (isFolded) el.scrollIntoView({ block: "nearest" });
    else opened(el);
  });
  button.setAttribute("aria-expanded", "false");
  return button;
}

/**
 * Stands for what was not read yet, with the ways to it.
 * @param {string} cueId
 * @param {"prompt" | "text"} part
 * @param {T.Markup} markup
 */
function rest(cueId, part, markup) {
  let { next, folded } = markup;
  const to = markup.end?.from ?? markup.bytes;
  const progress = h("span", { class: "muted small" });
  const more = textButton(t("rest.more"), readOn);
  const el = h("div", { class: "rest" }, h("span", { class: "fold-note" }), more, h("a", { class: "text-button", href: api.sourceUrl(cueId, part), target: "_blank", rel: "noopener" }, t("rest.all")), progress);
  const say = () => {
    el.dataset.folded = String(folded);
    el.children[0]?.replaceChildren(t("fold.lines", { n: folded }));
    progress.textContent = t("rest.of", { shown: size(markup.bytes - to + (next ?? to)), all: size(markup.bytes) });
  };
  async function readOn() {
    if (next === null) return;
    more.disabled = true;
    try {
      const following = await api.more(cueId, part, next, to);
      el.before(rendered(following.html));
      ({ next, folded } = following);
    } catch {
      progress.textContent = t("error.try-again");
      return;
    } finally {
      more.disabled = false;
    }
    say();
    if (next === null) el.remove();
    foldsChanged();
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
