/** Long texts: folded until someone wants them, and read from the broker part by part. */

import { h } from "../lib/dom.js";
import { rendered } from "../lib/rendered.js";
import { api } from "../api.js";
import { t } from "../i18n/index.js";
import { markLines } from "./approval.js";
import { iconButton, textButton } from "./buttons.js";
import { foldsChanged, opened } from "./unseen.js";

/** @import * as T from "../types.js" */

/** Answers longer than this are folded. */
const FOLD_BYTES = 2_400;
/** Questions longer than this, or of several lines, are folded to their first line once they are history. */
const HEADLINE_BYTES = 160;

/**
 * Builds a text of the broker: its beginning and its end, with the rest between them.
 * @param {T.Cue} cue
 * @param {"prompt" | "text"} part
 */
export function foldable(cue, part) {
  const markup = /** @type {T.Markup} */ (cue[part]);
  const isRequest = part === "prompt" && cue.origin === "approval";
  const show = (/** @type {string} */ html, isBeginning = false) => (isRequest ? markLines(rendered(html), isBeginning) : rendered(html));
  const body = h("div", { class: "fold-body" }, show(markup.html, true), markup.next !== null && rest(cue.cue_id, part, markup, show), markup.end && show(markup.end.html));
  const el = h("div", { class: "fold" }, body);
  if (part === "text" && markup.bytes > FOLD_BYTES) fold(el, markup.lines);
  return el;
}

/**
 * Folds a question to its headline when it is history, with all that belongs to it; unfolds it when it is not.
 * @param {HTMLElement} el
 * @param {T.Cue} cue
 * @param {boolean} isPast
 */
export function foldPast(el, { prompt, files = [] }, isPast) {
  const isFolded = el.lastElementChild?.matches(".fold-button") ?? false;
  const wants = isPast && (prompt.lines > 1 || prompt.bytes > HEADLINE_BYTES || files.length > 0);
  if (wants && !isFolded) fold(el, prompt.lines, "headline");
  if (wants || !isFolded) return;
  el.lastElementChild?.remove();
  el.classList.remove("folded");
  opened(el);
}

/**
 * Opens what is folded.
 * @param {Element} within
 */
export const unfold = (within) => /** @type {HTMLElement | null} */ (within.querySelector(".question > .folded > .fold-button"))?.click();

/**
 * @param {HTMLElement} el
 * @param {number} lines
 * @param {"headline" | "beginning"} [leaves] what stays in sight
 */
function fold(el, lines, leaves = "beginning") {
  const isHeadline = leaves === "headline";
  const toggle = () => {
    const isFolded = el.classList.toggle("folded");
    tell();
    if (!isFolded) opened(el);
    else if (!isHeadline) el.scrollIntoView({ block: "nearest" });
  };
  const button = isHeadline ? iconButton("chevron", "", toggle, "small fold-button") : textButton("", toggle, "fold-button");
  const tell = () => {
    const isFolded = el.classList.contains("folded");
    const label = isFolded ? t("fold.more", { n: lines }) : t("fold.less");
    button.setAttribute("aria-expanded", String(!isFolded));
    if (isHeadline) button.title = button.ariaLabel = label;
    else button.textContent = label;
  };
  // A press opens it as well, and Tab reaches nothing that is out of sight.
  for (const what of ["click", "focusin"]) el.firstElementChild?.addEventListener(what, () => el.classList.contains("folded") && toggle());
  el.dataset.folded = String(lines);
  el.classList.add("folded");
  el.append(button);
  tell();
}

/**
 * Stands for what was not read yet, with the ways to it.
 * @param {string} cueId
 * @param {"prompt" | "text"} part
 * @param {T.Markup} markup
 * @param {(html: string) => HTMLElement} show
 */
function rest(cueId, part, markup, show) {
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
      el.before(show(following.html));
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
