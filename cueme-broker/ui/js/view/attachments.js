/** Files that go with an answer: chosen, pasted or dropped, and at the broker before the answer is sent. */

import { h, keyed } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { api, ApiError } from "../api.js";
import { t } from "../i18n/index.js";
import { iconButton } from "./buttons.js";
import { picture } from "./entry.js";
import { size } from "./fold.js";

/** @import * as T from "../types.js" */

const FILES_MAX = 64;
const FILE_BYTES_MAX = 32 * 1024 * 1024;

/** @typedef {{ key: string, name: string, file: T.Attachment | null, error: string }} Item */

/** @param {() => void} onchange */
export function createAttachments(onchange) {
  /** @type {Item[]} */
  let items = [];
  let made = 0;
  const list = h("ul", { class: "attachments", "aria-label": t("attachments") });
  const input = h("input", { type: "file", multiple: true, hidden: true, "aria-hidden": "true", tabindex: "-1", onchange: () => (add(input.files ?? []), (input.value = "")) });
  const button = iconButton("attach", t("attach"), () => input.click());

  const draw = () => {
    keyed(list, items, (item) => `${item.key} ${item.file ? "here" : item.error}`, drawItem, () => {});
    list.hidden = items.length === 0;
  };

  /** @param {Item} item */
  function drawItem(item) {
    const state = item.file ? size(item.file.bytes ?? 0) : item.error || t("attach.busy");
    return h(
      "li",
      { class: item.error ? "attachment failed" : "attachment" },
      item.file ? picture(item.file) : h("span", { class: "file" }, icon("file"), h("bdi", null, item.name)),
      h("span", { class: "muted small" }, state),
      iconButton("close", t("attach.remove", { name: item.name }), () => remove(item)),
    );
  }

  /** @param {Item} item */
  function remove(item) {
    items = items.filter((other) => other !== item);
    if (item.file?.upload_id) void api.dropUpload(item.file.upload_id).catch(() => {});
    draw();
    onchange();
  }

  /** @param {Iterable<File>} files */
  function add(files) {
    for (const file of files) {
      if (items.length >= FILES_MAX) return;
      /** @type {Item} */
      const item = { key: `new-${++made}`, name: file.name, file: null, error: "" };
      items.push(item);
      void upload(item, file);
    }
    draw();
  }

  /**
   * @param {Item} item
   * @param {File} file
   */
  async function upload(item, file) {
    try {
      if (file.size > FILE_BYTES_MAX) throw new ApiError(413, {});
      item.file = await api.upload(file);
    } catch (error) {
      item.error = error instanceof ApiError && error.status === 413 ? t("attach.too-large", { max: size(FILE_BYTES_MAX) }) : t("attach.failed");
    }
    draw();
    onchange();
  }

  draw();
  return {
    list,
    input,
    button,
    add,
    isBusy: () => items.some((item) => !item.file && !item.error),
    isEmpty: () => items.length === 0,
    /** @returns {T.Attachment[]} */
    read: () => items.flatMap((item) => (item.file ? [item.file] : [])),
    /** @param {T.Attachment[]} files */
    write(files) {
      items = files.filter((file) => file.upload_id).map((file) => ({ key: String(file.upload_id), name: file.name ?? "", file, error: "" }));
      draw();
    },
  };
}
