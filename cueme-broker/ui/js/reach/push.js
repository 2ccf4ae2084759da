/** Pushes to this device. */

import { afterChoice, reasonChoice } from "./choices.js";

/** @import { Kit } from "../tools/load.js" */
/** @import { Reason } from "./choices.js" */
/** @import { Words } from "./words.js" */

/** @typedef {{ preview: boolean, after_ms: number, reasons: Reason[] }} Choices */
/** @typedef {{ public_key: string, subscription: Choices | null }} PushState */

/**
 * @param {Kit} kit
 * @param {Words} w
 */
export function pushSection(kit, w) {
  const { fill, h, json, section, send, t, textButton, toast, toggle } = kit;
  const body = h("div", { class: "stack" });
  const note = h("p", { class: "muted small", role: "status" });
  const whole = section(w("push"), body, note);
  if (!window.isSecureContext || !("PushManager" in window)) {
    fill(note, w(window.isSecureContext ? "push.none" : "push.secure"));
    return whole;
  }

  /** What is chosen, also before the broker has heard of it: a second change keeps the first. @type {Choices | null} */
  let chosen = null;
  let running = 0;
  /** @type {Promise<unknown>} */
  let last = Promise.resolve();

  /**
   * Does one thing after the other; what is shown follows once all of them are done.
   * @param {() => Promise<unknown>} what
   */
  const act = async (what) => {
    running += 1;
    const mine = last.then(what);
    last = mine.catch(() => {});
    try {
      await mine;
      fill(note, "");
    } catch (problem) {
      fill(note, problem instanceof Error && problem.message ? problem.message : t("error.try-again"));
    }
    running -= 1;
    if (running === 0) await draw();
  };

  /** @param {Partial<Choices>} what */
  const change = (what) => {
    const whole = { ...(chosen ?? {}), ...what };
    chosen = chosen && { ...chosen, ...what };
    return act(() => keep(whole));
  };

  const draw = async () => {
    /** @type {PushState} */
    const state = await send("GET", "/push");
    const worker = await navigator.serviceWorker.ready;
    // The broker's word alone does not make a push arrive.
    const here = await worker.pushManager.getSubscription();
    if (running > 0) return;
    chosen = here && state.subscription;
    fill(
      body,
      toggle(w("push.on"), Boolean(chosen), (on) => act(() => (on ? subscribe(state.public_key) : unsubscribe()))),
      chosen && toggle(w("push.preview"), chosen.preview, (preview) => change({ preview })),
      chosen && h("p", { class: "muted small" }, w("push.hint")),
      chosen && afterChoice(kit, w, chosen.after_ms / 1000, (seconds) => change({ after_ms: seconds * 1000 })),
      chosen && reasonChoice(kit, w, chosen.reasons, (reasons) => change({ reasons })),
      chosen && textButton(w("push.test"), () => act(() => send("POST", "/push/test").then(() => toast(w("push.sent"))))),
    );
  };

  /** @param {string} key */
  async function subscribe(key) {
    if ((await Notification.requestPermission()) !== "granted") throw new Error(w("push.denied"));
    const { pushManager } = await navigator.serviceWorker.ready;
    const options = { userVisibleOnly: true, applicationServerKey: key };
    try {
      await pushManager.subscribe(options);
    } catch (problem) {
      // One that is bound to the key of another broker has to go first.
      await (await pushManager.getSubscription())?.unsubscribe();
      await pushManager.subscribe(options).catch(() => {
        throw new Error(w("push.failed", { why: problem instanceof Error ? problem.message : "" }));
      });
    }
    await keep({});
  }

  async function unsubscribe() {
    await send("DELETE", "/push");
    const { pushManager } = await navigator.serviceWorker.ready;
    await (await pushManager.getSubscription())?.unsubscribe();
  }

  /** @param {Partial<Choices>} choices */
  async function keep(choices) {
    const { pushManager } = await navigator.serviceWorker.ready;
    const made = (await pushManager.getSubscription())?.toJSON();
    await json("PUT", "/push", { endpoint: made?.endpoint, p256dh: made?.keys?.p256dh, auth: made?.keys?.auth, ...choices });
  }

  draw().catch(() => fill(note, t("error.try-again")));
  return whole;
}
