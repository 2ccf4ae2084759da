/** Asks until when the question on screen is put off. */

/** @import { Kit } from "./load.js" */
/** @import { Word } from "./words.js" */

const HOUR_MS = 3_600_000;

/**
 * A moment of this or the next day.
 * @param {number} days
 * @param {number} hour
 */
function at(days, hour) {
  const date = new Date();
  date.setDate(date.getDate() + days);
  date.setHours(hour, 0, 0, 0);
  return date.getTime();
}

/**
 * @param {Kit} kit
 * @param {(word: Word) => string} w
 */
export function openSnooze({ h, clock, openDialog, route, go, snooze, state, t, toast }, w) {
  const agent = state.agents.get(route().agent ?? "");
  const cue = agent?.open.find((one) => one.cue_id === state.answering) ?? agent?.open[0];
  if (!cue) return toast(w("snooze.none"));
  /** @type {[Word, number | null][]} */
  const choices = [["snooze.hour", Date.now() + HOUR_MS], ["snooze.evening", at(0, 18)], ["snooze.tomorrow", at(1, 9)], ["snooze.next", 0]];
  openDialog(w("snooze"), (close) => {
    const put = async (/** @type {number | null} */ until) => {
      close();
      try {
        await snooze(cue.cue_id, until);
        if (until !== null) go(null);
        if (until !== null) toast(w("snooze.done"));
      } catch {
        toast(t("error.try-again"), "bad");
      }
    };
    const error = h("p", { class: "field-error", role: "alert" });
    const time = h("input", { type: "datetime-local", class: "input", "aria-label": w("snooze.time"), oninput: () => (error.textContent = "") });
    const choose = () => {
      const until = Date.parse(time.value);
      if (until > Date.now()) void put(until);
      else ((error.textContent = w("snooze.past")), time.focus());
    };
    const button = (/** @type {[Word, number | null]} */ [word, until]) => h("button", { type: "button", class: "button", onclick: () => void put(until) }, w(word), until ? h("span", { class: "muted" }, clock(until)) : null);
    const due = choices.filter(([, until]) => until === 0 || (until ?? 0) > Date.now());
    return [
      h(
        "div",
        { class: "stack" },
        due.map(button),
        h("div", { class: "pair" }, time, h("button", { type: "button", class: "button", onclick: choose }, w("snooze.at"))),
        error,
        state.settings.page.snoozed?.[cue.cue_id] !== undefined && button(["snooze.back", null]),
      ),
    ];
  });
}
