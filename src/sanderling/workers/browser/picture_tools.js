// Functions for screenshots: blocks of a page, and the comparison of two pictures (in a page of its own).
({
  // Boxes of blocks with text or a picture, at most `limit`.
  findBlocks(limit) {
    const blocks = new Set();
    const pictures = new Set(["img", "svg", "canvas", "input", "button", "select"]);
    for (const node of document.body ? document.body.getElementsByTagName("*") : []) {
      if (blocks.size >= limit) break;
      let block = node;
      if (!pictures.has(node.localName)) {
        if (![...node.childNodes].some(child => child.nodeType === Node.TEXT_NODE && child.data.trim())) continue;
        while (block.parentElement && getComputedStyle(block).display.startsWith("inline")) block = block.parentElement;
      }
      blocks.add(block);
    }
    return [...blocks].map((block) => {
      const box = block.getBoundingClientRect();
      const key = block.localName + " " + (block.src || block.innerText || "").slice(0, 300);
      return [key, ...[box.left + scrollX, box.top + scrollY, box.width, box.height].map(Math.round)];
    });
  },

  // Share of differing pixels for each pair of boxes.
  async compare({ old: before, new: after, pairs, tolerance }) {
    const read = async (data) => {
      const bytes = Uint8Array.from(atob(data), letter => letter.charCodeAt(0));
      const image = await createImageBitmap(new Blob([bytes]));
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext("2d", { willReadFrequently: true });
      context.drawImage(image, 0, 0);
      return context;
    };
    const [first, second] = await Promise.all([read(before), read(after)]);
    return pairs.map(([a, b]) => {
      const [width, height] = [Math.min(a[2], b[2]), Math.min(a[3], b[3])];
      const union = Math.max(a[2], b[2]) * Math.max(a[3], b[3]);
      const x = first.getImageData(a[0], a[1], width, height).data;
      const y = second.getImageData(b[0], b[1], width, height).data;
      let differing = union - width * height;
      for (let n = 0; n < x.length; n += 4) {
        if (Math.abs(x[n] - y[n]) > tolerance || Math.abs(x[n + 1] - y[n + 1]) > tolerance
          || Math.abs(x[n + 2] - y[n + 2]) > tolerance) differing++;
      }
      return differing / union;
    });
  },
})
