/**
 * Building the page without templates: every text goes through `textContent`, so nothing an agent writes can become
 * markup here. The one door for server-rendered HTML is `rendered.js`.
 */

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Record<string, any>} Props */

/**
 * Builds an element.
 *
 * `on…` keys are listeners, `class` and `data` mean what they say, `true`/`false` set or leave out an attribute, and
 * properties that have no useful attribute (`value`, `checked`) are set as properties.
 *
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Props | null} [props]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, props, ...children) {
  const el = document.createElement(tag);
  for (const [key, value] of Object.entries(props ?? {})) setProp(el, key, value);
  append(el, children);
  return el;
}

/**
 * @param {HTMLElement} el
 * @param {string} key
 * @param {any} value
 */
function setProp(el, key, value) {
  if (value === undefined || value === null || value === false) return;
  if (key.startsWith("on")) el.addEventListener(key.slice(2), value);
  else if (key === "class") el.className = value;
  else if (key === "data") Object.assign(el.dataset, value);
  else if (key === "value" || key === "checked" || key === "htmlFor") /** @type {any} */ (el)[key] = value;
  else el.setAttribute(key, value === true ? "" : String(value));
}

/**
 * Appends children, leaving out the empty ones.
 * @param {Node} el
 * @param {(Child | Child[])[]} children
 */
export function append(el, children) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false || child === "") continue;
    el.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/**
 * Replaces everything below an element.
 * @param {Element} el
 * @param {...(Child | Child[])} children
 */
export function fill(el, ...children) {
  el.replaceChildren();
  append(el, children);
}

/**
 * Does the same for a list of items with keys; the focus stays at the control where it was, or the next one that can have it.
 * @param {Element} el
 * @param {...(Child | Child[])} children
 */
export function refill(el, ...children) {
  const controls = (/** @type {Element | undefined} */ item) => /** @type {HTMLButtonElement[]} */ ([...(item?.querySelectorAll("button,input") ?? [])]);
  const keyOf = (/** @type {Element} */ item) => /** @type {HTMLElement} */ (item).dataset.key;
  const items = [...el.children];
  const at = items.findIndex((item) => item.contains(document.activeElement));
  const old = items[at];
  const place = controls(old).findIndex((control) => control === document.activeElement);
  fill(el, ...children);
  if (!old || place === -1) return;
  const now = controls([...el.children].find((item) => keyOf(item) === keyOf(old)) ?? el.children[at] ?? el.children[at - 1]);
  (now[place]?.disabled ? now.find((control) => !control.disabled) : now[place])?.focus();
}

/**
 * Sets text only when it changed, so that live regions and selections are left alone.
 * @param {Element} el
 * @param {string} text
 */
export function setText(el, text) {
  if (el.textContent !== text) el.textContent = text;
}

/**
 * Brings the children of a container in line with a list, keeping the elements of items that stay.
 *
 * @template I
 * @param {HTMLElement} container
 * @param {I[]} items
 * @param {(item: I) => string} keyOf
 * @param {(item: I) => HTMLElement} create
 * @param {(el: HTMLElement, item: I) => void} update
 */
export function keyed(container, items, keyOf, create, update) {
  /** @type {Map<string, HTMLElement>} */
  const old = new Map();
  for (const child of container.children) {
    const key = /** @type {HTMLElement} */ (child).dataset.key;
    if (key !== undefined) old.set(key, /** @type {HTMLElement} */ (child));
  }
  let place = container.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    let el = old.get(key);
    if (el) old.delete(key);
    else {
      el = create(item);
      el.dataset.key = key;
    }
    update(el, item);
    if (el === place) place = place.nextElementSibling;
    else container.insertBefore(el, place);
  }
  for (const gone of old.values()) gone.remove();
}

/** Whether list and question are two screens. */
export const isNarrow = () => matchMedia("(max-width: 760px)").matches;

/** @type {Set<string>} */
const added = new Set();

/**
 * Adds the styles of a part that was loaded later, once.
 * @param {string} css
 */
export function addStyles(css) {
  if (added.has(css)) return;
  added.add(css);
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  document.adoptedStyleSheets.push(sheet);
}

/** The key that Ctrl is elsewhere. */
export const CTRL = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘" : "Ctrl";

/**
 * Says whether a key belongs to an input method. Some report it only by the key code.
 * @param {KeyboardEvent} event
 */
export const isComposing = (event) => event.isComposing || event.keyCode === 229;

let ids = 0;

/**
 * Returns an id for label and description references.
 * @param {string} prefix
 */
export const freshId = (prefix) => `${prefix}-${++ids}`;

/**
 * Calls a function at most once per pause of `ms`, with the latest arguments; `flush` calls it now if it is due.
 * @template {any[]} A
 * @param {number} ms
 * @param {(...args: A) => void} run
 */
export function debounce(ms, run) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @type {A | undefined} */
  let last;
  const fire = () => {
    clearTimeout(timer);
    const args = last;
    last = undefined;
    if (args) run(...args);
  };
  return {
    /** @param {A} args */
    call(...args) {
      last = args;
      clearTimeout(timer);
      timer = setTimeout(fire, ms);
    },
    flush: fire,
    cancel() {
      clearTimeout(timer);
      last = undefined;
    },
  };
}
