/** Runs and chats of the broker's HTTP API as functions. */

import { json, send } from "./page.js";

/** @import * as R from "../types.js" */

const id = encodeURIComponent;

export const runsApi = {
  /** @returns {Promise<{ runs: R.Run[] }>} */
  list: () => send("GET", "/runs"),
  /** @type {(run: string) => Promise<R.RunWhole>} */
  one: (run) => send("GET", `/runs/${id(run)}`),
  /** @returns {Promise<R.CloudForm>} */
  form: () => send("GET", "/cloud"),
  /** @type {(prompt: string, config: object) => Promise<R.Run>} */
  launch: (prompt, config) => json("POST", "/runs", { prompt, config }),
  /** @type {(run: string, prompt: string) => Promise<R.Run>} */
  resume: (run, prompt) => json("POST", `/runs/${id(run)}/resume`, { prompt }),
  /** @type {(run: string) => Promise<null>} */
  stop: (run) => json("POST", `/runs/${id(run)}/stop`, {}),
  /** @type {(run: string) => Promise<null>} */
  watch: (run) => json("POST", `/runs/${id(run)}/watch`, {}),
  /** @type {(agent: string, before?: number) => Promise<R.Chat>} */
  chat: (agent, before) => send("GET", `/agents/${id(agent)}/chat${before === undefined ? "" : `?before=${before}`}`),
};
