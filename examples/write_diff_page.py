"""Write an HTML page with the differences between the last two versions: write_diff_page.py URL OUTPUT [FOLDER]."""

import sys
from html import escape
from pathlib import Path

import sanderling

url, output, folder = sys.argv[1], Path(sys.argv[2]), (sys.argv[3:] or ["collection"])[0]
with sanderling.open(folder) as collection:
    diff = collection.diff(url)
    output.write_text(f"<!doctype html><meta charset=utf-8><title>{escape(url)}</title>{diff.as_html()}")
    print(f"{output}: version {diff.old.number} to {diff.new.number}, {', '.join(diff.kinds) or 'no change'}")
