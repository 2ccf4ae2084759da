/** Channels: who is told elsewhere, and how somebody adds, tries and removes one. Tokens go to the broker and never come back. */

import { REASONS, afterChoice, reasonChoice } from "./choices.js";

/** @import { Kit } from "../tools/load.js" */
/** @import { Reason } from "./choices.js" */
/** @import { Word, Words } from "./words.js" */

/** @typedef {{ name: string, kind: string, people: string[], after_ms: number, quiet: string | null, preview: boolean, reasons: Reason[] }} Channel */
/** @typedef {"token" | "app_token" | "chat" | "channel" | "people" | "url" | "replies" | "person"} Field */

/** What each kind needs. @type {Record<string, Field[]>} */
const KINDS = {
  telegram: ["token", "chat", "people"],
  slack: ["token", "app_token", "channel", "people"],
  ntfy: ["url", "replies", "person"],
  webhook: ["url"],
};
const DESKTOP = "desktop";

/**
 * @param {Kit} kit
 * @param {Words} w
 */
export function channelsSection(kit, w) {
  const { fill, h, json, section, send, t, textButton, toast } = kit;
  const list = h("ul", { class: "cards" });
  const form = h("div", null);
  const note = h("p", { class: "field-error", role: "status" });
  const delay = (/** @type {number} */ ms) => {
    const [unit, length] = ms % 3_600_000 === 0 ? /** @type {const} */ (["unit.h", 3_600_000]) : ms % 60_000 === 0 ? /** @type {const} */ (["unit.m", 60_000]) : /** @type {const} */ (["unit.s", 1_000]);
    return ms === 0 ? w("after.0") : w("channels.after", { time: `${ms / length}${t(unit)}` });
  };
  const path = (/** @type {Channel} */ channel) => `/channels/${encodeURIComponent(channel.name)}`;

  /** @param {Promise<unknown>} done */
  const act = async (done) => {
    try {
      await done;
      fill(note, "");
      await draw();
    } catch (problem) {
      fill(note, problem instanceof Error && problem.message ? problem.message : t("error.try-again"));
    }
  };

  const draw = async () => {
    /** @type {{ channels: Channel[] }} */
    const { channels } = await send("GET", "/channels");
    fill(list, channels.length > 0 ? channels.map(card) : h("li", { class: "muted small" }, w("channels.none")));
  };

  /** @param {Channel} channel */
  function card(channel) {
    const answers = channel.people.length > 0 ? w("channels.people", { people: channel.people.join(t("list.and")) }) : w("channels.tells");
    const facts = [channel.kind, answers, delay(channel.after_ms), channel.quiet].filter(Boolean).join(" · ");
    const test = () => act(send("POST", `${path(channel)}/test`).then(() => toast(w("channels.sent", { name: channel.name }))));
    const remove = textButton(w("channels.remove"), () => {
      if (remove.dataset.sure) return void act(send("DELETE", path(channel)));
      remove.dataset.sure = "true";
      fill(remove, w("channels.sure"));
    }, "bad");
    return h(
      "li",
      { class: "card stack", "data-channel": channel.name },
      h("div", { class: "line" }, h("span", null, h("bdi", { class: "strong" }, channel.name), h("br"), h("span", { class: "muted small" }, facts)), h("span", { class: "pair" }, channel.kind !== DESKTOP && textButton(w("channels.test"), test), remove)),
      reasonChoice(kit, w, channel.reasons, (reasons) => act(json("PATCH", path(channel), { reasons }))),
    );
  }

  const add = h("button", { type: "button", class: "button", onclick: () => open() }, w("channels.add"));
  const open = () => {
    add.hidden = true;
    fill(form, channelForm(kit, w, async (body) => {
      await json("POST", "/channels", body);
      fill(form);
      add.hidden = false;
      await draw();
    }));
  };
  draw().catch(() => fill(note, t("error.try-again")));
  return section(w("channels"), list, note, add, form);
}

/**
 * @param {Kit} kit
 * @param {Words} w
 * @param {(body: object) => Promise<void>} save
 */
function channelForm(kit, w, save) {
  const { fill, freshId, h, t } = kit;
  const error = h("p", { class: "field-error", role: "alert" });
  const fields = h("div", { class: "stack" });
  /** @type {Map<string, HTMLInputElement | HTMLTextAreaElement>} */
  let inputs = new Map();
  let after = 30;
  /** @type {Reason[]} */
  let reasons = REASONS;
  const kind = h("select", { id: freshId("kind"), class: "input narrow", onchange: () => draw() }, Object.keys(KINDS).map((one) => h("option", { value: one }, one)));

  /** @type {(key: string, label: string) => HTMLElement} */
  const field = (key, label) => {
    const id = freshId(key);
    const isSecret = key.endsWith("token");
    const input = key === "people" ? h("textarea", { id, class: "input", rows: "2" }) : h("input", { id, class: "input", type: isSecret ? "password" : "text", autocomplete: "off" });
    inputs.set(key, input);
    return h("div", { class: "stack" }, h("label", { htmlFor: id }, label), input);
  };
  const draw = () => {
    inputs = new Map();
    fill(fields, field("name", w("channels.name")), (KINDS[kind.value] ?? []).map((key) => field(key, w(/** @type {Word} */ (`field.${key}`)))));
    const name = inputs.get("name");
    if (name) name.value = kind.value;
  };
  draw();
  return h(
    "form",
    {
      class: "stack card",
      onsubmit: async (/** @type {Event} */ event) => {
        event.preventDefault();
        /** @type {Record<string, unknown>} */
        const body = { kind: kind.value, after: `${after}s`, reasons };
        for (const [key, input] of inputs) if (input.value.trim()) body[key] = key === "people" ? peopleIn(input.value) : input.value.trim();
        try {
          await save(body);
        } catch (problem) {
          error.textContent = problem instanceof Error && problem.message ? problem.message : t("error.try-again");
        }
      },
    },
    h("div", { class: "line" }, h("label", { htmlFor: kind.id }, w("channels.kind")), kind),
    fields,
    afterChoice(kit, w, after, (seconds) => void (after = seconds)),
    reasonChoice(kit, w, reasons, (chosen) => void (reasons = chosen)),
    error,
    h("button", { type: "submit", class: "button primary" }, w("channels.save")),
  );
}

/** Reads `id=name` lines. */
const peopleIn = (/** @type {string} */ text) => Object.fromEntries(text.split("\n").map((line) => line.split("=").map((part) => part.trim())).filter(([id, name]) => id && name));
