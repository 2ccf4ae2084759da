/** Several agents at once: the same answer or reason to those that ask, or the archive. Each is a decision of its own, and each failure is told. */

/** @import { Kit } from "./load.js" */
/** @import { Row } from "../rows.js" */
/** @import { Word } from "./words.js" */

/** @typedef {import("../types.js").Decided} Decided */

/** Words that were written and not sent when the dialog was closed. */
let unsent = "";

/**
 * @param {Kit} kit
 * @param {(word: Word, values?: Record<string, string | number>) => string} w
 */
export function openSeveral({ fill, h, icon, plain, uuid7, api, rowsOf, snoozedUntil, nameOf, refresh, sentToast, state, t, openDialog, toast }, w) {
  const isOpen = (/** @type {Row} */ row) => row.cue !== null && row.state !== "working" && row.state !== "quiet";
  const rows = [...state.agents.values()].filter((agent) => !agent.archived).flatMap((agent) => rowsOf(agent, snoozedUntil));
  if (rows.length === 0) return toast(w("several.none"));
  rows.sort((a, b) => (a.since < b.since ? -1 : 1));
  const boxes = new Map(rows.map((row) => [row, h("input", { type: "checkbox", onchange: () => draw() })]));
  const text = h("textarea", { class: "input", rows: "3", dir: "auto", "aria-label": w("several.answer"), placeholder: w("several.answer"), value: unsent, oninput: () => ((unsent = text.value), draw()) });
  const note = h("div", { class: "field-error", role: "alert" });
  const groups = [group("several.open", rows.filter(isOpen)), group("several.quiet", rows.filter((row) => !isOpen(row)))];
  const chosen = () => rows.filter((row) => boxes.get(row)?.checked);
  const open = () => chosen().filter(isOpen);
  /** One row of each agent. */
  const agents = () => [...new Map(chosen().map((row) => [row.agent.agent_id, row])).values()];
  const button = (/** @type {string} */ kind, /** @type {() => unknown} */ run) => h("button", { type: "button", class: `button ${kind}`, onclick: () => void run() });
  const archive = (/** @type {Row} */ row) => api.changeAgent(row.agent.agent_id, { archived: true });
  const archiving = button("", () => each(agents(), archive));
  const declining = button("", () => each(open(), (row) => api.decline(String(row.cue?.cue_id), uuid7(), text.value.trim()), "several.declining"));
  const sending = button("primary", () => each(open(), answer, "several.sending"));
  /** @type {() => void} */
  let close = () => {};

  /**
   * @param {Word} title
   * @param {Row[]} within
   */
  function group(title, within) {
    const all = h("input", { type: "checkbox", onchange: () => (left().forEach(([, box]) => (box.checked = all.checked)), draw()) });
    const left = () => [...boxes].filter(([row]) => within.includes(row));
    const line = (/** @type {Row} */ row) => h("label", { class: "pick" }, boxes.get(row), h("span", { class: "pick-text", dir: "auto" }, plain(row.cue?.beginning ?? t("row.nothing-yet"))), h("span", { class: "muted small" }, `${row.agent.project} · ${nameOf(row.agent)}`));
    const el = h("div", { role: "group", "aria-label": w(title) }, h("label", { class: "pick strong" }, all, w(title)), within.map(line));
    const tell = () => {
      const n = left().filter(([, box]) => box.checked).length;
      el.hidden = left().length === 0;
      all.checked = n > 0 && n === left().length;
      all.indeterminate = n > 0 && !all.checked;
    };
    return { el, tell };
  }

  /** @param {Row} row */
  function drop(row) {
    boxes.get(row)?.closest("label")?.remove();
    boxes.delete(row);
  }

  function draw() {
    const label = (/** @type {HTMLButtonElement} */ one, /** @type {Word} */ word, /** @type {string} */ none, /** @type {number} */ n, ready = true) => {
      one.disabled = n === 0 || !ready;
      one.textContent = n > 0 ? w(word, { n }) : none;
    };
    groups.forEach((one) => one.tell());
    label(archiving, "several.archive", t("archive"), agents().length);
    label(declining, "several.decline", t("decline"), open().length);
    label(sending, "several.send", t("send"), open().length, text.value.trim() !== "");
  }

  /**
   * @param {Row[]} about
   * @param {(row: Row) => Promise<any>} run
   * @param {"several.sending" | "several.declining"} [says] what it is, if it can be taken back
   */
  async function each(about, run, says) {
    const failed = [];
    /** @type {Decided[]} */
    const decided = [];
    for (const one of [archiving, declining, sending]) one.disabled = true;
    for (const row of about) {
      try {
        decided.push(await run(row));
        for (const other of run === archive ? rows.filter(({ agent }) => agent === row.agent) : [row]) drop(other);
      } catch (error) {
        failed.push(w("several.failed", { name: nameOf(row.agent), why: error instanceof Error ? error.message : "" }));
      }
      refresh(row.agent.agent_id);
    }
    draw();
    fill(note, failed.map((line) => h("p", null, line)));
    tell(decided, says);
    if (failed.length > 0) return;
    if (says) unsent = "";
    close();
  }

  /**
   * @param {Decided[]} decided
   * @param {"several.sending" | "several.declining"} [says]
   */
  function tell([first, ...others], says) {
    if (!first) return;
    const n = others.length + 1;
    const sent = w("several.done", { n });
    if (!says) return toast(sent);
    const reopened = () => [first, ...others].forEach((one) => refresh(one.agent_id));
    sentToast([first, ...others], "", reopened, { sending: w(n === 1 ? `${says}.one` : says, { n }), sent });
  }

  /** @param {Row} row */
  async function answer(row) {
    if (row.cue?.origin === "approval") throw new Error(w("several.approval"));
    return api.answer(String(row.cue?.cue_id), uuid7(), { text: text.value });
  }

  openDialog(w("several"), (closing) => {
    close = closing;
    return [h("div", { class: "stack" }, h("div", { class: "pick-list" }, groups.map(({ el }) => el)), text, h("p", { class: "muted small" }, icon("help"), " ", w("several.approval")), note, h("div", { class: "dialog-actions" }, archiving, declining, sending))];
  }, { wide: true });
  draw();
}
