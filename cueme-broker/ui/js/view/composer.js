/**
 * Where a person answers one question, or leaves a message for one agent. It belongs to that question for as long as it lives:
 * whatever else arrives, it is never pointed at another one.
 */

import { CTRL, fill, h, isComposing as isInputMethod, setText } from "../lib/dom.js";
import { plain } from "../lib/plain.js";
import { rendered } from "../lib/rendered.js";
import { uuid7 } from "../lib/uuid.js";
import { keepDraft } from "../draft.js";
import { api, ApiError } from "../api.js";
import { repliesByUse, state } from "../store.js";
import { t } from "../i18n/index.js";
import { approvalHint, denies, isApproval, meantBy } from "./approval.js";
import { iconButton, textButton } from "./buttons.js";
import { createAttachments } from "./attachments.js";
import { createChoice } from "./choice.js";
import { createConfirm, createContinue } from "./confirm.js";
import { askText } from "./dialog.js";
import { createForm } from "./form.js";
import { openTool } from "../tools/load.js";
import { createPurpose } from "./purpose.js";
import { reviewText } from "../review/text.js";

/** @import * as T from "../types.js" */

/**
 * @typedef {{ kind: "cue", cue: T.Cue } | { kind: "message", agentId: string, draft: T.Draft | null | undefined }} Target
 * @typedef {{ sent: (decided: T.Decided, sent: T.Answer, says: T.Says, others: import("../aids/once.js").Other[]) => void, others: () => import("../aids/once.js").Other[], said: (purpose: T.Purpose) => void, lost: (details: any) => void }} Outcomes
 * @typedef {ReturnType<typeof createComposer>} Composer
 */

/** A finger has no Shift: on a phone Enter makes a line, and the button sends. */
const isTouch = () => matchMedia("(hover: none) and (pointer: coarse)").matches;

/** How soon after another question stood in this place a press is still meant for that one. */
const REACTION_MS = 500;

/** The question whose composer left the screen last, and when. */
let last = { of: "", at: -REACTION_MS };

/**
 * @param {Target} target
 * @param {Outcomes} outcomes
 */
