/** The tokens of programs: who may ask over HTTP, since when, until when; loaded when somebody opens that part of the settings. */

import { wordsIn } from "./words.js";

/** @import { Kit } from "../tools/load.js" */
/** @import { Word } from "./words.js" */

/**
 * @typedef {{
 *   token_id: string, scope: "join" | "agent" | "human", agent_id: string | null, name: string | null,
 *   created_at: string, expires_at: string | null, used_at: string | null, token?: string,
 * }} Token
 */

const DAY_S = 24 * 60 * 60;
/** In days; zero never expires. */
const LIVES = [30, 1, 365, 0];

/**
 * Fills a place with the list and the form; returns what ends its updates.
 * @param {Kit} kit
 * @param {HTMLElement} place
 */
export function fillTokens({ clock, copyButton, fill, freshId, h, json, language, now, on, send, t, textButton, toast }, place) {
  const w = wordsIn(language());
  const list = h("ul", { class: "cards", "aria-label": t("tokens") });
  const note = h("p", { class: "muted small", role: "status" });
  const made = h("div", null);

  const draw = async () => {
    /** @type {{ tokens: Token[] }} */
    const { tokens } = await send("GET", "/tokens");
    fill(list, tokens.map(card));
    fill(note, tokens.length === 0 ? w("none") : "");
  };
  const redraw = () => draw().catch(() => fill(note, t("error.try-again")));

  /** @param {Token} token */
  function card(token) {
    const name = token.name ?? w("unnamed");
    const hasExpired = token.expires_at !== null && Date.parse(token.expires_at) <= now();
    const facts = [
      w(`scope.${token.scope}`, { agent: token.agent_id ?? "" }),
      w("made", { at: clock(token.created_at) }),
      token.used_at ? w("used", { at: clock(token.used_at) }) : w("unused"),
      token.expires_at ? w(hasExpired ? "expired" : "expires", { at: clock(token.expires_at) }) : w("never"),
    ];
    let isSure = false;
    const revoke = textButton(
      w("revoke"),
      async () => {
        if (!isSure) {
          isSure = true;
          return void (revoke.textContent = w("sure"));
        }
        try {
          await send("DELETE", `/tokens/${encodeURIComponent(token.token_id)}`);
          toast(w("revoked", { name }));
        } catch {
          toast(t("error.try-again"), "bad");
        }
        await redraw();
      },
      "bad",
    );
    return h(
      "li",
      { class: "card line", "data-token": token.token_id },
      h("span", null, h("bdi", { class: "strong" }, name), h("br"), h("span", { class: "muted small" }, facts.join(" · "))),
      revoke,
    );
  }

  const name = h("input", { id: freshId("token"), class: "input", type: "text", autocomplete: "off", maxlength: "60" });
  const life = h("select", { id: freshId("life"), class: "input narrow" }, LIVES.map((days) => h("option", { value: String(days) }, w(/** @type {Word} */ (`life.${days}`)))));
  const error = h("p", { class: "field-error", role: "alert" });
  const form = h(
    "form",
    {
      class: "stack card",
      onsubmit: async (/** @type {Event} */ event) => {
        event.preventDefault();
        fill(error);
        const days = Number(life.value);
        try {
          /** @type {Token} */
          const { token = "" } = await json("POST", "/tokens", { scope: "join", ...(name.value.trim() && { name: name.value.trim() }), ...(days > 0 && { expires_in: days * DAY_S }) });
          fill(made, h("p", { class: "muted small", role: "status" }, w("once")), h("span", { class: "command" }, h("code", null, token), copyButton(() => token)));
          name.value = "";
          await redraw();
        } catch (problem) {
          fill(error, problem instanceof Error && problem.message ? problem.message : t("error.try-again"));
        }
      },
    },
    h("div", { class: "stack" }, h("label", { htmlFor: name.id }, w("name")), name),
    h("div", { class: "line" }, h("label", { htmlFor: life.id }, w("life")), life),
    h("button", { type: "submit", class: "button" }, w("add")),
    error,
    made,
  );
  fill(place, h("p", { class: "muted small" }, w("about")), list, note, form);
  void redraw();
  return on("devices", () => void redraw());
}
