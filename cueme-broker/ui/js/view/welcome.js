/** What someone without agents sees: how to get one. */

import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { runtimeGlyph } from "../lib/runtimes.js";
import { api } from "../api.js";
import { t } from "../i18n/index.js";
import { textButton } from "./buttons.js";
import { copyButton } from "./copy.js";

/** @import * as T from "../types.js" */

/** Builds the guide for connecting each runtime; the broker tells what \`cueme init\` writes. */
export function connectGuide() {
  const list = h("ul", { class: "guide-list" }, h("li", null, command("cueme init")));
  void api.guide().then(({ runtimes }) => runtimes.length > 0 && fill(list, runtimes.map(line)), () => {});
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
    list,
    h("p", { class: "muted small" }, t("guide.other")),
  );
}

/** @param {T.RuntimeGuide} guide */
function line({ runtime, name, command: connect, files }) {
  const written = h("dl", { class: "guide-files", hidden: true }, files.flatMap(({ path, what }) => [h("dt", null, h("code", null, path)), h("dd", { class: "muted" }, what)]));
  const toggle = () => {
    written.hidden = !written.hidden;
    button.setAttribute("aria-expanded", String(!written.hidden));
  };
  const count = t(files.length === 1 ? "guide.writes.one" : "guide.writes", { n: files.length });
  const button = textButton(count, toggle, "small");
  button.setAttribute("aria-expanded", "false");
  button.setAttribute("aria-label", `${name}: ${count}`);
  return h("li", null, h("span", { class: "guide-name" }, icon(runtimeGlyph(runtime)), name), command(connect), button, written);
}

/** @param {string} text */
const command = (text) => h("span", { class: "command" }, h("code", null, text), copyButton(() => text));
