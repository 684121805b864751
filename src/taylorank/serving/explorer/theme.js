// Colours as the system has them, or as chosen here. Runs before the page is drawn, so that nothing flashes.
"use strict";
(() => {
  const read = () => {
    try { return localStorage.getItem("theme"); } catch { return null; }
  };
  const theme = read();
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
})();
