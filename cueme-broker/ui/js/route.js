/** Where in the page we are, kept in the hash so that reload, back and links work. */

/** @typedef {{ agent: string | null, cue: string | null }} Route */

/** @returns {Route} */
export function route() {
  const [, agent, cue] = /^#\/agent\/([^/]+)(?:\/([^/]+))?$/.exec(location.hash) ?? [];
  return { agent: agent ? decodeURIComponent(agent) : null, cue: cue ? decodeURIComponent(cue) : null };
}

/**
 * @param {string | null} agent
 * @param {string} [cue]
 */
export function go(agent, cue) {
  location.hash = agent ? `#/agent/${encodeURIComponent(agent)}${cue ? `/${encodeURIComponent(cue)}` : ""}` : "#/";
}

/** @param {() => void} run */
export const onRoute = (run) => window.addEventListener("hashchange", run);
