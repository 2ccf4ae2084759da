/** The page's words, in the reader's language. */

import { en } from "./en.js";

/** @typedef {keyof typeof en} Word */

const STORED = "cueme.language";

/** @type {"en" | "zh"} */
const current = pick(localStorage.getItem(STORED));

document.documentElement.lang = language();

/** @type {Record<Word, string>} */
let words = en;

/** The words for refusals of the broker; none where they are its own. @type {Record<string, string> | undefined} */
export let problems;

/** Loads the words of a language that the page does not bring along; without them English is better than nothing. */
export async function loadWords() {
  if (current !== "zh") return;
  try {
    const loaded = await import("./zh.js");
    words = loaded.zh;
    problems = loaded.problems;
  } catch {
    // The next load of the page tries again.
  }
}

/** @param {string | null} wanted */
function pick(wanted) {
  if (wanted === "en" || wanted === "zh") return wanted;
  return navigator.languages.find((tag) => /^(en|zh)/i.test(tag))?.toLowerCase().startsWith("zh") ? "zh" : "en";
}

/**
 * Takes the language of the settings; says whether the page has to be loaded again for it.
 * @param {"auto" | "en" | "zh"} wanted
 */
export function useLanguage(wanted) {
  localStorage.setItem(STORED, wanted);
  return pick(wanted) !== current;
}

/** How the browser writes dates in the language of the page, with the clock that its owner reads: of 12 hours or of 24. */
export function locale() {
  const tag = navigator.languages.find((one) => one.startsWith(current)) ?? language();
  if (tag === navigator.language) return tag;
  const { hourCycle } = new Intl.DateTimeFormat(navigator.language, { hour: "numeric" }).resolvedOptions();
  return new Intl.Locale(tag, { hourCycle });
}

/** The language tag of the document. */
export function language() {
  return current === "zh" ? "zh-CN" : "en";
}

/**
 * Returns a text, with `{name}` replaced by the value of that name. Where `n` is 1, a text that has a form for one takes it.
 * @param {Word} word
 * @param {Record<string, string | number>} [values]
 */
export function t(word, values) {
  const text = (values?.n === 1 && words[/** @type {Word} */ (`${word}.one`)]) || words[word];
  return values ? text.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? "")) : text;
}
