/**
 * The review of a patch: comments on a line or a range, by click or key, and both sides beside each other. Loaded when needed;
 * what it uses of the page is handed to it.
 */

import { wordsIn } from "./words.js";
import css from "./review.css";

/** @import * as T from "../types.js" */
/** @import { Holder } from "./offer.js" */
/** @import { Kit } from "../tools/load.js" */

/** @typedef {{ path: string, side: "old" | "now", at: number }} Place */

/** @param {HTMLElement} line @returns {Place} */
function placeOf(line) {
  const [old, now] = [...line.querySelectorAll("i")].map((number) => Number(number.dataset.n) || 0);
  const path = /** @type {HTMLElement | null} */ (line.closest("[data-path]"))?.dataset.path || "patch";
  return now ? { path, side: "now", at: now } : { path, side: "old", at: old ?? 0 };
}

/**
 * @param {Kit} kit
 * @param {HTMLElement} entry
 * @param {() => Holder | null} holder
 * @param {() => boolean} isTouch
 */
export function createReview({ addStyles, h, language, linesOf, t, textButton }, entry, holder, isTouch) {
  addStyles(css);
  const w = wordsIn(language());
  /** The line that a range begins with. @type {HTMLElement | null} */
  let anchor = null;
  /** The line that it ends with, where the keys are. @type {HTMLElement | null} */
  let cursor = null;

  const cursorWords = h("p", { class: "sr", role: "status" });

  const lines = () => /** @type {HTMLElement[]} */ ([...entry.querySelectorAll(".patch-lines .diff-line:not(.meta)")]).filter((line) => line.checkVisibility());

  /**
   * The lines of a comment, in the order of the patch.
   * @param {T.Comment} comment
   */
  const linesIn = (comment) =>
    lines().filter((line) => {
      const { path, side, at } = placeOf(line);
      return path === comment.path && side === comment.side && at >= comment.from && at <= comment.to;
    });

  /**
   * Moves to a line; with `extend`, takes everything from the line before to it.
   * @param {HTMLElement} line
   * @param {boolean} extend
   */
  function mark(line, extend) {
    for (const other of entry.querySelectorAll(".diff-line.cursor")) other.classList.remove("cursor");
    if (!extend || !anchor?.isConnected) anchor = line;
    cursor = line;
    const all = lines();
    const [from = 0, to = 0] = [all.indexOf(anchor), all.indexOf(line)].sort((a, b) => a - b);
    for (const one of all.slice(from, to + 1)) one.classList.add("cursor");
  }

  /** Tells people who do not see the cursor which lines it is on. @param {HTMLElement} line */
  function say(line) {
    const [first, last] = [placeOf(anchor ?? line), placeOf(line)];
    const [from, to] = first.side === last.side ? [Math.min(first.at, last.at), Math.max(first.at, last.at)] : [last.at, last.at];
    const kind = line.classList.contains("add") ? w("added") : line.classList.contains("del") ? w("removed") : "";
    const code = line.querySelector("span")?.textContent?.slice(1).trim() ?? "";
    if (!cursorWords.isConnected) entry.append(cursorWords);
    cursorWords.textContent = [where({ ...last, from, to, text: "" }), kind, code].filter(Boolean).join(t("list.and"));
  }

  /** @param {T.Comment[]} list */
  function keep(list) {
    const order = lines();
    const at = (/** @type {T.Comment} */ comment) => order.indexOf(/** @type {HTMLElement} */ (linesIn(comment)[0]));
    holder()?.setComments([...list].sort((a, b) => at(a) - at(b)));
    refresh();
  }

  /** Draws the comments below the lines they are about. */
  function refresh() {
    for (const old of entry.querySelectorAll(".review-note")) old.remove();
    for (const line of entry.querySelectorAll(".diff-line.commented")) line.classList.remove("commented");
    for (const comment of holder()?.comments() ?? []) {
      const about = linesIn(comment);
      for (const line of about) line.classList.add("commented");
      const edit = () => (keep(without(comment)), write(about.at(-1) ?? null, comment));
      const note = h(
          "div",
          { class: "review-note" },
          h("p", { class: "review-head" }, h("b", null, w("you")), h("span", { class: "muted" }, where(comment)), textButton(w("edit"), edit, "push"), textButton(w("delete"), () => keep(without(comment)))),
          h("p", { class: "review-text", dir: "auto" }, comment.text),
      );
      const last = about.at(-1);
      if (last?.style.gridRow) note.style.gridRow = below(last);
      last?.after(note);
    }
  }

  /** The row below a line where both sides are beside each other: lines have the even ones. @param {HTMLElement} line */
  const below = (line) => String(Number.parseInt(line.style.gridRow) + 1);
  /** @param {T.Comment} comment */
  const without = (comment) => (holder()?.comments() ?? []).filter((other) => other !== comment);
  /** @param {T.Comment} comment */
  const where = (comment) => w(comment.from === comment.to ? "line" : "lines", { at: linesOf(comment) });

  /**
   * Opens the editor below a line.
   * @param {HTMLElement | null} line
   * @param {T.Comment} comment
   */
  function write(line, comment) {
    const old = /** @type {HTMLElement | null} */ (entry.querySelector(".review-editor"));
    const kept = old?.querySelector("textarea")?.value ?? "";
    old?.remove();
    const text = h("textarea", { class: "input", rows: "3", dir: "auto", "aria-label": w("new"), value: comment.text || kept });
    const discard = () => {
      editor.remove();
      /** @type {HTMLElement | null} */ (line?.closest(".patch"))?.focus({ preventScroll: true });
    };
    const add = () => {
      if (text.value.trim() === "") return text.focus();
      const words = text.value.trim();
      discard();
      keep([...(holder()?.comments() ?? []), { ...comment, text: words }]);
    };
    const editor = h(
      "div",
      { class: "review-editor" },
      h("p", { class: "review-head" }, h("b", null, w("new")), h("span", { class: "muted" }, where(comment)), h("span", { class: "muted push" }, w(isTouch() ? "range-tap" : "range"))),
      text,
      h("div", { class: "review-acts" }, textButton(w("discard"), discard), h("button", { type: "button", class: "button push", onclick: add }, w("add"), h("kbd", { "aria-hidden": "true" }, "Ctrl ↵"))),
    );
    editor.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      const isSend = event.key === "Enter" && (event.ctrlKey || event.metaKey);
      if (event.key !== "Escape" && !isSend) return;
      event.preventDefault();
      event.stopPropagation();
      if (isSend) add();
      else discard();
    });
    if (line?.style.gridRow) editor.style.gridRow = below(line);
    line?.after(editor);
    text.focus();
    editor.scrollIntoView({ block: "nearest" });
  }

  /**
   * Begins a comment on a line; with `extend`, on everything from the line before to it.
   * @param {HTMLElement} line
   * @param {boolean} extend
   */
  function begin(line, extend) {
    // A finger has no Shift: while a comment is being written, the next line ends its range.
    const isLonger = (extend || (isTouch() && entry.querySelector(".review-editor") !== null)) && anchor !== null;
    const first = placeOf(isLonger && anchor ? anchor : line);
    const last = placeOf(line);
    const isRange = isLonger && first.path === last.path && first.side === last.side;
    const [from, to] = isRange ? [Math.min(first.at, last.at), Math.max(first.at, last.at)] : [last.at, last.at];
    mark(line, isRange);
    write(isRange && first.at > last.at ? anchor : line, { path: last.path, side: last.side, from, to, text: "" });
  }

  /**
   * Shows removed and added lines beside each other, or below each other again.
   * @param {HTMLElement} patch
   * @param {HTMLElement} button
   */
  function split(patch, button) {
    const isSplit = patch.classList.toggle("split");
    button.textContent = w(isSplit ? "unified" : "split");
    for (const file of patch.querySelectorAll(".patch-lines")) isSplit ? pair(/** @type {HTMLElement} */ (file)) : unpair(/** @type {HTMLElement} */ (file));
    refresh();
  }

  /**
   * Puts each run of removed lines beside the run of added lines that follows it.
   * @param {HTMLElement} file
   */
  function pair(file) {
    /** @type {HTMLElement[]} */
    let gone = [];
    let came = 0;
    let row = 0;
    for (const child of /** @type {HTMLElement[]} */ ([...file.querySelectorAll(".diff-line")])) {
      if (child.classList.contains("del")) {
        if (came) [gone, came] = [[], 0];
        child.style.gridRow = String((row += 2));
        gone.push(child);
      } else if (child.classList.contains("add")) {
        const beside = gone[came++];
        child.style.gridRow = beside ? beside.style.gridRow : String((row += 2));
      } else {
        [gone, came] = [[], 0];
        child.style.gridRow = String((row += 2));
      }
    }
  }

  /** @param {HTMLElement} file */
  const unpair = (file) => [...file.children].forEach((child) => /** @type {HTMLElement} */ (child).style.removeProperty("grid-row"));

  return {
    refresh,
    begin,
    split,
    /** @param {KeyboardEvent} event */
    key(event) {
      const all = lines();
      const at = cursor ? all.indexOf(cursor) : -1;
      const key = event.key.toLowerCase();
      if (key === "c") return void (cursor && begin(cursor, anchor !== cursor));
      const step = key === "j" || key === "arrowdown" ? 1 : -1;
      const next = all[Math.min(all.length - 1, Math.max(0, at + step))];
      if (!next) return;
      mark(next, event.shiftKey);
      say(next);
      next.scrollIntoView({ block: "nearest" });
    },
  };
}
