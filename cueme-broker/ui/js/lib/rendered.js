/**
 * The one place where HTML becomes elements.
 *
 * The broker has sanitised it; a second, cruder check here drops whatever could run, so that a mistake there is not enough
 * to hurt anyone.
 */

import { h } from "./dom.js";
import { highlight, isPatch } from "./highlight.js";
import { loadPatch } from "../tools/load.js";
import { copyButton } from "../view/copy.js";
import { foldsChanged } from "../view/unseen.js";

const FORBIDDEN = "script,style,iframe,object,embed,link,meta,base,form,input,button,textarea,select,svg,math,img,video,audio,template,dialog";

/**
 * Returns sanitised HTML of the broker as elements, with highlighted code and copy buttons.
 * @param {string} html
 * @returns {HTMLElement}
 */
export function rendered(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  const content = template.content;
  for (const el of content.querySelectorAll(FORBIDDEN)) el.remove();
  for (const el of content.querySelectorAll("*")) dropWhatRuns(el);
  for (const pre of content.querySelectorAll("pre")) frameCode(pre);
  for (const table of content.querySelectorAll("table")) {
    const scroller = h("div", { class: "table-scroll", tabindex: "0" });
    table.replaceWith(scroller);
    scroller.append(table);
  }
  return h("div", { class: "prose", dir: "auto" }, content);
}

/** @param {Element} el */
function dropWhatRuns(el) {
  for (const { name, value } of [...el.attributes]) {
    const runs = name.startsWith("on") || name === "style" || name === "srcdoc" || name === "id" || name === "name";
    if (runs || (/^(href|src|action|formaction|xlink:href)$/.test(name) && !/^(https?:|mailto:|#)/i.test(value))) el.removeAttribute(name);
  }
}

/**
 * Shows a patch file by file, and line by line; until that is loaded, and where it cannot be, it is text.
 * @param {Element} pre
 * @param {string} text
 */
async function showPatch(pre, text) {
  const patch = await loadPatch(text).catch(() => null);
  if (!patch) return;
  pre.replaceWith(patch);
  foldsChanged();
  patch.dispatchEvent(new Event("patched", { bubbles: true }));
}

/** @param {Element} pre */
function frameCode(pre) {
  const code = /** @type {HTMLElement | null} */ (pre.querySelector("code"));
  const text = (code ?? pre).textContent ?? "";
  const info = pre.previousElementSibling;
  const frame = h("div", { class: "code" });
  pre.replaceWith(frame);
  pre.setAttribute("tabindex", "0");
  frame.append(...(info?.className === "info" ? [info] : []), pre, copyButton(() => text));
  if (!code) return;
  if (!isPatch(code)) return highlight(code);
  void showPatch(pre, text);
}
