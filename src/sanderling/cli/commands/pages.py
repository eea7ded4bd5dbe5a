"""sanderling pages: list what is stored, or what was skipped and why."""

import argparse
import re
import time
from collections.abc import Collection, Iterator, Mapping

from sanderling.cli.arguments import Call, print_json, print_rows, whole
from sanderling.cli.time_format import iso, moment, short
from sanderling.config.loader import nearest
from sanderling.crawl.stop import Finish
from sanderling.dedup.near_duplicates import Pair, near
from sanderling.errors import UsageError
from sanderling.models import Reason, State
from sanderling.storage.collection import get_meta, read_collection
from sanderling.storage.queries import PageRow, SkippedRow, notices, pages, skipped, urls_of
from sanderling.urls.scope import is_like

HELP = "List stored pages; with --skipped, the URLs that are not stored, each with its reason."
EXAMPLES = """\
examples:
  sanderling pages --json | head
  sanderling pages --url '*/docs/*' --mime text/html --since 7d
  sanderling pages --status 301            redirects; --status all: everything that answered
  sanderling pages --reason robots         skipped for this reason
  sanderling pages --duplicates            copies to the byte; --near: pages that read nearly like another
  sanderling pages --notices               logins, outages: is the page itself behind one?
"""

STATUS = re.compile(r"all|[1-5](?:xx|\d\d)").fullmatch
REASONS = {*Reason, *State, *Finish, "waiting"} - {""}


def arguments(parser: argparse.ArgumentParser) -> None:
    """What only this command takes."""
    parser.add_argument("--skipped", action="store_true", help="URLs that were met and are not stored, and why")
    parser.add_argument("--reason", help="of skipped URLs: only this reason")
    parser.add_argument("--url", metavar="PATTERN", help="only URLs like this: * stands for anything")
    parser.add_argument("--status", default="2xx", help="HTTP status, 2xx (default), 3xx ..., or all")
    parser.add_argument("--mime", help="only this media type, e.g. text/html or image/*")
    parser.add_argument("--since", metavar="TIME", help="visited since then: 2026-11-15, 7d, 2h")
    parser.add_argument("--changed", action="store_true", help="only pages that changed since they were first seen")
    parser.add_argument("--duplicates", action="store_true", help="only pages whose body is that of another page")
    parser.add_argument("--near", action="store_true", help="only near duplicates of a page fetched before")
    parser.add_argument("--notices", action="store_true", help="only pages that read like a notice: an outage, a login")
    parser.add_argument("--first", "--limit", dest="first", type=whole, metavar="N", help="at most so many")


def run(call: Call) -> int:
    """Print the list."""
    reason = call.args.reason
    if reason is not None and reason not in REASONS:
        raise UsageError(f"there is no reason {reason!r}{nearest(reason, sorted(REASONS))}")
    if not STATUS(call.args.status):
        raise UsageError(f"--status {call.args.status!r} is no HTTP status; write 404, 4xx or all")
    with read_collection(call.collection) as collection:
        if call.args.skipped or reason:
            rows = chosen_skipped(call, skipped(collection.db), get_meta(collection.db, "finish_reason"))
            _print_skipped(call, _first(call, rows))
        else:
            twins = {pair.url: pair for pair in near(collection.db)}
            told = notices(collection.db) if call.json or call.args.notices else set()
            names = urls_of(collection.db, sorted({pair.twin for pair in twins.values()}))
            _print_pages(call, _first(call, _chosen(call, pages(collection.db), twins, told)), twins, names, told)
    return 0


def _first(call: Call, rows: Iterator[list[object]]) -> Iterator[list[object]]:
    for number, row in enumerate(rows):
        if call.args.first is not None and number >= call.args.first:
            return
        yield row


def _matches(pattern: str | None, text: str) -> bool:
    return pattern is None or is_like(text, pattern)


