/** The command palette: this question first, then places, then the inbox. */

/** @import { Kit } from "./load.js" */
/** @import { Word } from "./words.js" */

const SHOWN_MAX = 40;

/** @typedef {{ group: string, icon: import("../lib/icons.js").IconName, label: string, more?: string, key?: string, time?: string, text: string, run: () => unknown }} Command */

/**
 * @param {Kit} kit
 * @param {(word: Word, values?: Record<string, string | number>) => string} w
 * @param {{ snooze: () => void, several: () => void, unread: () => void }} tools
 */
export function openPalette(kit, w, tools) {
  const { h, icon, plain, span, api, go, route, rowsOf, snoozedUntil, state, changeSettings, t } = kit;
  if (document.querySelector("dialog.palette")) return;
  const all = commands();
  let at = 0;
  /** @type {Command[]} */
  let shown = [];
  const list = h("div", { class: "palette-list", role: "listbox", id: "palette-list", "aria-label": w("palette") });
  const input = h("input", { type: "text", class: "palette-input", role: "combobox", "aria-expanded": "true", "aria-controls": "palette-list", "aria-label": w("palette"), placeholder: w("palette"), autocomplete: "off", oninput: () => ((at = 0), draw()) });
  const dialog = h(
    "dialog",
    { class: "dialog palette", "aria-label": w("palette") },
    h("div", { class: "palette-head" }, icon("search"), input, h("kbd", null, "Esc")),
    list,
    h("footer", { class: "palette-foot" }, h("kbd", null, "↑"), h("kbd", null, "↓"), w("palette.choose"), h("kbd", null, "↵"), w("palette.run"), h("span", { class: "push" }, w("palette.narrow"))),
  );

  /** @returns {Command[]} */
  function commands() {
    /** @type {Command[]} */
    const found = [];
    const add = (/** @type {Omit<Command, "text"> & { text?: string }} */ command) => found.push({ text: "", ...command });
    const conversation = kit.conversation();
    const agent = state.agents.get(route().agent ?? "");
    const cue = agent?.open.find((one) => one.cue_id === state.answering);
    if (conversation && agent) {
      const group = plain(cue?.beginning ?? agent.project);
      if (cue) {
        add({ group, icon: "clock", label: w("snooze"), key: "S", run: tools.snooze });
        add({ group, icon: "close", label: w("decline"), key: "D", run: () => conversation.dock.decline() });
        add({ group, icon: "eye", label: w("unread"), key: "⇧U", run: tools.unread });
        add({ group, icon: "copy", label: w("copy"), run: async () => (await navigator.clipboard?.writeText(await api.source(cue.cue_id, "prompt")), kit.toast(w("copied"))) });
      }
      add({ group, icon: "archive", label: w("archive"), key: "E", run: () => conversation.head.toggleArchive() });
      add({ group, icon: "pin", label: t(agent.pinned ? "unpin" : "pin"), key: "P", run: () => conversation.rail.togglePin() });
      add({ group, icon: "edit", label: t("rename"), key: "R", run: () => conversation.rail.askName() });
    }
    const rows = [...state.agents.values()].flatMap((one) => rowsOf(one, snoozedUntil)).filter((row) => !row.agent.archived);
    rows.sort((a, b) => Number(b.state === "waiting") - Number(a.state === "waiting") || (a.since < b.since ? -1 : 1));
    for (const row of rows) {
      const question = plain(row.cue?.beginning ?? "");
      const isWaiting = row.state === "waiting";
      add({ group: w("palette.goto"), icon: "send", label: row.agent.project || row.agent.agent_id, more: question, time: isWaiting ? span(row.since) : "", text: `project:${row.agent.project_dir} runtime:${row.agent.runtime} ${row.agent.agent_id} ${row.agent.name ?? ""}`, run: () => go(row.agent.agent_id, row.isOnly ? undefined : row.cue?.cue_id) });
    }
    const group = w("palette.inbox");
    const page = state.settings.page;
    add({ group, icon: "sort", label: w("project"), key: w(page.group_by_state ? "off" : "on"), run: () => changeSettings({ page: { ...page, group_by_state: !page.group_by_state } }) });
    add({ group, icon: "check", label: w("several"), key: "X", run: tools.several });
    add({ group, icon: "users", label: t("broadcast"), key: "M", run: () => kit.openTool("broadcast") });
    add({ group, icon: "play", label: t("runs"), run: () => kit.openTool("runs") });
    add({ group, icon: "gear", label: t("settings"), key: ",", run: () => kit.openSettings() });
    add({ group, icon: "help", label: t("shortcuts"), key: "?", run: () => kit.openTool("shortcuts") });
    return found;
  }

  /** @param {Command} command */
  function matches(command) {
    const text = `${command.label} ${command.more ?? ""} ${command.text}`.toLowerCase();
    return input.value.toLowerCase().split(/\s+/).every((word) => {
      const [, field, value] = /^(project|runtime):(.*)$/.exec(word) ?? [];
      return field ? text.split(/\s+/).some((part) => part.startsWith(`${field}:`) && part.includes(value ?? "")) : text.includes(word);
    });
  }

  function draw() {
    shown = all.filter(matches).slice(0, SHOWN_MAX);
    at = Math.max(0, Math.min(at, shown.length - 1));
    let group = "";
    list.replaceChildren(
      ...shown.flatMap((command, index) => {
        const head = command.group === group ? [] : [h("p", { class: "palette-group", role: "presentation" }, command.group)];
        group = command.group;
        const option = h(
          "div",
          { class: "palette-item", role: "option", id: `palette-${index}`, "aria-selected": String(index === at), onclick: () => run(index), onpointermove: () => index !== at && ((at = index), mark()) },
          icon(command.icon), h("bdi", null, command.label), command.more ? h("bdi", { class: "cut muted" }, command.more) : null, command.time ? h("span", { class: "push palette-wait" }, command.time) : null, command.key ? h("kbd", { class: "push" }, command.key) : null,
        );
        return [...head, option];
      }),
    );
    if (shown.length === 0) list.append(h("p", { class: "muted pad" }, w("palette.none")));
    mark();
  }

  function mark() {
    for (const [index, option] of [...list.querySelectorAll(".palette-item")].entries()) option.setAttribute("aria-selected", String(index === at));
    input.setAttribute("aria-activedescendant", shown.length ? `palette-${at}` : "");
    list.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }

  /** @param {number} index */
  function run(index) {
    const command = shown[index];
    dialog.close();
    void command?.run();
  }

  dialog.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step) {
      event.preventDefault();
      at = (at + step + shown.length) % Math.max(1, shown.length);
      mark();
    } else if (event.key === "Enter") {
      event.preventDefault();
      run(at);
    }
  });
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("pointerdown", (event) => event.target === dialog && dialog.close());
  kit.closeOnBack(dialog, kit.freshId("palette"));
  document.body.append(dialog);
  draw();
  dialog.showModal();
  input.focus();
}
