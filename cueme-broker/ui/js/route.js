/** Where in the page we are, kept in the hash so that reload, back and links work. */

/** @typedef {{ agent: string | null, cue: string | null }} Route */

/** @returns {Route} */
export function route() {
  const [, agent, cue] = /^#\/agent\/([^/]+)(?:\/([^/]+))?$/.exec(location.hash) ?? [];
  return { agent: agent ? decodeURIComponent(agent) : null, cue: cue ? decodeURIComponent(cue) : null };
}

/** The question that a link names without its agent, as those in notifications do. */
export function linkedCue() {
  const [, cue] = /^#\/cue\/([^/]+)$/.exec(location.hash) ?? [];
  return cue ? decodeURIComponent(cue) : null;
}

/**
 * @param {string} agent
 * @param {string} [cue]
 */
export const hashOf = (agent, cue) => `#/agent/${encodeURIComponent(agent)}${cue ? `/${encodeURIComponent(cue)}` : ""}`;

/**
 * @param {string | null} agent
 * @param {string} [cue]
 */
export function go(agent, cue) {
  location.hash = agent ? hashOf(agent, cue) : "#/";
}

/** @param {() => void} run */
export const onRoute = (run) => window.addEventListener("hashchange", run);
