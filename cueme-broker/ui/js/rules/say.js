/** A rule in words: when it fits, and what it answers. */

/** @import * as T from "../types.js" */
/** @import { Kit } from "../tools/load.js" */
/** @import { Word, Words } from "./words.js" */

/**
 * @param {Kit} kit
 * @param {Words} w
 * @param {T.Policy} policy
 */
export function ruleWords({ runtimeName, t }, w, { conditions, gives }) {
  const { agent, hours, origins, pattern, payloads, project, runtimes, says } = conditions;
  const anyOf = (/** @type {string} */ group, /** @type {string[]} */ names) => names.map((name) => w(/** @type {Word} */ (`${group}.${name}`))).join(w("or"));
  const when = [
    agent && w("if.agent", { name: agent }),
    runtimes.length > 0 && w("if.runtime", { names: runtimes.map(runtimeName).join(w("or")) }),
    project && w("if.project", { path: project }),
    payloads.length > 0 && w("if.payload", { kinds: anyOf("payload", payloads) }),
    origins.length > 0 && w("if.origin", { origins: anyOf("origin", origins) }),
    says && w("if.says", { text: says }),
    pattern && w("if.pattern", { pattern }),
    hours && w("if.hours", { hours: hours.replace("-", w("hours.and")) }),
  ].filter(Boolean);
  const then = [
    gives.choose.length > 0 && w("then.choose", { options: gives.choose.map((text) => w("quoted", { text })).join(t("list.and")) }),
    gives.confirm !== null && w(gives.confirm ? "then.yes" : "then.no"),
    gives.continue && w("then.continue"),
    gives.text && w("then.answer", { text: gives.text }),
  ].filter(Boolean);
  const join = (/** @type {unknown[]} */ parts) => parts.join(t("list.and"));
  return w("line", { when: join(when) || w("if.any"), then: join(then) || w("then.hold") });
}
