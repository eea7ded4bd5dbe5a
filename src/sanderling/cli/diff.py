"""sanderling diff: two versions of a page, word by word."""

import argparse
import sys
import time

from msgspec import Struct, to_builtins
from rich.console import Console

from sanderling.changes.render import lines, page
from sanderling.changes.report import Report, Version, compare, version
from sanderling.cli.frame import Call, print_json, print_rows
from sanderling.cli.times import iso, moment, short
from sanderling.errors import UsageError
from sanderling.pages.parse import charset_of
from sanderling.store.collection import Collection, read_collection
from sanderling.store.look import known_url
from sanderling.store.read import read_record
from sanderling.store.warc_records import Place

HELP = "Show what changed on a page: words added and removed inside its paragraphs, links, images, scripts."
EXAMPLES = """\
examples:
  sanderling diff https://example.org/                      the last two versions
  sanderling diff https://example.org/ --versions           which versions there are
  sanderling diff https://example.org/ 1 3                  by their numbers
  sanderling diff https://example.org/ 2026-11-01 7d        as it was then, and seven days ago
  sanderling diff https://example.org/ --html > diff.html   side by side
"""


class Stored(Struct, frozen=True):
    """One version of a page in the archive."""

    number: int
    at: float
    digest: bytes
    size: int
    place: Place


def arguments(parser: argparse.ArgumentParser) -> None:
    """What only this command takes."""
    parser.add_argument("url", help="a stored URL")
    parser.add_argument("version", nargs="*", help="two versions, each a number or a time (default: the last two)")
    parser.add_argument("--versions", action="store_true", help="list the versions")
    parser.add_argument("--html", action="store_true", help="a page with both versions side by side")
    parser.add_argument("--furniture", action="store_true", help="also navigation, footers and banners")


def run(call: Call) -> int:
    """Compare two versions."""
    with read_collection(call.collection) as collection:
        id_, url = known_url(collection, call.args.url)
        versions = _versions(collection, id_)
        if call.args.versions:
            return _list(call, versions)
        old, new = _pair(call.args.version, versions, url)
        report = compare(_read(collection, old), _read(collection, new))
    _print(call, report, url, old, new)
    return 0


def _versions(collection: Collection, url: int) -> list[Stored]:
    """Every body that differs from the one before it, oldest first."""
    found: list[Stored] = []
    for at, digest, size, *place in collection.db.execute(
        "SELECT v.at, v.digest, v.size, f.name, v.start, v.length FROM visits AS v JOIN files AS f ON f.id = v.file"
        " WHERE v.url = ? AND v.outcome = 'fetched' AND v.length > 0 ORDER BY v.at, v.id",
        (url,),
    ):
        if not found or found[-1].digest != digest:
            found.append(Stored(len(found) + 1, at, digest, size, Place(*place)))
    return found


def _list(call: Call, versions: list[Stored]) -> int:
    if call.json:
        for one in versions:
            print_json({"version": one.number, "at": iso(one.at), "digest": one.digest.hex(), "bytes": one.size})
    else:
        print_rows(((one.number, short(one.at), one.size) for one in versions), ("version", "seen at", "bytes"))
    return 0


def _pair(asked: list[str], versions: list[Stored], url: str) -> tuple[Stored, Stored]:
    if len(versions) < 2:
        raise UsageError(f"there is only one version of {url}; it did not change since it was first seen")
    if not asked:
        return versions[-2], versions[-1]
    if len(asked) != 2:
        raise UsageError("give two versions, or none for the last two; --versions lists them")
    return _version(asked[0], versions), _version(asked[1], versions)


def _version(asked: str, versions: list[Stored]) -> Stored:
    if asked.isdecimal():
        if not 1 <= int(asked) <= len(versions):
            raise UsageError(f"there is no version {asked}; there are 1 to {len(versions)}")
        return versions[int(asked) - 1]
    at = moment(asked, time.time())
    before = [one for one in versions if one.at <= at]
    if not before:
        raise UsageError(f"nothing was stored before {asked}; the first version is of {short(versions[0].at)}")
    return before[-1]


def _read(collection: Collection, one: Stored) -> Version:
    record = read_record(collection.archive, one.place)
    return version(record.body, charset_of(record.header("Content-Type")))


def _print(call: Call, report: Report, url: str, old: Stored, new: Stored) -> None:
    if call.args.html:
        print(page(report, url, short(old.at), short(new.at)))
    elif call.json:
        print_json({"url": url, "old_at": iso(old.at), "new_at": iso(new.at), **to_builtins(report)})
    else:
        console = Console(soft_wrap=True, highlight=False, markup=False)
        colour = sys.stdout.isatty() and not console.no_color
        console.print(f"{url}\n{short(old.at)} -> {short(new.at)}")
        for line in lines(report, colour=colour, furniture=call.args.furniture):
            console.print(line)
