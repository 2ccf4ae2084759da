/** The rules in the settings; what draws them is loaded with the first of them. */

import { fill, h } from "../lib/dom.js";
import { api } from "../api.js";
import { emit, on, state } from "../store.js";
import { t } from "../i18n/index.js";
import { loadRules, openTool } from "../tools/load.js";
import { section } from "./section.js";

/** @param {(() => void)[]} offs */
export function policiesSection(offs) {
  const list = h("div", { class: "stack" });
  const draw = async () => {
    if (state.policies.length > 0) return (await loadRules().catch(() => null))?.draw(list);
    fill(list, h("p", { class: "muted" }, t("policy.none")), h("button", { type: "button", class: "button", onclick: () => void openTool("rule") }, t("policy.new")));
  };
  offs.push(on("policies", () => void draw()));
  void draw();
  // How often each has answered is told to nobody.
  if (state.policies.length > 0) void api.policies().then(({ policies }) => ((state.policies = policies), emit("policies", undefined)), () => {});
  return section(t("policy.title"), list);
}
