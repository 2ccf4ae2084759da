/** Patches: file by file, line by line, with the numbers of the lines. A press on a number begins a comment. */

import { h } from "./dom.js";
import { colouredLine } from "./highlight.js";
import { t } from "../i18n/index.js";
import { opened } from "../view/unseen.js";

/** A file with more lines is folded. */
const FILE_LINES_MAX = 400;

/** Lines beyond this stay plain: colour is not worth a frozen page. */
const COLOURED_LINES_MAX = 2_000;

/** @typedef {{ text: string, kind: string, old: number | null, now: number | null }} Line */

/** @param {string} text */
export function createPatch(text) {
  const files = filesOf(text.replace(/\n$/, "").split("\n"));
  return h("div", { class: "patch", tabindex: "0", role: "group", "aria-label": t("review") }, files.map(createFile));
}

/** @param {Line[]} lines */
function createFile(lines) {
  const name = nameOf(lines);
  const body = h("div", { class: "patch-lines", data: { path: name ?? "" } }, lines.map((line) => createLine(line, lines.length <= COLOURED_LINES_MAX ? name ?? "" : "")));
  if (!name) return body;
  const count = (/** @type {string} */ kind) => lines.filter((line) => line.kind === kind).length;
  const isLong = lines.length > FILE_LINES_MAX;
  const el = h(
    "details",
    { open: !isLong, data: isLong ? { folded: lines.length } : {}, ontoggle: () => el.open && opened(el) },
    h("summary", null, h("bdi", null, name), h("span", { class: "plus" }, `+${count("add")}`), h("span", { class: "minus" }, `−${count("del")}`), isLong && h("span", { class: "muted fold-note" }, t("fold.lines", { n: lines.length }))),
    body,
  );
  return el;
}

/**
 * @param {Line} line
 * @param {string} path of its file, if it is coloured
 */
function createLine({ text, kind, old, now }, path) {
  const code = kind === "meta" || !path ? [text] : [text.slice(0, 1), colouredLine(text.slice(1), path)];
  return h("div", { class: `diff-line ${kind}` }, h("i", { data: { n: old ?? "" } }), h("i", { data: { n: now ?? "" } }), h("span", null, code));
}

/** @param {Line[]} lines */
function nameOf(lines) {
  const named = (/** @type {RegExp} */ rule) => lines.map((line) => (line.kind === "meta" ? rule.exec(line.text)?.[1] : undefined)).find((name) => name && name !== "/dev/null");
  return named(/^\+\+\+ (?:b\/)?([^\t]+)/) ?? named(/^--- (?:a\/)?([^\t]+)/) ?? named(/^diff --git .* b\/(.+)/);
}

/**
 * Tells the lines of a patch apart, by file. How many lines a hunk has is believed to its head, so that a removed line that
 * begins with two more dashes is no head of a file.
 * @param {string[]} texts
 */
function filesOf(texts) {
  /** @type {Line[][]} */
  const files = [[]];
  let [old, now, oldLeft, nowLeft] = [0, 0, 0, 0];
  let hasHunk = false;
  texts.forEach((text, at) => {
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(text);
    // No line of a hunk begins with a letter, however many of them its head has promised.
    if (/^[a-z]/i.test(text)) [oldLeft, nowLeft] = [0, 0];
    const isIn = oldLeft > 0 || nowLeft > 0;
    const begins = text.startsWith("diff --git ") || (text.startsWith("--- ") && texts[at + 1]?.startsWith("+++ ") && hasHunk);
    if (!isIn && begins && files.at(-1)?.length) {
      files.push([]);
      hasHunk = false;
    }
    const isHead = hunk || (!isIn && /^(diff |index |--- |\+\+\+ |[a-z ]+ mode |similarity |rename |copy |Binary )/.test(text)) || text.startsWith("\\");
    const kind = isHead ? "meta" : { "+": "add", "-": "del" }[text[0] ?? ""] ?? "same";
    if (hunk) {
      hasHunk = true;
      [old, now] = [Number(hunk[1]), Number(hunk[3])];
      [oldLeft, nowLeft] = [Number(hunk[2] ?? 1), Number(hunk[4] ?? 1)];
    }
    const has = { old: hasHunk && (kind === "del" || kind === "same"), now: hasHunk && (kind === "add" || kind === "same") };
    files.at(-1)?.push({ text, kind, old: has.old ? old++ : null, now: has.now ? now++ : null });
    if (has.old) oldLeft--;
    if (has.now) nowLeft--;
  });
  return files;
}
