/** The editor of a rule: when it fits, what it answers, when it ends, and what it would have done so far. */

/** @import * as T from "../types.js" */
/** @import { Kit } from "../tools/load.js" */
/** @import { Word, Words } from "./words.js" */

const TRY_MS = 300;
const DAYS_DEFAULT = 30;
const DAYS_MAX = 366;
const DAY_MS = 86_400_000;
const SHOWN_MAX = 20;
/** What a rule does. @type {Word[]} */
const DOES = ["does.answer", "does.choose", "does.yes", "does.no", "does.continue", "does.hold"];
/** What it is for. @type {Word[]} */
const KINDS = ["kind.any", "kind.none", "kind.choice", "kind.confirm", "kind.pause"];

/** @param {number} at */
const dayOf = (at) => {
  const date = new Date(at);
  return [date.getFullYear(), String(date.getMonth() + 1).padStart(2, "0"), String(date.getDate()).padStart(2, "0")].join("-");
};

/** @param {Partial<T.Rule>} rule @returns {Word} */
function doesOf(rule) {
  if (rule.hold) return "does.hold";
  if (rule.continue) return "does.continue";
  if (rule.confirm !== undefined) return rule.confirm ? "does.yes" : "does.no";
  return rule.choose?.length ? "does.choose" : "does.answer";
}

/**
 * @param {Kit} kit
 * @param {Words} w
 * @param {Partial<T.Rule>} rule
 * @param {string | undefined} name
 * @param {() => Promise<void>} done
 */