export function createComposer(target, outcomes) {
  const cue = target.kind === "cue" ? target.cue : null;
  const agentId = target.kind === "cue" ? target.cue.agent_id : target.agentId;
  const draft = target.kind === "cue" ? keepDraft(placeOf(target.cue), target.cue.draft) : keepDraft({ kind: "agents", id: agentId, agent: agentId }, target.draft);
  let isSending = false;
  let isSent = false;
  let isFrozen = false;
  /** Whether somebody wrote here since the words came from elsewhere. */
  let isTyped = false;
  let isComposing = false;
  /** Whether somebody has touched it since it was put here. */
  let isTouched = false;
  const readyAt = cue && cue.cue_id !== last.of && performance.now() - last.at < REACTION_MS ? performance.now() + REACTION_MS : 0;
  /** Comments on lines of a patch in the question. @type {T.Comment[]} */
  let comments = [];
  /** The comment in the making. @type {T.Writing | undefined} */
  let writing;
  /** How many questions of the agent are open. */
  let open = 1;
  /** The words that are on their way: the field is free for the next ones, and gets these back when they were not sent. */
  let underWay = "";
  /** The id of the decision in the making, and what it says: the same words sent again are the same decision. */
  let decision = draft.decision ?? { id: uuid7(), says: "" };

  const changed = () => {
    isTyped = isTouched = true;
    error.textContent = "";
    updateSend();
    draft.change(readDraft());
  };
  const control = controlFor(cue, changed);
  const attachments = createAttachments(changed);
  const purpose = cue ? null : createPurpose(() => (showPurpose(), changed()));
  const text = textArea(cue, changed);
  const preview = h("div", { class: "preview", hidden: true, "aria-live": "polite" });
  const error = h("p", { class: "composer-error", role: "alert" });
  const quick = h("div", { class: "quick", role: "group", "aria-label": t("quick") });
  const direct = cue ? directFor(cue, (reply) => void submit(reply)) : null;
  const sendKey = h("kbd", { "aria-hidden": "true" });
  const sendButton = h("button", { type: "submit", class: direct ? "button send" : "button primary send" }, h("span", null, t(direct ? "send.text" : cue?.payload?.type === "form" ? "send.form" : "send")), sendKey);
  const isForm = cue?.payload?.type === "form";
  const writeInstead = textButton(t("form.write-instead"), () => (showText(), text.focus()), "write-instead");
  const recipients = h("b", { class: "recipients" });
  const others = h("span");
  const meaning = h("p", { class: "muted small", role: "status" });
  const previewButton = iconButton("eye", t("preview"), togglePreview);
  previewButton.hidden = isForm;

  const el = h(
    "form",
    { class: "composer", data: { target: target.kind }, "aria-label": t(cue ? "answer" : "message"), onsubmit: (/** @type {Event} */ event) => (event.preventDefault(), void submit()) },
    cue?.beginning && h("p", { class: "for" }, h("b", null, t("answering")), h("bdi", { class: "cut" }, plain(cue.beginning)), recipients, others),
    h("div", { class: "composer-scroll" }, control?.el, direct?.el),
    attachments.list,
    quick,
    purpose?.el,
    h("div", { class: "composer-box" }, text, preview, error, meaning, h("div", { class: "composer-bar" }, direct?.buttons, sendButton, cue && [attachments.button, attachments.input], previewButton, isForm && writeInstead, cue && !isApproval(cue) && declineButton(), cue?.in_run && endButton())),
  );
  el.addEventListener("keydown", whenKey);
  for (const what of ["start", "end"]) text.addEventListener(`composition${what}`, () => void (isComposing = what === "start"));
  if (cue) acceptFiles();
  text.hidden = isForm;
  sendKey.textContent = state.settings.enter_sends && !control ? "↵" : `${CTRL} ↵`;
  drawQuick();
  write(draft.body);
  if (readyAt) settle();
  const leave = () => draft.flush();
  addEventListener("pagehide", leave);

  /** Says of the buttons that answer at once that they are not ready, as long as they are not. */
  function settle() {
    const buttons = el.querySelectorAll(".confirm-buttons button, .end-run");
    for (const button of buttons) button.setAttribute("aria-disabled", "true");
    setTimeout(() => buttons.forEach((button) => button.removeAttribute("aria-disabled")), REACTION_MS);
  }

  /** A form is answered by its fields; words instead of them are a second way. */
  function showText() {
    text.hidden = previewButton.hidden = false;
    writeInstead.hidden = true;
  }

  /** @param {KeyboardEvent} event */
  function whenKey(event) {
    if (event.key !== "Enter") return;
    // While an input method composes, Enter belongs to it.
    if (isInputMethod(event)) return void (event.target !== text && event.preventDefault());
    const sends = event.ctrlKey || event.metaKey || (event.target === text && state.settings.enter_sends && !event.shiftKey && !event.altKey && !isTouch());
    // Words typed while others are on their way are not sent with them.
    if (!sends || isSending || isSent) return;
    event.preventDefault();
    // A key that is held down answers once.
    if (!event.repeat) void submit();
  }

  function showPurpose() {
    if (!purpose) return;
    text.placeholder = text.ariaLabel = t(`${purpose.read()}.placeholder`);
    setText(/** @type {Element} */ (sendButton.firstElementChild), t(`${purpose.read()}.leave`));
  }

  function drawQuick() {
    const insert = (/** @type {string} */ reply) => {
      text.value = text.value.trim() === "" ? reply : `${text.value.trimEnd()}\n${reply}`;
      text.dispatchEvent(new Event("input", { bubbles: true }));
      text.focus();
    };
    fill(
      quick,
      repliesByUse().map((reply) => h("button", { type: "button", class: "chip", dir: "auto", onclick: () => insert(reply) }, reply)),
      iconButton("edit", t("quick.edit"), () => openTool("settings", "quick"), "small"),
    );
    quick.hidden = cue?.type !== "text";
  }

  function declineButton() {
    // The reason is the draft, so that neither a failure nor a second thought costs a word of it.
    const keepWords = (/** @type {string} */ words) => (setWords(words), changed());
    const decline = async (/** @type {string} */ reason) => {
      keepWords(reason);
      await run((id) => api.decline(/** @type {T.Cue} */ (cue).cue_id, id, reason), { declined: reason });
      if (error.textContent) throw new Error(error.textContent);
    };
    const ask = () => askText({ title: t("decline.title"), text: t("decline.text"), label: t("decline.reason"), confirm: t("decline"), lines: 3, optional: true, value: text.value, oninput: keepWords, run: decline });
    return textButton(t("decline.ask"), ask, "decline");
  }

  /** Ends the run of the agent; what is written here is the last word to it. */
  function endButton() {
    return textButton(t("end-run"), () => submit(undefined, true), "end-run");
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
    const words = joined(underWay, text.value);
    if (isSent) return words ? { text: words } : {};
    const reply = control?.readDraft();
    const files = attachments.read();
    return { ...(words && { text: words }), ...(words && purpose?.read() === "queued_answer" && { purpose: purpose.read() }), ...(reply && { reply }), ...(files.length && { attachments: files }), ...(comments.length && { comments }), ...(writing?.text.trim() && { writing }) };
  }

  /** @param {T.Answer} body */
  function write(body) {
    setWords(body.text ?? "");
    purpose?.write(body.purpose ?? "note");
    showPurpose();
    control?.write(body.reply);
    attachments.write(body.attachments ?? []);
    comments = body.comments ?? [];
    writing = body.writing;
    isTyped = true;
    updateSend();
    el.dispatchEvent(new Event("rewritten", { bubbles: true }));
  }

  /** @param {string} words */
  function setWords(words) {
    text.value = words;
    if (words) showText();
    grow(text);
  }

  function isDirty() {
    return joined(underWay, text.value).trim() !== "" || (!isSent && Boolean(control?.read() !== undefined || !attachments.isEmpty() || comments.length > 0 || writing?.text.trim()));
  }

  function updateSend() {
    sendButton.disabled = isFrozen || isSending || isSent || attachments.isBusy() || !isDirty();
    sendButton.hidden = direct !== null && text.value.trim() === "" && attachments.isEmpty() && comments.length === 0;
    tellOthers();
    el.classList.toggle("dirty", isDirty());
    setText(meaning, cue && text.value.trim() ? approvalHint(cue, text.value) : "");
    if (direct) setText(/** @type {Element} */ (sendButton.firstElementChild), t(cue && denies(cue, text.value) ? "send.deny" : "send.text"));
  }

  /** Says what else there is: fields to fill in, comments that go along, or other questions. */
  function tellOthers() {
    const left = isForm ? control?.left() ?? 0 : 0;
    const n = comments.length;
    setText(others, left > 0 ? t("form.left", { n: left }) : n > 0 ? t("review.along", { n }) : open > 1 && !isForm ? t("answering.of", { n: open }) : "");
  }

  /**
   * @param {T.Reply} [pressed]
   * @param {boolean} [endsRun]
   * @returns {Promise<void>}
   */
  async function submit(pressed, endsRun = false) {
    if (isSending || isSent || isFrozen || attachments.isBusy() || isTooSoon()) return;
    const entry = el.closest(".entry");
    const unfinished = writing?.text.trim();
    if (unfinished && unfinished !== writing?.instead?.text && entry?.querySelector(".patch")) {
      error.textContent = t("review.unfinished");
      /** @type {HTMLElement | null} */ (entry.querySelector(".review-editor textarea"))?.focus();
      return;
    }
    let words = joined(text.value.trim() === "" ? "" : text.value, reviewText(comments), "\n\n");
    let reply = pressed ?? control?.read();
    if (cue?.kind === "pause" && !words && attachments.isEmpty()) reply ??= { type: "continue" };
    if (!words && !reply && attachments.isEmpty() && !endsRun) return void (control?.check() && (error.textContent = t("error.empty"), text.focus()));
    if (reply && !pressed && control && !control.check()) return;
    if (target.kind === "message") return run((id) => api.say(id, [agentId], words, purpose?.read() ?? "note"), { words, purpose: purpose?.read() });
    if (words && !reply && isApproval(target.cue)) {
      const confirmed = meantBy(target.cue, words);
      if (confirmed && isHidden()) return void (error.textContent = t("approval.unread"));
      reply = { type: "confirm", confirmed: confirmed === true };
      if (confirmed !== undefined) words = "";
    }
    const files = attachments.read().map((file) => ({ upload_id: String(file.upload_id) }));
    const answer = { ...(words && { text: words }), ...(reply && { reply }), ...(files.length && { attachments: files }), ...(endsRun && { ends_run: true }) };
    await run((id) => api.answer(target.cue.cue_id, id, answer), answer);
  }

  /** Says whether a press was meant for the question that stood here a moment ago: the second one of a double click, or of two quick keys. */
  const isTooSoon = () => !isTouched && performance.now() < readyAt;

  /** Says whether something of the question has to be opened before it may be confirmed. */
  const isHidden = () => direct !== null && !direct.isSeen();

  /**
   * @param {(id: string) => Promise<any>} request
   * @param {object} says
   */
  async function run(request, says) {
    const said = JSON.stringify(says);
    if (decision.says !== said) decision = { id: uuid7(), says: said };
    const sent = readDraft();
    const others = cue ? outcomes.others() : [];
    isSending = true;
    underWay = text.value;
    setWords("");
    draft.hold(sent, decision);
    updateSend();
    try {
      const decided = await request(decision.id);
      const refused = decided.results?.[0]?.error;
      if (refused) throw new ApiError(400, refused);
      underWay = "";
      isSent = cue !== null;
      draft.release(true, readDraft());
      if (cue) outcomes.sent(decided, sent, /** @type {T.Says} */ (says), others);
      else {
        // The next words are a note again, unless somebody says otherwise.
        if (!text.value) write({});
        outcomes.said(sent.purpose ?? "note");
      }
    } catch (problem) {
      const words = joined(underWay, text.value);
      underWay = "";
      setWords(words);
      draft.release(false, readDraft());
      whenRefused(problem);
    } finally {
      isSending = false;
      updateSend();
    }
  }

  /** @param {unknown} problem */
  function whenRefused(problem) {
    if (!(problem instanceof ApiError)) throw problem;
    if (problem.code === "already_decided" && el.isConnected) return outcomes.lost(problem.details);
    error.textContent = [problem.message, problem.hint].filter(Boolean).join(" ");
  }

  return {
    el,
    target,
    isDirty,
    write,
    text,
    hasFocus: () => el.contains(document.activeElement),
    focus: () => (control ? control.focus() : /** @type {HTMLElement} */ (direct?.buttons.querySelector(".primary") ?? text).focus()),
    /** Goes to where answering begins: the first field of a form, or else the text. */
    start: () => (isForm ? control?.focus() : text.focus()),
    /**
     * Answers a question of yes or no.
     * @param {boolean} yes
     */
    confirm: (yes) => direct?.press(yes),
    /**
     * Says how many questions of the agent are open.
     * @param {number} n
     */
    setOthers: (n) => ((open = n), tellOthers()),
    /**
     * Says who gets the answer, where that is not the agent alone that asked.
     * @param {string} who
     */
    setRecipients: (who) => setText(recipients, who),
    /**
     * Gives an answer that was given before; says whether there was room for it.
     * @param {T.Answer} answer
     */
    use(answer) {
      if (isDirty()) return false;
      if (isTooSoon()) return true;
      write(answer);
      if (answer.reply?.type === "confirm") direct?.press(answer.reply.confirmed);
      else void submit(answer.reply?.type === "continue" ? answer.reply : undefined);
      return true;
    },
    /** @param {number} index */
    pick: (index) => control?.pick(index),
    drawQuick,
    comments: () => comments,
    writing: () => writing,
    /**
     * @param {T.Comment[]} list
     * @param {T.Writing} [unfinished] the one in the making
     */
    setComments(list, unfinished) {
      comments = list;
      writing = unfinished;
      changed();
    },
    isFrozen: () => isFrozen,
    isSending: () => isSending,
    isSent: () => isSent,
    /** Whether there are words that somebody wrote in this place, rather than on another device. */
    isMine: () => isTyped && isDirty(),
    /** Resolves when no input method is in the middle of a word. */
    composed: () => (isComposing ? new Promise((done) => text.addEventListener("compositionend", done, { once: true })) : null),
    /**
     * Adds words to those that are there.
     * @param {string} words
     */
    add(words) {
      setWords(joined(text.value, words));
      changed();
    },
    /**
     * Adds what was written beside options and not sent with an answer that was taken back.
     * @param {T.Answer} sent
     */
    addUnpicked(sent) {
      control?.addUnpicked(sent.reply);
      changed();
    },
    /** Stops sending: the question was decided elsewhere. What was written stays. */
    freeze() {
      isFrozen = true;
      draft.close();
      el.classList.add("frozen");
      updateSend();
    },
    /**
     * Takes over what was typed on another device, unless someone is typing here.
     * @param {number | undefined} rev
     */
    async adoptDraft(rev) {
      const isBusy = () => isFrozen || !draft.isNews(rev) || (isTyped && (el.contains(document.activeElement) || document.activeElement?.closest(".review-editor")) && isDirty());
      if (isBusy()) return;
      const fresh = (await (cue ? api.cue(cue.cue_id) : api.agent(agentId))).draft ?? null;
      if (isBusy()) return;
      draft.adopt(fresh);
      write(fresh?.body ?? {});
      isTyped = false;
    },
    close() {
      // A message in between is no other question: one that is open again can be answered at once.
      last = { of: cue?.cue_id ?? last.of, at: performance.now() };
      draft.flush();
      removeEventListener("pagehide", leave);
    },
  };
}

