/** The rules in the settings; what draws them is loaded with the first of them. */

/** @import { Kit } from "../tools/load.js" */
/** @import { Words } from "./words.js" */

/**
 * @param {Kit} kit
 * @param {Words} w
 * @param {(() => void)[]} offs
 */
export function policiesSection({ api, emit, fill, h, loadRules, on, openTool, section, state, t }, w, offs) {
  const list = h("div", { class: "stack" });
  const draw = async () => {
    if (state.policies.length > 0) return (await loadRules().catch(() => null))?.draw(list);
    fill(list, h("p", { class: "muted" }, w("policy.none")), h("button", { type: "button", class: "button", onclick: () => void openTool("rule") }, w("policy.new")));
  };
  offs.push(on("policies", () => void draw()));
  void draw();
  // How often each has answered is told to nobody.
  if (state.policies.length > 0) void api.policies().then(({ policies }) => ((state.policies = policies), emit("policies", undefined)), () => {});
  return h("div", { id: "settings-rules" }, section(t("policy.title"), list));
}
