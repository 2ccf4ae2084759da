// Written into the head of the document by the build: runs before anything is painted, so that a dark page never flashes white.
(() => {
  const theme = localStorage.getItem("cueme.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
})();
