/** A button that copies text and says so. */

import { h, setText } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../i18n/index.js";

const SAID_MS = 1_500;

/**
 * @param {() => string | Promise<string>} text
 * @param {string} [label]
 */
export function copyButton(text, label = t("copy")) {
  const said = h("span", { class: "sr", role: "status" });
  const button = h("button", { type: "button", class: "icon-button copy", title: label, "aria-label": label }, icon("copy"), said);
  button.addEventListener("click", async () => {
    const done = await copyText(await text());
    button.classList.toggle("done", done);
    setText(said, done ? t("copied") : t("copy.failed"));
    setTimeout(() => {
      button.classList.remove("done");
      setText(said, "");
    }, SAID_MS);
  });
  return button;
}

/**
 * Copies text, also where the page was opened without HTTPS and the clipboard API is missing.
 * @param {string} text
 */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = h("textarea", { class: "sr", readonly: true, value: text });
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
