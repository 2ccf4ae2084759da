/**
 * A highlighter of one screen: it knows comments, strings, numbers and keywords, which is what the
 * eye uses, for all languages at once. Patches are none of its business. It writes text nodes and spans, never HTML.
 */

import { h } from "./dom.js";

/** Code longer than this stays plain: colour is not worth a frozen page. */
const CODE_CHARS_MAX = 40_000;

const WORDS = new Set(
  (
    "abstract and as async await begin bool break case catch char class const continue crate def default defer del delete do done " +
    "dyn echo elif else end enum except export extends extern false fi final finally float fn for foreach from func function " +
    "global go goto if impl implements import in int interface is lambda let local long loop match mod module move mut namespace " +
    "new nil None not null of or override package pass private protected pub public raise ref require return self Self static " +
    "struct super switch then this throw trait true True False try type typedef typeof union unless unsafe until use using var " +
    "virtual void where while with yield SELECT INSERT UPDATE DELETE CREATE TABLE DROP ALTER FROM WHERE JOIN ON ORDER BY INTO SET"
  ).split(" "),
);

const HASH_COMMENTS = /^(sh|bash|zsh|shell|console|py|python|rb|ruby|ya?ml|toml|make|makefile|docker|dockerfile|nix|r|perl|ini|conf|env)$/;

/**
 * Says whether code is a patch.
 * @param {HTMLElement} code
 */
export const isPatch = (code) => /language-(diff|patch)$/.test(code.className) || (!code.className && /^(diff --git |@@ -\d)/m.test(code.textContent ?? ""));

const RULES = {
  slash: /(\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)|--[ \t][^\n]*|<!--[^]*?(?:-->|$))/,
  hash: /((?:^|(?<=\s))#[^\n]*)/,
  string: /("""[^]*?(?:"""|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`?)/,
  number: /\b(0x[\da-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?)\b/,
  word: /([A-Za-z_$][\w$]*)/,
};

/**
 * Colours a `<code>` element in place.
 * @param {HTMLElement} code
 */
export function highlight(code) {
  const text = code.textContent ?? "";
  if (text.length > CODE_CHARS_MAX) return;
  const language = /language-([\w+#-]+)/.exec(code.className)?.[1]?.toLowerCase() ?? "";
  if (language === "text" || language === "plain" || language === "markdown" || language === "md") return;
  code.replaceChildren(tokens(text, HASH_COMMENTS.test(language)));
}

/**
 * Colours code of a file.
 * @param {string} text
 * @param {string} path
 */
export const colouredLine = (text, path) => tokens(text, HASH_COMMENTS.test(/\.(\w+)$/.exec(path)?.[1] ?? ""));

/**
 * @param {string} text
 * @param {boolean} hashComments
 */
function tokens(text, hashComments) {
  const comment = hashComments ? RULES.hash : RULES.slash;
  const rule = new RegExp([comment, RULES.string, RULES.number, RULES.word].map((part) => part.source).join("|"), "gm");
  const out = document.createDocumentFragment();
  let end = 0;
  for (const found of text.matchAll(rule)) {
    const kind = kindOf(found);
    if (!kind) continue;
    out.append(text.slice(end, found.index), h("span", { class: `hl-${kind}` }, found[0]));
    end = found.index + found[0].length;
  }
  out.append(text.slice(end));
  return out;
}

/** @param {RegExpMatchArray} found */
function kindOf([, comment, string, number, word]) {
  if (comment) return "comment";
  if (string) return "string";
  if (number) return "number";
  return word && WORDS.has(word) ? "word" : undefined;
}
