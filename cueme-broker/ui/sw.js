/**
 * The service worker makes the page installable and lets it open while the broker is down. State always comes from the broker:
 * the API is never cached. The document is asked for first and kept only for when nobody answers; everything else it needs is
 * kept when the worker is installed, under a name that changes with any of it. The build defines `SHELL`, the name of that cache,
 * and `FILES`, the paths of the page.
 */

const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));
worker.addEventListener("install", (event) => {
  event.waitUntil(caches.open(SHELL).then((cache) => cache.addAll(FILES)));
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
  if (isOurs) event.respondWith(url.pathname === "/" ? brokerFirst(event.request) : keptFirst(event.request));
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

/** @param {Request} request */
async function keptFirst(request) {
  return (await caches.match(request)) ?? fetch(request);
}

worker.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(show(event.notification.data?.agent));
});

/** @param {string} agent */
async function show(agent) {
  const [page] = await worker.clients.matchAll({ type: "window" });
  if (!page) return void (await worker.clients.openWindow(`/#/agent/${encodeURIComponent(agent)}`));
  page.postMessage({ agent });
  await page.focus();
}
