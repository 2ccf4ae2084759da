/**
 * Notes and queued answers that an agent has not got yet: change, reorder, delete. Loaded when there are any; what it uses of the page
 * is handed to it.
 */

import { wordsIn } from "./words.js";
import css from "./queue.css";

/** @import * as T from "../types.js" */
/** @import { Kit } from "../tools/load.js" */

/**
 * @param {Kit} kit
 * @param {string} agentId
 */
export function createQueue({ addStyles, api, askText, clock, h, icon, iconButton, language, readAgent, refill, t, toast }, agentId) {
  addStyles(css);
  const w = wordsIn(language());
  const list = h("ol", { class: "queue-list" });
  const el = h("section", { class: "queue", hidden: true, "aria-label": w("title") }, h("h2", { class: "queue-title" }, icon("clock"), w("title")), list);

  /** @param {() => Promise<unknown>} change */
  const act = async (change) => {
    try {
      await change();
    } catch {
      toast(w("changed"), "bad");
    }
    await readAgent(agentId).catch(() => {});
  };

  /** @param {T.Message[]} messages */
  function update(messages) {
    const key = JSON.stringify(messages);
    if (el.dataset.drawn === key) return;
    el.dataset.drawn = key;
    el.hidden = messages.length === 0;
    refill(list, messages.map((message, at) => line(message, at, messages)));
  }

  /**
   * @param {T.Message} message
   * @param {number} at
   * @param {T.Message[]} all
   */
  function line(message, at, all) {
    const tool = (/** @type {import("../lib/icons.js").IconName} */ name, /** @type {string} */ label, /** @type {() => unknown} */ run, disabled = false) => {
      const button = iconButton(name, label, run, "small");
      button.disabled = disabled;
      return button;
    };
    const move = (/** @type {number} */ to) => {
      const ids = all.map((one) => one.message_id);
      ids.splice(to, 0, ...ids.splice(at, 1));
      void act(() => api.orderMessages(agentId, ids));
    };
    const change = (/** @type {string} */ text) => api.changeMessage(agentId, message.message_id, text).then(() => readAgent(agentId));
    const edit = () => askText({ title: w("edit"), label: t(`${message.purpose ?? "note"}.name`), value: message.text, lines: 4, confirm: t("save"), run: change });
    return h(
      "li",
      { class: "queue-item", data: { key: message.message_id } },
      h("span", { class: "badge plain" }, t(`${message.purpose ?? "note"}.name`)),
      h("span", { class: "queue-text", dir: "auto" }, message.text),
      h("time", { class: "muted small", datetime: message.at }, clock(message.at)),
      tool("arrow", w("up"), () => move(at - 1), at === 0),
      tool("down", w("down"), () => move(at + 1), at === all.length - 1),
      tool("edit", w("edit"), edit),
      tool("trash", w("delete"), () => void act(() => api.dropMessage(agentId, message.message_id))),
    );
  }

  return { el, update };
}
