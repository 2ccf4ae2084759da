/** The icons, as strokes on a 24-unit grid. */

const SVG = "http://www.w3.org/2000/svg";

const PATHS = {
  brackets: "M8 4H4v16h4M16 4h4v16h-4M10 9h4v6h-4z",
  chevron: "M6 9l6 6 6-6",
  command: "M15 6v12a3 3 0 1 0 3-3H6a3 3 0 1 0 3 3V6a3 3 0 1 0-3 3h12a3 3 0 1 0-3-3",
  cloud: "M7 18a4 4 0 0 1-.5-8A5.5 5.5 0 0 1 17 9a4.5 4.5 0 0 1 0 9z",
  cube: "M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9",
  diamond: "M12 3l8 9-8 9-8-9z",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  prompt: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM8.5 9.5l3 2.5-3 2.5M13 15h3",
  spark: "M12 3c.6 5.4 3.6 8.4 9 9-5.4.6-8.4 3.6-9 9-.6-5.4-3.6-8.4-9-9 5.4-.6 8.4-3.6 9-9z",
  star: "M12 3v18M4.2 7.5l15.6 9M19.8 7.5l-15.6 9",
  wave: "M3 9c3-4 6-4 9 0s6 4 9 0M3 16c3-4 6-4 9 0s6 4 9 0",
  window: "M3 5h18v14H3zM3 9h18",
  archive: "M3 5h18v4H3zM5 9v10h14V9M10 13h4",
  arrow: "M12 19V5M6 11l6-6 6 6",
  attach: "M20 11.5l-8 8a5 5 0 0 1-7-7l8.5-8.5a3.3 3.3 0 0 1 4.7 4.7L9.7 17.2a1.7 1.7 0 0 1-2.4-2.4l7.7-7.7",
  back: "M15 5l-7 7 7 7",
  check: "M5 12.5l4.5 4.5L19 7.5",
  checks: "M2 12.5l4.5 4.5L16 7.5M12 16l1 1 9.5-9.5",
  clock: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7.5V12l3 2",
  close: "M6 6l12 12M18 6L6 18",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  down: "M12 5v14M6 13l6 6 6-6",
  edit: "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3",
  eye: "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
  gear: "M4 7h9M17 7h3M4 17h3M11 17h9M15 4.8v4.4M9 14.8v4.4",
  help: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM9.5 9.5a2.5 2.5 0 1 1 3.5 2.3c-.8.4-1 .9-1 1.7M12 16.5v.5",
  pause: "M8 5v14M16 5v14",
  phone: "M7 3h10v18H7zM11 18h2",
  pin: "M9 4h6l-1 6 3 3v2H7v-2l3-3zM12 15v6",
  play: "M7 5l12 7-12 7z",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l4.5 4.5",
  send: "M4 12L20 4l-5 16-3.5-6.5zM11.5 13.5L20 4",
  sort: "M7 5v14M4 16l3 3 3-3M13 7h7M13 12h5M13 17h3",
  tag: "M4 6h16M4 12h10M4 18h7",
  trash: "M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13",
  undo: "M8 5L4 9l4 4M4 9h10a6 6 0 0 1 0 12h-3",
  users: "M9 5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM2.5 20a6.5 6.5 0 0 1 13 0M16 5.5a3.5 3.5 0 0 1 0 6.5M18 14.5a6.5 6.5 0 0 1 3.5 5.5",
};

/** @typedef {keyof typeof PATHS} IconName */

/**
 * Returns an icon. It is hidden from screen readers: what it stands on has a label.
 * @param {IconName} name
 */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", `icon icon-${name}`);
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}
