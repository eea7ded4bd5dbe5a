"""Search the stored pages: search_pages.py QUERY [FOLDER]. Needs the extra `search`."""

import sys

import sanderling

query, folder = sys.argv[1], (sys.argv[2:] or ["collection"])[0]
with sanderling.open(folder) as collection:
    results = collection.search(query, limit=5)
    print(f"{results.total} pages")
    for hit in results.hits:
        print(f"{hit.position}. {''.join(run.text for run in hit.title)}\n   {hit.url}")
