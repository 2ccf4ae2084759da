/** How the inbox is ordered and grouped. */

import { h } from "../lib/dom.js";
import { changeSettings, state } from "../store.js";
import { t } from "../i18n/index.js";
import { openDialog } from "./dialog.js";
import { toggle } from "./section.js";
import { toast } from "./toast.js";

/** Opens the choices; the broker remembers them. */
export function openView() {
  const change = (/** @type {object} */ what) => changeSettings({ page: { ...state.settings.page, ...what } }).catch(() => toast(t("error.try-again"), "bad"));
  openDialog(t("view"), () => [
    h(
      "div",
      { class: "stack" },
      toggle(t("view.by-project"), !state.settings.page.group_by_state, (on) => change({ group_by_state: !on })),
      toggle(t("view.newest"), Boolean(state.settings.page.newest_first), (on) => change({ newest_first: on })),
    ),
  ]);
}
