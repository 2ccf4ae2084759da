/** Notes and queued answers that an agent has not got yet: change, reorder, delete. */

import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { clock } from "../lib/time.js";
import { api } from "../api.js";
import { readAgent } from "../store.js";
import { t } from "../i18n/index.js";
import { iconButton } from "./buttons.js";
import { askText } from "./dialog.js";
import { toast } from "./toast.js";

/** @import * as T from "../types.js" */

/** @param {string} agentId */
export function createQueue(agentId) {
  const list = h("ol", { class: "queue-list" });
  const el = h("section", { class: "queue", hidden: true, "aria-label": t("queue") }, h("h2", { class: "queue-title" }, icon("clock"), t("queue")), list);

  /** @param {() => Promise<unknown>} change */
  const act = async (change) => {
    try {
      await change();
    } catch {
      toast(t("queue.changed"), "bad");
    }
    await readAgent(agentId).catch(() => {});
  };

  /** @param {T.Message[]} messages */
  function update(messages) {
    const key = JSON.stringify(messages);
    if (el.dataset.drawn === key) return;
    el.dataset.drawn = key;
    el.hidden = messages.length === 0;
    fill(list, messages.map((message, at) => line(message, at, messages)));
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
    const edit = () => askText({ title: t("queue.edit"), label: t(`${message.purpose ?? "note"}.name`), value: message.text, lines: 4, confirm: t("save"), run: change });
    return h(
      "li",
      { class: "queue-item" },
      h("span", { class: "badge plain" }, t(`${message.purpose ?? "note"}.name`)),
      h("span", { class: "queue-text", dir: "auto" }, message.text),
      h("time", { class: "muted small", datetime: message.at }, clock(message.at)),
      tool("arrow", t("queue.up"), () => move(at - 1), at === 0),
      tool("down", t("queue.down"), () => move(at + 1), at === all.length - 1),
      tool("edit", t("queue.edit"), edit),
      tool("trash", t("queue.delete"), () => void act(() => api.dropMessage(agentId, message.message_id))),
    );
  }

  return { el, update };
}
