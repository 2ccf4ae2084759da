/** The rules that answer by themselves, each with its switch. */

import { fill, h } from "../lib/dom.js";
import { clock } from "../lib/time.js";
import { api } from "../api.js";
import { changeSettings, emit, on, state } from "../store.js";
import { t } from "../i18n/index.js";
import { section, toggle } from "./section.js";
import { toast } from "./toast.js";

/** @import * as T from "../types.js" */

/** @param {(() => void)[]} offs */
export function policiesSection(offs) {
  const list = h("div", { class: "stack" });
  const draw = () => {
    const { policies, settings } = state;
    if (policies.length === 0) return fill(list, h("p", { class: "muted" }, t("policy.none")));
    fill(
      list,
      toggle(t("policy.all"), settings.policies, (on) => changeSettings({ policies: on }).catch(failed)),
      h("ul", { class: settings.policies ? "cards" : "cards off" }, policies.map(card)),
    );
  };
  offs.push(on("policies", draw));
  draw();
  return section(t("policy.title"), list);
}

const failed = () => toast(t("error.try-again"), "bad");

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
  const last = policy.last_at ? ` · ${clock(policy.last_at)}` : "";
  return h("li", { class: "card" }, toggle(policy.name, policy.enabled, change), h("p", { class: "muted small", dir: "auto" }, policy.describes), h("p", { class: "muted small" }, t("policy.count", { n: policy.answered, max: policy.in_a_row_max }) + last));
}
