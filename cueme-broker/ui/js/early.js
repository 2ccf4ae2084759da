// Runs before the first paint, so that a dark page never flashes white.
(() => {
  const theme = localStorage.getItem("cueme.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
})();
