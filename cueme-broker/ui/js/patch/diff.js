/** Reads patches: which lines belong to which file, and what they are called. It knows nothing of the screen. */

/**
 * @typedef {{ text: string, kind: "add" | "del" | "same" | "meta", old: number | null, now: number | null }} Line
 * @typedef {{ old: string, now: string }} Names
 */

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
const HEAD = /^(diff |index |--- |\+\+\+ |[a-z ]+ mode |similarity |dissimilarity |rename |copy |Binary |GIT binary )/;
/** The letters that Git escapes, and their bytes. @type {Record<string, number>} */
const ESCAPES = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 };
/** What Git puts before the names of the two sides, whatever its settings. */
const PREFIX = /^[abciwo12]\//;

/**
 * Tells the lines of a patch apart, by file. How many lines a hunk has is believed to its head, so that a removed line that
 * begins with two more dashes is no head of a file. Where there are hunks, what is outside of them belongs to no file: the head
 * of a mail, and the signature below it.
 * @param {string[]} texts
 */
export function filesOf(texts) {
  const hasHunks = texts.some((text) => HUNK.test(text));
  /** @type {Line[][]} */
  const files = [[]];
  let [old, now, oldLeft, nowLeft] = [0, 0, 0, 0];
  let isHunk = false;
  texts.forEach((text, at) => {
    const hunk = HUNK.exec(text);
    // No line of a hunk begins with a letter, however many of them its head has promised.
    if (/^[a-z]/i.test(text)) [oldLeft, nowLeft] = [0, 0];
    const isIn = oldLeft > 0 || nowLeft > 0;
    const begins = text.startsWith("diff --git ") || (text.startsWith("--- ") && texts[at + 1]?.startsWith("+++ ") && isHunk);
    if (!isIn && (begins || isSignature(texts, at))) {
      if (begins && files.at(-1)?.length) files.push([]);
      isHunk = false;
    }
    const isHead = hunk || (!isIn && HEAD.test(text)) || text.startsWith("\\");
    const isMeta = isHead || (hasHunks && !isHunk);
    const kind = isMeta ? "meta" : text[0] === "+" ? "add" : text[0] === "-" ? "del" : "same";
    if (hunk) {
      isHunk = true;
      [old, now] = [Number(hunk[1]), Number(hunk[3])];
      [oldLeft, nowLeft] = [Number(hunk[2] ?? 1), Number(hunk[4] ?? 1)];
    }
    const has = { old: isHunk && (kind === "del" || kind === "same"), now: isHunk && (kind === "add" || kind === "same") };
    files.at(-1)?.push({ text, kind, old: has.old ? old++ : null, now: has.now ? now++ : null });
    if (has.old) oldLeft--;
    if (has.now) nowLeft--;
  });
  return files;
}

/**
 * Says whether the signature of a mail begins here: two dashes, and the version of Git.
 * @param {string[]} texts
 * @param {number} at
 */
const isSignature = (texts, at) => /^-- ?\r?$/.test(texts[at] ?? "") && /^\d+\.\d/.test(texts[at + 1] ?? "");

/**
 * The names of a file on both sides, if the patch tells them. One that is new or gone has the same on both.
 * @param {Line[]} lines
 * @returns {Names | null}
 */
export function namesOf(lines) {
  const heads = lines.filter((line) => line.kind === "meta").map(({ text }) => text.replace(/(?:\r|⟨U\+000D⟩|\ufffd)$/, ""));
  const found = (/** @type {RegExp} */ rule) => heads.map((text) => rule.exec(text)?.[1]).find((name) => name !== undefined);
  const [left, right] = sidesOf(found(/^diff --git (.+)/) ?? "");
  const old = unquoted(found(/^--- ([^\t]+)/) ?? left ?? "");
  const now = unquoted(found(/^\+\+\+ ([^\t]+)/) ?? right ?? "");
  // Git leaves prefixes out where it is told to: then a folder of one letter is a folder.
  const isBare = old === now || (Boolean(left) && left === right);
  const bare = (/** @type {string} */ name) => (name === "/dev/null" ? "" : isBare ? name : name.replace(PREFIX, ""));
  const names = { old: found(/^(?:rename|copy) from (.+)/), now: found(/^(?:rename|copy) to (.+)/) };
  const [before, after] = [names.old ? unquoted(names.old) : bare(old), names.now ? unquoted(names.now) : bare(now)];
  return before || after ? { old: before || after, now: after || before } : null;
}

/**
 * The two names in the first line of a file. Without quotes nothing parts them but their length: they are the same, but for the prefix.
 * @param {string} both
 */
function sidesOf(both) {
  const [, left, right] = /^("(?:\\.|[^"\\])*"|\S+) ("(?:\\.|[^"\\])*"|\S+)$/.exec(both) ?? [];
  const half = (both.length - 1) / 2;
  return left && right ? [left, right] : [both.slice(0, half), both.slice(half + 1)];
}

/**
 * A name as it is: Git writes bytes beyond ASCII, and those that would end a line, as escapes in quotes.
 * @param {string} name
 */
function unquoted(name) {
  if (!/^".*"$/.test(name)) return name;
  const encoder = new TextEncoder();
  const pieces = [...name.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|[^\\]+/gu)];
  const bytes = pieces.flatMap(([text, octal, letter]) => (octal ? [Number.parseInt(octal, 8)] : letter ? [ESCAPES[letter] ?? letter.charCodeAt(0)] : [...encoder.encode(text)]));
  const plain = new TextDecoder().decode(new Uint8Array(bytes));
  // A comment names its file in one line.
  return /[\n\t]/.test(plain) ? name.slice(1, -1) : plain;
}
