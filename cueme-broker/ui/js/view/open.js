/** The dialogs that are rarely opened: their modules run when they are. */

/** @param {"quick" | "attention"} [at] */
export const openSettings = async (at) => (await import("./settings.js")).openSettings(at);
export const openBroadcast = async () => (await import("./broadcast.js")).openBroadcast();
export const openShortcuts = async () => (await import("./shortcuts.js")).openShortcuts();
export const openRuns = async () => (await import("../runs/list.js")).openRuns();
/** @param {string} agent */
export const openChat = async (agent) => (await import("../runs/chat.js")).openChat(agent);
