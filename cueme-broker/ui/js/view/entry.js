/** One question in the timeline, with what became of it. */

import { fill, h, setText } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { clock } from "../lib/time.js";
import { uuid7 } from "../lib/uuid.js";
import { valueWords } from "../lib/values.js";
import { visible } from "../lib/visible.js";
import { rendered } from "../lib/rendered.js";
import { api } from "../api.js";
import { t } from "../i18n/index.js";
import { textButton } from "./buttons.js";
import { copyButton } from "./copy.js";
import { deliveryWords, isAnswerable, isHeld } from "./delivery.js";
import { foldPast, foldable } from "./fold.js";
import { liveSpan } from "./live-time.js";
import { kindOf } from "./row.js";
import { takeBack, toast } from "./toast.js";
import { opened } from "./unseen.js";

/** @import * as T from "../types.js" */

/** A first paragraph that is shorter reads as the headline of its question. */
const ASK_CHARS_MAX = 120;

/** @typedef {{ reply: (cueId: string) => void, drawn: () => void }} EntryActions */

/**
 * @param {T.Cue} cue
 * @param {EntryActions} actions
 */
export function createEntry(cue, actions) {
  const head = h("header", { class: "entry-head" });
  const offered = h("div", { class: "offered" });
  const answer = h("div", { class: "entry-answer" });
  const question = h("div", { class: "question" }, head, foldable(cue, "prompt"), filesOf(cue, actions), offered);
  const el = h("article", { class: "entry", id: `cue-${cue.cue_id}`, tabindex: "-1", "aria-label": t("entry.label", { at: clock(cue.asked_at) }) }, question, answer);
  const first = question.querySelector(".prose > p:first-child");
  if ((first?.textContent?.length ?? ASK_CHARS_MAX) < ASK_CHARS_MAX) first?.classList.add("ask");
  updateEntry(el, cue, actions);
  return el;
}

/**
 * Images and patches of the project that a question names. Until one is on screen, nobody has seen it.
 * @param {T.Cue} cue
 * @param {EntryActions} actions
 */
function filesOf({ files = [] }, actions) {
  if (files.length === 0) return null;
  const image = (/** @type {T.QuestionFile} */ { path, url }) => {
    const place = h("li", { data: { folded: "" } }, h("figure", null, h("a", { href: url, target: "_blank", rel: "noopener" }, h("img", { src: url, alt: path, loading: "lazy", onload: () => opened(place) })), h("figcaption", { class: "muted cut", dir: "auto" }, path)));
    return place;
  };
  const patch = (/** @type {T.QuestionFile} */ { path, url }) => {
    const place = h("div", { class: "attached", data: { folded: "" } }, h("p", { class: "file" }, icon("file"), h("bdi", null, path)));
    const read = () => api.patch(url).then(({ html }) => (place.append(rendered(html)), opened(place), actions.drawn()), () => place.append(retry));
    const retry = textButton(t("error.try-again"), () => (retry.remove(), void read()));
    void read();
    return place;
  };
  const images = files.filter(({ kind }) => kind === "image");
  return h("div", { class: "named-files" }, images.length > 0 && h("ul", { class: "pictures" }, images.map(image)), files.filter(({ kind }) => kind === "patch").map(patch));
}

/**
 * Brings the parts that change in line with the question. The question's text never changes and is left alone.
 * @param {HTMLElement} el
 * @param {T.Cue} cue
 * @param {EntryActions} actions
 */
export function updateEntry(el, cue, actions) {
  const held = cue.released_at && cue.outcome !== "open" ? cue.released_at : "";
  const key = [cue.outcome, cue.delivery, cue.waiting > 0, cue.detached_at, held, cue.decided_at, cue.acknowledged_at, cue.damaged].join();
  if (el.dataset.drawn === key) return;
  el.dataset.drawn = key;
  el.dataset.outcome = cue.outcome;
  el.classList.toggle("past", !isAnswerable(cue));
  foldPast(part(el, ".fold"), cue, !isAnswerable(cue));
  fill(part(el, ".entry-head"), headOf(cue, part(el, ".fold")));
  fill(part(el, ".offered"), isAnswerable(cue) ? null : offeredOf(cue));
  fill(part(el, ".entry-answer"), cue.damaged ? damagedFoot(cue) : isAnswerable(cue) ? openFoot(cue, actions) : decisionOf(cue));
}

/**
 * @param {HTMLElement} el
 * @param {string} selector
 */
