/** How to connect agents: a demo, and what `cueme init` does for each runtime. Loaded when it is shown; what it uses of the page is handed to it. */

import { wordsIn } from "./words.js";
import css from "./guide.css";

/** @import * as T from "../types.js" */
/** @import { Kit } from "../tools/load.js" */
/** @import { Word } from "./words.js" */

/**
 * Fills an element with the guide; the broker tells what `cueme init` writes.
 * @param {Kit} kit
 * @param {HTMLElement} el
 */
export function fillGuide({ addStyles, copyButton, fill, h, icon, language, runtimeGlyph, send, t, textButton }, el) {
  addStyles(css);
  const w = wordsIn(language());
  const command = (/** @type {string} */ text) => h("span", { class: "command" }, h("code", null, text), copyButton(() => text));

  /** @param {string[]} roles @param {string} what */
  const whatOf = (roles, what) => (roles.length > 0 ? [...new Set(roles)].map((role) => w(/** @type {Word} */ (`role.${role}`))).join(w("and")) : what);

  /** @param {T.RuntimeGuide} guide */
  function line({ runtime, name: known, command: connect, files }) {
    const name = runtime === "agents_md" ? w("agents-md") : known;
    const written = h("dl", { class: "guide-files", hidden: true }, files.flatMap(({ path, what, roles }) => [h("dt", null, h("code", null, path)), h("dd", { class: "muted" }, whatOf(roles, what))]));
    const toggle = () => {
      written.hidden = !written.hidden;
      button.setAttribute("aria-expanded", String(!written.hidden));
    };
    const count = w(files.length === 1 ? "writes.one" : "writes", { n: files.length });
    const button = textButton(count, toggle, "small");
    button.setAttribute("aria-expanded", "false");
    button.setAttribute("aria-label", `${name}: ${count}`);
    return h("li", null, h("span", { class: "guide-name" }, icon(runtimeGlyph(runtime)), name), command(connect), button, written);
  }

  const list = h("ul", { class: "guide-list" }, h("li", null, command("cueme init")));
  void send("GET", "/guide").then((/** @type {{ runtimes: T.RuntimeGuide[] }} */ { runtimes }) => runtimes.length > 0 && fill(list, runtimes.map(line)), () => {});
  fill(
    el,
    h("h2", null, w("title")),
    h("p", { class: "muted" }, w("text")),
    h("h3", null, w("demo")),
    h("p", { class: "muted" }, w("demo-text")),
    command("cueme demo --here"),
    h("h3", null, t("guide.connect")),
    h("p", { class: "muted" }, w("connect-text").split(/(--[a-z]+)/).map((part) => (part.startsWith("--") ? h("code", { class: "flag" }, part) : part))),
    list,
    h("p", { class: "muted small" }, w("other")),
  );
}
