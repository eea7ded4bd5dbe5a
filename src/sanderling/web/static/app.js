"use strict";
// What every page does: light or dark, the key that leads to the search box, a second thought before erasing.
(() => {
  const root = document.documentElement;
  const kept = localStorage.getItem("theme");
  if (kept) root.dataset.theme = kept;
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
  for (const button of document.querySelectorAll("[data-sure]")) {
    button.addEventListener("click", (event) => {
      if (!confirm(button.dataset.sure)) event.preventDefault();
    });
  }
})();
