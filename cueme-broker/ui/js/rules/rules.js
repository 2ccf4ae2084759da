/** Rules in the page: the list with its switches, and the editor. Loaded when there is a rule, or somebody makes one. */

import { openEditor } from "./editor.js";
import { ruleWords } from "./say.js";
import { wordsIn } from "./words.js";
import css from "./rules.css";

/** @import * as T from "../types.js" */
/** @import { Kit } from "../tools/load.js" */

/** @param {Kit} kit */
export function createRules(kit) {
  const { addStyles, api, changeSettings, clock, emit, fill, h, state, t, textButton, toast, toggle } = kit;
  addStyles(css);
  const w = wordsIn(kit.language());
  const failed = () => toast(t("error.try-again"), "bad");

  /** Reads the rules anew, for everybody who shows them. */
  async function reread() {
    state.policies = (await api.policies()).policies;
    emit("policies", undefined);
  }

  /** @param {T.Policy} policy */
  function card(policy) {
    const change = async (/** @type {boolean} */ enabled) => {
      try {
        const fresh = await api.changePolicy(policy.name, enabled);
        state.policies = state.policies.map((one) => (one.name === fresh.name ? fresh : one));
      } catch {
        failed();
      }
      emit("policies", undefined);
    };
    const end = () => void api.endRule(policy.name).then(reread).then(() => toast(w("ended", { name: policy.name })), failed);
    const rule = policy.rule;
    const facts = [
      w(policy.answered === 1 ? "count.one" : "count", { n: policy.answered, max: policy.in_a_row_max }),
      policy.last_at && w("last", { at: clock(policy.last_at) }),
      policy.until && w(policy.ended ? "until.past" : "until.at", { at: clock(Date.parse(policy.until) - 1) }),
      policy.by && w("by", { who: policy.by }),
    ];
    return h(
      "li",
      { class: "card", data: { ended: String(policy.ended) } },
      toggle(policy.name, policy.enabled, change),
      h("p", { class: "muted small", dir: "auto" }, ruleWords(kit, w, policy)),
      h("p", { class: "muted small" }, facts.filter(Boolean).join(" · ")),
      h("div", { class: "rule-acts" }, rule ? [textButton(w("change"), () => edit(rule, policy.name)), textButton(w("end"), end)] : h("span", { class: "muted small" }, w("file"))),
    );
  }

  /**
   * @param {Partial<T.Rule>} rule
   * @param {string} [name] the rule that is changed
   */
  const edit = (rule, name) => openEditor(kit, w, rule, name, reread);

  return {
    edit,
    /** @param {HTMLElement} list */
    draw(list) {
      const { policies, settings } = state;
      fill(
        list,
        policies.length > 0 && toggle(w("all"), settings.policies, (on) => changeSettings({ policies: on }).catch(failed)),
        policies.length === 0 ? h("p", { class: "muted" }, w("none")) : h("ul", { class: settings.policies ? "cards" : "cards off" }, policies.map(card)),
        h("button", { type: "button", class: "button", onclick: () => edit({}) }, w("new")),
      );
    },
  };
}
