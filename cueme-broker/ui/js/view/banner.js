/** The line on top that says when the page cannot be trusted to be current. */

import { fill, h } from "../lib/dom.js";
import { connect } from "../live.js";
import { on, state } from "../store.js";
import { t } from "../i18n/index.js";
import { textButton } from "./buttons.js";

/** Builds the banner. */
export function createBanner() {
  const el = h("div", { class: "banner", role: "status", hidden: true });
  const draw = () => {
    el.hidden = state.connection === "live" || state.connection === "loading" ? !state.trouble : false;
    el.dataset.state = state.connection;
    if (state.connection === "signed-out") fill(el, t("banner.signed-out"), " ", h("code", null, "cueme ui"));
    else if (state.connection === "lost") fill(el, h("span", { class: "spinner", "aria-hidden": "true" }), t("banner.lost"), textButton(t("banner.retry"), connect, "strong"));
    else fill(el, state.trouble);
  };
  on("connection", draw);
  on("settings", draw);
  return el;
}
