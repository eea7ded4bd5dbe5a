"use strict";
// The dashboard's numbers, once a second, as text: nothing from a page is ever set as HTML.
(() => {
  const at = (id) => document.getElementById(id);
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
  const rows = (body, cells, none) => {
    const made = cells.map((row) => {
      const line = document.createElement("tr");
      row.forEach((text, i) => {
        const cell = line.insertCell();
        cell.textContent = text;
        cell.className = i && i < row.length - none ? "num" : i ? "" : "break";
      });
      return line;
    });
    if (made.length) body.replaceChildren(...made);
  };
  const hostState = (h, now) => h.give_up_reason ? `given up: ${words(h.give_up_reason)}` : h.ready_at > now && h.delay_reason ? `held: ${words(h.delay_reason)}, ${Math.ceil(h.ready_at - now)} s` : h.waiting ? "open" : "done";
  const feed = new EventSource("/api/live");
  feed.onmessage = (event) => {
    const { status, hosts, migrants, signals } = JSON.parse(event.data);
    for (const [id, read] of Object.entries(tiles)) at(id).textContent = read(status);
    at("state").firstElementChild.classList.toggle("still", !status.running);
    at("state-text").textContent = status.running && !status.paused ? `running, session ${status.session}` : status.paused ? `paused, session ${status.session}` : `not running${status.finish_reason ? `; the last one ended: ${words(status.finish_reason)}` : ""}`;
    rows(at("hosts"), hosts.map((h) => [h.name, number(h.pages), number(h.waiting), h.leased, hostState(h, status.at)]), 1);
    rows(at("migrants"), migrants.map((m) => [m.name, m.load, number(m.pages), m.latency_seconds ? `${(m.latency_seconds * 1000).toFixed(0)} ms` : "", m.memory_bytes ? size(m.memory_bytes) : "", m.score ? m.score.toFixed(3) : ""]), 0);
    for (const s of signals) {
      const line = at("signals").querySelector(`[data-signal="${s.name}"]`);
      const [when, times, about] = [4, 5, 6].map((i) => line.cells[i]);
      when.textContent = s.at ? ago(status.at - s.at) : "not seen";
      times.textContent = s.count ? number(s.count) : "";
      about.textContent = s.detail;
    }
    document.body.dataset.live = String(Number(document.body.dataset.live || 0) + 1);
  };
})();
