"""sanderling status: size and state of a collection."""

import argparse
import json
import time
from collections import Counter

import msgspec

from sanderling.cli.arguments import CommandCall, fold_line, print_json
from sanderling.cli.progress import format_size
from sanderling.config.time_format import format_iso, shorten_iso
from sanderling.crawl.depth import count_levels, load_drawn_depths
from sanderling.db.connection import Connection
from sanderling.dedup.duplicate_stats import load_duplicate_stats
from sanderling.discovery.changefreq import CHANGEFREQS
from sanderling.models import Reason
from sanderling.storage.collection import StoredCollection, get_meta, open_collection_read_only
from sanderling.storage.page_history import load_change_classes
from sanderling.storage.queries import URL_STATE_SQL

HELP = "Show the size and state of a collection, remaining work, and delayed hosts."
EXAMPLES = """\
examples:
  sanderling status
  sanderling status -C archive-2026 --json
"""
MAX_SHOWN_SEEDS = 5  # named to a person
DUPLICATE_LABELS = {
    "identical_pages": "identical",
    "near_duplicate_pages": "near duplicates",
    "noncanonical_pages": "with another canonical URL",
}
VALUE_INDENT = 12  # columns before a value
MAX_SHOWN_LEVELS = 12  # rows of them for a person


def arguments(parser: argparse.ArgumentParser) -> None: ...


def run(call: CommandCall) -> int:
    """Print the state of the collection."""
    with open_collection_read_only(call.collection) as collection:
        state = describe_collection(collection)
    if call.json:
        print_json(state)
    else:
        _print_status(state)
    return 0


def describe_collection(collection: StoredCollection) -> dict[str, object]:
    """Return the state of a collection as a JSON object."""
    db = collection.db
    (pages, size) = db.execute(
        "SELECT count(*), coalesce(sum(size), 0) FROM pages JOIN urls ON urls.id = pages.url"
        " WHERE status BETWEEN 200 AND 299 AND role = 'page'"
    ).fetchone()
    (archived,) = db.execute("SELECT coalesce(sum(committed), 0) FROM files").fetchone()
    run = db.execute("SELECT started, ended, finish_reason, command FROM runs ORDER BY id DESC LIMIT 1").fetchone()
    return {
        "collection": str(collection.folder),
        "session": int(get_meta(db, "session", "1")),
        "complete": get_meta(db, "complete") == "1",
        "seeds": json.loads(get_meta(db, "seeds", "[]")),
        "pages": pages,
        "bytes": size,
        "archive_bytes": archived,
        "urls": dict(db.execute("SELECT state, count(*) FROM urls WHERE role = 'page' GROUP BY state").fetchall()),
        "skipped": dict(_count_reasons(db, "skipped")),
        "failed": dict(_count_reasons(db, "failed")),
        "out_of_scope": _count_out_of_scope(db),
        "forgetting": get_meta(db, "forgetting") == "1",
        "unlisted": int(get_meta(db, "unlisted", "0")),
        "classes": dict(Counter(name for _, name in load_change_classes(db))),
        "changes": _count_changes(db, time.time()),
        "order": get_meta(db, "order"),
        "depths": load_drawn_depths(db),
        "levels": [msgspec.to_builtins(level) for level in count_levels(db)],
        "duplicates": _count_duplicates(db),
        "hosts": db.execute("SELECT count(DISTINCT host) FROM urls WHERE state = 'visited'").fetchone()[0],
        "held": _list_backed_off_hosts(db, time.time()),
        "complaints": _list_rate_limited_hosts(db),
        "last_run": None
        if run is None
        else {
            "started": format_iso(run[0]),
            "ended": format_iso(run[1]),
            "finish_reason": run[2] or "unfinished",
            "command": run[3],
        },
    }


def _count_changes(db: Connection, now: float) -> dict[str, int]:
    pages, every, today = db.execute(
        "SELECT count(DISTINCT url), count(*), coalesce(sum(CASE WHEN at > ? THEN 1 ELSE 0 END), 0)"
        " FROM changes WHERE kinds <> ''",
        (now - 86_400,),
    ).fetchone()
    return {"pages": pages, "changes": every, "last_day": today}


def _count_duplicates(db: Connection) -> dict[str, object]:
    found = load_duplicate_stats(db)
    ratios = {"link_share": round(found.known_link_share, 4), "cache_hit_ratio": round(found.cache_hit_ratio, 4)}
    return msgspec.structs.asdict(found) | ratios


def _count_reasons(db: Connection, state: str) -> list[tuple[str, int]]:
    """Count skipped URLs by reason, without links to other sites."""
    sql = (
        f"SELECT u.reason, count(*) FROM urls AS u WHERE {URL_STATE_SQL} = ? AND role = 'page' AND u.reason <> ?"
        " GROUP BY u.reason ORDER BY 2 DESC"
    )
    return db.execute(sql, (state, Reason.OUT_OF_SCOPE)).fetchall()


def _count_out_of_scope(db: Connection) -> int:
    """Count links to other sites."""
    sql = "SELECT count(*) FROM urls WHERE state = 'skipped' AND role = 'page' AND reason = ?"
    return int(db.execute(sql, (Reason.OUT_OF_SCOPE,)).fetchone()[0])


