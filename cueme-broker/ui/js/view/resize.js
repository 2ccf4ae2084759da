/** The line between list and question can be dragged, or moved with the arrow keys. The width belongs to the device. */

import { h } from "../lib/dom.js";
import { t } from "../i18n/index.js";

const STORED = "cueme.list-width";
const [WIDTH_MIN, WIDTH_MAX] = [260, 640];
const STEP_PX = 16;

/** Puts the handle between the two panes. */
export function startResize() {
  const inbox = /** @type {HTMLElement} */ (document.querySelector(".inbox"));
  const handle = h("div", { class: "resize", role: "separator", tabindex: "0", "aria-orientation": "vertical", "aria-label": t("resize"), "aria-valuemin": WIDTH_MIN, "aria-valuemax": WIDTH_MAX });
  const show = (/** @type {number} */ px) => {
    const width = Math.round(Math.min(WIDTH_MAX, Math.max(WIDTH_MIN, px)));
    document.documentElement.style.setProperty("--list", `${width}px`);
    handle.setAttribute("aria-valuenow", String(width));
    localStorage.setItem(STORED, String(width));
  };
  const stored = Number(localStorage.getItem(STORED));
  if (stored) show(stored);
  else handle.setAttribute("aria-valuenow", String(Math.round(inbox.offsetWidth)));
  handle.addEventListener("pointerdown", (event) => handle.setPointerCapture(event.pointerId));
  handle.addEventListener("pointermove", (event) => handle.hasPointerCapture(event.pointerId) && show(event.clientX));
  handle.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowRight" ? STEP_PX : event.key === "ArrowLeft" ? -STEP_PX : 0;
    if (step) show(inbox.offsetWidth + step);
  });
  inbox.append(handle);
}
