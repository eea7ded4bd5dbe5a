"""Write the catalog as CSV and print totals: write_catalog.py OUTPUT [FOLDER]."""

import sys

import sanderling

output, folder = sys.argv[1], (sys.argv[2:] or ["collection"])[0]
with sanderling.open(folder) as collection:
    rows = collection.export(output)
    status = collection.status()
    print(f"{output}: {rows} rows, {status['pages']} pages, {status['bytes']} bytes")
