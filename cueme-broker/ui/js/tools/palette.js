/** The command palette: this question first, then places, then the inbox. */

/** @import { Kit } from "./load.js" */
/** @import { Word } from "./words.js" */

const SHOWN_MAX = 40;
/** How many questions stand before the commands of the inbox while nothing is typed. */
const UNASKED_MAX = 8;

/** @typedef {{ group: string, icon: import("../lib/icons.js").IconName, label: string, more?: string, key?: string, time?: string, agent?: import("../types.js").Agent, text: string, run: () => unknown }} Command */

/**
 * @param {Kit} kit
 * @param {(word: Word, values?: Record<string, string | number>) => string} w
 * @param {{ snooze: () => void, several: () => void, unread: () => void }} tools
 */
export function openPalette(kit, w, tools) {
  const { h, icon, plain, span, api, go, parseQuery, route, rowsOf, snoozedUntil, state, changeSettings, t } = kit;
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
        const copy = async () => ((await kit.copyText(await api.source(cue.cue_id, "prompt"))) ? kit.toast(t("copied")) : kit.toast(t("copy.failed"), "bad"));
        add({ group, icon: "clock", label: w("snooze"), key: "S", run: tools.snooze });
        add({ group, icon: "close", label: w("decline"), key: "D", run: () => conversation.dock.decline() });
        add({ group, icon: "eye", label: w("unread"), key: "⇧U", run: tools.unread });
        add({ group, icon: "copy", label: w("copy"), run: () => copy().catch(() => kit.toast(t("copy.failed"), "bad")) });
      }
      add({ group, icon: "archive", label: w("archive"), key: "E", run: () => conversation.head.toggleArchive() });
      add({ group, icon: "pin", label: t(agent.pinned ? "unpin" : "pin"), key: "P", run: () => conversation.rail.togglePin() });
      add({ group, icon: "edit", label: t("rename"), key: "R", run: () => conversation.rail.askName() });
    }
    const rows = [...state.agents.values()].flatMap((one) => rowsOf(one, snoozedUntil)).filter((row) => !row.agent.archived);
    const order = ["snoozed", "detached", "waiting"];
    rows.sort((a, b) => order.indexOf(b.state) - order.indexOf(a.state) || (a.since < b.since ? -1 : 1));
    for (const row of rows) {
      const question = plain(row.cue?.beginning ?? "");
      const isWaiting = row.state === "waiting";
      add({ group: w("palette.goto"), icon: "send", label: row.agent.project || row.agent.agent_id, more: question, time: isWaiting ? span(row.since) : "", agent: row.agent, text: `${row.agent.project_dir} ${row.agent.agent_id} ${row.agent.name ?? ""}`, run: () => go(row.agent.agent_id, row.isOnly ? undefined : row.cue?.cue_id) });
    }
    const group = w("palette.inbox");
    const settle = (/** @type {object} */ what) => changeSettings({ page: { ...state.settings.page, ...what } }).catch(() => kit.toast(t("error.try-again"), "bad"));
    const page = state.settings.page;
    if (rows.some((row) => row.state === "waiting" || row.state === "detached")) add({ group, icon: "clock", label: w("longest"), key: "W", run: kit.goToNextWaiting });
    add({ group, icon: "sort", label: w("project"), more: w(page.group_by_state ? "off" : "on"), run: () => settle({ group_by_state: !page.group_by_state }) });
    add({ group, icon: "sort", label: w("newest"), more: w(page.newest_first ? "on" : "off"), run: () => settle({ newest_first: !page.newest_first }) });
    add({ group, icon: "check", label: w("several"), key: "X", run: tools.several });
    add({ group, icon: "users", label: t("broadcast"), key: "M", run: () => kit.openTool("broadcast") });
    add({ group, icon: "play", label: t("runs"), run: () => kit.openTool("runs") });
    add({ group, icon: "gear", label: t("policy.title"), run: () => kit.openTool("settings", "rules") });
    add({ group, icon: "gear", label: t("settings"), key: ",", run: () => kit.openTool("settings") });
    add({ group, icon: "help", label: t("shortcuts"), key: "?", run: () => kit.openTool("shortcuts") });
    return found;
  }

  /** @param {Command} command */
  const isPlace = (command) => command.group === w("palette.goto");

  /** What fits the words: commands that are called so, then places that are, then all else. */
  function matching() {
    const query = parseQuery(input.value);
    const words = query.words.toLowerCase().split(" ");
    const fits = (/** @type {string} */ text) => words.every((word) => text.toLowerCase().includes(word));
    const rank = (/** @type {Command} */ command) => (query.words && fits(command.label) ? Number(isPlace(command)) : 2);
    return all.filter((command) => query.fits(command.agent) && fits(`${command.label} ${command.more ?? ""} ${command.text}`)).sort((a, b) => rank(a) - rank(b));
  }

  function draw() {
    const rest = input.value.trim() === "" ? all.filter(isPlace).slice(UNASKED_MAX) : [];
    const found = matching().filter((command) => !rest.includes(command));
    shown = found.slice(0, SHOWN_MAX);
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
    const note = (/** @type {string} */ words) => list.append(h("p", { class: "muted pad", role: "option", "aria-disabled": "true", "aria-selected": "false" }, words));
    if (shown.length === 0) note(w("palette.none"));
    else if (found.length > shown.length) note(t("group.more", { n: found.length - shown.length }));
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
    dialog.addEventListener("close", () => void kit.historySettled().then(() => command?.run()));
    dialog.close();
  }

  dialog.addEventListener("keydown", (event) => {
    if (kit.isComposing(event)) return;
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
