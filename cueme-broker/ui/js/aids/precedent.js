/** What a human answered to a question like this one, offered with one key. Nothing is sent unless somebody says so. */

/** @import * as T from "../types.js" */
/** @import { Kit } from "../tools/load.js" */
/** @import { Words } from "./words.js" */
/** @typedef {{ use: (answer: T.Answer) => boolean }} Taker */

/**
 * @param {Kit} kit
 * @param {Words} w
 * @param {(cue: T.Cue) => void} before what happens before an answer is given again
 */
export function createPrecedent({ api, clock, fill, go, h, icon, loadRules, nameOf, plain, state, t, textButton, toast, valueWords, visible }, w, before) {
  /** @type {T.Precedent | null} */
  let shown = null;
  /** @type {Taker | null} */
  let taker = null;
  /** @type {T.Cue | null} */
  let asked = null;
  const el = h("section", { class: "precedent", hidden: true, "aria-label": w("precedent") });

  function use() {
    if (!shown || !asked || el.hidden || !el.isConnected) return;
    before(asked);
    if (!taker?.use(shown.answer)) toast(w("precedent.written"), "bad");
  }

  /**
   * Opens a rule for exactly this question, which is not on before somebody turns it on.
   * @param {T.Cue} cue
   * @param {T.Answer} answer
   */
  async function makeRule(cue, { reply, text }) {
    try {
      const exact = await api.exactRule(cue.cue_id);
      const does = reply?.type === "choice" ? { choose: reply.selected } : reply?.type === "confirm" ? { confirm: reply.confirmed } : reply?.type === "continue" ? { continue: true } : {};
      (await loadRules()).edit({ ...exact, ...does, ...(text && { answer: text }) });
    } catch {
      toast(t("error.try-again"), "bad");
    }
  }

  /** Says whether a rule can give this answer. @param {T.Answer} answer */
  const fitsRule = ({ reply }) => reply?.type !== "form" && !(reply?.type === "choice" && reply.other);

  /**
   * An answer in short.
   * @param {T.Answer} answer
   * @param {T.Payload | null} payload
   */
  function inShort({ reply, text }, payload) {
    const label = payload?.type === "confirm" && reply?.type === "confirm" && (reply.confirmed ? payload.confirm_label : payload.cancel_label);
    const fields = reply?.type === "form" ? reply.fields.map((field) => `${field.label}: ${[...field.values.map(valueWords), field.other].filter(Boolean).join(t("list.and"))}`) : [];
    const chosen = reply?.type === "choice" ? [...reply.selected, reply.other] : reply?.type === "continue" ? [t("continue")] : [];
    return [label, ...chosen, ...fields, text].filter(Boolean).join(" · ");
  }

  return {
    el,
    use,
    /**
     * @param {T.Cue} cue
     * @param {Taker} composer
     */
    update(cue, composer) {
      taker = composer;
      asked = cue;
      const past = cue.precedent ?? null;
      el.hidden = past === null;
      if (past === shown) return;
      shown = past;
      if (!past) return;
      const agent = state.agents.get(past.agent_id);
      const when = [agent && nameOf(agent), past.decided_at && clock(past.decided_at)].filter(Boolean).join(" · ");
      fill(
        el,
        h("p", { class: "precedent-head" }, icon("undo"), h("b", null, w(past.is_same ? "precedent.same" : "precedent")), h("span", { class: "muted" }, when)),
        h("button", { type: "button", class: "precedent-asked cut", dir: "auto", title: w("precedent.open"), onclick: () => go(past.agent_id, past.cue_id) }, `“${plain(past.beginning)}”`),
        h("p", { class: "precedent-said" }, icon("check"), h("bdi", null, visible(inShort(past.answer, cue.payload)))),
        h("div", { class: "precedent-acts" }, cue.origin !== "hook" && fitsRule(past.answer) && textButton(w("precedent.rule"), () => makeRule(cue, past.answer)), h("button", { type: "button", class: "button", "aria-keyshortcuts": "a", onclick: use }, w("precedent.use"), h("kbd", { "aria-hidden": "true" }, "A"))),
      );
    },
  };
}
