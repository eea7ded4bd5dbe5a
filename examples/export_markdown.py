"""Print a JSON line with the Markdown of every page, for language models: export_markdown.py [FOLDER]."""

import json
import sys

import sanderling

with sanderling.open((sys.argv[1:] or ["collection"])[0]) as collection:
    for page in collection.pages():
        if page.is_html and not page.duplicate_of:
            record = {"url": page.url, "title": page.title, "digest": page.digest, "markdown": page.markdown}
            print(json.dumps(record, ensure_ascii=False))
