/** The chat of an agent as Cursor keeps it, to read. */

import { ApiError, h, openDialog, t, textButton } from "./page.js";
import { runsApi } from "./api.js";
import { w } from "./words.js";

/** @import * as R from "../types.js" */

/** @param {string} agentId */
export function openChat(agentId) {
  const about = h("p", { class: "muted small", role: "status" });
  const earlier = h("p", { class: "chat-earlier" });
  const list = h("ol", { class: "chat" });
  openDialog(w("chat"), () => [about, earlier, list], { wide: true });

  const load = async (/** @type {number | undefined} */ before) => {
    try {
      const chat = await runsApi.chat(agentId, before);
      about.textContent = [chat.name, chat.chat_id, w("chat.readonly"), ...chat.warnings].filter(Boolean).join(" · ");
      list.prepend(...chat.messages.map(message));
      earlier.replaceChildren();
      if (chat.first > 0) earlier.append(textButton(w(chat.first === 1 ? "chat.earlier.one" : "chat.earlier", { n: chat.first }), () => load(chat.first)));
    } catch (problem) {
      const isMissing = problem instanceof ApiError && problem.status === 404;
      about.textContent = isMissing ? w("chat.none") : t("error.try-again");
    }
  };
  void load(undefined);
}

/** @param {R.ChatMessage} said */
function message(said) {
  return h("li", { class: "chat-message", data: { role: said.role } }, h("span", { class: "chat-role muted small" }, w(`role.${said.role}`)), said.text && h("div", { class: "chat-text", dir: "auto" }, said.text), said.tools.map(tool));
}

/** @param {R.ChatTool} used */
function tool(used) {
  const summary = [used.name, used.outcome].filter(Boolean).join(" · ");
  return h("details", { class: used.is_error ? "chat-tool bad" : "chat-tool" }, h("summary", null, summary), h("pre", null, used.args), used.result && h("pre", null, used.result));
}
