"""List links to pages that could not be fetched, with the pages that contain them: find_broken_links.py [FOLDER]."""

import sys
from collections import defaultdict

import sanderling

with sanderling.open((sys.argv[1:] or ["collection"])[0]) as collection:
    broken = {missing.url: missing for missing in collection.skipped() if missing.state in ("gone", "failed")}
    sources = defaultdict(set)
    for page in collection.pages():
        for link in broken.keys() & set(page.links):
            sources[link].add(page.url)
    for link in sorted(sources):
        print(f"{link} ({broken[link].reason or broken[link].state}), linked from {', '.join(sorted(sources[link]))}")