def _has_status(wanted: str, status: int) -> bool:
    if wanted == "all":
        return True
    return str(status).startswith(wanted[0]) if wanted.endswith("xx") else str(status) == wanted


def _chosen(
    call: Call, rows: Iterator[PageRow], twins: Mapping[int, Pair], told: Collection[int]
) -> Iterator[list[object]]:
    args = call.args
    since = moment(args.since, time.time()) if args.since else 0.0
    for row in rows:
        if (
            _has_status(args.status, row.status)
            and _matches(args.url, row.url)
            and _matches(args.mime, row.mime)
            and row.last_visit >= since
            and (row.changes or not args.changed)
            and (row.duplicate_of or not args.duplicates)
            and (row.id in twins or not args.near)
            and (row.id in told or not args.notices)
        ):
            yield [row]


def as_object(row: PageRow) -> dict[str, object]:
    """A page as a script reads it."""
    return {
        "url": row.url,
        "status": row.status,
        "mime": row.mime,
        "title": row.title,
        "depth": row.depth,
        "first_seen": iso(row.first_seen),
        "last_visit": iso(row.last_visit),
        "last_change": iso(row.last_change),
        "digest": f"sha256:{row.digest}" if row.digest else "",
        "bytes": row.bytes,
        "language": row.language,
        "etag": row.etag,
        "last_modified": row.last_modified,
        "canonical": row.canonical,
        "location": row.location,
        "links": row.links,
        "visits": row.visits,
        "changes": row.changes,
        "duplicate_of": row.duplicate_of,
        "source": row.source,
        "via": row.via,
        "sitemap_lastmod": iso(row.lastmod) or "",
        "sitemap_changefreq": row.changefreq,
        "sitemap_priority": f"{row.priority:g}" if row.priority >= 0 else "",
    }


def _near_object(pair: Pair | None, names: Mapping[int, str]) -> dict[str, object]:
    if pair is None:
        return {"near_duplicate_of": "", "near_similarity": None}
    return {"near_duplicate_of": names.get(pair.twin, ""), "near_similarity": pair.similarity}


def _print_pages(
    call: Call, rows: Iterator[list[object]], twins: Mapping[int, Pair], names: Mapping[int, str], told: Collection[int]
) -> None:
    found = (row for (row,) in rows if isinstance(row, PageRow))
    if call.json:
        for row in found:
            print_json(as_object(row) | _near_object(twins.get(row.id), names) | {"notice": row.id in told})
    elif call.args.near:
        pairs = ((row, twins[row.id]) for row in found)
        table = ((f"{p.similarity:.2f}", r.url, names.get(p.twin, "")) for r, p in pairs)
        print_rows(table, ("similarity", "url", "near duplicate of"))
    elif call.args.duplicates:
        print_rows(((row.bytes, row.url, row.duplicate_of) for row in found), ("bytes", "url", "copy of"))
    else:
        header = ("status", "depth", "bytes", "last visit", "type", "url")
        print_rows(((r.status, r.depth, r.bytes, short(r.last_visit), r.mime, r.url) for r in found), header)


def chosen_skipped(call: Call, rows: Iterator[SkippedRow], finish: str) -> Iterator[list[object]]:
    """Skipped URLs; one that still waits is named by what cut the crawl short."""
    for row in rows:
        reason = (row.reason or row.state) if row.state != State.QUEUED else finish or "waiting"
        if _matches(call.args.url, row.url) and call.args.reason in (None, reason):
            yield [row.url, row.state, reason, row.note, row.depth, row.source, row.via, iso(row.found_at)]


def _print_skipped(call: Call, rows: Iterator[list[object]]) -> None:
    names = ("url", "state", "reason", "note", "depth", "source", "via", "found_at")
    if call.json:
        for row in rows:
            print_json(dict(zip(names, row, strict=True)))
    else:
        print_rows(((r[2], r[3] or "-", r[1], r[0]) for r in rows), ("reason", "note", "state", "url"))
