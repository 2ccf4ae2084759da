/** What was typed into the search: `project:` and `runtime:` narrow it to agents, the rest are words. */

import { runtimeName } from "./runtimes.js";

/** @import * as T from "../types.js" */

/** @param {string} typed */
export function parseQuery(typed) {
  const parts = typed.trim().split(/\s+/).map((part) => [part, ...(/^(project|runtime):(.*)$/i.exec(part)?.slice(1) ?? [])]);
  const fields = parts.filter(([, field]) => field).map(([, field = "", value = ""]) => [field.toLowerCase(), value.toLowerCase()]);
  return {
    words: parts.filter(([, field]) => !field).map(([part]) => part).join(" "),
    /** Says whether an agent is one of those that it is narrowed to. @param {T.Agent | undefined} agent */
    fits: (agent) => fields.every(([field, value = ""]) => agent && (field === "project" ? agent.project_dir : `${agent.runtime} ${runtimeName(agent.runtime)}`).toLowerCase().includes(value)),
  };
}
