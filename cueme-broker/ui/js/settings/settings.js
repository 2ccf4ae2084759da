/** Settings: how it looks, how answering works, how it calls, which rules answer, which devices are in. Loaded when somebody opens them. */

import { devicesSection } from "./devices.js";
import { policiesSection } from "./policies.js";
import { reachSection } from "./reach.js";
import { en, wordsOf } from "./words.js";

/** @import * as T from "../types.js" */
/** @import { Kit } from "../tools/load.js" */

/** @param {Kit} kit */
export async function createSettings(kit) {
  const { fill, freshId, h, changeSettings, chime, connectGuide, loadTokens, openDialog, savedReplies, section, setTheme, state, t, theme, toast, toggle, useLanguage } = kit;
  const w = wordsOf(kit.language() === "en" ? en : (await import("./zh.js")).zh);

  /**
   * Opens the settings, at a section if one is named.
   * @param {string} [at]
   */
  function openSettings(at = "") {
    /** @type {(() => void)[]} */
    const offs = [];
    openDialog(t("settings"), () => [looks(), answering(), attention(), reachSection(kit, w), policiesSection(kit, w, offs), devicesSection(kit, w, offs), tokens(offs), guide(), h("p", { class: "muted small" }, `cueme ${state.version}`)], { wide: true, onclose: () => offs.forEach((off) => off()) });
    if (at) document.getElementById(`settings-${at}`)?.scrollIntoView();
  }

  /** @param {Partial<T.Settings>} change */
  const save = (change) => changeSettings(change).catch(() => toast(t("error.try-again"), "bad"));

  function looks() {
    return section(
      w("settings.looks"),
      select(w("theme"), theme(), [["auto", w("theme.auto")], ["light", w("theme.light")], ["dark", w("theme.dark")]], (value) => setTheme(/** @type {import("../theme.js").Theme} */ (value))),
      select(w("language"), state.settings.language, [["auto", w("language.auto")], ["en", "English"], ["zh", "简体中文"]], async (value) => {
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
      w("settings.answering"),
      toggle(w("settings.enter"), state.settings.enter_sends, (on) => save({ enter_sends: on })),
      toggle(w("settings.advance"), Boolean(state.settings.page.advance), (on) => save({ page: { ...state.settings.page, advance: on } })),
      h("div", { class: "line" }, h("label", { htmlFor: undoId }, w("settings.undo")), undo),
      h("div", { class: "stack", id: "settings-quick" }, h("label", { htmlFor: quickId }, w("settings.quick")), quick),
    );
  }

  function attention() {
    const note = h("p", { class: "muted small", role: "status" });
    const { notifications, quiet_hours: quiet } = state.settings;
    const browser = toggle(w("settings.browser"), notifications.browser, async (on) => {
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
        w("settings.attention"),
        browser,
        toggle(w("settings.sound"), notifications.sound, (on) => {
          if (on) chime();
          return save({ notifications: { ...state.settings.notifications, sound: on } });
        }),
        toggle(w("settings.desktop"), notifications.desktop, (on) => save({ notifications: { ...state.settings.notifications, desktop: on } })),
        toggle(w("settings.quiet"), quiet.enabled, (on) => save({ quiet_hours: { ...state.settings.quiet_hours, enabled: on } })),
        h("div", { class: "line" }, h("span", null, w("settings.quiet-hours")), h("span", { class: "pair" }, time("from", w("settings.from")), "–", time("to", w("settings.to")))),
        note,
      ),
    );
  }

  /** @param {HTMLElement} note */
  function tellAboutHttps(note) {
    if (window.isSecureContext) return;
    fill(note, state.secureHint ?? w("https"));
  }

  /** @param {HTMLElement} note */
  async function permit(note) {
    if (!window.isSecureContext || !("Notification" in window)) return tellAboutHttps(note);
    const answer = await Notification.requestPermission();
    fill(note, answer === "denied" ? w("settings.denied") : "");
  }

  function guide() {
    const details = h("details", { class: "settings-section" }, h("summary", null, t("guide.connect")));
    details.addEventListener("toggle", () => details.open && details.children.length === 1 && details.append(connectGuide()));
    return details;
  }

  /** @param {(() => void)[]} offs */
  function tokens(offs) {
    const place = h("div", { class: "stack" });
    const details = h("details", { class: "settings-section", id: "settings-tokens" }, h("summary", null, t("tokens")), place);
    const load = () => loadTokens(place).then((off) => offs.push(off), () => fill(place, h("p", { class: "field-error" }, t("error.try-again"))));
    details.addEventListener("toggle", () => details.open && place.children.length === 0 && void load());
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

  return openSettings;
}
