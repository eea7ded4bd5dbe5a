"use strict";
// Count user actions on a page and report them periodically and on leaving. Only counts and durations are sent.
window.sanderling = (() => {
  const counts = new Map();
  let context = { query_id: "", url: "", position: 0 };
  let opened = performance.now(), active = 0, lastAction = -1e9;
  const MAX_IDLE = 15000; // milliseconds; a longer gap counts as absence

  const markActive = () => {
    const now = performance.now();
    active += Math.min(now - Math.max(lastAction, opened), MAX_IDLE);
    lastAction = now;
  };
  const record = (action, count = 1) => {
    markActive();
    counts.set(action, (counts.get(action) || 0) + count);
  };
  const send = (leaving = false) => {
    const events = [...counts].map(([action, count]) => ({ action, count }));
    counts.clear();
    if (leaving && context.url) {
      events.push({ action: "dwell", value: (performance.now() - opened) / 1000 });
      events.push({ action: "active", value: active / 1000 });
    }
    if (!events.length) return;
    const body = new Blob([JSON.stringify({ ...context, events })], { type: "application/json" });
    if (!navigator.sendBeacon?.("/api/events", body)) {
      fetch("/api/events", { method: "POST", body, keepalive: true, headers: { "Content-Type": "application/json" } });
    }
  };
  setInterval(send, 4000);
  addEventListener("pagehide", () => send(true));
  document.addEventListener("visibilitychange", () => { if (document.visibilityState === "hidden") send(); });

  const navigation = performance.getEntriesByType("navigation")[0]?.type;
  return { record, send, navigation, setContext: (change) => { context = { ...context, ...change }; }, start: () => { opened = performance.now(); active = 0; } };
})();
