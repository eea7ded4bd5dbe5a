"use strict";
// Counts what is done on one page and reports it now and then, and when the page is left. Only counts and seconds leave.
window.sanderling = (() => {
  const counts = new Map();
  let about = { query_id: "", url: "", position: 0 };
  let opened = performance.now(), active = 0, lastAct = -1e9;
  const PAUSE = 15000; // without any act for so long, the reader is away

  const act = () => {
    const now = performance.now();
    active += Math.min(now - Math.max(lastAct, opened), PAUSE);
    lastAct = now;
  };
  const note = (action, count = 1) => {
    act();
    counts.set(action, (counts.get(action) || 0) + count);
  };
  const send = (leaving = false) => {
    const events = [...counts].map(([action, count]) => ({ action, count }));
    counts.clear();
    if (leaving && about.url) {
      events.push({ action: "dwell", value: (performance.now() - opened) / 1000 });
      events.push({ action: "active", value: active / 1000 });
    }
    if (!events.length) return;
    const body = new Blob([JSON.stringify({ ...about, events })], { type: "application/json" });
    if (!navigator.sendBeacon?.("/api/events", body)) {
      fetch("/api/events", { method: "POST", body, keepalive: true, headers: { "Content-Type": "application/json" } });
    }
  };
  setInterval(send, 4000);
  addEventListener("pagehide", () => send(true));
  document.addEventListener("visibilitychange", () => { if (document.visibilityState === "hidden") send(); });

  const navigation = performance.getEntriesByType("navigation")[0]?.type;
  return { note, send, navigation, about: (what) => { about = { ...about, ...what }; }, start: () => { opened = performance.now(); active = 0; } };
})();
