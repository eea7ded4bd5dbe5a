"use strict";
// Runs inside a stored page, in an opaque origin: marks the element under the pointer, reports the clicked one as a CSS selector.
(() => {
  const MAX_TEXT = 200;
  const mark = document.createElement("style");
  mark.textContent = "[data-picking]{outline:3px solid #d1495b!important;cursor:crosshair!important}[data-picked]{outline:3px solid #2a7f62!important}";
  document.documentElement.append(mark);

  const isUnique = (selector, element) => {
    const found = document.querySelectorAll(selector);
    return found.length === 1 && found[0] === element;
  };
  // Ids and classes with long numbers or hashes change with the next build of the site.
  const isStable = (name) => name.length < 40 && !/\d{3}|[0-9a-f]{6}|[A-Z].*\d/.test(name);
  const list = (element) => {
    const tag = element.localName;
    const names = [];
    if (element.id && isStable(element.id)) names.push(`#${CSS.escape(element.id)}`);
    const property = element.getAttribute("itemprop");
    if (property) names.push(`${tag}[itemprop="${CSS.escape(property)}"]`);
    const classes = [...element.classList].filter(isStable).slice(0, 3).map((name) => `.${CSS.escape(name)}`);
    if (classes.length) names.push(...classes.map((name) => tag + name), tag + classes.join(""));
    names.push(tag);
    return names;
  };
  const place = (element) => {
    const before = [...element.parentElement.children].filter((other) => other.localName === element.localName);
    return before.length > 1 ? `${element.localName}:nth-of-type(${before.indexOf(element) + 1})` : element.localName;
  };
  const build = (element) => {
    const own = list(element).find((selector) => isUnique(selector, element));
    if (own) return own;
    let path = "";
    for (let step = element; step && step !== document.documentElement; step = step.parentElement) {
      const anchor = step === element ? null : list(step).find((selector) => isUnique(selector, step));
      if (anchor && isUnique(`${anchor} > ${path}`, element)) return `${anchor} > ${path}`;
      path = place(step) + (path && ` > ${path}`);
      if (isUnique(path, element)) return path;
    }
    return path;
  };

  let over = null;
  let picked = null;
  addEventListener("mouseover", (event) => {
    over?.removeAttribute("data-picking");
    over = event.target instanceof Element ? event.target : null;
    over?.setAttribute("data-picking", "");
  }, true);
  addEventListener("click", (event) => {
    event.preventDefault();
    event.stopPropagation();
    if (!(event.target instanceof Element)) return;
    picked?.removeAttribute("data-picked");
    picked = event.target;
    picked.setAttribute("data-picked", "");
    parent.postMessage({ selector: build(picked), text: picked.textContent.trim().replace(/\s+/g, " ").slice(0, MAX_TEXT) }, "*");
  }, true);
  addEventListener("submit", (event) => event.preventDefault(), true);
})();
