"use strict";
// All pages: light or dark theme, keyboard shortcuts, confirmation of destructive actions.
(() => {
  const root = document.documentElement;
  const theme = localStorage.getItem("theme");
  if (theme) root.dataset.theme = theme;
  document.getElementById("theme")?.addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    localStorage.setItem("theme", root.dataset.theme);
  });
  addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
    if (event.ctrlKey || event.metaKey || event.altKey || typing) return;
    if (event.key === "/") {
      event.preventDefault();
      const box = document.getElementById("q");
      box?.focus();
      box?.select();
    } else if (event.key === "j" || event.key === "k") {
      const links = [...document.querySelectorAll(".hit h2 a, .list .name")];
      const at = links.indexOf(document.activeElement);
      links[Math.max(0, Math.min(links.length - 1, at + (event.key === "j" ? 1 : -1)))]?.focus();
    }
  });
  for (const button of document.querySelectorAll("[data-confirm]")) {
    button.addEventListener("click", (event) => {
      if (!confirm(button.dataset.confirm)) event.preventDefault();
    });
  }
})();
