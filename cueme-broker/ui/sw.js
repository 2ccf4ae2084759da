/**
 * The service worker makes the page installable and lets it open while the broker is down. State always comes from the broker:
 * the API is never cached. The document is asked for first and kept only for when nobody answers. What it needs to open is kept
 * when the worker is installed, every other part when it is first used, under a name that changes with any of them. The build
 * defines `SHELL`, the name of that cache, `FILES`, the paths of the page, and `NEEDED`, those that it needs to open.
 */

const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));
worker.addEventListener("install", (event) => {
  event.waitUntil(caches.open(SHELL).then((cache) => cache.addAll(NEEDED)));
  void worker.skipWaiting();
});

worker.addEventListener("activate", (event) => {
  event.waitUntil(Promise.all([worker.clients.claim(), dropOthers()]));
});

/** A page of another version has its files, or finds them at the broker. */
async function dropOthers() {
  const others = (await caches.keys()).filter((name) => name !== SHELL);
  await Promise.all(others.map((name) => caches.delete(name)));
}

worker.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  const isOurs = event.request.method === "GET" && url.origin === location.origin && url.search === "" && FILES.includes(url.pathname);
  if (isOurs) event.respondWith(url.pathname === "/" ? brokerFirst(event.request) : keptFirst(event));
});

/** @param {Request} request */
async function brokerFirst(request) {
  try {
    return await fetch(request);
  } catch (error) {
    // It was kept as programs get it, and is better than nothing for a person.
    const kept = await caches.match(request, { ignoreVary: true });
    if (kept) return kept;
    throw error;
  }
}

/** @param {FetchEvent} event */
async function keptFirst(event) {
  const kept = await caches.match(event.request);
  if (kept) return kept;
  const fresh = await fetch(event.request);
  const copy = fresh.clone();
  // Without room for it the part is fetched again the next time.
  if (fresh.ok) event.waitUntil(caches.open(SHELL).then((cache) => cache.put(event.request, copy)).catch(() => {}));
  return fresh;
}

/** The words of notifications, in the language of the browser. */
const words = navigator.language.startsWith("zh")
  ? { read: "打开即可阅读并回答。", rest: "打开即可阅读全文。", over: "已有人回答。", test: "推送正常，目前没有等待的问题。", unsent: "未发送", refused: "问题已变化，请打开页面查看。", offline: "无法连接 cueme。请打开页面回答。" }
  : {
      read: "Open to read and answer the question.",
      rest: "Open to read the full question.",
      over: "Already answered.",
      test: "Push works. No questions are waiting.",
      unsent: "Not sent",
      refused: "",
      offline: "cueme cannot be reached. Open the page to answer.",
    };
const look = { icon: "/icons/icon-192.png", badge: "/icons/icon-192.png" };

/**
 * What the broker pushes: a question, its end, or a test. `notify/surface/push/render.rs` writes it.
 * @typedef {{ kind: "question", cue: string, id: string, title: string, body?: string, whole: boolean, buttons?: { label: string, press: string }[] }} Question
 * @typedef {{ kind: "over", cue: string, line?: string }} Over
 * @typedef {{ cue?: string, id?: string, agent?: string }} Data
 */

worker.addEventListener("push", (event) => {
  /** @type {Question | Over | { kind: "test" }} */
  let message = { kind: "test" };
  try {
    message = event.data?.json();
  } catch {
    // Browsers end a subscription whose pushes show nothing.
  }
  event.waitUntil(receive(message));
});

/** @param {Question | Over | { kind: "test" }} message */
async function receive(message) {
  if (message.kind === "question") return ask(message);
  if (message.kind === "over") return withdraw(message);
  await worker.registration.showNotification("cueme", { ...look, body: words.test, tag: "test" });
}

/** @param {Question} question */
async function ask({ cue, id, title, body, whole, buttons = [] }) {
  const { maxActions = 0 } = /** @type {{ maxActions?: number }} */ (/** @type {unknown} */ (Notification));
  const actions = buttons.length <= maxActions ? buttons.map(({ label, press }) => ({ action: press, title: label })) : [];
  const text = body === undefined ? words.read : whole ? body : `${body}\n\n${words.rest}`;
  // Browsers know `actions`, TypeScript does not.
  const options = /** @type {NotificationOptions} */ ({ ...look, body: text, tag: cue, actions, data: { cue, id } });
  await worker.registration.showNotification(title, options);
}

/**
 * Replaces a notification before it closes it: browsers count pushes that show nothing.
 * @param {Over} over
 */
async function withdraw({ cue, line }) {
  await worker.registration.showNotification("cueme", { ...look, body: line ?? words.over, tag: cue, silent: true });
  for (const shown of await worker.registration.getNotifications({ tag: cue })) shown.close();
}

worker.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const data = /** @type {Data} */ (event.notification.data ?? {});
  event.waitUntil(event.action ? press(data, event.action) : show(data));
});

/**
 * Decides as the button says. The broker refuses a press on a question that was not shown whole, or has ended.
 * @param {Data} data
 * @param {string} pressed
 */
async function press({ cue, id }, pressed) {
  let why = words.offline;
  try {
    const body = JSON.stringify({ id, cue_id: cue, press: pressed });
    const answer = await fetch("/api/v1/push/press", { method: "POST", headers: { "content-type": "application/json" }, body });
    if (answer.ok) return;
    const { message } = (await answer.json()).error;
    why = words.refused || message;
  } catch {
    // Nobody answers.
  }
  await worker.registration.showNotification(words.unsent, { ...look, body: why, tag: `unsent-${cue}`, data: { cue } });
}

/** @param {Data} data */
async function show({ cue, agent }) {
  const [page] = await worker.clients.matchAll({ type: "window" });
  const place = cue ? `/#/cue/${encodeURIComponent(cue)}` : agent ? `/#/agent/${encodeURIComponent(agent)}` : "/";
  if (!page) return void (await worker.clients.openWindow(place));
  page.postMessage({ cue, agent });
  await page.focus();
}
