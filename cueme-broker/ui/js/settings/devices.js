/** Who is signed in, and how a phone gets in. */

/** @import * as T from "../types.js" */
/** @import { Kit } from "../tools/load.js" */
/** @import { Words } from "./words.js" */

/**
 * @param {Kit} kit
 * @param {Words} w
 * @param {(() => void)[]} offs
 */
export function devicesSection(kit, w, offs) {
  const { api, askText, clock, fill, h, icon, iconButton, on, section, t, textButton, toast } = kit;
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
  const add = h("button", { type: "button", class: "button", onclick: () => void showLink(kit, w, code) }, icon("phone"), w("devices.add"));
  return section(t("devices"), list, add, code);

  /** @param {T.Device} device */
  function card(device) {
    const act = (/** @type {Promise<unknown>} */ done) => done.then(() => draw()).catch(() => toast(t("error.try-again"), "bad"));
    const rename = () => askText({ title: t("rename"), label: t("rename.label"), value: device.name, confirm: t("save"), run: (name) => api.renameDevice(device.device_id, name).then(() => draw()) });
    return h(
      "li",
      { class: "card line" },
      h("span", null, h("bdi", { class: "strong" }, device.name), device.current && h("span", { class: "pill" }, w("devices.this")), h("br"), h("span", { class: "muted small" }, w("devices.seen", { at: clock(device.seen_at) }))),
      h("span", { class: "pair" }, iconButton("edit", t("rename"), rename), textButton(w(device.current ? "devices.leave" : "devices.revoke"), () => act(api.dropDevice(device.device_id)), "bad")),
    );
  }
}

/**
 * @param {Kit} kit
 * @param {Words} w
 * @param {HTMLElement} place
 */
async function showLink({ api, clock, copyButton, fill, h, t }, w, place) {
  try {
    const link = await api.link();
    fill(
      place,
      h("img", { class: "qr", alt: w("devices.qr"), src: `data:image/svg+xml,${encodeURIComponent(link.svg)}` }),
      h("p", { class: "muted small" }, w("devices.once", { at: clock(link.expires_at) })),
      h("span", { class: "command" }, h("code", null, link.url), copyButton(() => link.url)),
      link.hint && h("p", { class: "hint" }, link.hint),
    );
  } catch {
    fill(place, h("p", { class: "field-error" }, t("error.try-again")));
  }
}
