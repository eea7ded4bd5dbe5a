"use strict";
// The result page: what is done on it, and one kind question when the reader leaves or comes back.
(() => {
  const { note, send, about, navigation } = window.sanderling;
  const list = document.querySelector("[data-query]");
  const query = list.dataset.query;
  about({ query_id: query });
  if (navigation === "reload") note("reload");
  let gone = sessionStorage.getItem("opened");
  if (navigation === "back_forward" && gone) report(JSON.parse(gone), "back");
  addEventListener("pageshow", (event) => {
    gone = sessionStorage.getItem("opened");
    if (event.persisted && gone) report(JSON.parse(gone), "back");
  });
  function report(page, action) {
    about(page);
    note(action);
    send();
    about({ query_id: query, url: "", position: 0 });
    sessionStorage.removeItem("opened");
    later();
  }
  addEventListener("scroll", () => note("scroll"), { passive: true });
  addEventListener("copy", () => note("copy"));
  addEventListener("mousedown", () => note("mouse_click"));
  addEventListener("keydown", (event) => {
    note("key");
    const key = event.key.toLowerCase();
    if ((event.ctrlKey || event.metaKey) && key === "f") note("search_text");
    if ((event.ctrlKey || event.metaKey) && key === "d") note("bookmark");
  });
  addEventListener("beforeprint", () => note("print"));
  document.querySelector("[data-action=home]")?.addEventListener("click", () => note("home"));
  for (const link of document.querySelectorAll("[data-action=open_url]")) {
    link.addEventListener("click", () => {
      about({ url: link.dataset.url });
      note("open_url");
      send();
      about({ url: "" });
    });
  }

  // While more is looked for, ask now and then whether it has come.
  const brief = document.querySelector("[data-more]");
  async function look() {
    const more = await fetch("/api/more?q=" + encodeURIComponent(brief.dataset.more)).then((r) => r.json()).catch(() => ({}));
    if (more.state !== "answered") return setTimeout(look, 5000);
    brief.textContent = more.found ? more.found + (more.found === 1 ? " new page has come. " : " new pages have come. ") : "No other pages like these were found.";
    if (more.found) {
      const link = document.createElement("a");
      link.href = location.href;
      link.textContent = "Search again";
      brief.append(link);
    }
  }
  if (brief) setTimeout(look, 2000);

  // Asked at most once per search, and never twice within a day by somebody who said no.
  const box = document.getElementById("ask");
  const asked = () => sessionStorage.getItem("asked") === query || Number(localStorage.getItem("hush") || 0) > Date.now();
  function later() {
    if (asked() || !box) return;
    sessionStorage.setItem("asked", query);
    box.hidden = false;
  }
  document.documentElement.addEventListener("mouseleave", (event) => { if (event.clientY <= 0) later(); });
  document.getElementById("q")?.addEventListener("input", later, { once: true });
  for (const button of box?.querySelectorAll("button") || []) {
    button.addEventListener("click", async () => {
      const found = button.dataset.found;
      if (!found) {
        localStorage.setItem("hush", Date.now() + 864e5);
        box.hidden = true;
        return;
      }
      const answer = await fetch("/api/rating", {
        method: "POST", headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ query_id: query, found: found === "yes" }),
      }).then((r) => r.json()).catch(() => ({}));
      const thanks = box.querySelector(".thanks");
      thanks.textContent = found === "yes" ? "Thank you." : answer.brief ? "Thank you. More pages like these are being looked for." : "Thank you, noted.";
      thanks.hidden = false;
      box.querySelector("div").hidden = true;
      setTimeout(() => { box.hidden = true; }, 6000);
    });
  }
})();
