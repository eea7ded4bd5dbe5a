"""sanderling history: all visits of one page, with a small plot."""

import argparse
from collections.abc import Sequence

import msgspec

from sanderling.cli.arguments import Call, print_json, print_rows
from sanderling.cli.time_format import iso, short
from sanderling.storage.collection import read_collection
from sanderling.storage.page_history import CHANGES, Past, change_class, moved_from, visits_of
from sanderling.storage.queries import known_url
from sanderling.storage.sitemap_hints import Hints

HELP = "Show every visit of a page: when, what came of it, whether it had changed and how."
EXAMPLES = """\
examples:
  sanderling history https://example.org/
  sanderling history https://example.org/ --json
"""
WIDTH = 72  # columns of the plot
MARKS = {"changed": "█", "same": "·", "gone": "×", "trouble": "!"}


def arguments(parser: argparse.ArgumentParser) -> None:
    """What only this command takes."""
    parser.add_argument("url", help="a known URL")


def run(call: Call) -> int:
    """Print the visits and the plot."""
    with read_collection(call.collection) as collection:
        id_, key = known_url(collection, call.args.url)
        before = moved_from(collection.db, key)
        visits = [visit for old, _ in reversed(before) for visit in visits_of(collection.db, old)]
        visits += visits_of(collection.db, id_)
        row = collection.db.execute(
            f"SELECT etag, last_modified, first_seen, last_visit, visits, {CHANGES} FROM pages AS p WHERE url = ?",
            (id_,),
        ).fetchone()
        said = Hints(collection.db).of([id_]).get(id_)
    etag, modified, first, last, count, changes = row or ("", "", 0.0, 0.0, 0, 0)
    frequency = change_class(first, last, count, changes, said.changefreq if said else "")
    if call.json:
        past = [{**msgspec.to_builtins(visit), "at": iso(visit.at)} for visit in visits]
        print_json({"url": key, "class": frequency, "etag": etag, "last_modified": modified,
                    "moved_from": [url for _, url in before], "visits": past})  # fmt: skip
        return 0
    looks, turns = ("" if number == 1 else "s" for number in (len(visits), changes))
    print(f"{key}: {len(visits)} visit{looks}, {changes} change{turns}, class {frequency}")
    for _, url in before:
        print(f"moved here from {url}")
    if etag or modified:
        print(f"validators: {' '.join(part for part in (etag, modified) if part)}")
    if len(visits) > 1:
        print(f"\n{plot(visits)}\n{short(visits[0].at)[:16]:<{WIDTH - 16}}{short(visits[-1].at)[:16]}")
        print("  ".join(f"{mark} {name}" for name, mark in MARKS.items()) + "\n")
    first = next((visit for visit in visits if visit.bytes_differ), None)
    print_rows(
        [(short(v.at), v.outcome, v.status, v.size, v.reason, change_of(v, v is first)) for v in visits],
        ("when", "outcome", "status", "bytes", "reason", "changed"),
    )
    return 0


def change_of(visit: Past, is_first: bool) -> str:
    """Return the kinds of a change; where only bytes differ that do not matter, say so."""
    return "first version" if is_first else visit.kinds or "no (only noise differs)" * visit.bytes_differ


def mark_of(visit: Past) -> str:
    """One visit as one sign."""
    if visit.outcome in ("fetched", "redirect", "not_modified"):
        return MARKS["changed" if visit.changed else "same"]
    return MARKS["gone" if visit.outcome == "gone" else "trouble"]


def plot(visits: Sequence[Past]) -> str:
    """The visits along a line of time; where several fall together the most telling is shown."""
    start, span = visits[0].at, max(visits[-1].at - visits[0].at, 1e-9)
    line = [" "] * WIDTH
    rank = list(MARKS.values())
    for visit in visits:
        column = min(int((visit.at - start) / span * WIDTH), WIDTH - 1)
        sign = mark_of(visit)
        if line[column] == " " or rank.index(sign) < rank.index(line[column]):
            line[column] = sign
    return "".join(line)
