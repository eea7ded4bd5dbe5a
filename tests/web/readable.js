// Says what is hard to read or has no name on a page: a few of the checks that matter most.
() => {
  const bad = [];
  const say = (what, element) => bad.push(`${what}: ${element.outerHTML.slice(0, 80)}`);
  const name = (e) => (e.getAttribute("aria-label") || e.textContent || e.title || "").trim() || e.labels?.length;
  const wanted = "a[href], button, input:not([type=hidden]), textarea, select, iframe, svg[role=img]";
  for (const e of document.querySelectorAll(wanted)) if (!name(e)) say("no name", e);
  for (const e of document.querySelectorAll("img:not([alt])")) say("no alt", e);
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  if (new Set(ids).size !== ids.length) bad.push("the same id twice");
  if (!document.documentElement.lang || !document.title) bad.push("no language or title");
  if (document.querySelectorAll("main").length !== 1) bad.push("not one main part");
  const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\d.]+/g).map((v) => linear(Number(v) / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if (!/, 0\)$/.test(colour)) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  for (const e of document.querySelectorAll("body *")) {
    const words = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    const style = getComputedStyle(e);
    if (!words || !e.offsetParent || e.disabled || style.clipPath !== "none" || e.closest("svg")) continue;
    const [a, b] = [light(style.color), light(ground(e))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < (parseFloat(style.fontSize) >= 24 ? 3 : 4.5)) say("contrast", e);
  }
  if (document.documentElement.scrollWidth > innerWidth + 1) bad.push("wider than the window");
  return bad;
}
