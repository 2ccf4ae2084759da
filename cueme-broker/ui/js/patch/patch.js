/**
 * Patches: file by file, line by line, with the numbers of the lines. A press on a number begins a comment. Loaded with the first
 * patch; what it uses of the page is handed to it.
 */

import { filesOf, namesOf } from "./diff.js";
import css from "./patch.css";

/** @import { Kit } from "../tools/load.js" */
/** @import { Line } from "./diff.js" */

/** A file with more lines is folded. */
const FILE_LINES_MAX = 400;

/** Lines beyond this stay plain: colour is not worth a frozen page. */
const COLOURED_LINES_MAX = 2_000;

/**
 * @param {Kit} kit
 * @param {string} text
 */
export function createPatch(kit, text) {
  kit.addStyles(css);
  const files = filesOf(text.replace(/\n$/, "").split("\n"));
  return kit.h("div", { class: "patch", tabindex: "0", role: "group", "aria-label": kit.t("review") }, files.map((lines) => createFile(kit, lines)));
}

/**
 * @param {Kit} kit
 * @param {Line[]} lines
 */
function createFile(kit, lines) {
  const { h, opened, t, visible } = kit;
  const names = namesOf(lines);
  const [old, name] = [visible(names?.old ?? ""), visible(names?.now ?? "")];
  const body = h("div", { class: "patch-lines", data: { path: name, old } }, lines.map((line) => createLine(kit, line, lines.length <= COLOURED_LINES_MAX ? name : "")));
  if (!names) return body;
  const count = (/** @type {string} */ kind) => lines.filter((line) => line.kind === kind).length;
  const isLong = lines.length > FILE_LINES_MAX;
  const el = h(
    "details",
    { open: !isLong, data: isLong ? { folded: lines.length } : {}, ontoggle: () => el.open && opened(el) },
    h("summary", null, h("bdi", null, old === name ? name : `${old} → ${name}`), h("span", { class: "plus" }, `+${count("add")}`), h("span", { class: "minus" }, `−${count("del")}`), isLong && h("span", { class: "muted fold-note" }, t("fold.lines", { n: lines.length }))),
    body,
  );
  return el;
}

/**
 * @param {Kit} kit
 * @param {Line} line
 * @param {string} path of its file, if it is coloured
 */
function createLine({ colouredLine, h }, { text, kind, old, now }, path) {
  // Other characters at the beginning are no sign, and may be invisible ones.
  const sign = kind === "meta" ? "" : (/^[-+ ]/.exec(text)?.[0] ?? "");
  const code = text.slice(sign.length);
  const isNumbered = old !== null || now !== null;
  return h(
    "div",
    { class: `diff-line ${kind}${isNumbered ? " numbered" : ""}` },
    h("i", { data: { n: old ?? "" } }), h("i", { data: { n: now ?? "" } }), h("span", { class: "sign" }, sign), h("span", { class: "line-code" }, kind === "meta" || !path ? code : colouredLine(code, path)),
  );
}
