/** The looks of runs and chats, loaded with what needs them. */

import { h } from "../lib/dom.js";

/** Adds the style sheet, once. */
export function addStyle() {
  if (!document.getElementById("runs-style")) document.head.append(h("link", { id: "runs-style", rel: "stylesheet", href: "css/runs.css" }));
}
