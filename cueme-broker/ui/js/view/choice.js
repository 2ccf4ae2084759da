/** Options as the agent wrote them, one or several, with room for another. An approval may have options too: it is seen whole first. */

import { freshId, h } from "../lib/dom.js";
import { visible } from "../lib/visible.js";
import { t } from "../i18n/index.js";
import { createUnseen } from "./unseen.js";

/** @import * as T from "../types.js" */

/**
 * @typedef {{ selected: string[], other: string, unpicked: string }} Picked
 * @typedef {{ values?: string[], selected?: string[], other?: string, unpicked?: string }} Kept
 * @typedef {{ el: HTMLElement, read: () => Picked, write: (kept: Kept | undefined) => void, addUnpicked: (kept: Kept | undefined) => void, pick: (index: number) => void, focus: () => void }} Options
 */

/**
 * Builds a group of options; a choice and the fields of a form use it alike.
 * @param {{ options: string[], allow_multiple: boolean }} offered
 * @param {{ label: string, compact?: boolean, onchange: () => void }} how
 * @returns {Options}
 */
export function createOptions(offered, { label, compact = false, onchange }) {
  const kind = offered.allow_multiple ? "checkbox" : "radio";
  const name = freshId("options");
  const inputs = offered.options.map((_, at) => h("input", { type: kind, name, class: "option-input", value: String(at), onchange }));
  const otherInput = h("input", { type: kind, name, class: "option-input", value: "other", "aria-label": t("other"), onchange: () => (otherInput.checked && other.focus(), onchange()) });
  const other = h("input", {
    type: "text",
    class: "other-text",
    placeholder: t("other.placeholder"),
    "aria-label": t("other.placeholder"),
    autocomplete: "off",
    dir: "auto",
    oninput: () => {
      otherInput.checked = other.value !== "" || (offered.allow_multiple ? false : otherInput.checked);
      onchange();
    },
  });
  // A radio button that is pressed again lets go, so that a slip can be undone without choosing something else.
  const wasChecked = new WeakMap();
  const letGo = (/** @type {HTMLInputElement} */ input) => ({
    onpointerdown: () => wasChecked.set(input, input.checked),
    onclick: (/** @type {Event} */ event) => {
      if (event.target !== input) return;
      if (kind === "radio" && wasChecked.get(input)) {
        input.checked = false;
        onchange();
      }
      wasChecked.delete(input);
    },
  });
  const line = (/** @type {HTMLInputElement} */ input, /** @type {string} */ text, /** @type {number} */ at) =>
    h("label", { class: "option", ...letGo(input) }, input, h("span", { class: "option-text", dir: "auto" }, visible(text)), !compact && at < 9 && h("kbd", { "aria-hidden": "true" }, at + 1));

  const el = h(
    "div",
    { class: compact ? "options compact" : "options", role: offered.allow_multiple ? "group" : "radiogroup", "aria-label": label },
    inputs.map((input, at) => line(input, offered.options[at] ?? "", at)),
    h("label", { class: "option option-other" }, otherInput, other),
  );

  return {
    el,
    read: () => ({
      selected: offered.options.filter((_, at) => inputs[at]?.checked),
      other: otherInput.checked ? other.value : "",
      unpicked: otherInput.checked ? "" : other.value,
    }),
    write: (kept) => {
      const selected = kept?.selected ?? kept?.values ?? [];
      inputs.forEach((input, at) => (input.checked = selected.includes(offered.options[at] ?? "")));
      other.value = kept?.other ?? kept?.unpicked ?? "";
      otherInput.checked = Boolean(kept?.other);
    },
    // An answer that is taken back comes without the words that were not part of it.
    addUnpicked: (kept) => void (other.value ||= kept?.unpicked ?? ""),
    pick: (index) => inputs[index]?.click(),
    focus: () => inputs[0]?.focus(),
  };
}

/**
 * The control for a choice.
 * @param {T.Cue} cue
 * @param {T.Choice} payload
 * @param {() => void} onchange
 */
export function createChoice(cue, payload, onchange) {
  const unseen = cue.origin === "approval" ? createUnseen(cue) : null;
  const options = createOptions(payload, { label: t(payload.allow_multiple ? "choice.many" : "choice.one"), onchange });
  const hint = payload.allow_multiple && h("p", { class: "muted small" }, t("choice.many"));
  return {
    el: h("div", { class: "control" }, hint, options.el, unseen && unseen.el),
    pick: options.pick,
    focus: options.focus,
    /** @returns {T.Reply | undefined} */
    read() {
      const { selected, other } = options.read();
      if (selected.length === 0 && other.trim() === "") return undefined;
      return { type: "choice", selected, ...(other.trim() && { other }) };
    },
    /**
     * What is kept as a draft: also words that are not picked at the moment.
     * @returns {T.Reply | undefined}
     */
    readDraft() {
      const { selected, unpicked } = options.read();
      return unpicked.trim() ? { type: "choice", selected, unpicked } : this.read();
    },
    /** @param {T.Reply | undefined} reply */
    write: (reply) => options.write(reply?.type === "choice" ? reply : undefined),
    /** @param {T.Reply | undefined} reply */
    addUnpicked: (reply) => options.addUnpicked(reply?.type === "choice" ? reply : undefined),
    check() {
      const isSeen = unseen === null || unseen.isSeen();
      if (!isSeen) unseen.show();
      return isSeen;
    },
    left: () => 0,
  };
}
