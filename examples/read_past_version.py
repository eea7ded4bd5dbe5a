"""Print a page as it was at a time: read_past_version.py URL TIME [FOLDER]; TIME is 2026-11-15 or 7d (ago)."""

import sys

import sanderling

url, when, folder = sys.argv[1], sys.argv[2], (sys.argv[3:] or ["collection"])[0]
with sanderling.open(folder) as collection:
    try:
        print(collection.at(url, when).text)
    except sanderling.UsageError as error:
        sys.exit(str(error))
