/** Words about runs, loaded with what needs them. */

import { language } from "../i18n/index.js";

const words = language() === "en" ? (await import("./en.js")).en : (await import("./zh.js")).zh;

/**
 * Returns a text, with `{name}` replaced by the value of that name.
 * @param {keyof typeof import("./en.js").en} word
 * @param {Record<string, string | number>} [values]
 */
export function w(word, values) {
  const text = words[word];
  return values ? text.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? "")) : text;
}