const part = (el, selector) => /** @type {HTMLElement} */ (el.querySelector(selector));

/**
 * @param {T.Cue} cue
 * @param {HTMLElement} fold
 */
function headOf(cue, fold) {
  const isOpen = cue.outcome === "open" && !cue.damaged;
  return [
    cue.damaged && h("span", { class: "badge", data: { state: "damaged" } }, t("damaged")),
    isOpen && h("span", { class: "badge", data: { state: cue.waiting > 0 ? "waiting" : "detached" } }, h("span", { class: "dot", "aria-hidden": "true" }), t(cue.waiting > 0 ? "entry.waiting" : "entry.detached"), " ", liveSpan((cue.waiting === 0 && cue.detached_at) || cue.asked_at, { precise: true })),
    cue.outcome === "superseded" && h("span", { class: "badge" }, t("entry.superseded")),
    cue.kind === "pause" && h("span", { class: "badge plain" }, icon("pause"), t("entry.pause")),
    cue.origin !== "agent" && h("span", { class: "badge plain" }, originOf(cue.origin)),
    isOpen && cue.origin === "agent" && cue.kind !== "pause" && h("span", { class: "muted entry-kind" }, kindOf(cue)),
    h("time", { class: "entry-time", datetime: cue.asked_at }, clock(cue.asked_at)),
    h("span", { class: "entry-tools" }, cue.prompt.hides_marks && sourceButton(cue, fold), copyButton(() => api.source(cue.cue_id, "prompt"), t("copy.question"))),
  ];
}

/**
 * Shows a question as it was written, instead of what its marks mean.
 * @param {T.Cue} cue
 * @param {HTMLElement} fold
 */
function sourceButton(cue, fold) {
  const isShown = () => fold.nextElementSibling?.classList.contains("source") ?? false;
  const label = () => setText(button, t(isShown() ? "source.hide" : "source.show"));
  const button = textButton("", async () => {
    try {
      if (isShown()) fold.nextElementSibling?.remove();
      else fold.after(h("pre", { class: "source", tabindex: "0", dir: "auto" }, visible(await api.source(cue.cue_id, "prompt"))));
    } catch {
      toast(t("error.try-again"), "bad");
    }
    fold.hidden = isShown();
    label();
  }, "source-button");
  button.title = t("source.why");
  label();
  return button;
}

/** @param {string} origin */
function originOf(origin) {
  if (origin === "hook") return t("origin.hook");
  if (origin === "approval") return t("origin.approval");
  if (origin === "import") return t("origin.import");
  return origin === "adapter" ? t("origin.adapter") : origin;
}

/**
 * What was offered, once it can no longer be chosen; what was chosen is ticked.
 * @param {T.Cue} cue
 */
function offeredOf({ payload, answer }) {
  const reply = answer?.reply;
  const option = (/** @type {string} */ text, /** @type {boolean} */ isPicked) => h("li", { dir: "auto", class: isPicked ? "picked" : "" }, isPicked && [icon("check"), h("span", { class: "sr" }, `${t("entry.chosen")} `)], visible(text));
  const list = (/** @type {HTMLElement[]} */ items) => h("ul", { class: "offered-list", "aria-label": t("entry.offered") }, items);
  if (payload?.type === "choice") return list(payload.options.map((text) => option(text, reply?.type === "choice" ? reply.selected.includes(text) : answer?.text === text)));
  if (payload?.type !== "confirm") return null;
  const is = (/** @type {boolean} */ yes) => reply?.type === "confirm" && reply.confirmed === yes;
  return [payload.text && h("p", { class: "muted", dir: "auto" }, visible(payload.text)), list([option(payload.confirm_label, is(true)), option(payload.cancel_label, is(false))])];
}

/**
 * @param {T.Cue} cue
 * @param {EntryActions} actions
 */
function openFoot(cue, actions) {
  return [
    cue.stopped_policy && h("p", { class: "delivery" }, icon("gear"), t("policy.stopped", { name: cue.stopped_policy.name, max: cue.stopped_policy.in_a_row_max })),
    cue.waiting === 0 && h("p", { class: "delivery", data: { tone: "warn" } }, icon("clock"), t(cue.outcome === "superseded" ? "entry.superseded-note" : "entry.detached-note")),
    h("button", { type: "button", class: "button answer-this", onclick: () => actions.reply(cue.cue_id) }, t("entry.answer-this")),
  ];
}

