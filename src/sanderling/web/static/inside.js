"use strict";
// Runs inside a stored page, in an origin of its own: tells the frame around it which kind of thing was done, never what.
(() => {
  const tell = (action, more = {}) => parent.postMessage({ action, ...more }, "*");
  let scrolled = 0;
  addEventListener("scroll", () => { scrolled += 1; }, { passive: true, capture: true });
  setInterval(() => { if (scrolled) { tell("scroll", { count: scrolled }); scrolled = 0; } }, 500);
  addEventListener("copy", () => tell("copy"), true);
  addEventListener("mousedown", (event) => {
    tell(event.clientX > document.documentElement.clientWidth ? "scrollbar" : "mouse_click");
  }, true);
  addEventListener("beforeprint", () => tell("print"));
  addEventListener("keydown", (event) => {
    tell("key");
    const key = event.key.toLowerCase();
    if (event.ctrlKey || event.metaKey) {
      if (key === "f") tell("search_text");
      if (key === "d") tell("bookmark");
      if (key === "s") tell("save");
    }
  }, true);
  addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href], area[href]");
    const href = link?.getAttribute("href") || "";
    if (href.startsWith("/stored?")) {
      event.preventDefault();
      tell("hyperlink", { href });
    }
  }, true);
  addEventListener("message", (event) => {
    if (event.source === parent && typeof event.data?.find === "string" && event.data.find) window.find?.(event.data.find, false, false, true);
  });
})();
