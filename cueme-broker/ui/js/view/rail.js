/** The facts about an agent, beside its questions; on a narrow screen behind a button. */

import { fill, h, setText } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { runtimeGlyph, runtimeName } from "../lib/runtimes.js";
import { clock } from "../lib/time.js";
import { api } from "../api.js";
import { shortPath } from "../rows.js";
import { nameOf, readAgent, state } from "../store.js";
import { t } from "../i18n/index.js";
import { openTool } from "../tools/load.js";
import { textButton } from "./buttons.js";
import { createAuto } from "./auto.js";
import { askText } from "./dialog.js";
import { liveSpan } from "./live-time.js";
import { toast } from "./toast.js";

/** @import * as T from "../types.js" */

/** @type {[string[], import("../i18n/index.js").Word][]} */
const KEYS = [[["J", "K"], "key.step"], [["W"], "key.next-waiting"], [["[", "]"], "key.question"], [["?"], "key.all"]];

/**
 * @param {string} agentId
 * @param {() => void} close
 */
export function createRail(agentId, close) {
  const name = h("bdi", null, agentId);
  const rename = h("button", { type: "button", class: "title-button", title: t("rename"), onclick: () => askName() }, name, icon("edit"));
  const facts = h("dl", { class: "facts" });
  const standing = h("button", { type: "button", class: "standing", onclick: () => askStanding() });
  const standingPart = h("section", { hidden: true }, h("h2", null, t("standing")), standing);
  const auto = createAuto(agentId);
  const pin = textButton(t("pin"), () => togglePin());
  const chat = textButton(t("chat"), () => openTool("chat", agentId), "chat-button");
  const standingButton = textButton(t("standing"), () => askStanding());
  standingButton.setAttribute("aria-label", t("standing"));
  const unread = textButton(t("unread.mark"), () => openTool("unread"));
  const keys = h("section", { class: "rail-keys-part" }, h("h2", null, t("shortcuts")), h("dl", { class: "rail-keys" }, KEYS.flatMap(([all, word]) => [h("dt", null, all.map((key) => h("kbd", null, key))), h("dd", { class: "muted" }, t(word))])));
  const el = h(
    "aside",
    { class: "rail", "aria-label": t("rail") },
    h("section", null, h("h2", null, t("rail.agent")), facts),
    auto.el,
    standingPart,
    h("section", { class: "rail-acts" }, pin, unread, standingButton, chat),
    keys,
  );
  el.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !el.classList.contains("open")) return;
    event.preventDefault();
    close();
  });

  const agent = () => state.agents.get(agentId);
  const change = (/** @type {object} */ what) => api.changeAgent(agentId, what).then(() => readAgent(agentId));
  const togglePin = () => change({ pinned: !agent()?.pinned }).catch(() => toast(t("error.try-again"), "bad"));
  const askName = () => askText({ title: t("rename"), label: t("rename.label"), value: agent()?.name ?? "", confirm: t("save"), optional: true, run: (text) => change({ name: text || null }) });
  const askStanding = () => askText({ title: t("standing"), text: t("standing.text"), label: t("standing.label"), value: agent()?.standing ?? "", confirm: t("save"), lines: 4, optional: true, run: (text) => change({ standing: text || null }) });

  return {
    el,
    togglePin,
    askName,
    /** @param {T.Agent} fresh */
    update(fresh) {
      setText(name, nameOf(fresh));
      auto.update();
      const key = JSON.stringify([fresh.name, fresh.runtime, fresh.project_dir, fresh.state, fresh.since, fresh.joined_at, fresh.pinned, fresh.standing, fresh.open.length]);
      if (el.dataset.drawn === key) return;
      el.dataset.drawn = key;
      const fact = (/** @type {string} */ label, /** @type {(Node | string)[]} */ ...value) => [h("dt", null, label), h("dd", null, value)];
      const folder = h("bdi", { title: fresh.project_dir }, shortPath(fresh.project_dir));
      fill(
        facts,
        fact(t("rail.runtime"), icon(runtimeGlyph(fresh.runtime)), runtimeName(fresh.runtime)),
        fact(t("rail.name"), rename),
        fresh.name ? fact(t("rail.id"), h("code", null, fresh.agent_id)) : [],
        fact(t("rail.folder"), folder),
        fresh.state === "waiting" ? fact(t("rail.listening"), t("rail.since", { at: clock(fresh.since) })) : fact(t("rail.state"), h("span", { class: "badge", data: { state: fresh.state } }, h("span", { class: "dot", "aria-hidden": "true" }), t(`state.${fresh.state}`), " ", liveSpan(fresh.since))),
        fact(t("rail.joined"), clock(fresh.joined_at)),
      );
      unread.hidden = fresh.open.length === 0;
      chat.hidden = fresh.runtime !== "cursor";
      const label = t(fresh.pinned ? "unpin" : "pin");
      setText(pin, label);
      pin.setAttribute("aria-label", label);
      pin.setAttribute("aria-pressed", String(fresh.pinned));
      standingPart.hidden = !fresh.standing;
      standingButton.hidden = Boolean(fresh.standing);
      fill(standing, h("span", { dir: "auto" }, fresh.standing ?? ""), h("span", { class: "sr" }, t("standing")));
    },
  };
}
