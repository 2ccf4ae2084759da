/** Who is signed in, and how a phone gets in. */

import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { clock } from "../lib/time.js";
import { api } from "../api.js";
import { on } from "../store.js";
import { t } from "../i18n/index.js";
import { iconButton, textButton } from "./buttons.js";
import { copyButton } from "./copy.js";
import { askText } from "./dialog.js";
import { section } from "./section.js";
import { toast } from "./toast.js";

/** @import * as T from "../types.js" */

/** @param {(() => void)[]} offs */
export function devicesSection(offs) {
  const list = h("ul", { class: "cards" });
  const code = h("div", { class: "qr-place" });
  const draw = async () => {
    try {
      fill(list, (await api.devices()).devices.map(card));
    } catch {
      fill(list, h("li", { class: "muted" }, t("error.try-again")));
    }
  };
  offs.push(on("devices", () => void draw()));
  void draw();
  const add = h("button", { type: "button", class: "button", onclick: () => void showLink(code) }, icon("phone"), t("devices.add"));
  return section(t("devices"), list, add, code);

  /** @param {T.Device} device */
  function card(device) {
    const act = (/** @type {Promise<unknown>} */ done) => done.then(() => draw()).catch(() => toast(t("error.try-again"), "bad"));
    const rename = () => askText({ title: t("rename"), label: t("rename.label"), value: device.name, confirm: t("save"), run: (name) => api.renameDevice(device.device_id, name).then(() => draw()) });
    return h(
      "li",
      { class: "card line" },
      h("span", null, h("bdi", { class: "strong" }, device.name), device.current && h("span", { class: "pill" }, t("devices.this")), h("br"), h("span", { class: "muted small" }, t("devices.seen", { at: clock(device.seen_at) }))),
      h("span", { class: "pair" }, iconButton("edit", t("rename"), rename), textButton(t(device.current ? "devices.leave" : "devices.revoke"), () => act(api.dropDevice(device.device_id)), "bad")),
    );
  }
}

/** @param {HTMLElement} place */
async function showLink(place) {
  try {
    const link = await api.link();
    fill(
      place,
      h("img", { class: "qr", alt: t("devices.qr"), src: `data:image/svg+xml,${encodeURIComponent(link.svg)}` }),
      h("p", { class: "muted small" }, t("devices.once", { at: clock(link.expires_at) })),
      h("span", { class: "command" }, h("code", null, link.url), copyButton(() => link.url)),
      link.hint && h("p", { class: "hint" }, link.hint),
    );
  } catch {
    fill(place, h("p", { class: "field-error" }, t("error.try-again")));
  }
}
