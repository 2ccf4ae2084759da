/** Modal dialogs. The browser keeps the focus inside and gives it back. */

import { freshId, h, isComposing, isNarrow } from "../lib/dom.js";
import { t } from "../i18n/index.js";
import { iconButton } from "./buttons.js";

/**
 * Opens a dialog; the returned function closes it.
 * @param {string} title
 * @param {(close: () => void) => (Node | null | false)[]} body
 * @param {{ wide?: boolean, onclose?: () => void }} [how]
 */
export function openDialog(title, body, { wide = false, onclose } = {}) {
  const id = freshId("dialog");
  const dialog = h("dialog", { class: wide ? "dialog wide" : "dialog", "aria-labelledby": id, tabindex: "-1" });
  const close = () => dialog.close();
  dialog.append(
    h("header", { class: "dialog-head" }, h("h2", { id }, title), iconButton("close", t("close"), close)),
    h("div", { class: "dialog-body" }, body(close)),
  );
  dialog.addEventListener("close", () => {
    dialog.remove();
    onclose?.();
  });
  closeOnBack(dialog, id);
  dialog.addEventListener("keydown", sendOnKey);
  // A press on the backdrop closes; a selection that ends there does not, nor does a slip while somebody writes.
  let isWriting = false;
  for (const what of ["input", "change"]) dialog.addEventListener(what, (event) => void (isWriting = what === "input" && /** @type {Element} */ (event.target).matches("textarea,[type=text]")));
  dialog.addEventListener("pointerdown", (event) => event.target === dialog && !isWriting && close());
  document.body.append(dialog);
  dialog.showModal();
  dialog.focus();
  return close;
}

/** Ctrl+Enter is a press on the button that sends, once for a key that is held down. @param {KeyboardEvent} event */
function sendOnKey(event) {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.repeat || isComposing(event)) return;
  event.preventDefault();
  /** @type {HTMLElement} */ (event.currentTarget).querySelector(/** @type {"button"} */ (".dialog-actions .primary"))?.click();
}

/** @type {Promise<unknown>} */
let leaving = Promise.resolve();

/** Resolves when the places of the dialogs that were closed are gone from the history; a place that is added earlier would go with them. */
export const historySettled = () => leaving;

/**
 * On a phone, Back closes a dialog: it has a place of its own in the history, which goes when the dialog is closed otherwise.
 * @param {HTMLDialogElement} dialog
 * @param {string} id
 */
export function closeOnBack(dialog, id) {
  if (!isNarrow()) return;
  history.pushState({ dialog: id }, "");
  const whenBack = () => history.state?.dialog !== id && dialog.close();
  addEventListener("popstate", whenBack);
  dialog.addEventListener("close", () => {
    removeEventListener("popstate", whenBack);
    if (history.state?.dialog !== id) return;
    leaving = new Promise((done) => addEventListener("popstate", done, { once: true }));
    history.back();
  });
}

/**
 * Asks for one text.
 * @param {{ title: string, text?: string, label: string, value?: string, confirm: string, lines?: number, optional?: boolean, oninput?: (value: string) => void, run: (value: string) => Promise<unknown> }} how
 */
export function askText({ title, text, label, value = "", confirm, lines = 1, optional = false, oninput, run }) {
  const id = freshId("ask");
  const error = h("p", { class: "field-error", role: "alert" });
  const input = lines > 1 ? h("textarea", { id, class: "input", rows: String(lines), dir: "auto", value }) : h("input", { id, class: "input", type: "text", dir: "auto", value, autocomplete: "off" });
  input.addEventListener("input", () => oninput?.(input.value));
  openDialog(title, (close) => {
    return [h(
      "form",
      {
        class: "stack",
        onsubmit: async (/** @type {Event} */ event) => {
          event.preventDefault();
          if (!optional && input.value.trim() === "") return input.focus();
          try {
            await run(input.value.trim());
            close();
          } catch (problem) {
            error.textContent = problem instanceof Error && problem.message ? problem.message : t("error.try-again");
          }
        },
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
          if (event.key === "Enter" && isComposing(event)) event.preventDefault();
        },
      },
      text && h("p", { class: "muted" }, text),
      h("label", { class: "field-label", htmlFor: id }, label),
      input,
      error,
      h("div", { class: "dialog-actions" }, h("button", { type: "button", class: "button", onclick: close }, t("cancel")), h("button", { type: "submit", class: "button primary" }, confirm)),
    )];
  });
  input.focus();
  input.select();
}
