/**
 * The service worker makes the page installable and lets it open while the broker is down. State always comes from the broker:
 * the API is never cached. The page's files are asked for first and kept only for when nobody answers; the broker's ETags
 * decide whether a kept copy is still the file it was.
 */

const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));
const SHELL = "cueme-shell";

worker.addEventListener("install", () => void worker.skipWaiting());
worker.addEventListener("activate", (event) => event.waitUntil(worker.clients.claim()));

worker.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  const isShell = event.request.method === "GET" && url.origin === location.origin && (url.pathname === "/" || /^\/(js|css|icons|manifest)/.test(url.pathname)) && url.search === "";
  if (isShell) event.respondWith(fromBroker(event.request));
});

/** @param {Request} request */
async function fromBroker(request) {
  const cache = await caches.open(SHELL);
  try {
    const fresh = await fetch(request);
    if (fresh.status === 200 && !fresh.redirected) await keep(cache, request, fresh);
    return fresh;
  } catch (error) {
    const kept = await cache.match(request);
    if (kept) return kept;
    throw error;
  }
}

/**
 * @param {Cache} cache
 * @param {Request} request
 * @param {Response} fresh
 */
async function keep(cache, request, fresh) {
  const kept = await cache.match(request);
  const isSame = kept && kept.headers.get("etag") && kept.headers.get("etag") === fresh.headers.get("etag");
  if (!isSame) await cache.put(request, fresh.clone());
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
