"""Where URLs come from beyond links: seeds, sitemaps, feeds, changed-since lists. Bytes in, hints out."""
