"""sanderling pages: list stored pages, or skipped URLs with the reason."""

import argparse
import re
import time
from collections.abc import Collection, Iterator, Mapping

from sanderling.cli.arguments import CommandCall, parse_whole_number, print_json, print_rows
from sanderling.config.loader import suggest_or_list_names
from sanderling.config.time_format import format_iso, format_short, parse_time
from sanderling.crawl.stop import FinishReason
from sanderling.dedup.near_duplicates import NearDuplicatePair, load_pairs
from sanderling.errors import UsageError
from sanderling.models import Reason, UrlState
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.collection_meta import CollectionMeta
from sanderling.storage.page_json import build_page_object
from sanderling.storage.queries import (
    CatalogRow,
    SkippedRow,
    find_notice_pages,
    load_pages,
    load_skipped_urls,
    load_urls,
)
from sanderling.urls.scope import is_wildcard_match

HELP = "List stored pages, or with --skipped the URLs that are not stored and why."
EXAMPLES = """\
examples:
  sanderling pages --json | head
  sanderling pages --url '*/docs/*' --mime text/html --since 7d
  sanderling pages --status 301            redirects; --status all: every response
  sanderling pages --reason robots         skipped for this reason
  sanderling pages --duplicates            identical copies; --near: near duplicates
  sanderling pages --notices               pages that look like a login or an outage
"""

match_status = re.compile(r"all|[1-5](?:xx|\d\d)").fullmatch
REASONS = {*Reason, *UrlState, *FinishReason, "waiting"} - {""}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("--skipped", action="store_true", help="URLs that are not stored, with the reason")
    parser.add_argument("--reason", help="only URLs skipped for this reason")
    parser.add_argument("--url", metavar="PATTERN", help="only URLs that match this pattern (* matches anything)")
    parser.add_argument("--status", default="2xx", help="HTTP status, 2xx (default), 3xx ..., or all")
    parser.add_argument("--mime", help="only this media type, e.g. text/html or image/*")
    parser.add_argument("--since", metavar="TIME", help="visited since then: 2026-11-15, 7d, 2h")
    parser.add_argument("--changed", action="store_true", help="only pages that changed since they were first seen")
    parser.add_argument("--duplicates", action="store_true", help="only pages with the same body as another page")
    parser.add_argument("--near", action="store_true", help="only near duplicates of a page fetched before")
    parser.add_argument("--notices", action="store_true", help="only pages that look like a notice: an outage, a login")
    parser.add_argument(
        "--first", "--limit", dest="first", type=parse_whole_number, metavar="N", help="maximum number of pages"
    )


def run(call: CommandCall) -> int:
    """Print the selected pages or URLs."""
    reason = call.args.reason
    if reason is not None and reason not in REASONS:
        raise UsageError(f"there is no reason {reason!r}{suggest_or_list_names(reason, sorted(REASONS))}")
    if not match_status(call.args.status):
        raise UsageError(f"--status {call.args.status!r} is not an HTTP status; use 404, 4xx or all")
    with open_collection_read_only(call.collection) as collection:
        if call.args.skipped or reason:
            rows = select_skipped(call, load_skipped_urls(collection.db), CollectionMeta(collection.db).finish_reason)
            _print_skipped(call, _take_first(call, rows))
        else:
            near_duplicates = {pair.url: pair for pair in load_pairs(collection.db)}
            described = find_notice_pages(collection.db) if call.json or call.args.notices else set()
            names = load_urls(collection.db, sorted({pair.duplicate_of for pair in near_duplicates.values()}))
            _print_pages(
                call,
                _take_first(call, _select_pages(call, load_pages(collection.db), near_duplicates, described)),
                near_duplicates,
                names,
                described,
            )
    return 0


def _take_first(call: CommandCall, rows: Iterator[list[object]]) -> Iterator[list[object]]:
    for number, row in enumerate(rows):
        if call.args.first is not None and number >= call.args.first:
            return
        yield row


def _matches(pattern: str | None, text: str) -> bool:
    return pattern is None or is_wildcard_match(text, pattern)


def _has_status(expected: str, status: int) -> bool:
    if expected == "all":
        return True
    return str(status).startswith(expected[0]) if expected.endswith("xx") else str(status) == expected


def _select_pages(
    call: CommandCall,
    rows: Iterator[CatalogRow],
    near_duplicates: Mapping[int, NearDuplicatePair],
    notice_ids: Collection[int],
) -> Iterator[list[object]]:
    args = call.args
    since = parse_time(args.since, time.time()) if args.since else 0.0
    for row in rows:
        if (
            _has_status(args.status, row.status)
            and _matches(args.url, row.url)
            and _matches(args.mime, row.mime)
            and row.last_visit >= since
            and (row.change_count or not args.changed)
            and (row.duplicate_of or not args.duplicates)
            and (row.url_id in near_duplicates or not args.near)
            and (row.url_id in notice_ids or not args.notices)
        ):
            yield [row]


def _build_near_duplicate_object(pair: NearDuplicatePair | None, urls: Mapping[int, str]) -> dict[str, object]:
    if pair is None:
        return {"near_duplicate_of": "", "near_similarity": None}
    return {"near_duplicate_of": urls.get(pair.duplicate_of, ""), "near_similarity": pair.similarity}


def _print_pages(
    call: CommandCall,
    rows: Iterator[list[object]],
    near_duplicates: Mapping[int, NearDuplicatePair],
    urls: Mapping[int, str],
    notice_ids: Collection[int],
) -> None:
    found = (row for (row,) in rows if isinstance(row, CatalogRow))
    if call.json:
        for row in found:
            print_json(
                build_page_object(row)
                | _build_near_duplicate_object(near_duplicates.get(row.url_id), urls)
                | {"notice": row.url_id in notice_ids}
            )
    elif call.args.near:
        pairs = ((row, near_duplicates[row.url_id]) for row in found)
        table = ((f"{p.similarity:.2f}", r.url, urls.get(p.duplicate_of, "")) for r, p in pairs)
        print_rows(table, ("similarity", "url", "near duplicate of"))
    elif call.args.duplicates:
        print_rows(((row.body_bytes, row.url, row.duplicate_of) for row in found), ("bytes", "url", "copy of"))
    else:
        header = ("status", "depth", "bytes", "last visit", "type", "url")
        print_rows(
            ((r.status, r.depth, r.body_bytes, format_short(r.last_visit), r.mime, r.url) for r in found), header
        )


def select_skipped(call: CommandCall, rows: Iterator[SkippedRow], finish_reason: str) -> Iterator[list[object]]:
    """Select skipped URLs; queued URLs get the reason why the crawl ended."""
    for row in rows:
        reason = (row.reason or row.state) if row.state != UrlState.QUEUED else finish_reason or "waiting"
        if _matches(call.args.url, row.url) and call.args.reason in (None, reason):
            yield [
                row.url,
                row.state,
                reason,
                row.detail,
                row.depth,
                row.source,
                row.referrer,
                format_iso(row.found_at),
            ]


def _print_skipped(call: CommandCall, rows: Iterator[list[object]]) -> None:
    names = ("url", "state", "reason", "note", "depth", "source", "via", "found_at")
    if call.json:
        for row in rows:
            print_json(dict(zip(names, row, strict=True)))
    else:
        print_rows(((r[2], r[3] or "-", r[1], r[0]) for r in rows), ("reason", "note", "state", "url"))
