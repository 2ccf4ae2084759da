/** Several questions at once: the same answer, the same reason, or the archive. Each is a decision of its own, and each failure is told. */

/** @import { Kit } from "./load.js" */
/** @import { Word } from "./words.js" */

/**
 * @param {Kit} kit
 * @param {(word: Word, values?: Record<string, string | number>) => string} w
 */
export function openSeveral({ h, icon, plain, uuid7, api, rowsOf, snoozedUntil, nameOf, readAgent, state, t, openDialog, toast }, w) {
  const rows = [...state.agents.values()].flatMap((agent) => rowsOf(agent, snoozedUntil)).filter((row) => row.cue && ["waiting", "detached", "snoozed"].includes(row.state) && !row.agent.archived);
  if (rows.length === 0) return toast(w("several.none"));
  const boxes = rows.map(() => h("input", { type: "checkbox", onchange: () => draw() }));
  const all = h("input", { type: "checkbox", onchange: () => (boxes.forEach((box) => (box.checked = all.checked)), draw()) });
  const text = h("textarea", { class: "input", rows: "3", dir: "auto", "aria-label": w("several.answer"), placeholder: w("several.answer") });
  const note = h("div", { class: "field-error", role: "alert" });
  const chosen = () => rows.filter((_, at) => boxes[at]?.checked);
  const act = (/** @type {Word} */ word, /** @type {string} */ none, /** @type {string} */ kind, /** @type {() => unknown} */ run) => h("button", { type: "button", class: `button ${kind}`, data: { act: word, none }, onclick: () => void run() });
  const buttons = [act("several.archive", t("archive"), "", () => each((row) => api.changeAgent(row.agent.agent_id, { archived: true }))), act("several.decline", t("decline"), "", decline), act("several.send", t("send"), "primary", answer)];
  /** @type {() => void} */
  let close = () => {};

  function draw() {
    const n = chosen().length;
    all.checked = n === rows.length;
    for (const button of buttons) {
      button.disabled = n === 0;
      button.textContent = n > 0 ? w(/** @type {Word} */ (button.dataset.act), { n }) : String(button.dataset.none);
    }
  }

  /** @param {(row: typeof rows[number]) => Promise<unknown>} run */
  async function each(run) {
    if (chosen().length === 0) return void (note.textContent = w("several.choose"));
    const failed = [];
    let done = 0;
    for (const row of chosen()) {
      try {
        await run(row);
        boxes[rows.indexOf(row)]?.closest("label")?.remove();
        const box = boxes[rows.indexOf(row)];
        if (box) box.checked = false;
        done += 1;
      } catch (error) {
        failed.push(w("several.failed", { name: nameOf(row.agent), why: error instanceof Error ? error.message : "" }));
      }
      await readAgent(row.agent.agent_id).catch(() => {});
    }
    draw();
    note.replaceChildren(...failed.map((line) => h("p", null, line)));
    if (done > 0) toast(w("several.done", { n: done }));
    if (failed.length === 0) close();
  }

  function answer() {
    if (text.value.trim() === "") return void ((note.textContent = w("several.words")), text.focus());
    return each((row) => {
      if (row.cue?.origin === "approval") throw new Error(w("several.approval"));
      return api.answer(String(row.cue?.cue_id), uuid7(), { text: text.value });
    });
  }

  function decline() {
    return each((row) => api.decline(String(row.cue?.cue_id), uuid7(), text.value.trim()));
  }

  const line = (/** @type {typeof rows[number]} */ row, /** @type {number} */ at) => h("label", { class: "pick" }, /** @type {HTMLElement} */ (boxes[at]), h("span", { class: "pick-text", dir: "auto" }, plain(row.cue?.beginning ?? "")), h("span", { class: "muted small" }, `${row.agent.project} · ${nameOf(row.agent)}`));
  draw();
  openDialog(w("several"), (closing) => {
    close = closing;
    return [h("div", { class: "stack" }, h("label", { class: "pick" }, all, w("several.all")), h("div", { class: "pick-list" }, rows.map(line)), text, h("p", { class: "muted small" }, icon("help"), " ", w("several.approval")), note, h("div", { class: "dialog-actions" }, buttons))];
  }, { wide: true });
}
