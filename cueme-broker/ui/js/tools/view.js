/** How the inbox is ordered and grouped; the broker remembers it. */

/** @import { Kit } from "./load.js" */
/** @import { Word } from "./words.js" */

/**
 * @param {Kit} kit
 * @param {(word: Word) => string} w
 */
export function openView({ h, changeSettings, openDialog, state, t, toast, toggle }, w) {
  const change = (/** @type {object} */ what) => changeSettings({ page: { ...state.settings.page, ...what } }).catch(() => toast(t("error.try-again"), "bad"));
  openDialog(t("view"), () => [
    h(
      "div",
      { class: "stack" },
      toggle(w("project"), !state.settings.page.group_by_state, (on) => change({ group_by_state: !on })),
      toggle(w("newest"), Boolean(state.settings.page.newest_first), (on) => change({ newest_first: on })),
    ),
  ]);
}
