/** What the sections of the settings are made of. */

import { h } from "../lib/dom.js";

/**
 * @param {string} title
 * @param {...(Node | null | false)} body
 */
export const section = (title, ...body) => h("section", { class: "settings-section" }, h("h3", null, title), body);

/**
 * @param {string} label
 * @param {boolean} value
 * @param {(on: boolean) => unknown} run
 */
export function toggle(label, value, run) {
  const box = h("input", { type: "checkbox", class: "switch", role: "switch", checked: value, onchange: () => void run(box.checked) });
  return h("label", { class: "line" }, h("span", null, label), box);
}
