/** The switch that lets a rule reply to one agent, with its limits in sight. */

import { fill, h } from "../lib/dom.js";
import { clock, now } from "../lib/time.js";
import { api } from "../api.js";
import { emit, state } from "../store.js";
import { t } from "../i18n/index.js";
import { toggle } from "./section.js";
import { toast } from "./toast.js";

const HOURS = 8;
const HOUR_MS = 3_600_000;
const IN_A_ROW_MAX = 3;

/** @param {string} agentId */
export function createAuto(agentId) {
  const name = `auto-reply ${agentId}`;
  const el = h("section", { class: "auto-reply" });

  /** @param {boolean} on */
  async function turn(on) {
    const rule = { name, agent: agentId, payload: "none", says: "*", answer: t("continue"), in_a_row_max: IN_A_ROW_MAX, until: new Date(now() + HOURS * HOUR_MS).toISOString() };
    try {
      // One that has ended begins anew.
      const known = state.policies.find((policy) => policy.name === name);
      if (on) await (known ? api.changeRule(name, rule).then(() => api.changePolicy(name, true)) : api.makeRule(rule));
      else await api.endRule(name);
      state.policies = (await api.policies()).policies;
    } catch {
      // The switch was pressed, and nothing has changed.
      delete el.dataset.drawn;
      toast(t("error.try-again"), "bad");
    }
    emit("policies", undefined);
  }

  return {
    el,
    update() {
      const rule = state.policies.find((policy) => policy.name === name);
      const isOn = Boolean(rule?.enabled && !rule.ended);
      const key = JSON.stringify([isOn, rule?.until, rule?.answered, rule?.in_a_row_max]);
      if (el.dataset.drawn === key) return;
      el.dataset.drawn = key;
      const limits = isOn && rule?.until ? t("auto.until", { max: rule.in_a_row_max, at: clock(rule.until) }) : t("auto.limits", { max: IN_A_ROW_MAX, hours: HOURS });
      fill(el, h("h2", null, t("auto")), toggle(t("auto.switch", { text: rule?.rule?.answer ?? t("continue") }), isOn, turn), h("p", { class: "muted" }, limits), isOn && h("p", { class: "muted" }, t("auto.used", { n: rule?.answered ?? 0 })));
    },
  };
}
