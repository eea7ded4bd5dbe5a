"use strict";
// A stored page in its frame. What happens inside comes as messages: names of actions we know, nothing else is believed.
(() => {
  const { note, send, about, navigation } = window.sanderling;
  const bar = document.querySelector(".toolbar");
  const frame = document.getElementById("stored");
  const here = { url: bar.dataset.url, query_id: bar.dataset.query, position: Number(bar.dataset.position) };
  about(here);
  sessionStorage.setItem("opened", JSON.stringify(here));
  if (navigation === "reload") note("reload");
  if (navigation === "back_forward") note("forward");
  let loading = true;
  frame.addEventListener("load", () => { loading = false; });

  const inside = new Set(["scroll", "copy", "mouse_click", "key", "search_text", "bookmark", "print", "save", "scrollbar"]);
  let budget = 2000;
  addEventListener("message", (event) => {
    if (event.source !== frame.contentWindow || --budget < 0 || typeof event.data !== "object" || !event.data) return;
    const { action, count, href } = event.data;
    if (action === "hyperlink" && typeof href === "string" && href.startsWith("/stored?")) {
      note("hyperlink");
      send();
      location.href = "/view" + href.slice(7);
    } else if (inside.has(action)) {
      note(action, Math.max(1, Math.min(1000, Number(count) || 1)));
    }
  });

  const star = bar.querySelector("[data-do=bookmark]");
  const kept = () => JSON.parse(localStorage.getItem("bookmarks") || "[]");
  const show = () => star.setAttribute("aria-pressed", String(kept().includes(here.url)));
  show();
  const find = document.getElementById("find");
  const doing = {
    back: () => history.back(),
    forward: () => history.forward(),
    reload: () => location.reload(),
    stop: () => { window.stop(); },
    search_text: () => { find.hidden = !find.hidden; find.querySelector("input").focus(); },
    bookmark: () => {
      const now = kept();
      localStorage.setItem("bookmarks", JSON.stringify(now.includes(here.url) ? now.filter((u) => u !== here.url) : [...now, here.url].slice(-500)));
      show();
    },
    print: () => window.print(),
  };
  for (const tool of bar.querySelectorAll("[data-do]")) {
    tool.addEventListener("click", () => {
      if (tool.dataset.do !== "print") note(tool.dataset.do);
      if (tool.dataset.do !== "bookmark" && tool.dataset.do !== "search_text") send();
      doing[tool.dataset.do]?.();
    });
  }
  find.addEventListener("submit", (event) => {
    event.preventDefault();
    note("search_text");
    frame.contentWindow.postMessage({ find: find.querySelector("input").value }, "*");
  });
  addEventListener("beforeprint", () => note("print"));
  addEventListener("mousedown", () => note("mouse_click"));
  document.querySelector("[data-action=home]")?.addEventListener("click", () => { note("home"); send(); });
  addEventListener("keydown", (event) => {
    note("key");
    const key = event.key.toLowerCase(), held = event.ctrlKey || event.metaKey;
    if (held && key === "f") note("search_text");
    if (held && key === "d") note("bookmark");
    if (held && key === "s") note("save");
    if (key === "escape" && loading) note("stop");
    if (key === "home" && event.altKey) note("home");
  });
})();
