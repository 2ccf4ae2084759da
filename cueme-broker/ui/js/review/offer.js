/** Loads the review of a patch when somebody points at a line of it, or has commented on one before. Loaded with the first patch. */

/** @import { Kit } from "../tools/load.js" */
/** @typedef {Pick<import("../view/composer.js").Composer, "comments" | "writing" | "setComments">} Holder */

/** The question of each entry that has a review, with the module once it is there. */
const offered = new WeakMap();

const WORDS = {
  en: { split: "Split", files: "Files", hint: "Click a line number to comment", tap: "Tap a line to comment" },
  zh: { split: "并排视图", files: "文件", hint: "点击行号添加评论", tap: "轻点一行添加评论" },
};

const isTouch = () => matchMedia("(hover: none)").matches;

/**
 * The files of a patch that has several, to go to one of them.
 * @param {Kit} kit
 * @param {string} label
 * @param {Element} patch
 */
function fileList({ h }, label, patch) {
  const files = [...patch.querySelectorAll("details")];
  if (files.length < 2) return null;
  const show = (/** @type {HTMLDetailsElement} */ file) => {
    file.open = true;
    file.scrollIntoView({ block: "start" });
    file.querySelector("summary")?.focus({ preventScroll: true });
  };
  const line = (/** @type {HTMLDetailsElement} */ file) => {
    const parts = [...(file.querySelector("summary")?.children ?? [])].map((part) => part.cloneNode(true));
    return h("li", null, h("button", { type: "button", onclick: () => show(file) }, parts));
  };
  return h("ul", { class: "patch-files", "aria-label": label }, files.map(line));
}

/**
 * @param {Kit} kit
 * @param {HTMLElement} entry
 * @param {() => Holder | null} holder
 */
export function offerReview(kit, entry, holder) {
  const { h, language, textButton } = kit;
  const w = WORDS[language() === "en" ? "en" : "zh"];
  const load = async () => (await import("./review.js")).createReview(kit, entry, holder, isTouch);
  const known = offered.get(entry);
  if (known) return void (known.bars(), known.refresh());
  /** @type {Promise<{ refresh: () => void, leave: () => void, begin: (line: HTMLElement, extend: boolean) => void, key: (event: KeyboardEvent) => void, split: (patch: HTMLElement, button: HTMLElement) => void }> | null} */
  let loading = null;
  const review = () => (loading ??= load());
  // An entry that is not answered any more has the composer of another question, or none.
  const isAnswered = () => entry.classList.contains("answering");
  const refresh = () => {
    if (isAnswered() && (loading || holder()?.comments().length || holder()?.writing())) void review().then((ready) => isAnswered() && ready.refresh());
  };
  // A patch that is attached comes later than the question.
  const bars = () => {
    for (const patch of entry.querySelectorAll(".patch")) {
      if (patch.previousElementSibling?.matches(".patch-bar")) continue;
      const button = textButton(w.split, () => void review().then((ready) => ready.split(/** @type {HTMLElement} */ (patch), button)), "split-button");
      patch.before(h("div", { class: "patch-bar" }, h("span", { class: "muted small" }, isTouch() ? w.tap : w.hint), button, fileList(kit, w.files, patch)));
    }
  };
  offered.set(entry, { refresh, bars });
  bars();
  entry.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    const line = /** @type {HTMLElement | null} */ (target?.closest(".numbered") ?? null);
    if (line && isAnswered() && (isTouch() || target?.closest("i")) && !getSelection()?.toString()) void review().then((ready) => ready.begin(line, event.shiftKey));
  });
  entry.addEventListener("keydown", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    if (!isAnswered() || !target?.closest(".patch") || target.matches("textarea") || !/^([jkc]|Arrow(Up|Down))$/i.test(event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    void review().then((ready) => ready.key(event));
  });
  entry.addEventListener("left", () => void loading?.then((ready) => !isAnswered() && ready.leave()));
  entry.addEventListener("rewritten", refresh);
  refresh();
}
