/** Light, dark, or whatever the system says. The choice belongs to the device. */

const STORED = "cueme.theme";

/** @typedef {"auto" | "light" | "dark"} Theme */

/** @returns {Theme} */
export const theme = () => /** @type {Theme} */ (localStorage.getItem(STORED) ?? "auto");

/** @param {Theme} wanted */
export function setTheme(wanted) {
  localStorage.setItem(STORED, wanted);
  if (wanted === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = wanted;
}
