/** Settings: how it looks, how answering works, how it calls, which rules answer, which devices are in. */

import { fill, freshId, h } from "../lib/dom.js";
import { chime } from "../attention.js";
import { setTheme, theme } from "../theme.js";
import { changeSettings, savedReplies, state } from "../store.js";
import { t, useLanguage } from "../i18n/index.js";
import { reachSection } from "../reach/load.js";
import { devicesSection } from "./devices.js";
import { openDialog } from "./dialog.js";
import { policiesSection } from "./policies.js";
import { section, toggle } from "./section.js";
import { toast } from "./toast.js";
import { connectGuide } from "./welcome.js";

/** @import * as T from "../types.js" */

/**
 * Opens the settings, at a section if one is named.
 * @param {"quick" | "attention"} [at]
 */
export function openSettings(at) {
  /** @type {(() => void)[]} */
  const offs = [];
  openDialog(t("settings"), () => [looks(), answering(), attention(), reachSection(), policiesSection(offs), devicesSection(offs), guide(), h("p", { class: "muted small" }, `cueme ${state.version}`)], { wide: true, onclose: () => offs.forEach((off) => off()) });
  if (at) document.getElementById(`settings-${at}`)?.scrollIntoView();
}

/** @param {Partial<T.Settings>} change */
const save = (change) => changeSettings(change).catch(() => toast(t("error.try-again"), "bad"));

function looks() {
  return section(
    t("settings.looks"),
    select(t("theme"), theme(), [["auto", t("theme.auto")], ["light", t("theme.light")], ["dark", t("theme.dark")]], (value) => setTheme(/** @type {import("../theme.js").Theme} */ (value))),
    select(t("language"), state.settings.language, [["auto", t("language.auto")], ["en", "English"], ["zh", "简体中文"]], async (value) => {
      const language = /** @type {"auto" | "en" | "zh"} */ (value);
      await save({ language });
      if (useLanguage(language)) location.reload();
    }),
  );
}

function answering() {
  const quickId = freshId("quick");
  const quick = h("textarea", { id: quickId, class: "input", rows: "4", dir: "auto", value: savedReplies().join("\n"), onchange: () => void save({ quick_replies: quick.value.split("\n").map((line) => line.trim()).filter(Boolean) }) });
  const undoId = freshId("undo");
  const undo = h("input", { id: undoId, class: "input narrow", type: "number", min: "0", max: "600", value: String(state.settings.undo_ms / 1000), onchange: () => void save({ undo_ms: Math.round(Math.min(600, Math.max(0, Number(undo.value) || 0)) * 1000) }) });
  return section(
    t("settings.answering"),
    toggle(t("settings.enter"), state.settings.enter_sends, (on) => save({ enter_sends: on })),
    toggle(t("settings.advance"), Boolean(state.settings.page.advance), (on) => save({ page: { ...state.settings.page, advance: on } })),
    h("div", { class: "line" }, h("label", { htmlFor: undoId }, t("settings.undo")), undo),
    h("div", { class: "stack", id: "settings-quick" }, h("label", { htmlFor: quickId }, t("settings.quick")), quick),
  );
}

function attention() {
  const note = h("p", { class: "muted small", role: "status" });
  const { notifications, quiet_hours: quiet } = state.settings;
  const browser = toggle(t("settings.browser"), notifications.browser, async (on) => {
    if (on) await permit(note);
    await save({ notifications: { ...state.settings.notifications, browser: on } });
  });
  const time = (/** @type {"from" | "to"} */ which, /** @type {string} */ label) => {
    const input = h("input", { type: "time", class: "input narrow", value: quiet[which] ?? "", "aria-label": label, onchange: () => void save({ quiet_hours: { ...state.settings.quiet_hours, [which]: input.value } }) });
    return input;
  };
  tellAboutHttps(note);
  return h(
    "div",
    { id: "settings-attention" },
    section(
      t("settings.attention"),
      browser,
      toggle(t("settings.sound"), notifications.sound, (on) => {
        if (on) chime();
        return save({ notifications: { ...state.settings.notifications, sound: on } });
      }),
      toggle(t("settings.desktop"), notifications.desktop, (on) => save({ notifications: { ...state.settings.notifications, desktop: on } })),
      toggle(t("settings.quiet"), quiet.enabled, (on) => save({ quiet_hours: { ...state.settings.quiet_hours, enabled: on } })),
      h("div", { class: "line" }, h("span", null, t("settings.quiet-hours")), h("span", { class: "pair" }, time("from", t("settings.from")), "–", time("to", t("settings.to")))),
      note,
    ),
  );
}

/** @param {HTMLElement} note */
function tellAboutHttps(note) {
  if (window.isSecureContext) return;
  fill(note, state.secureHint ?? t("https"));
}

/** @param {HTMLElement} note */
async function permit(note) {
  if (!window.isSecureContext || !("Notification" in window)) return tellAboutHttps(note);
  const answer = await Notification.requestPermission();
  fill(note, answer === "denied" ? t("settings.denied") : "");
}

function guide() {
  const details = h("details", { class: "settings-section" }, h("summary", null, t("guide.connect")));
  details.addEventListener("toggle", () => details.open && details.children.length === 1 && details.append(connectGuide()));
  return details;
}

/**
 * @param {string} label
 * @param {string} value
 * @param {string[][]} options
 * @param {(value: string) => unknown} run
 */
function select(label, value, options, run) {
  const id = freshId("select");
  const list = h("select", { id, class: "input narrow", onchange: () => void run(list.value) }, options.map(([key, text]) => h("option", { value: key }, text)));
  list.value = value;
  return h("div", { class: "line" }, h("label", { htmlFor: id }, label), list);
}
