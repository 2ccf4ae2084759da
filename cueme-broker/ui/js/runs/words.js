/** Words about runs. */

import { ownWords } from "./page.js";
import { en } from "./en.js";

/**
 * Returns a text, with `{name}` replaced by the value of that name.
 * @param {keyof typeof import("./en.js").en} word
 * @param {Record<string, string | number>} [values]
 */
export function w(word, values) {
  const text = (ownWords() ?? en)[word];
  return values ? text.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? "")) : text;
}
