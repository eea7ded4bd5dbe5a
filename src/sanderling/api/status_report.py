"""Size and state of a collection, remaining work, and delayed hosts."""

import json
import time
from collections import Counter

import msgspec

from sanderling.config.time_format import format_iso
from sanderling.crawl.depth import load_level_counts, load_drawn_depths
from sanderling.db.connection import Connection
from sanderling.dedup.duplicate_stats import load_duplicate_stats
from sanderling.models import Reason
from sanderling.storage.collection import StoredCollection, get_meta
from sanderling.storage.page_history import load_change_classes
from sanderling.storage.queries import URL_STATE_SQL


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
        "levels": [msgspec.to_builtins(level) for level in load_level_counts(db)],
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
    """Count changed pages, changes, and changes of the last day, as `changes` lists them."""
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
    """List hosts that returned 429 or 503, with the learned delay, most frequent first."""
    rows = db.execute(
        "SELECT name, complaints, complained_at, learned FROM hosts WHERE complaints > 0"
        " ORDER BY complaints DESC, name LIMIT 20"
    )
    return [
        {"host": name, "complaints": count, "last": format_iso(at), "seconds_between": learned}
        for name, count, at, learned in rows
    ]
