/** The two kinds of buttons that are everywhere. */

import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";

/** @import { IconName } from "../lib/icons.js" */

/**
 * A button that shows an icon and is named by its label.
 * @param {IconName} name
 * @param {string} label
 * @param {() => unknown} run
 * @param {string} [more] further classes
 */
export const iconButton = (name, label, run, more = "") =>
  h("button", { type: "button", class: `icon-button ${more}`, title: label, "aria-label": label, onclick: () => void run() }, icon(name));

/**
 * A button that reads like a link.
 * @param {string} label
 * @param {() => unknown} run
 * @param {string} [more] further classes
 */
export const textButton = (label, run, more = "") => h("button", { type: "button", class: `text-button ${more}`, onclick: () => void run() }, label);
