/** One agent: who it is, what was said, and where to answer. */

import { fill, h, setText } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { plain } from "../lib/plain.js";
import { api, ApiError } from "../api.js";
import { on, readAgent, refresh, state } from "../store.js";
import { t } from "../i18n/index.js";
import { iconButton, textButton } from "./buttons.js";
import { createDock } from "./dock.js";
import { createRail } from "./rail.js";
import { createTimeline } from "./timeline.js";
import { toast } from "./toast.js";
import { openTool } from "../tools/load.js";

/** @import * as T from "../types.js" */
/** @typedef {ReturnType<typeof createConversation>} Conversation */

/** @param {string} agentId */
export function createConversation(agentId) {
  const dock = createDock(agentId);
  let readUpTo = 0;
  const timeline = createTimeline(agentId, {
    drawn: () => dock.settle(),
    reply: (cueId) => void dock.answer(cueId),
    seen: (seq) => {
      const unread = state.agents.get(agentId)?.unread ?? 0;
      if (seq <= readUpTo && unread === 0) return;
      readUpTo = seq;
      void api.markRead(agentId, seq).then(() => refresh(agentId)).catch(() => {});
    },
  });
  const head = createHead(agentId);
  const rail = createRail(agentId, head.toggleRail);
  const missing = h("div", { class: "blank", hidden: true }, h("p", null, t("part.missing")), textButton(t("banner.retry"), () => void load().catch(() => {}), "strong"));
  const el = h("main", { class: "conversation", id: "main", tabindex: "-1" }, head.el, missing, h("div", { class: "conversation-body" }, h("div", { class: "reading" }, timeline.el, timeline.news, h("div", { class: "jump-place" }, timeline.jump), dock.el), rail.el));

  const offs = [
    on("detail", (detail) => {
      if (detail.agent_id !== agentId) return;
      draw(detail);
      void dock.update(detail);
    }),
    on("change", (data) => {
      if (data.agent_id === agentId && data.cue_id) void timeline.refreshCue(data.cue_id);
    }),
    on("reread", () => void load(true).catch(() => {})),
  ];
  for (const topic of /** @type {const} */ (["answering", "policies"])) offs.push(on(topic, () => draw(state.agents.get(agentId))));
  /** @param {T.Agent | undefined} agent */
  function draw(agent) {
    if (!agent) return;
    head.update(agent);
    rail.update(agent);
  }
  const whenVisible = () => timeline.tellSeen();
  document.addEventListener("visibilitychange", whenVisible);

  let isLoaded = false;
  /** @param {boolean} [isAgain] */
  async function load(isAgain) {
    try {
      await Promise.all([readAgent(agentId), timeline.loadNewest(isAgain)]);
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
    rail,
    /** @param {string | null} cueId */
    async open(cueId) {
      const known = state.agents.get(agentId);
      draw(known);
      try {
        await load();
        if (cueId) await this.show(cueId);
        else timeline.jumpToOpen();
      } catch (error) {
        if (error instanceof ApiError && error.code === "offline") dock.showCopy();
        if (error instanceof ApiError && error.status === 404) fill(el, h("div", { class: "blank" }, h("p", null, t("unknown-agent")), h("a", { href: "#/", class: "button" }, t("inbox"))));
      }
    },
    /**
     * Shows a question: one that is open to answer it, another one where it stands.
     * @param {string} cueId
     */
    async show(cueId) {
      if (!dock.has(cueId)) return timeline.show(cueId);
      await dock.choose(cueId);
      timeline.jumpToOpen();
    },
    /**
     * Answers by a key, if the question is on screen; else brings it there first.
     * @param {(answering: typeof dock) => void} act
     */
    decide: (act) => (dock.isInSight() ? act(dock) : timeline.jumpToOpen()),
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
  const project = h("bdi", { class: "head-project cut" });
  const place = h("bdi", { class: "head-place cut" });
  const archive = iconButton("archive", t("archive"), () => toggleArchive());
  const snooze = h("button", { type: "button", class: "snooze-button", title: t("snooze"), onclick: () => void openTool("snooze") }, icon("clock"), h("span", null, t("snooze")), h("kbd", { "aria-hidden": "true" }, "S"));
  const more = iconButton("more", t("more"), () => toggleRail(), "more-button");
  const el = h(
    "header",
    { class: "conversation-head" },
    h("a", { class: "icon-button back", href: "#/", "aria-label": t("back"), title: t("back") }, icon("back")),
    h("h1", { class: "head-title" }, project, place),
    snooze,
    archive,
    more,
  );
  const toggleArchive = () => {
    const archived = !state.agents.get(agentId)?.archived;
    void api.changeAgent(agentId, { archived }).then(() => readAgent(agentId)).then(() => toast(t(archived ? "archived.done" : "archived.undone")), () => toast(t("error.try-again"), "bad"));
  };
  const toggleRail = () => {
    const rail = el.parentElement?.querySelector(".rail");
    const isOpen = rail?.classList.toggle("open") ?? false;
    if (!isOpen && rail?.contains(document.activeElement)) more.focus();
    more.setAttribute("aria-expanded", String(isOpen));
  };
  const closeRail = () => {
    const isOpen = more.ariaExpanded === "true" && more.checkVisibility();
    if (isOpen) toggleRail();
    return isOpen;
  };
  more.setAttribute("aria-expanded", "false");

  return {
    el,
    toggleArchive,
    toggleRail,
    /** Closes the facts; says whether they were open. */
    closeRail,
    /** @param {T.Agent} fresh */
    update(fresh) {
      const cue = fresh.open.find((one) => one.cue_id === state.answering) ?? fresh.open[0] ?? fresh.last;
      setText(project, fresh.project || fresh.project_dir);
      setText(place, cue ? plain(cue.beginning) : t("row.nothing-yet"));
      place.title = `${fresh.agent_id} · ${fresh.project_dir}`;
      const label = t(fresh.archived ? "unarchive" : "archive");
      snooze.hidden = !fresh.open.some((one) => one.outcome === "open");
      archive.title = archive.ariaLabel = label;
      archive.setAttribute("aria-pressed", String(fresh.archived));
    },
  };
}
