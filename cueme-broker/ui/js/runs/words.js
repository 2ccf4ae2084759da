/** Words about runs. */

import { words } from "./page.js";

/**
 * Returns a text, with `{name}` replaced by the value of that name.
 * @param {keyof typeof import("./en.js").en} word
 * @param {Record<string, string | number>} [values]
 */
export function w(word, values) {
  const text = words[word];
  return values ? text.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? "")) : text;
}

/**
 * Returns the words for a name that programs use, or the name where the page has none.
 * @param {"status" | "event"} group
 * @param {string} name
 */
export function known(group, name) {
  const word = `${group}.${name.toLowerCase()}`;
  return word in words ? w(/** @type {keyof typeof import("./en.js").en} */ (word)) : name;
}
