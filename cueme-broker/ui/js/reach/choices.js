/** Choices that a device and a channel have in common. */

/** @import { Kit } from "../tools/load.js" */
/** @import { Words } from "./words.js" */

/** @typedef {"question" | "approval" | "pause"} Reason */

/** @type {Reason[]} */
export const REASONS = ["question", "approval", "pause"];
/** In seconds. */
const AFTER = /** @type {const} */ ([0, 30, 120, 600]);

/**
 * Lets somebody choose reasons; the last one stays.
 * @param {Kit} kit
 * @param {Words} w
 * @param {Reason[]} chosen
 * @param {(chosen: Reason[]) => unknown} run
 */
export function reasonChoice({ h }, w, chosen, run) {
  const boxes = REASONS.map((reason) => h("input", { type: "checkbox", value: reason, checked: chosen.includes(reason), onchange: () => changed(reason) }));
  const changed = (/** @type {Reason} */ reason) => {
    const now = REASONS.filter((_, place) => boxes[place]?.checked);
    const box = boxes[REASONS.indexOf(reason)];
    if (now.length === 0 && box) return void (box.checked = true);
    void run(now);
  };
  const labels = REASONS.map((reason, place) => h("label", { class: "pair" }, boxes[place] ?? null, w(`reason.${reason}`)));
  return h("div", { class: "stack" }, h("span", null, w("reasons")), h("span", { class: "pair" }, labels));
}

/**
 * @param {Kit} kit
 * @param {Words} w
 * @param {number} seconds
 * @param {(seconds: number) => unknown} run
 */
export function afterChoice({ freshId, h }, w, seconds, run) {
  const id = freshId("after");
  const known = AFTER.find((one) => one === seconds);
  const list = h(
    "select",
    { id, class: "input narrow", onchange: () => void run(Number(list.value)) },
    known === undefined && h("option", { value: String(seconds) }, `${seconds} s`),
    AFTER.map((one) => h("option", { value: String(one) }, w(`after.${one}`))),
  );
  list.value = String(seconds);
  return h("div", { class: "line" }, h("label", { htmlFor: id }, w("push.after")), list);
}
