// Written into the document by the build: runs before the first paint and before the page's script is there. It stands before
// the style sheets, because a script waits for those above it.
(() => {
  // The state is on its way while the script is; `api.js` takes it from here.
  const asked = fetch("/api/v1/state", { credentials: "same-origin", cache: "no-store" });
  asked.catch(() => {});
  Object.assign(window, { firstState: asked });
  // A dark page never flashes white.
  const theme = localStorage.getItem("cueme.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
})();