/**
 * Where the draft of an answer is kept, with as much of the question as it takes to show it while the broker is away.
 * @param {T.Cue} cue
 * @returns {import("../draft.js").Place}
 */
function placeOf({ cue_id, agent_id, kind, type, origin, payload }) {
  return { kind: "cues", id: cue_id, agent: agent_id, cue: /** @type {T.Cue} */ ({ cue_id, agent_id, kind, type, origin, payload }) };
}

/**
 * @param {string} first
 * @param {string} second
 */
const joined = (first, second, between = "\n") => (first && second ? first + between + second : first || second);

/**
 * @param {T.Cue | null} cue
 * @param {() => void} changed
 */
function controlFor(cue, changed) {
  if (cue?.payload?.type === "choice") return createChoice(cue, cue.payload, changed);
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
  const label = !cue ? "" : isApproval(cue) ? t("answer.deny") : cue.payload || cue.kind === "pause" ? t("answer.also") : t("answer.placeholder");
  const area = h("textarea", { class: "composer-text", rows: "1", placeholder: label, "aria-label": label, dir: "auto", enterkeyhint: isTouch() ? "enter" : "send", oninput: () => (grow(area), changed()) });
  return area;
}

/** @param {HTMLTextAreaElement} area */
function grow(area) {
  if (CSS.supports("field-sizing", "content")) return;
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight}px`;
}
