/** One agent: who it is, what was said, and where to answer. */

import { fill, h, setText } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { runtimeName } from "../lib/runtimes.js";
import { api, ApiError } from "../api.js";
import { nameOf, on, readAgent, refresh, state } from "../store.js";
import { t } from "../i18n/index.js";
import { openChat } from "../runs/chat.js";
import { iconButton, textButton } from "./buttons.js";
import { askText } from "./dialog.js";
import { createDock } from "./dock.js";
import { setSince } from "./live-time.js";
import { createTimeline } from "./timeline.js";
import { toast } from "./toast.js";

/** @import * as T from "../types.js" */
/** @typedef {ReturnType<typeof createConversation>} Conversation */

/** @param {string} agentId */
export function createConversation(agentId) {
  const dock = createDock(agentId);
  let readUpTo = 0;
  const timeline = createTimeline(agentId, {
    reply: (cueId) => void dock.answer(cueId),
    seen: (seq) => {
      const unread = state.agents.get(agentId)?.unread ?? 0;
      if (seq <= readUpTo && unread === 0) return;
      readUpTo = seq;
      void api.markRead(agentId, seq).then(() => refresh(agentId)).catch(() => {});
    },
  });
  const head = createHead(agentId);
  const missing = h("div", { class: "blank", hidden: true }, h("p", null, t("part.missing")), textButton(t("banner.retry"), () => void load().catch(() => {}), "strong"));
  const el = h("main", { class: "conversation", id: "main", tabindex: "-1" }, head.el, missing, timeline.el, h("div", { class: "jump-place" }, timeline.jump), dock.el);

  const offs = [
    on("detail", (detail) => {
      if (detail.agent_id !== agentId) return;
      head.update(detail);
      void dock.update(detail);
    }),
    on("change", (data) => {
      if (data.agent_id === agentId && data.cue_id) void timeline.refreshCue(data.cue_id);
    }),
    on("reread", () => void load().catch(() => {})),
  ];
  const whenVisible = () => timeline.tellSeen();
  document.addEventListener("visibilitychange", whenVisible);

  let isLoaded = false;
  async function load() {
    try {
      await Promise.all([readAgent(agentId), timeline.loadNewest()]);
      isLoaded = true;
    } finally {
      missing.hidden = isLoaded;
    }
  }

  return {
    el,
    agentId,
    dock,
    timeline,
    head,
    /** @param {string | null} cueId */
    async open(cueId) {
      const known = state.agents.get(agentId);
      if (known) head.update(known);
      try {
        await load();
        if (cueId) await timeline.show(cueId);
        else timeline.jumpToOpen();
      } catch (error) {
        if (error instanceof ApiError && error.code === "offline") dock.showCopy();
        if (error instanceof ApiError && error.status === 404) fill(el, h("div", { class: "blank" }, h("p", null, t("unknown-agent")), h("a", { href: "#/", class: "button" }, t("inbox"))));
      }
    },
    close() {
      for (const off of offs) off();
      document.removeEventListener("visibilitychange", whenVisible);
      timeline.close();
      dock.close();
    },
  };
}

/** @param {string} agentId */
function createHead(agentId) {
  const name = h("bdi", null, agentId);
  const rename = h("button", { type: "button", class: "title-button", title: t("rename"), onclick: () => askName() }, name, icon("edit"));
  const place = h("p", { class: "head-place" });
  const badge = h("span", { class: "badge head-badge" });
  const since = h("time", { class: "" });
  const word = h("span");
  badge.append(h("span", { class: "dot", "aria-hidden": "true" }), word, " ", since);
  const pin = iconButton("pin", t("pin"), () => togglePin());
  const chat = iconButton("file", t("chat"), () => openChat(agentId), "chat-button");
  const standingButton = iconButton("tag", t("standing"), () => askStanding());
  const archive = iconButton("archive", t("archive"), () => toggleArchive());
  const standing = h("button", { type: "button", class: "standing", hidden: true, onclick: () => askStanding() });
  const el = h(
    "header",
    { class: "conversation-head" },
    h("a", { class: "icon-button back", href: "#/", "aria-label": t("back"), title: t("back") }, icon("back")),
    h("div", { class: "head-title" }, h("h2", null, rename), place),
    badge,
    chat,
    pin,
    standingButton,
    archive,
    standing,
  );

  const agent = () => state.agents.get(agentId);
  const change = (/** @type {object} */ what) => api.changeAgent(agentId, what).then(() => readAgent(agentId));
  const failed = () => toast(t("error.try-again"), "bad");
  const togglePin = () => change({ pinned: !agent()?.pinned }).catch(failed);
  const askName = () => askText({ title: t("rename"), label: t("rename.label"), value: agent()?.name ?? "", confirm: t("save"), optional: true, run: (text) => change({ name: text || null }) });
  const askStanding = () => askText({ title: t("standing"), text: t("standing.text"), label: t("standing.label"), value: agent()?.standing ?? "", confirm: t("save"), lines: 4, optional: true, run: (text) => change({ standing: text || null }) });
  const toggleArchive = () => {
    const archived = !agent()?.archived;
    void change({ archived }).then(() => toast(t(archived ? "archived.done" : "archived.undone")), failed);
  };

  const label = (/** @type {HTMLElement} */ button, /** @type {string} */ text, /** @type {boolean} */ pressed) => {
    button.title = text;
    button.setAttribute("aria-label", text);
    button.setAttribute("aria-pressed", String(pressed));
  };

  return {
    el,
    togglePin,
    toggleArchive,
    askName,
    /** @param {T.Agent} fresh */
    update(fresh) {
      setText(name, nameOf(fresh));
      setText(place, `${runtimeName(fresh.runtime)} · ${fresh.project_dir}`);
      place.title = `${fresh.agent_id} · ${fresh.project_dir}`;
      chat.hidden = fresh.runtime !== "cursor";
      badge.dataset.state = fresh.state;
      setText(word, t(`state.${fresh.state}`));
      setSince(since, fresh.since, fresh.state === "waiting");
      label(pin, t(fresh.pinned ? "unpin" : "pin"), fresh.pinned);
      label(standingButton, t("standing"), Boolean(fresh.standing));
      label(archive, t(fresh.archived ? "unarchive" : "archive"), fresh.archived);
      standing.hidden = !fresh.standing;
      fill(standing, icon("tag"), h("span", { dir: "auto" }, fresh.standing ?? ""), h("span", { class: "sr" }, t("standing")));
    },
  };
}
