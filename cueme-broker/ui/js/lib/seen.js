/** The moment from which a person sees the page. */

/** A page that nobody looks at is never drawn; what waits for that goes on after this. */
const PATIENCE_MS = 300;

/** Resolves when the first frame is on the screen, or will not be there soon. */
export const firstSeen = () =>
  new Promise((/** @type {(value: void) => void} */ done) => {
    setTimeout(done, PATIENCE_MS);
    new PerformanceObserver(() => done()).observe({ type: "paint", buffered: true });
  });
