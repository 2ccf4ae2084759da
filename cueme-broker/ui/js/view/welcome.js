/** What someone without agents sees: how to get one. */

import { h } from "../lib/dom.js";
import { runtimeName, TEACHABLE } from "../lib/runtimes.js";
import { t } from "../i18n/index.js";
import { copyButton } from "./copy.js";

/** Builds the guide for connecting each runtime. */
export function connectGuide() {
  return h(
    "div",
    { class: "guide" },
    h("h2", null, t("guide.title")),
    h("p", { class: "muted" }, t("guide.text")),
    h("h3", null, t("guide.demo")),
    h("p", { class: "muted" }, t("guide.demo-text")),
    command("cueme demo --here"),
    h("h3", null, t("guide.connect")),
    h("p", { class: "muted" }, t("guide.connect-text")),
    h("ul", { class: "guide-list" }, TEACHABLE.map(line)),
    h("p", { class: "muted small" }, t("guide.other")),
  );
}

/** @param {string} runtime */
const line = (runtime) => h("li", null, h("span", { class: "guide-name" }, runtimeName(runtime)), command(`cueme init ${runtime}`));

/** @param {string} text */
const command = (text) => h("span", { class: "command" }, h("code", null, text), copyButton(() => text));
