"""Size and state of a collection, remaining work, and delayed hosts."""

import time
from collections import Counter

import msgspec

from sanderling import __version__
from sanderling.config.time_format import format_iso
from sanderling.crawl.depth import load_drawn_depths, load_level_counts
from sanderling.db.connection import Connection
from sanderling.dedup.duplicate_stats import load_duplicate_stats
from sanderling.discovery.changefreq import CHANGEFREQS
from sanderling.html.native import NATIVE
from sanderling.models import UrlState
from sanderling.revisit.schedule import summarize_schedule
from sanderling.storage.collection import StoredCollection
from sanderling.storage.collection_meta import CollectionMeta
from sanderling.storage.page_history import load_change_classes
from sanderling.storage.reports import (
    count_changes,
    count_reasons,
    list_forms,
    list_host_delays,
    list_rate_limited_hosts,
    load_totals,
    report_requisites,
)


def describe_collection(collection: StoredCollection) -> dict[str, object]:
    """Return the state of a collection as a JSON object."""
    db = collection.db
    totals, meta = load_totals(db), CollectionMeta(db)
    run = db.execute("SELECT started, ended, finish_reason, command FROM runs ORDER BY id DESC LIMIT 1").fetchone()
    return {
        "version": __version__,
        "page_scanner": "compiled" if NATIVE else "python",
        "collection": str(collection.folder),
        "session": meta.session,
        "complete": meta.is_complete,
        "seeds": meta.seeds,
        "pages": totals.pages,
        "bytes": totals.page_bytes,
        "archive_bytes": totals.archive_bytes,
        "urls": totals.urls,
        "skipped": count_reasons(db, UrlState.SKIPPED),
        "failed": count_reasons(db, UrlState.FAILED),
        "out_of_scope": totals.out_of_scope,
        "requisites": _describe_requisites(db),
        "forms": _describe_forms(db),
        "deletion_unfinished": meta.is_deletion_unfinished,
        "unrecorded_skips": meta.unrecorded_skips,
        "classes": _count_change_classes(db),
        "changes": _count_changes(db, time.time()),
        "order": meta.ordering,
        "depths": load_drawn_depths(db),
        "levels": [msgspec.to_builtins(level) for level in load_level_counts(db)],
        "duplicates": _count_duplicates(db),
        "hosts": totals.hosts,
        "backed_off_hosts": _list_backed_off_hosts(db, time.time()),
        "rate_limited_hosts": _list_rate_limited_hosts(db),
        "schedule": msgspec.to_builtins(summarize_schedule(db, time.time())),
        "last_run": None
        if run is None
        else {
            "started": format_iso(run[0]),
            "ended": format_iso(run[1]),
            "finish_reason": run[2] or "unfinished",
            "command": run[3],
        },
    }


def _count_change_classes(db: Connection) -> dict[str, int]:
    """Count pages by how often they change, most often first."""
    counts = Counter(name for _, name in load_change_classes(db))
    return {name: counts[name] for name in CHANGEFREQS if counts[name]}


def _describe_requisites(db: Connection) -> dict[str, object]:
    report = report_requisites(db)
    missing = [{"url": url, "reason": reason} for url, reason in report.missing]
    return {"found": report.found, "stored": report.stored, "missing": missing}


def _describe_forms(db: Connection) -> dict[str, object]:
    """Count forms by state, requests and new records, and skipped forms by reason."""
    forms = list_forms(db)
    return {
        "states": dict(Counter(form.state for form in forms)),
        "requests": sum(form.requests for form in forms),
        "useful": sum(form.useful for form in forms),
        "records": sum(form.found for form in forms),
        "reasons": dict(Counter(form.reason for form in forms if form.reason).most_common()),
    }


def _count_changes(db: Connection, now: float) -> dict[str, int]:
    """Count changed pages, changes, and changes of the last day, as `changes` lists them."""
    pages, changes, last_day = count_changes(db, now - 86_400)
    return {"pages": pages, "changes": changes, "last_day": last_day}


def _count_duplicates(db: Connection) -> dict[str, object]:
    found = load_duplicate_stats(db)
    ratios = {"link_share": round(found.known_link_share, 4), "cache_hit_ratio": round(found.cache_hit_ratio, 4)}
    return msgspec.structs.asdict(found) | ratios


def _list_backed_off_hosts(db: Connection, now: float) -> list[dict[str, object]]:
    return [
        {"host": host.host, "reason": host.reason, "until": format_iso(host.until), "waiting": host.waiting}
        for host in list_host_delays(db, now)
    ]


def _list_rate_limited_hosts(db: Connection) -> list[dict[str, object]]:
    return [
        {"host": host.host, "count": host.count, "last": format_iso(host.last_at), "seconds_between": host.delay}
        for host in list_rate_limited_hosts(db)
    ]
