/** Where a secret comes from: the configuration, a variable, a file, or what is typed here for one run. */

import { freshId, h } from "./page.js";
import { w } from "./words.js";

/**
 * @param {string} name
 * @param {string} label
 * @param {boolean} isConfigured
 */
export function secretField(name, label, isConfigured) {
  const kind = h(
    "select",
    { class: "input", name, id: freshId("secret") },
    h("option", { value: "" }, w(isConfigured ? "form.configured" : "form.missing")),
    h("option", { value: "env" }, w("form.env")),
    h("option", { value: "file" }, w("form.file")),
    h("option", { value: "plain" }, w("form.plain")),
  );
  const value = h("input", { class: "input", name: `${name}.value`, autocomplete: "off", hidden: true, "aria-label": w("form.where"), placeholder: w("form.where") });
  kind.addEventListener("change", () => {
    value.hidden = kind.value === "";
    value.type = kind.value === "plain" ? "password" : "text";
  });
  return {
    el: h("div", { class: "launch-field" }, h("label", { class: "field-label", htmlFor: kind.id }, label), kind, value),
    /** Returns the binding in the shape the configuration has, or nothing when it is as configured. */
    binding() {
      const text = value.value.trim();
      if (!kind.value || !text) return null;
      return kind.value === "plain" ? { type: "plain", value: text } : { type: "secret_ref", [kind.value]: text };
    },
  };
}
