// Functions that the browser process calls in a page.
({
  measure() {
    const body = document.body;
    const isLoaded = Number(document.readyState === "complete");
    return body ? [isLoaded, body.textContent.length, document.links.length, document.getElementsByTagName("*").length]
      : [isLoaded, 0, 0, 0];
  },

  scroll() {
    const root = document.scrollingElement || document.documentElement;
    const before = root.scrollTop;
    root.scrollTo({ top: root.scrollHeight, behavior: "instant" });
    for (const box of document.querySelectorAll("main, [role=feed], [role=list], ul, ol, div")) {
      if (box.scrollHeight > box.clientHeight + 200 && box.clientHeight > 300
          && /auto|scroll/.test(getComputedStyle(box).overflowY)) {
        box.scrollTop = box.scrollHeight;
      }
    }
    return root.scrollTop > before || root.scrollHeight > root.clientHeight;
  },

  // Click a visible "load more" outside of forms; never a link to another page.
  clickMore(phrases) {
    const pattern = new RegExp(`^\\W*(?:${phrases})\\W*(?:\\(?\\d+\\)?)?\\W*$`, "i");
    for (const item of document.querySelectorAll("button, [role=button], a:not([href]), a[href='#'], a[href^='javascript:']")) {
      const box = item.getBoundingClientRect();
      const text = (item.innerText || item.getAttribute("aria-label") || "").trim();
      if (text.length > 60 || !pattern.test(text) || box.width < 8 || box.height < 8 || item.disabled) continue;
      if (item.closest("form") && item.type !== "button") continue;
      item.scrollIntoView({ block: "center", behavior: "instant" });
      item.click();
      return true;
    }
    return false;
  },

  // Copy the document with its open shadow trees in place, without noscript.
  serialize() {
    const inert = document.implementation.createHTMLDocument("");
    const copyNode = (node) => {
      if (node.nodeType === Node.ELEMENT_NODE && node.localName === "noscript") return null;
      const copy = inert.importNode(node, node.localName === "template");
      if (node.localName === "template") return copy;
      const isFilledSlot = node.localName === "slot" && node.assignedNodes && node.assignedNodes().length;
      const children = isFilledSlot ? node.assignedNodes() : (node.shadowRoot || node).childNodes;
      for (const child of children) {
        const part = copyNode(child);
        if (part) copy.appendChild(part);
      }
      return copy;
    };
    let root;
    try { root = copyNode(document.documentElement); } catch (error) { root = document.documentElement; } // too deep
    window.scrollTo(0, 0);
    const doctype = document.doctype ? "<!DOCTYPE html>\n" : "";
    return { html: doctype + root.outerHTML, url: location.href, base: document.baseURI,
      hasBase: !!document.querySelector("base[href]"),
      height: (document.scrollingElement || document.documentElement).scrollHeight };
  },
})
