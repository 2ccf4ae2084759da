/**
 * Where a person answers one question, or leaves a message for one agent. It belongs to that question for as long as it lives:
 * whatever else arrives, it is never pointed at another one.
 */

import { fill, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { rendered } from "../lib/rendered.js";
import { uuid7 } from "../lib/uuid.js";
import { keepDraft } from "../draft.js";
import { api, ApiError } from "../api.js";
import { state } from "../store.js";
import { t } from "../i18n/index.js";
import { iconButton, textButton } from "./buttons.js";
import { createAttachments } from "./attachments.js";
import { createChoice } from "./choice.js";
import { createConfirm, createContinue } from "./confirm.js";
import { askText } from "./dialog.js";
import { createForm } from "./form.js";
import { openSettings } from "./open.js";

/** @import * as T from "../types.js" */

/**
 * @typedef {{ kind: "cue", cue: T.Cue } | { kind: "message", agentId: string, draft: T.Draft | null }} Target
 * @typedef {{ sent: (decided: T.Decided) => void, said: () => void, lost: (details: any) => void }} Outcomes
 * @typedef {ReturnType<typeof createComposer>} Composer
 */

/** A finger has no Shift: on a phone Enter makes a line, and the button sends. */
const isTouch = () => matchMedia("(hover: none) and (pointer: coarse)").matches;

/**
 * @param {Target} target
 * @param {Outcomes} outcomes
 */
export function createComposer(target, outcomes) {
  const cue = target.kind === "cue" ? target.cue : null;
  const stored = target.kind === "cue" ? target.cue.draft : target.draft;
  const draft = keepDraft(cue ? "cues" : "agents", target.kind === "cue" ? target.cue.cue_id : target.agentId, stored);
  let isSending = false;
  let isFrozen = false;
  /** The id of the decision in the making, and what it says: the same words sent again are the same decision. */
  let decision = { id: uuid7(), says: "" };

  const changed = () => {
    error.textContent = "";
    updateSend();
    draft.change(readDraft());
  };
  const control = controlFor(cue, changed);
  const attachments = createAttachments(changed);
  const text = textArea(cue, changed);
  const preview = h("div", { class: "preview", hidden: true, "aria-live": "polite" });
  const error = h("p", { class: "composer-error", role: "alert" });
  const quick = h("div", { class: "quick", role: "group", "aria-label": t("quick") });
  const sendButton = h("button", { type: "submit", class: "button primary send" }, icon("arrow"), h("span", null, t(cue ? "send" : "leave")));
  const previewButton = iconButton("eye", t("preview"), togglePreview);
  const direct = cue ? directFor(cue, (reply) => void submit(reply)) : null;

  const el = h(
    "form",
    { class: "composer", data: { target: target.kind }, "aria-label": t(cue ? "answer" : "message"), onsubmit: (/** @type {Event} */ event) => (event.preventDefault(), void submit()) },
    h("div", { class: "composer-scroll" }, control?.el, direct),
    attachments.list,
    quick,
    h("div", { class: "composer-box" }, text, preview, error, h("div", { class: "composer-bar" }, cue && [attachments.button, attachments.input], previewButton, cue && declineButton(), h("span", { class: "composer-hint", "aria-hidden": "true" }, hint()), sendButton)),
  );
  el.addEventListener("keydown", whenKey);
  if (cue) acceptFiles();
  drawQuick();
  if (stored) write(stored.body);
  updateSend();
  const leave = () => draft.flush();
  addEventListener("pagehide", leave);

  function hint() {
    if (isTouch()) return "";
    return state.settings.enter_sends ? t("hint.enter") : t("hint.ctrl-enter");
  }

  /** @param {KeyboardEvent} event */
  function whenKey(event) {
    if (event.key !== "Enter") return;
    // While an input method composes, Enter belongs to it. Some report it only by the key code.
    if (event.isComposing || event.keyCode === 229) return void (event.target !== text && event.preventDefault());
    const sends = event.ctrlKey || event.metaKey || (event.target === text && state.settings.enter_sends && !event.shiftKey && !event.altKey && !isTouch());
    if (!sends) return;
    event.preventDefault();
    void submit();
  }

  function drawQuick() {
    const insert = (/** @type {string} */ reply) => {
      text.value = text.value.trim() === "" ? reply : `${text.value.trimEnd()}\n${reply}`;
      text.dispatchEvent(new Event("input", { bubbles: true }));
      text.focus();
    };
    fill(
      quick,
      state.settings.quick_replies.map((reply) => h("button", { type: "button", class: "chip", dir: "auto", onclick: () => insert(reply) }, reply)),
      iconButton("edit", t("quick.edit"), () => openSettings("quick"), "small"),
    );
    quick.hidden = cue?.type !== "text";
  }

  function declineButton() {
    const decline = (/** @type {string} */ reason) => run((id) => api.decline(/** @type {T.Cue} */ (cue).cue_id, id, reason), { declined: reason });
    const ask = () => askText({ title: t("decline.title"), text: t("decline.text"), label: t("decline.reason"), confirm: t("decline"), lines: 3, optional: true, value: text.value, run: decline });
    return textButton(t("decline"), ask, "decline");
  }

  function acceptFiles() {
    el.addEventListener("paste", (event) => {
      const files = [...(event.clipboardData?.files ?? [])];
      if (files.length === 0) return;
      event.preventDefault();
      attachments.add(files);
    });
    el.addEventListener("dragover", (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      el.classList.add("dropping");
    });
    el.addEventListener("dragleave", (event) => {
      if (!el.contains(/** @type {Node | null} */ (event.relatedTarget))) el.classList.remove("dropping");
    });
    el.addEventListener("drop", (event) => {
      el.classList.remove("dropping");
      if (!event.dataTransfer?.files.length) return;
      event.preventDefault();
      attachments.add(event.dataTransfer.files);
    });
  }

  async function togglePreview() {
    const shows = preview.hidden;
    previewButton.setAttribute("aria-pressed", String(shows));
    preview.hidden = !shows;
    text.hidden = shows;
    if (!shows) return text.focus();
    try {
      fill(preview, rendered((await api.preview(text.value)).html));
    } catch {
      fill(preview, t("error.try-again"));
    }
  }

  /** @returns {T.Answer} */
  function readDraft() {
    const reply = control && "readDraft" in control ? control.readDraft() : control?.read();
    const files = attachments.read();
    return { ...(text.value && { text: text.value }), ...(reply && { reply }), ...(files.length && { attachments: files }) };
  }

  /** @param {T.Answer} body */
  function write(body) {
    text.value = body.text ?? "";
    grow(text);
    control?.write(body.reply);
    attachments.write(body.attachments ?? []);
    updateSend();
  }

  function isDirty() {
    return text.value.trim() !== "" || control?.read() !== undefined || !attachments.isEmpty();
  }

  function updateSend() {
    sendButton.disabled = isFrozen || isSending || attachments.isBusy();
    el.classList.toggle("dirty", isDirty());
  }

  /** @param {T.Reply} [pressed] */
  async function submit(pressed) {
    if (isSending || isFrozen || attachments.isBusy()) return;
    const words = text.value.trim() === "" ? "" : text.value;
    const reply = pressed ?? control?.read();
    if (!words && !reply && attachments.isEmpty()) return void (control?.check() && (error.textContent = t("error.empty"), text.focus()));
    if (reply && !pressed && control && !control.check()) return;
    if (target.kind === "message") return run(() => api.say(decision.id, [target.agentId], words), { words });
    const files = attachments.read().map((file) => ({ upload_id: String(file.upload_id) }));
    const answer = { ...(words && { text: words }), ...(reply && { reply }), ...(files.length && { attachments: files }) };
    await run((id) => api.answer(target.cue.cue_id, id, answer), answer);
  }

  /**
   * @param {(id: string) => Promise<any>} request
   * @param {object} says
   */
  async function run(request, says) {
    const said = JSON.stringify(says);
    if (decision.says !== said) decision = { id: uuid7(), says: said };
    isSending = true;
    updateSend();
    try {
      const decided = await request(decision.id);
      const refused = decided.results?.[0]?.error;
      if (refused) throw new ApiError(400, refused);
      await draft.close();
      write({});
      if (cue) return outcomes.sent(decided);
      await api.dropDraft("agents", target.kind === "message" ? target.agentId : "").catch(() => {});
      outcomes.said();
    } catch (problem) {
      whenRefused(problem);
    } finally {
      isSending = false;
      updateSend();
    }
  }

  /** @param {unknown} problem */
  function whenRefused(problem) {
    if (!(problem instanceof ApiError)) throw problem;
    if (problem.code === "already_decided") return outcomes.lost(problem.details);
    error.textContent = problem.code === "offline" ? t("error.offline") : [problem.message, problem.hint].filter(Boolean).join(". ");
  }

  return {
    el,
    target,
    isDirty,
    write,
    text,
    hasFocus: () => el.contains(document.activeElement),
    focus: () => (control && "focus" in control ? control.focus() : direct?.querySelector("button")?.focus() ?? text.focus()),
    /** @param {number} index */
    pick: (index) => control && "pick" in control && control.pick(index),
    drawQuick,
    isFrozen: () => isFrozen,
    /** Stops sending: the question was decided elsewhere. What was written stays. */
    freeze() {
      isFrozen = true;
      void draft.close();
      el.classList.add("frozen");
      updateSend();
    },
    /**
     * Takes over what was typed on another device, unless someone is typing here.
     * @param {number | undefined} rev
     */
    async adoptDraft(rev) {
      if (isFrozen || !draft.isNews(rev) || (el.contains(document.activeElement) && isDirty())) return;
      const fresh = cue ? (await api.cue(cue.cue_id)).draft : (await api.agent(target.kind === "message" ? target.agentId : "")).draft;
      draft.adopt(fresh);
      write(fresh?.body ?? {});
    },
    close() {
      draft.flush();
      removeEventListener("pagehide", leave);
    },
  };
}

/**
 * @param {T.Cue | null} cue
 * @param {() => void} changed
 */
function controlFor(cue, changed) {
  if (cue?.payload?.type === "choice") return createChoice(cue.payload, changed);
  if (cue?.payload?.type === "form") return createForm(cue.payload, changed);
  return null;
}

/**
 * Buttons that answer at once.
 * @param {T.Cue} cue
 * @param {(reply: T.Reply) => void} send
 */
function directFor(cue, send) {
  if (cue.kind === "pause") return createContinue(send);
  return cue.payload?.type === "confirm" ? createConfirm(cue, cue.payload, send) : null;
}

/**
 * @param {T.Cue | null} cue
 * @param {() => void} changed
 */
function textArea(cue, changed) {
  const label = !cue ? t("message.placeholder") : cue.payload || cue.kind === "pause" ? t("answer.also") : t("answer.placeholder");
  const area = h("textarea", { class: "composer-text", rows: "1", placeholder: label, "aria-label": label, dir: "auto", enterkeyhint: isTouch() ? "enter" : "send", oninput: () => (grow(area), changed()) });
  return area;
}

/** @param {HTMLTextAreaElement} area */
function grow(area) {
  if (CSS.supports("field-sizing", "content")) return;
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight}px`;
}
