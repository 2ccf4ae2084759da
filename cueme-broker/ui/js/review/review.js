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

/**
 * Says whether two comments are the same, also after one of them was stored.
 * @param {T.Comment} one
 * @param {T.Comment | undefined} other
 */
const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** @param {HTMLElement} line @returns {Place} */
function placeOf(line) {
  const [old, now] = [...line.querySelectorAll("i")].map((number) => Number(number.dataset.n) || 0);
  const file = /** @type {HTMLElement | null} */ (line.closest("[data-path]"))?.dataset;
  return now ? { path: file?.path || "patch", side: "now", at: now } : { path: file?.old || "patch", side: "old", at: old ?? 0 };
}

/**
 * @param {Kit} kit
 * @param {HTMLElement} entry
 * @param {() => Holder | null} holder
 * @param {() => boolean} isTouch
 */
export function createReview({ addStyles, CTRL, h, isComposing, language, linesOf, t, textButton }, entry, holder, isTouch) {
  addStyles(css);
  const w = wordsIn(language());
  /** The line that a range begins with. @type {HTMLElement | null} */
  let anchor = null;
  /** The line that it ends with, where the keys are. @type {HTMLElement | null} */
  let cursor = null;

  const cursorWords = h("p", { class: "sr", role: "status" });

  /** What is drawn, so that it is left alone while it is right. */
  let drawn = "";

  const lines = () => /** @type {HTMLElement[]} */ ([...entry.querySelectorAll(".patch-lines .numbered")]);
  const linesInSight = () => lines().filter((line) => line.checkVisibility());
  const comments = () => holder()?.comments() ?? [];
  const editorOf = () => /** @type {HTMLElement | null} */ (entry.querySelector(".review-editor"));
  const textIn = () => editorOf()?.querySelector("textarea");

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
    const all = linesInSight();
    const [from = 0, to = 0] = [all.indexOf(anchor), all.indexOf(line)].sort((a, b) => a - b);
    for (const one of all.slice(from, to + 1)) one.classList.add("cursor");
  }

  /** Tells people who do not see the cursor which lines it is on. @param {HTMLElement} line */
  function say(line) {
    const [first, last] = [placeOf(anchor ?? line), placeOf(line)];
    const [from, to] = first.side === last.side ? [Math.min(first.at, last.at), Math.max(first.at, last.at)] : [last.at, last.at];
    const kind = line.classList.contains("add") ? w("added") : line.classList.contains("del") ? w("removed") : "";
    const code = line.querySelector(".line-code")?.textContent?.trim() ?? "";
    if (!cursorWords.isConnected) entry.append(cursorWords);
    cursorWords.textContent = [where({ ...last, from, to, text: "" }), kind, code].filter(Boolean).join(t("list.and"));
  }

  /**
   * Keeps comments in the order of the patch.
   * @param {T.Comment[]} list
   * @param {T.Writing} [unfinished]
   */
  function keep(list, unfinished) {
    const order = lines();
    const at = (/** @type {T.Comment} */ comment) => {
      const [first] = linesIn(comment);
      return first ? order.indexOf(first) : order.length;
    };
    holder()?.setComments([...list].sort((a, b) => at(a) - at(b)), unfinished);
    refresh();
  }

  /** Takes away what belongs to the answer. */
  function leave() {
    drawn = "";
    editorOf()?.remove();
    for (const old of entry.querySelectorAll(".review-note")) old.remove();
    for (const line of entry.querySelectorAll(".commented, .cursor")) line.classList.remove("commented", "cursor");
    anchor = cursor = null;
  }

  /** Draws the comments below the lines they are about, and the one in the making. */
  function refresh() {
    const edited = holder()?.writing()?.instead;
    const shown = comments().filter((comment) => !isSame(comment, edited));
    const key = JSON.stringify([shown, lines().length]);
    if (key !== drawn) {
      drawn = key;
      for (const old of entry.querySelectorAll(".review-note")) old.remove();
      for (const line of entry.querySelectorAll(".commented")) line.classList.remove("commented");
      shown.forEach(drawNote);
    }
    restore();
  }

  /** @param {T.Comment} comment */
  function drawNote(comment) {
    const about = linesIn(comment);
    for (const line of about) line.classList.add("commented");
    const note = h(
      "div",
      { class: "review-note" },
      h("p", { class: "review-head" }, h("b", null, w("you")), h("span", { class: "muted" }, where(comment)), textButton(w("edit"), () => edit(comment), "push"), textButton(w("delete"), () => keep(without(comment), holder()?.writing()))),
      h("p", { class: "review-text", dir: "auto" }, comment.text),
    );
    const last = about.at(-1);
    if (last?.style.gridRow) note.style.gridRow = below(last);
    last?.after(note);
  }

  /** Opens the comment in the making where it was left, or follows what was written on another device. */
  function restore() {
    const unfinished = holder()?.writing();
    const words = textIn()?.value.trim() ?? "";
    if (words === (unfinished?.text.trim() ?? "")) return;
    editorOf()?.remove();
    if (!unfinished?.text.trim()) return;
    const line = linesIn(unfinished).at(-1);
    const isWhole = entry.querySelector(".attached[data-folded]") === null;
    const place = line ?? (isWhole ? /** @type {HTMLElement | null} */ (entry.querySelector(".patch")) : null);
    line?.closest("details")?.setAttribute("open", "");
    if (place) open(place, unfinished);
  }

  /** @param {T.Comment} comment */
  function edit(comment) {
    const unfinished = holder()?.writing();
    if (unfinished?.text.trim() && unfinished.text.trim() !== unfinished.instead?.text) return warn(t("review.unfinished"));
    write(linesIn(comment).at(-1) ?? null, { ...comment, instead: comment });
  }

  /**
   * Says something in the editor.
   * @param {string} words
   */
  function warn(words) {
    const error = editorOf()?.querySelector(".field-error");
    if (error) error.textContent = words;
    textIn()?.focus();
  }

  /** The row below a line where both sides are beside each other: lines have the even ones. @param {HTMLElement} line */
  const below = (line) => String(Number.parseInt(line.style.gridRow) + 1);
  /** @param {T.Comment} comment */
  const without = (comment) => comments().filter((other) => !isSame(other, comment));
  /** @param {T.Comment} comment */
  const where = (comment) => w(comment.from === comment.to ? "line" : "lines", { at: linesOf(comment) });

  /**
   * Opens the editor below a line, and goes there.
   * @param {HTMLElement | null} line
   * @param {T.Writing} comment
   */
  function write(line, comment) {
    editorOf()?.remove();
    if (!line) return;
    holder()?.setComments(comments(), comment);
    open(line, comment);
    refresh();
    textIn()?.focus();
    editorOf()?.scrollIntoView({ block: "nearest" });
  }

  /**
   * @param {HTMLElement} line
   * @param {T.Writing} comment what it says, and which one it is instead of
   */
  function open(line, comment) {
    const { instead, ...plain } = comment;
    const title = w(instead ? "edit" : "new");
    const error = h("p", { class: "field-error", role: "alert" });
    let isSure = false;
    const changed = () => {
      isSure = false;
      error.textContent = "";
      holder()?.setComments(comments(), { ...comment, text: text.value });
    };
    const text = h("textarea", { class: "input", rows: "3", dir: "auto", "aria-label": title, value: comment.text, oninput: changed });
    const close = (/** @type {T.Comment[]} */ list) => {
      editor.remove();
      keep(list);
      /** @type {HTMLElement | null} */ (line.closest(".patch"))?.focus({ preventScroll: true });
    };
    const discard = () => close(comments());
    const add = () => {
      if (text.value.trim() === "") return text.focus();
      close([...(instead ? without(instead) : comments()), { ...plain, text: text.value.trim() }]);
    };
    const isWritten = () => text.value.trim() !== "" && text.value.trim() !== instead?.text;
    const editor = h(
      "div",
      { class: "review-editor" },
      h("p", { class: "review-head" }, h("b", null, title), h("span", { class: "muted" }, where(comment)), h("span", { class: "muted push" }, w(isTouch() ? "range-tap" : "range"))),
      text,
      error,
      h("div", { class: "review-acts" }, textButton(w("discard"), discard), h("button", { type: "button", class: "button push", onclick: add }, w(instead ? "save" : "add"), h("kbd", { "aria-hidden": "true" }, `${CTRL} ↵`))),
    );
    editor.addEventListener("keydown", (event) => {
      if (isComposing(event)) return;
      const isSend = event.key === "Enter" && (event.ctrlKey || event.metaKey);
      if (event.key !== "Escape" && !isSend) return;
      event.preventDefault();
      event.stopPropagation();
      if (isSend) add();
      else if (isSure || !isWritten()) discard();
      else {
        isSure = true;
        error.textContent = w("sure");
      }
    });
    if (line.style.gridRow) editor.style.gridRow = below(line);
    line.after(editor);
  }

  /**
   * Begins a comment on a line; with `extend`, on everything from the line before to it.
   * @param {HTMLElement} line
   * @param {boolean} extend
   */
  function begin(line, extend) {
    // A finger has no Shift: while a comment is being written, the next line ends its range.
    const isLonger = (extend || (isTouch() && editorOf() !== null)) && anchor !== null;
    const first = placeOf(isLonger && anchor ? anchor : line);
    const last = placeOf(line);
    const isRange = isLonger && first.path === last.path && first.side === last.side;
    const [from, to] = isRange ? [Math.min(first.at, last.at), Math.max(first.at, last.at)] : [last.at, last.at];
    const { text = "", instead } = holder()?.writing() ?? {};
    mark(line, isRange);
    write(isRange && first.at > last.at ? anchor : line, { path: last.path, side: last.side, from, to, text, ...(instead && { instead }) });
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
    drawn = "";
    editorOf()?.remove();
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
    leave,
    begin,
    split,
    /** @param {KeyboardEvent} event */
    key(event) {
      const all = linesInSight();
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