export function openEditor({ api, debounce, fill, freshId, h, icon, json, masked, now, openDialog, plain, state, t, toast }, w, rule, name, done) {
  const field = (/** @type {Word} */ word, /** @type {HTMLElement} */ input, /** @type {Word} */ hint) => {
    input.id = freshId("rule");
    return h("div", { class: "field" }, h("label", { class: "field-label", htmlFor: input.id }, w(word)), input, hint && h("p", { class: "muted small" }, w(hint)));
  };
  const select = (/** @type {Word[]} */ words, /** @type {Word} */ value) => {
    const list = h("select", { class: "input" }, words.map((word) => h("option", { value: word }, w(word))));
    list.value = value;
    return list;
  };
  const projects = [...new Set([...state.agents.values()].map((agent) => agent.project_dir))].sort();
  if (rule.project && !projects.includes(rule.project)) projects.unshift(rule.project);
  const title = h("input", { class: "input", type: "text", dir: "auto", autocomplete: "off", value: rule.name ?? "" });
  const project = h("select", { class: "input" }, h("option", { value: "" }, w("project.any")), projects.map((one) => h("option", { value: one }, one.split("/").length > 4 ? `…/${one.split("/").slice(-2).join("/")}` : one)));
  project.value = rule.project ?? "";
  const kind = select(KINDS, /** @type {Word} */ (`kind.${rule.payload ?? "any"}`));
  const says = h("textarea", { class: "input", rows: "3", dir: "auto", value: rule.says ?? "" });
  const does = select(DOES, doesOf(rule));
  const answer = h("textarea", { class: "input", rows: "2", dir: "auto", value: rule.choose?.join("\n") ?? rule.answer ?? "" });
  const also = rule.choose?.length || rule.confirm !== undefined ? rule.answer : undefined;
  const until = h("input", { class: "input", type: "date", min: dayOf(now()), max: dayOf(now() + (DAYS_MAX - 1) * DAY_MS), value: dayOf(rule.until ? Date.parse(rule.until) : now() + DAYS_DEFAULT * DAY_MS) });
  const max = h("input", { class: "input", type: "number", min: "1", max: "100", value: String(rule.in_a_row_max ?? 3) });
  const error = h("p", { class: "field-error", role: "alert" });
  const trial = h("div", { class: "trial", role: "status" });
  const answerField = field("answer", answer, "answer.hint");

  /** @returns {T.Rule} */
  function read() {
    const doing = /** @type {Word} */ (does.value);
    const [year = 0, month = 1, day = 1] = until.value.split("-").map(Number);
    const words = answer.value.trim();
    const kinds = kind.value.slice("kind.".length);
    return {
      name: title.value.trim() || plain(says.value.split("\n")[0] ?? "").replace(/[\\/*]+/g, " ").trim().slice(0, 60),
      ...(rule.agent && { agent: rule.agent }),
      ...(project.value && { project: project.value }),
      ...(kinds !== "any" && { payload: kinds }),
      ...(says.value.trim() && { says: says.value.trim() }),
      ...(doing === "does.answer" && { answer: words }),
      ...(doing === "does.choose" && { choose: words.split("\n").map((line) => line.trim()).filter(Boolean) }),
      ...((doing === "does.yes" || doing === "does.no") && { confirm: doing === "does.yes" }),
      ...(doing === "does.continue" && { continue: true }),
      ...(doing === "does.hold" && { hold: true }),
      ...(also && doing !== "does.answer" && doing !== "does.hold" && { answer: also }),
      in_a_row_max: Math.max(1, Number(max.value) || 3),
      // The day that is named is the last one.
      until: new Date(year, month - 1, day + 1).toISOString(),
    };
  }

  /** Says what is missing. */
  function missing() {
    if (until.value === "") return w("error.until");
    const needs = does.value === "does.answer" || does.value === "does.choose";
    if (needs && answer.value.trim() === "") return w("error.answer");
    // A rule without any condition would answer everything.
    return says.value.trim() === "" && does.value !== "does.hold" ? w("error.says") : "";
  }

  let trials = 0;
  async function tryOut() {
    const mine = ++trials;
    answerField.hidden = does.value !== "does.answer" && does.value !== "does.choose";
    const lack = missing();
    if (lack) return fill(trial, h("p", { class: "muted small" }, lack));
    try {
      const asked = read();
      /** @type {{ tried: number, fitting: T.Fitting[] }} */
      const { tried, fitting } = await json("POST", "/rule-trials", { ...asked, name: asked.name || "trial" });
      // Another one was asked for meanwhile.
      if (mine !== trials) return;
      const same = fitting.filter((one) => one.agrees === true).length;
      const other = fitting.filter((one) => one.agrees === false).length;
      fill(
        trial,
        h("p", { class: "trial-head" }, h("b", null, w(asked.hold ? "trial.hold" : "trial", { n: fitting.length, of: tried })), !asked.hold && same + other > 0 && h("span", { class: "muted" }, w("trial.sum", { same, other }))),
        h("ul", { class: "trial-list", tabindex: fitting.length > 0 ? "0" : null, "aria-label": w("trial.list") }, fitting.slice(0, SHOWN_MAX).map(line)),
        fitting.length > SHOWN_MAX && h("p", { class: "muted small" }, w("trial.more", { n: fitting.length - SHOWN_MAX })),
      );
      error.textContent = "";
    } catch (problem) {
      if (mine !== trials) return;
      fill(trial);
      error.textContent = problem instanceof Error ? problem.message : t("error.try-again");
    }
  }

  /** @param {T.Fitting} fits */
  function line({ agrees, cue, said }) {
    const other = said ? w("trial.said", { said: masked(said) }) : w(cue.outcome === "declined" ? "trial.declined" : "trial.other");
    const note = agrees === true ? w("trial.same") : agrees === false ? other : w("trial.open");
    return h("li", { data: { agrees: String(agrees) } }, icon(agrees === true ? "check" : agrees === false ? "close" : "clock"), h("bdi", { class: "cut" }, plain(cue.beginning)), h("span", { class: "muted cut" }, note));
  }

  const saving = h("button", { type: "submit", class: "button primary" }, w(name ? "save" : "turn-on"));
  const ready = () => void (saving.disabled = missing() !== "");
  const later = debounce(TRY_MS, () => void tryOut());
  openDialog(w(name ? "change" : "new"), (close) => {
    const save = async (/** @type {Event} */ event) => {
      event.preventDefault();
      if (saving.disabled) return;
      try {
        await (name ? api.changeRule(name, read()) : api.makeRule(read()));
        await done();
        close();
        toast(w(name ? "changed" : "made", { name: read().name }));
      } catch (failure) {
        error.textContent = failure instanceof Error && failure.message ? failure.message : t("error.try-again");
      }
    };
    return [
      h(
        "form",
        { class: "stack rule-form", onsubmit: save, oninput: () => (later.call(), ready()) },
        h("p", { class: "muted" }, w("about")),
        rule.agent && h("p", null, w("agent", { name: rule.agent })),
        h("div", { class: "rule-pair" }, field("project", project, /** @type {Word} */ ("")), field("kind", kind, /** @type {Word} */ (""))),
        field("says", says, "says.hint"),
        h("div", { class: "rule-pair" }, field("does", does, /** @type {Word} */ ("")), answerField),
        h("div", { class: "rule-pair" }, field("until", until, /** @type {Word} */ ("")), field("max", max, /** @type {Word} */ (""))),
        field("name", title, /** @type {Word} */ ("")),
        trial,
        error,
        h("div", { class: "dialog-actions" }, h("button", { type: "button", class: "button", onclick: close }, t("cancel")), saving),
      ),
    ];
  }, { wide: true });
  ready();
  void tryOut();
}
