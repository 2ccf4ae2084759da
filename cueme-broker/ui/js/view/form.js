/** A form: its fields in the agent's order. */

import { h } from "../lib/dom.js";
import { t } from "../i18n/index.js";
import { createField } from "./field.js";

/** @import * as T from "../types.js" */

/**
 * @param {T.Form} payload
 * @param {() => void} onchange
 */
export function createForm(payload, onchange) {
  const fields = payload.fields.map((field) => createField(field, onchange));
  const hasRequired = payload.fields.some((field) => field.required);

  /**
   * @param {boolean} secrets
   * @returns {T.Reply | undefined}
   */
  const readWith = (secrets) => {
    const filled = fields.map((field) => field.read(secrets)).filter((field) => field !== null);
    return filled.length ? { type: "form", fields: filled } : undefined;
  };

  return {
    el: h("div", { class: "control form" }, hasRequired && h("p", { class: "muted small" }, t("form.hint")), fields.map((field) => field.el)),
    read: () => readWith(true),
    /** What may be kept as a draft: everything but secrets. */
    readDraft: () => readWith(false),
    /** @param {T.Reply | undefined} reply */
    write(reply) {
      const known = reply?.type === "form" ? reply.fields : [];
      fields.forEach((field, at) => field.write(known.find((one) => one.label === payload.fields[at]?.label)));
    },
    focus: () => fields[0]?.focus(),
    /** Says whether it can be sent; if not, the first field in the way has the focus. */
    check() {
      const wrong = fields.filter((field) => !field.check());
      wrong[0]?.focus();
      return wrong.length === 0;
    },
  };
}
