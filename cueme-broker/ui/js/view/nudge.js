/** Asks once, in passing, to be allowed to call. Browsers want that to begin with a press. */

import { h } from "../lib/dom.js";
import { state } from "../store.js";
import { t } from "../i18n/index.js";
import { textButton } from "./buttons.js";
import { openTool } from "../tools/load.js";

const STORED = "cueme.nudged";

/** Builds the line, or nothing when there is nothing to ask. */
export function createNudge() {
  const isAsked = localStorage.getItem(STORED) !== null || !state.settings.notifications.browser;
  if (isAsked || (window.isSecureContext && (!("Notification" in window) || Notification.permission !== "default"))) return null;
  const done = () => {
    localStorage.setItem(STORED, "1");
    el.remove();
  };
  // Without HTTPS there is nothing to allow; the settings say how to get it.
  const allow = async () => {
    done();
    if (window.isSecureContext) await Notification.requestPermission();
    else await openTool("settings", "attention");
  };
  const el = h("p", { class: "nudge" }, t("nudge"), textButton(t("nudge.yes"), allow, "strong"), textButton(t("nudge.no"), done));
  return el;
}
