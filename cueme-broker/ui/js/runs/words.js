/** Words about runs. */

import { language } from "../i18n/index.js";
import { en } from "./en.js";
import { zh } from "./zh.js";

const words = language() === "en" ? en : zh;

/**
 * Returns a text, with `{name}` replaced by the value of that name.
 * @param {keyof typeof import("./en.js").en} word
 * @param {Record<string, string | number>} [values]
 */
export function w(word, values) {
  const text = words[word];
  return values ? text.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? "")) : text;
}
