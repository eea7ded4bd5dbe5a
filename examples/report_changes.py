"""Revisit all pages of a collection and print the changed words: report_changes.py [FOLDER]."""

import sys

import sanderling

with sanderling.open((sys.argv[1:] or ["collection"])[0], sanderling.Settings.from_environment()) as collection:
    changes = collection.refresh(every_page=True).changes(kind=["content", "new", "gone"])
    for change in changes:
        print(f"{change.seen_at:%Y-%m-%d %H:%M}  {change.url}: {', '.join(change.kinds)}")
        if "content" in change.kinds:
            print(change.diff.as_text())
    print(f"{len(changes)} changes")
