/** Light, dark, or whatever the system says. The choice belongs to the device. */

const STORED = "cueme.theme";

/** @typedef {"auto" | "light" | "dark"} Theme */

/** @returns {Theme} */
export const theme = () => /** @type {Theme} */ (localStorage.getItem(STORED) ?? "auto");

/** @param {Theme} wanted */
export function setTheme(wanted) {
  localStorage.setItem(STORED, wanted);
  applyTheme();
}

/** Colours the page, and the bars of the browser around it, as chosen. */
export function applyTheme() {
  const wanted = theme();
  if (wanted === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = wanted;
  for (const meta of /** @type {NodeListOf<HTMLMetaElement>} */ (document.head.querySelectorAll("meta[name=theme-color]"))) {
    const { scheme } = meta.dataset;
    meta.media = wanted === "auto" ? `(prefers-color-scheme: ${scheme})` : wanted === scheme ? "all" : "not all";
  }
}
