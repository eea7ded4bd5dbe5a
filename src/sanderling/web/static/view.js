"use strict";
// A stored page in its frame. Actions inside arrive as messages; only known action names are accepted.
(() => {
  const { record, send, setContext, navigation } = window.sanderling;
  const bar = document.querySelector(".toolbar");
  const frame = document.getElementById("stored");
  const here = { url: bar.dataset.url, query_id: bar.dataset.query, position: Number(bar.dataset.position) };
  setContext(here);
  sessionStorage.setItem("opened", JSON.stringify(here));
  if (navigation === "reload") record("reload");
  if (navigation === "back_forward") record("forward");
  let loading = true;
  frame.addEventListener("load", () => { loading = false; });

  const frameActions = new Set(["scroll", "copy", "mouse_click", "key", "search_text", "bookmark", "print", "save", "scrollbar"]);
  let budget = 2000;
  addEventListener("message", (event) => {
    if (event.source !== frame.contentWindow || --budget < 0 || typeof event.data !== "object" || !event.data) return;
    const { action, count, href } = event.data;
    if (action === "hyperlink" && typeof href === "string" && href.startsWith("/stored?")) {
      record("hyperlink");
      send();
      location.href = "/view" + href.slice(7);
    } else if (frameActions.has(action)) {
      record(action, Math.max(1, Math.min(1000, Number(count) || 1)));
    }
  });

  const star = bar.querySelector("[data-do=bookmark]");
  const bookmarks = () => JSON.parse(localStorage.getItem("bookmarks") || "[]");
  const show = () => star.setAttribute("aria-pressed", String(bookmarks().includes(here.url)));
  show();
  const find = document.getElementById("find");
  const handlers = {
    back: () => history.back(),
    forward: () => history.forward(),
    reload: () => location.reload(),
    stop: () => { window.stop(); },
    search_text: () => { find.hidden = !find.hidden; find.querySelector("input").focus(); },
    bookmark: () => {
      const now = bookmarks();
      localStorage.setItem("bookmarks", JSON.stringify(now.includes(here.url) ? now.filter((u) => u !== here.url) : [...now, here.url].slice(-500)));
      show();
    },
    print: () => window.print(),
  };
  for (const tool of bar.querySelectorAll("[data-do]")) {
    tool.addEventListener("click", () => {
      if (tool.dataset.do !== "print") record(tool.dataset.do);
      if (tool.dataset.do !== "bookmark" && tool.dataset.do !== "search_text") send();
      handlers[tool.dataset.do]?.();
    });
  }
  find.addEventListener("submit", (event) => {
    event.preventDefault();
    record("search_text");
    frame.contentWindow.postMessage({ find: find.querySelector("input").value }, "*");
  });
  addEventListener("beforeprint", () => record("print"));
  addEventListener("mousedown", () => record("mouse_click"));
  document.querySelector("[data-action=home]")?.addEventListener("click", () => { record("home"); send(); });
  addEventListener("keydown", (event) => {
    record("key");
    const key = event.key.toLowerCase(), held = event.ctrlKey || event.metaKey;
    if (held && key === "f") record("search_text");
    if (held && key === "d") record("bookmark");
    if (held && key === "s") record("save");
    if (key === "escape" && loading) record("stop");
    if (key === "home" && event.altKey) record("home");
  });
})();
