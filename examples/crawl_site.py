"""Crawl a site and print each page as it is stored: crawl_site.py URL [FOLDER]."""

import sys

import sanderling

url, folder = sys.argv[1], (sys.argv[2:] or ["collection"])[0]
with sanderling.open(folder, sanderling.Settings.from_environment()) as collection:
    run = collection.crawl(url, limit=500)
    for page in run:
        print(f"{page.title or '(no title)'}: {page.url}, {len(page.text.split())} words")
    print(f"{run.wait().pages} pages stored")
