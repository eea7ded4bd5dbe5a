"use strict";
// Update the dashboard every second. Values are set as text, never as HTML.
(() => {
  const byId = (id) => document.getElementById(id);
  const number = (n) => Math.round(n).toLocaleString("en").replaceAll(",", "\u202f");
  const size = (n) => {
    for (const unit of ["B", "kB", "MB", "GB"]) {
      if (n < 1000) return unit === "B" ? `${n} B` : `${n.toFixed(1)} ${unit}`;
      n /= 1000;
    }
    return `${n.toFixed(1)} TB`;
  };
  const ago = (seconds) => {
    for (const [unit, size] of [["day", 86400], ["hour", 3600], ["minute", 60]]) {
      const n = Math.floor(seconds / size);
      if (n >= 1) return `${n} ${unit}${n > 1 ? "s" : ""} ago`;
    }
    return "just now";
  };
  const words = (text) => text.replaceAll("_", " ");
  const tiles = {
    pages_per_second: (s) => s.pages_per_second.toFixed(1), pages: (s) => number(s.pages), waiting: (s) => number(s.waiting),
    in_flight: (s) => number(s.in_flight), changed_today: (s) => number(s.changed_today), fresh: (s) => (s.fresh_ratio * 100).toFixed(0),
    bytes_downloaded: (s) => size(s.bytes_downloaded), bytes_saved: (s) => size(s.bytes_saved),
    bytes_archived: (s) => size(s.bytes_archived), indexed: (s) => number(s.indexed_pages),
  };
  const rows = (body, cells, textColumns) => {
    const lines = cells.map((row) => {
      const line = document.createElement("tr");
      row.forEach((text, i) => {
        const cell = line.insertCell();
        cell.textContent = text;
        cell.className = i && i < row.length - textColumns ? "num" : i ? "" : "break";
      });
      return line;
    });
    if (lines.length) body.replaceChildren(...lines);
  };
  const hostState = (h, now) => h.give_up_reason ? `given up: ${words(h.give_up_reason)}` : h.ready_at > now && h.delay_reason ? `delayed: ${words(h.delay_reason)}, ${Math.ceil(h.ready_at - now)} s` : h.waiting ? "ready" : "done";
  const feed = new EventSource("/api/live");
  feed.onmessage = (event) => {
    const { status, hosts, workers, signals } = JSON.parse(event.data);
    for (const [id, read] of Object.entries(tiles)) byId(id).textContent = read(status);
    byId("state").firstElementChild.classList.toggle("idle", !status.running);
    byId("state-text").textContent = status.running && !status.paused ? `running, session ${status.session}` : status.paused ? `paused, session ${status.session}` : `not running${status.finish_reason ? `; last crawl ended: ${words(status.finish_reason)}` : ""}`;
    rows(byId("hosts"), hosts.map((h) => [h.name, number(h.pages), number(h.waiting), h.leased, hostState(h, status.at)]), 1);
    rows(byId("workers"), workers.map((w) => [w.name, w.load, number(w.pages), w.latency_seconds ? `${(w.latency_seconds * 1000).toFixed(0)} ms` : "", w.memory_bytes ? size(w.memory_bytes) : "", w.score ? w.score.toFixed(3) : ""]), 0);
    for (const s of signals) {
      const line = byId("signals").querySelector(`[data-signal="${s.name}"]`);
      const [lastRaised, count, detail] = [4, 5, 6].map((i) => line.cells[i]);
      lastRaised.textContent = s.at ? ago(status.at - s.at) : "never";
      count.textContent = s.count ? number(s.count) : "";
      detail.textContent = s.detail;
    }
    document.body.dataset.live = String(Number(document.body.dataset.live || 0) + 1);
  };
})();
