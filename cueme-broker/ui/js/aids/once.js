/**
 * The same question of several agents: who asks it, and who gets the answer. Each answer is a decision of its own, with its own receipt and
 * undo, and each failure is told.
 */

/** @import * as T from "../types.js" */
/** @import { Kit } from "../tools/load.js" */
/** @import { Words } from "./words.js" */

/** @typedef {ReturnType<Kit["sameAs"]>[number]} Other */

/**
 * @param {Kit} kit
 * @param {Words} w
 */
export function createOnce({ api, fill, refill, h, icon, liveSpan, nameOf, refresh, runtimeGlyph, runtimeName, sameAs, sentToast, state, t, toast, uuid7 }, w) {
  /** @type {Other[]} */
  let others = [];
  /** Questions that do not get the answer. @type {Set<string>} */
  const left = new Set();
  /** Questions that were shown, and are ticked or not as the human left them. @type {Set<string>} */
  const offered = new Set();
  /** @type {(who: string) => void} */
  let sayBeside = () => {};
  const count = h("p", { class: "once-count", role: "status" });
  const list = h("ul", { class: "once-list" });
  const el = h("section", { class: "once", hidden: true, "aria-label": w("once") }, count, list);

  const chosen = () => others.filter(({ cue }) => !left.has(cue.cue_id));
  /** Says how many get the answer: above their list, and beside the buttons that send it. */
  const tell = () => {
    sayBeside(w("once.of", { n: chosen().length + 1, all: others.length + 1 }));
    const [n, all] = [chosen().length + 1, others.length + 1];
    fill(count, h("b", null, w(n < all ? "once.to" : n === 2 ? "once.both" : "once.all", { n, all })), " ", n < all && w("once.open"));
  };

  /**
   * @param {T.Agent} agent
   * @param {T.CueCard} cue
   * @param {boolean} isThis
   */
  function line(agent, cue, isThis) {
    const box = h("input", { type: "checkbox", checked: isThis || !left.has(cue.cue_id), disabled: isThis, data: isThis ? {} : { cue: cue.cue_id }, onchange: () => ((box.checked ? left.delete(cue.cue_id) : left.add(cue.cue_id)), tell()) });
    const wait = h("span", { class: "badge", data: { state: cue.waiting > 0 ? "waiting" : "detached" } }, h("span", { class: "dot", "aria-hidden": "true" }), h("span", { class: "sr" }, `${t(cue.waiting > 0 ? "entry.waiting" : "entry.detached")} `), liveSpan((cue.waiting === 0 && cue.detached_at) || cue.asked_at));
    return h("li", { data: { key: cue.cue_id } }, h("label", { class: "once-line" }, box, h("bdi", { class: "cut" }, agent.project || agent.project_dir), icon(runtimeGlyph(agent.runtime)), h("bdi", { class: "muted cut" }, `${runtimeName(agent.runtime)} ${nameOf(agent)}`), isThis && h("span", { class: "once-this" }, w("once.this")), wait));
  }

  return {
    el,
    chosen: () => (el.hidden ? [] : chosen()),
    /**
     * A question that came after the human began to look is left open until somebody ticks it. Where the question names files, each
     * project has its own: agents of other projects ask something else with the same words.
     * @param {T.CueCard | undefined} card
     * @param {Set<string>} twins
     * @param {boolean} namesFiles
     * @param {{ setRecipients: (who: string) => void }} composer
     */
    update(card, twins, namesFiles, { setRecipients }) {
      sayBeside = setRecipients;
      const agent = card && state.agents.get(card.agent_id);
      others = sameAs(card).filter((other) => !namesFiles || other.agent.project_dir === agent?.project_dir);
      for (const { cue } of others) {
        if (!offered.has(cue.cue_id) && !twins.has(cue.cue_id)) left.add(cue.cue_id);
        offered.add(cue.cue_id);
      }
      el.hidden = !agent || others.length === 0;
      if (!agent || el.hidden) return sayBeside("");
      const all = [{ agent, cue: card }, ...others];
      const key = JSON.stringify(all.map(({ agent, cue }) => [cue.cue_id, cue.waiting > 0, cue.detached_at, nameOf(agent)]));
      tell();
      if (el.dataset.drawn === key) return;
      el.dataset.drawn = key;
      refill(list, all.map((one, at) => line(one.agent, one.cue, at === 0)));
    },
    /**
     * Leaves out the agents of other projects: what was answered in one counts there.
     * @param {T.CueCard | T.Cue} card
     */
    keepProject(card) {
      const project = state.agents.get(card.agent_id)?.project_dir;
      for (const { agent, cue } of others) if (agent.project_dir !== project) left.add(cue.cue_id);
      tell();
      for (const box of /** @type {NodeListOf<HTMLInputElement>} */ (list.querySelectorAll("[data-cue]"))) box.checked = !left.has(String(box.dataset.cue));
    },
    /**
     * @param {T.Says} says
     * @param {Other[]} to
     */
    async sent({ declined, ends_run, ...answer }, to) {
      // The end of a run is meant for the run of one agent.
      for (const { agent, cue } of ends_run ? [] : to) {
        try {
          const decided = await (declined === undefined ? api.answer(cue.cue_id, uuid7(), answer) : api.decline(cue.cue_id, uuid7(), declined));
          sentToast([decided], nameOf(agent), () => refresh(agent.agent_id));
        } catch (problem) {
          toast(w("once.failed", { name: nameOf(agent), why: problem instanceof Error ? problem.message : "" }), "bad");
        }
        refresh(agent.agent_id);
      }
    },
  };
}