def _list_backed_off_hosts(db: Connection, now: float) -> list[dict[str, object]]:
    """List delayed hosts, longest delay first."""
    rows = db.execute(
        "SELECT name, hold, open_at, waiting FROM hosts WHERE waiting > 0 AND open_at > ? AND hold <> ''"
        " ORDER BY open_at DESC LIMIT 20",
        (now,),
    )
    return [
        {"host": name, "reason": hold, "until": format_iso(until), "waiting": waiting}
        for name, hold, until, waiting in rows
    ]


def _list_rate_limited_hosts(db: Connection) -> list[dict[str, object]]:
    """List hosts that returned 429 or 503, with the learned delay."""
    rows = db.execute(
        "SELECT name, complaints, complained_at, learned FROM hosts WHERE complaints > 0"
        " ORDER BY complaints DESC, name LIMIT 20"
    )
    return [
        {"host": name, "complaints": count, "last": format_iso(at), "seconds_between": learned}
        for name, count, at, learned in rows
    ]


def _print_status(state: dict[str, object]) -> None:
    run = state["last_run"]
    urls = state["urls"]
    assert isinstance(urls, dict)
    print(f"{state['collection']}: {state['pages']:,} pages, {format_size(float(str(state['bytes'])))}")
    print(f"  seeds     {_format_seeds(state['seeds'])}")
    print(f"  session   {state['session']}, {'complete' if state['complete'] else 'unfinished'}")
    print(f"  archive   {format_size(float(str(state['archive_bytes'])))} of WARC")
    print(f"  urls      {', '.join(f'{count:,} {name}' for name, count in sorted(urls.items()))}")
    for name in ("skipped", "failed"):
        reasons = state[name]
        if isinstance(reasons, dict) and reasons:
            print(f"  {name:<9} {', '.join(f'{count:,} {reason}' for reason, count in reasons.items())}")
    if state["out_of_scope"]:
        print(f"  outside   {state['out_of_scope']:,} links to other sites, not followed")
    if state["unlisted"]:
        print(f"  unlisted  {state['unlisted']:,} links to skipped URLs beyond those listed of one host and reason")
    frequencies = state["classes"]
    if isinstance(frequencies, dict) and frequencies:
        known = ", ".join(f"{frequencies[name]:,} {name}" for name in CHANGEFREQS if name in frequencies)
        print(f"  {'class':<9} {fold_line(f'{known} (how often pages change)', VALUE_INDENT)}")
    changes = state["changes"]
    assert isinstance(changes, dict)
    print(f"  changed   {changes['pages']:,} pages, {changes['last_day']:,} changes in the last day")
    _print_duplicates(state["duplicates"])
    _print_levels(state)
    if state["forgetting"]:
        print("  forget    was cut short; sanderling delete goes on with it")
    held = state["held"]
    for host in held if isinstance(held, list) else []:
        print(
            f"  delayed   {host['host']} until {shorten_iso(host['until'])} ({host['reason']}); {host['waiting']} URLs"
        )
    _print_rate_limited_hosts(state["complaints"])
    if isinstance(run, dict):
        print(f"  last run  {shorten_iso(run['started'])}: {run['finish_reason']}")


def _print_rate_limited_hosts(hosts: object) -> None:
    assert isinstance(hosts, list)
    for host in hosts:
        times = f"{host['complaints']:,} time{'' if host['complaints'] == 1 else 's'}"
        pace = f"; asked every {host['seconds_between']:g} s since" if host["seconds_between"] else ""
        print(f"  slowed    {host['host']} asked us {times} to slow down{pace}")


def _format_seeds(seeds: object) -> str:
    assert isinstance(seeds, list)
    more = f" and {len(seeds) - MAX_SHOWN_SEEDS:,} more" if len(seeds) > MAX_SHOWN_SEEDS else ""
    return ", ".join(map(str, seeds[:MAX_SHOWN_SEEDS])) + more


def _print_duplicates(duplicates: object) -> None:
    """Print duplicate links and pages."""
    assert isinstance(duplicates, dict)
    if duplicates["links"]:
        print(f"  links     {duplicates['links']:,} found, {duplicates['link_share']:.1%} to URLs met before")
    if duplicates["cache_lookups"]:  # not before the end of the first run
        print(f"  look-ups  {duplicates['cache_hit_ratio']:.1%} needed no disk")
    if duplicate_counts := [
        f"{duplicates[name]:,} {words}" for name, words in DUPLICATE_LABELS.items() if duplicates[name]
    ]:
        print(f"  duplicate {', '.join(duplicate_counts)}")


def _print_levels(state: dict[str, object]) -> None:
    """Print the number of pages by depth; deep levels are summarized."""
    found, depths = state["levels"], state["depths"]
    assert isinstance(found, list)
    for level in found[:MAX_SHOWN_LEVELS]:
        counts = ", ".join(f"{count:,} {name}" for name, count in level.items() if name != "level" and count)
        print(f"  level {level['level']:<3} {counts}")
    if len(found) > MAX_SHOWN_LEVELS:
        print(f"  level {found[MAX_SHOWN_LEVELS]['level']} to {found[-1]['level']}: see --json")
    if isinstance(depths, dict) and depths:
        print(f"  depths    {', '.join(f'{depth} from {seed}' for seed, depth in depths.items())}")
