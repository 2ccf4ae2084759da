/** A form: its fields in the agent's order. */

import { h } from "../lib/dom.js";
import { createField } from "./field.js";

/** @import * as T from "../types.js" */

/**
 * @param {T.Form} payload
 * @param {() => void} onchange
 */
export function createForm(payload, onchange) {
  const fields = payload.fields.map((field) => createField(field, onchange));

  /**
   * @param {(T.FieldReply | null)[]} read
   * @returns {T.Reply | undefined}
   */
  const replyOf = (read) => {
    const filled = read.filter((field) => field !== null);
    return filled.length ? { type: "form", fields: filled } : undefined;
  };
  /**
   * Gives each field what is known of it.
   * @param {T.Reply | undefined} reply
   * @param {(field: ReturnType<typeof createField>, known: T.FieldReply | undefined) => void} give
   */
  const each = (reply, give) => {
    const known = reply?.type === "form" ? reply.fields : [];
    fields.forEach((field, at) => give(field, known.find((one) => one.label === payload.fields[at]?.label)));
  };

  return {
    el: h("div", { class: "control form" }, fields.map((field) => field.el)),
    /** How many required fields are empty. */
    left: () => fields.filter((field, at) => payload.fields[at]?.required && field.read() === null).length,
    read: () => replyOf(fields.map((field) => field.read())),
    /** What may be kept as a draft: everything but secrets. */
    readDraft: () => replyOf(fields.map((field) => field.readDraft())),
    /** @param {T.Reply | undefined} reply */
    write: (reply) => each(reply, (field, known) => field.write(known)),
    /** @param {T.Reply | undefined} reply */
    addUnpicked: (reply) => each(reply, (field, known) => field.addUnpicked?.(known)),
    /** Numbers pick among the options of a choice; a form has none of its own. */
    pick: (/** @type {number} */ _index) => {},
    focus: () => fields[0]?.focus(),
    /** Says whether it can be sent; if not, the first field in the way has the focus. */
    check() {
      const wrong = fields.filter((field) => !field.check());
      wrong[0]?.focus();
      return wrong.length === 0;
    },
  };
}
