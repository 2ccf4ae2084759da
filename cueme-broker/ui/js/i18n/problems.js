/** Refusals of the broker in the language of the page. Its own words are English fragments. */

import { problems, t } from "./index.js";

/** @param {string} why */
const sentence = (why) => why.charAt(0).toUpperCase() + why.slice(1) + (/[.。?!…]$/.test(why) ? "" : ".");

/**
 * @param {string} code
 * @param {string | undefined} message
 */
export function problemWords(code, message) {
  if (code === "offline") return t("error.offline");
  if (!message) return t("error.try-again");
  return problems?.[code] ?? (problems?.refused ?? "") + sentence(message);
}
