/** What someone without agents sees: how to get one. */

import { fill, h } from "../lib/dom.js";
import { t } from "../i18n/index.js";
import { loadGuide } from "../tools/load.js";

/** Builds the guide for connecting agents. */
export function connectGuide() {
  const el = h("div", { class: "guide" });
  void loadGuide(el).catch(() => fill(el, t("error.try-again")));
  return el;
}