/**
 * Says that a question is out of service, with the way to close it. What was decided is not shown: nobody wrote it.
 * @param {T.Cue} cue
 */
function damagedFoot(cue) {
  const decision = uuid7();
  const close = textButton(t("damaged.close"), async () => {
    await api.close(cue.cue_id, decision).catch(() => toast(t("error.try-again"), "bad"));
  }, "close-damaged");
  return [h("p", { class: "delivery", data: { tone: "warn" } }, icon("help"), t("damaged.text")), cue.delivery !== "acknowledged" && close];
}

/** @param {T.Cue} cue */
function decisionOf(cue) {
  const words = deliveryWords(cue);
  const decidedAt = cue.decided_at ? clock(cue.decided_at) : "";
  const isRepeated = cue.acknowledged_at !== null && clock(cue.acknowledged_at) === decidedAt;
  const outcome = cue.withdrawn ? "withdrawn" : /** @type {"declined" | "cancelled"} */ (cue.outcome);
  const title = cue.outcome === "answered" ? null : h("p", { class: "decision" }, t(`outcome.${outcome}`));
  return h(
    "div",
    { class: "reply", data: { outcome: cue.outcome } },
    cue.policy && policyLine(cue.policy),
    cue.from_queue && h("p", { class: "badge plain auto" }, t("entry.from-queue")),
    title,
    (cue.notes ?? []).map((note) => h("p", { class: "around", dir: "auto" }, h("b", null, t("note.name")), " ", visible(note))),
    wordsOf(cue),
    cue.standing && h("p", { class: "around", dir: "auto" }, h("b", null, t("standing")), " ", visible(cue.standing)),
    cue.answer?.ends_run && h("p", { class: "badge plain" }, t("end-run.done")),
    pictures(cue.answer?.attachments ?? []),
    h(
      "footer",
      { class: "delivery", data: { tone: words.tone } },
      icon(words.icon),
      h("span", null, words.text),
      isHeld(cue) && textButton(t("undo"), () => takeBack(cue.cue_id), "strong"),
      h("span", { class: "by" }, [cue.by, !isRepeated && decidedAt].filter(Boolean).join(" · ")),
      cue.text && copyButton(() => api.source(cue.cue_id, "text"), t("copy.answer")),
    ),
  );
}

/**
 * What the human wrote or chose. Options and buttons are ticked in the question; the words beside them stand here.
 * @param {T.Cue} cue
 */
function wordsOf(cue) {
  const { reply, text } = cue.answer ?? {};
  const words = text && h("p", { class: "own-words", dir: "auto" }, visible(text));
  if (reply?.type === "form") return [h("dl", { class: "given" }, reply.fields.flatMap(fieldOf)), words];
  if (reply?.type === "choice" && reply.other) return [h("p", { class: "picked", dir: "auto" }, icon("check"), visible(reply.other)), words];
  if (reply?.type === "choice" || reply?.type === "confirm") return words;
  if (cue.payload?.type === "choice" && text && cue.payload.options.includes(text)) return null;
  return cue.text && cue.text.bytes > 0 && foldable(cue, "text");
}

/** @param {T.FieldReply} field */
function fieldOf({ label, values, other }) {
  return [h("dt", { dir: "auto" }, visible(label)), h("dd", { dir: "auto" }, [...values.map(valueWords), ...(other ? [visible(other)] : [])].join(t("list.and")))];
}

/**
 * Says that a rule answered, with the switch that stops it.
 * @param {string} name
 */
function policyLine(name) {
  const off = textButton(t("policy.turn-off"), async () => {
    try {
      await api.changePolicy(name, false);
      off.replaceWith(h("span", { class: "muted" }, t("policy.is-off")));
    } catch {
      toast(t("error.try-again"), "bad");
    }
  });
  return h("p", { class: "badge plain auto" }, icon("gear"), t("entry.policy", { name }), off);
}

/** @param {T.Attachment[]} attachments */
function pictures(attachments) {
  const shown = attachments.filter((file) => file.url);
  if (shown.length === 0) return null;
  return h("ul", { class: "pictures" }, shown.map((file) => h("li", null, h("a", { href: file.url, target: "_blank", rel: "noopener" }, picture(file)))));
}

/** @param {T.Attachment} file */
export function picture(file) {
  if (file.url && file.media_type?.startsWith("image/")) return h("img", { src: file.url, alt: file.name ?? "", loading: "lazy" });
  return h("span", { class: "file" }, icon("file"), h("bdi", null, file.name ?? file.path ?? ""));
}
