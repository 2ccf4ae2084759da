/** One field of a form, by its kind. */

import { freshId, h } from "../lib/dom.js";
import { visible } from "../lib/visible.js";
import { t } from "../i18n/index.js";
import { createOptions } from "./choice.js";

/** @import * as T from "../types.js" */

/**
 * @typedef {{
 *   el: HTMLElement, read: () => T.FieldReply | null, readDraft: () => T.FieldReply | null,
 *   write: (reply: T.FieldReply | undefined) => void, addUnpicked?: (reply: T.FieldReply | undefined) => void, check: () => boolean, focus: () => void,
 * }} FieldControl
 */

/**
 * @param {T.Field} field
 * @param {() => void} onchange
 * @returns {FieldControl}
 */
export function createField(field, onchange) {
  return field.options.length > 0 ? optionField(field, onchange) : inputField(field, onchange);
}

/**
 * A field with options: buttons, and another value.
 * @param {T.Field} field
 * @param {() => void} onchange
 * @returns {FieldControl}
 */
function optionField(field, onchange) {
  const error = errorLine();
  const options = createOptions(field, { label: field.label, compact: true, onchange: () => (error.clear(), onchange()) });
  const read = () => {
    const { selected, other } = options.read();
    return selected.length || other.trim() ? { label: field.label, values: selected, ...(other.trim() && { other }) } : null;
  };
  return {
    el: h("div", { class: "field" }, h("div", { class: "field-label" }, labelOf(field)), options.el, error.el),
    read,
    readDraft: () => {
      if (field.kind === "password") return null;
      const { selected, unpicked } = options.read();
      return unpicked.trim() ? { label: field.label, values: selected, unpicked } : read();
    },
    write: options.write,
    addUnpicked: options.addUnpicked,
    check: () => !field.required || read() !== null || error.say(t("form.required")),
    focus: options.focus,
  };
}

/**
 * A field someone types into.
 * @param {T.Field} field
 * @param {() => void} onchange
 * @returns {FieldControl}
 */
function inputField(field, onchange) {
  if (field.kind === "boolean") return booleanField(field, onchange);
  const id = freshId("field");
  const error = errorLine();
  const common = { id, class: "input", dir: "auto", "aria-required": String(field.required), "aria-describedby": error.el.id, autocomplete: "off", oninput: () => (error.clear(), onchange()) };
  const input = field.kind === "textarea" ? h("textarea", { ...common, rows: "3" }) : h("input", { ...common, ...typeOf(field.kind) });
  const isBroken = () => input instanceof HTMLInputElement && input.validity.badInput;
  const read = () => (input.value === "" ? null : { label: field.label, values: [input.value] });
  return {
    el: h("div", { class: "field" }, h("label", { class: "field-label", htmlFor: id }, labelOf(field)), input, field.kind === "password" && h("p", { class: "muted small" }, t("form.secret")), error.el),
    read,
    readDraft: () => (field.kind === "password" ? null : read()),
    write: (reply) => void (input.value = reply?.values[0] ?? reply?.other ?? ""),
    check: () => {
      if (isBroken()) return error.say(t(field.kind === "number" ? "form.number" : "form.date"));
      if (field.kind === "number" && input.value.trim() && !/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(input.value.trim())) return error.say(t("form.number"));
      return !field.required || input.value.trim() !== "" || error.say(t("form.required"));
    },
    focus: () => input.focus(),
  };
}

/**
 * Yes or no, or neither: an untouched switch must not mean "no".
 * @param {T.Field} field
 * @param {() => void} onchange
 * @returns {FieldControl}
 */
function booleanField(field, onchange) {
  const name = freshId("boolean");
  const error = errorLine();
  const changed = () => (error.clear(), onchange());
  const yes = h("input", { type: "radio", name, class: "option-input", value: "true", onchange: changed });
  const no = h("input", { type: "radio", name, class: "option-input", value: "false", onchange: changed });
  const read = () => (yes.checked || no.checked ? { label: field.label, values: [String(yes.checked)] } : null);
  const option = (/** @type {HTMLInputElement} */ input, /** @type {string} */ text) => h("label", { class: "option" }, input, h("span", { class: "option-text" }, text));
  return {
    el: h("div", { class: "field" }, h("div", { class: "field-label" }, labelOf(field)), h("div", { class: "options compact", role: "radiogroup", "aria-label": field.label }, option(yes, t("yes")), option(no, t("no"))), error.el),
    read,
    readDraft: read,
    write: (reply) => {
      yes.checked = reply?.values[0] === "true";
      no.checked = reply?.values[0] === "false";
    },
    check: () => !field.required || yes.checked || no.checked || error.say(t("form.required")),
    focus: () => yes.focus(),
  };
}

/** @param {string} kind */
function typeOf(kind) {
  if (kind === "number") return { type: "text", inputmode: "decimal" };
  if (kind === "password") return { type: "password", autocomplete: "new-password" };
  return { type: kind === "date" ? "date" : "text" };
}

/** @param {T.Field} field */
const labelOf = (field) => [h("span", { dir: "auto" }, visible(field.label)), field.required && h("span", { class: "required" }, t("form.required-mark"))];

function errorLine() {
  const el = h("p", { class: "field-error", id: freshId("error"), role: "alert" });
  return {
    el,
    /** @param {string} text */
    say(text) {
      el.textContent = text;
      el.parentElement?.querySelector(".input")?.setAttribute("aria-invalid", "true");
      return false;
    },
    clear() {
      el.textContent = "";
      el.parentElement?.querySelector(".input")?.removeAttribute("aria-invalid");
    },
  };
}
