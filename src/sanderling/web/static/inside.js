"use strict";
// Runs inside a stored page, in an opaque origin. Reports the type of each user action to the parent frame, without content.
(() => {
  const report = (action, details = {}) => parent.postMessage({ action, ...details }, "*");
  let scrolled = 0;
  addEventListener("scroll", () => { scrolled += 1; }, { passive: true, capture: true });
  setInterval(() => { if (scrolled) { report("scroll", { count: scrolled }); scrolled = 0; } }, 500);
  addEventListener("copy", () => report("copy"), true);
  addEventListener("mousedown", (event) => {
    report(event.clientX > document.documentElement.clientWidth ? "scrollbar" : "mouse_click");
  }, true);
  addEventListener("beforeprint", () => report("print"));
  addEventListener("keydown", (event) => {
    report("key");
    const key = event.key.toLowerCase();
    if (event.ctrlKey || event.metaKey) {
      if (key === "f") report("search_text");
      if (key === "d") report("bookmark");
      if (key === "s") report("save");
    }
  }, true);
  addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href], area[href]");
    const href = link?.getAttribute("href") || "";
    if (href.startsWith("/stored?")) {
      event.preventDefault();
      report("hyperlink", { href });
    }
  }, true);
  addEventListener("message", (event) => {
    if (event.source === parent && typeof event.data?.find === "string" && event.data.find) window.find?.(event.data.find, false, false, true);
  });
})();
