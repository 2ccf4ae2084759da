/** One message to several agents: a selection, or a group that was saved. */

/** @import * as T from "../types.js" */
/** @import { Kit } from "../tools/load.js" */
/** @import { Words } from "./words.js" */

/** Words that were written and not sent when the dialog was closed. */
let unsent = "";

/**
 * Opens the dialog.
 * @param {Kit} kit
 * @param {Words} w
 */
export function openBroadcast({ fill, freshId, h, runtimeName, uuid7, api, changeSettings, nameOf, state, t, textButton, askText, openDialog, createPurpose, toast }, w) {
  /** @type {Set<string>} */
  const chosen = new Set();
  const agents = [...state.agents.values()].filter((agent) => !agent.archived).sort((a, b) => nameOf(a).localeCompare(nameOf(b)));
  const id = freshId("broadcast");
  const text = h("textarea", { id, class: "input", rows: "4", dir: "auto", oninput: () => ((unsent = text.value), ready()) });
  const count = h("span", { class: "muted small", role: "status" });
  const error = h("p", { class: "field-error", role: "alert" });
  const list = h("div", { class: "pick-list", role: "group", "aria-label": w("broadcast.agents") });
  const groups = h("div", { class: "chips", role: "group", "aria-label": w("broadcast.groups") });
  const message = uuid7();
  const send = h("button", { type: "submit", class: "button primary" });
  const tellPurpose = () => void (send.textContent = t(`${purpose.read()}.leave`));
  const purpose = createPurpose(tellPurpose);
  tellPurpose();
  text.value = unsent;

  const ready = () => void (send.disabled = chosen.size === 0 || text.value.trim() === "");
  const tellCount = () => ((count.textContent = w("broadcast.count", { n: chosen.size })), ready());
  const drawList = () => {
    fill(
      list,
      agents.map((agent) => {
        const box = h("input", { type: "checkbox", checked: chosen.has(agent.agent_id), onchange: () => (box.checked ? chosen.add(agent.agent_id) : chosen.delete(agent.agent_id), tellCount()) });
        return h("label", { class: "pick" }, box, h("span", { class: "dot", data: { state: agent.state }, "aria-hidden": "true" }), h("bdi", null, nameOf(agent)), h("span", { class: "sr" }, `${t("list.and")}${t(`state.${agent.state}`)}${t("list.and")}`), h("span", { class: "muted small" }, `${agent.project} · ${runtimeName(agent.runtime)}`));
      }),
      agents.length === 0 && h("p", { class: "muted pad" }, t("empty.all")),
    );
    tellCount();
  };
  const choose = (/** @type {string[]} */ ids) => {
    chosen.clear();
    for (const one of ids) if (agents.some((agent) => agent.agent_id === one)) chosen.add(one);
    drawList();
  };
  const drawGroups = () =>
    fill(
      groups,
      h("button", { type: "button", class: "chip", onclick: () => choose(chosen.size === agents.length ? [] : agents.map((agent) => agent.agent_id)) }, w("broadcast.everyone")),
      state.settings.groups.map((group) => h("span", { class: "chip-pair" }, h("button", { type: "button", class: "chip", onclick: () => choose(group.agents) }, h("bdi", null, group.name), h("span", { class: "chip-count" }, group.agents.length)), h("button", { type: "button", class: "chip-x", "aria-label": w("broadcast.forget", { name: group.name }), title: w("broadcast.forget", { name: group.name }), onclick: () => void saveGroups(state.settings.groups.filter((one) => one !== group)) }, "×"))),
      textButton(w("broadcast.save"), () => askGroup()),
    );
  const saveGroups = async (/** @type {T.Settings["groups"]} */ all) => {
    await changeSettings({ groups: all });
    drawGroups();
  };
  const askGroup = () => {
    if (chosen.size === 0) return void (error.textContent = w("broadcast.choose"));
    askText({ title: w("broadcast.save"), label: w("broadcast.name"), confirm: t("save"), run: (name) => saveGroups([...state.settings.groups.filter((one) => one.name !== name), { name, agents: [...chosen] }]) });
  };

  const submit = async (/** @type {() => void} */ close) => {
    if (send.disabled) return;
    try {
      const { results } = await api.say(message, [...chosen], text.value, purpose.read());
      unsent = "";
      const failed = results.filter((one) => one.error).length;
      close();
      toast(failed ? w("broadcast.some", { ok: results.length - failed, failed }) : w(results.length === 1 ? "broadcast.done.one" : "broadcast.done", { n: results.length }), failed ? "bad" : "plain");
    } catch (problem) {
      error.textContent = problem instanceof Error && problem.message ? problem.message : t("error.try-again");
    }
  };

  drawList();
  drawGroups();
  openDialog(
    t("broadcast"),
    (close) => [
      h(
        "form",
        { class: "stack", onsubmit: (/** @type {Event} */ event) => (event.preventDefault(), void submit(close)) },
        groups,
        list,
        count,
        purpose.el,
        h("label", { class: "field-label", htmlFor: id }, t("message")),
        text,
        error,
        h("div", { class: "dialog-actions" }, h("button", { type: "button", class: "button", onclick: close }, t("cancel")), send),
      ),
    ],
    { wide: true },
  );
}
