"use strict";
// The page on which a part of a stored page is picked: puts the selector that the frame reports into the form.
(() => {
  const frame = document.getElementById("stored");
  const selector = document.getElementById("selector");
  const preview = document.getElementById("picked");
  if (!frame) return;
  addEventListener("message", (event) => {
    const data = event.data;
    if (event.source !== frame.contentWindow || typeof data?.selector !== "string" || typeof data.text !== "string") return;
    selector.value = data.selector.slice(0, 1000);
    preview.textContent = data.text.slice(0, 200) || "(no text)";
  });
})();
