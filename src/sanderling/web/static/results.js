"use strict";
// The result page: records actions, and asks for a rating when the user leaves or comes back.
(() => {
  const { record, send, setContext, navigation } = window.sanderling;
  const list = document.querySelector("[data-query]");
  const query = list.dataset.query;
  setContext({ query_id: query });
  if (navigation === "reload") record("reload");
  let opened = sessionStorage.getItem("opened");
  if (navigation === "back_forward" && opened) report(JSON.parse(opened), "back");
  addEventListener("pageshow", (event) => {
    opened = sessionStorage.getItem("opened");
    if (event.persisted && opened) report(JSON.parse(opened), "back");
  });
  function report(page, action) {
    setContext(page);
    record(action);
    send();
    setContext({ query_id: query, url: "", position: 0 });
    sessionStorage.removeItem("opened");
    askForRating();
  }
  addEventListener("scroll", () => record("scroll"), { passive: true });
  addEventListener("copy", () => record("copy"));
  addEventListener("mousedown", () => record("mouse_click"));
  addEventListener("keydown", (event) => {
    record("key");
    const key = event.key.toLowerCase();
    if ((event.ctrlKey || event.metaKey) && key === "f") record("search_text");
    if ((event.ctrlKey || event.metaKey) && key === "d") record("bookmark");
  });
  addEventListener("beforeprint", () => record("print"));
  document.querySelector("[data-action=home]")?.addEventListener("click", () => record("home"));
  for (const link of document.querySelectorAll("[data-action=open_url]")) {
    link.addEventListener("click", () => {
      setContext({ url: link.dataset.url });
      record("open_url");
      send();
      setContext({ url: "" });
    });
  }

  // While similar pages are crawled for this query, poll for the result.
  const unmetQuery = document.querySelector("[data-unmet-query]");
  async function poll() {
    const result = await fetch("/api/more?q=" + encodeURIComponent(unmetQuery.dataset.unmetQuery)).then((r) => r.json()).catch(() => ({}));
    if (result.state !== "answered") return setTimeout(poll, 5000);
    unmetQuery.textContent = result.found ? result.found + (result.found === 1 ? " new page was crawled. " : " new pages were crawled. ") : "No new similar pages were found.";
    if (result.found) {
      const link = document.createElement("a");
      link.href = location.href;
      link.textContent = "Search again";
      unmetQuery.append(link);
    }
  }
  if (unmetQuery) setTimeout(poll, 2000);

  // Asked at most once per search, and not again within a day after it was closed.
  const box = document.getElementById("rating");
  const wasAsked = () => sessionStorage.getItem("asked") === query || Number(localStorage.getItem("rating_closed_until") || 0) > Date.now();
  function askForRating() {
    if (wasAsked() || !box) return;
    sessionStorage.setItem("asked", query);
    box.hidden = false;
  }
  document.documentElement.addEventListener("mouseleave", (event) => { if (event.clientY <= 0) askForRating(); });
  document.getElementById("q")?.addEventListener("input", askForRating, { once: true });
  for (const button of box?.querySelectorAll("button") || []) {
    button.addEventListener("click", async () => {
      const found = button.dataset.found;
      if (!found) {
        localStorage.setItem("rating_closed_until", Date.now() + 864e5);
        box.hidden = true;
        return;
      }
      const answer = await fetch("/api/rating", {
        method: "POST", headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ query_id: query, found: found === "yes" }),
      }).then((r) => r.json()).catch(() => ({}));
      const thanks = box.querySelector(".thanks");
      thanks.textContent = found === "yes" ? "Thank you." : answer.brief ? "Thank you. Similar pages are being crawled." : "Thank you.";
      thanks.hidden = false;
      box.querySelector("div").hidden = true;
      setTimeout(() => { box.hidden = true; }, 6000);
    });
  }
})();
