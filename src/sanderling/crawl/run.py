"""How a run begins and how it ends: old leases, a new session, what is written down; the summary."""

import json
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from sanderling.config.redact import without_login
from sanderling.crawl.choose_ordering import order_again
from sanderling.crawl.context import House
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.reevaluate import (
    ask_robots_again,
    call_home,
    judge_again,
    kept_pages,
    look_again,
    queue_everything,
    queue_seeds,
)
from sanderling.crawl.request import Request, Summary
from sanderling.crawl.stages.page_links import keep_best
from sanderling.crawl.stop import Finish
from sanderling.db.connection import Connection, needing_room, transaction
from sanderling.dedup import duplicate_stats
from sanderling.dedup.near_duplicates import News, look_up, write_down
from sanderling.errors import DiskFull, SanderlingError
from sanderling.frontier.ordering.persistence import save
from sanderling.models import Outcome, Reason, State
from sanderling.storage.collection import get_meta, read_collection, set_meta
from sanderling.urls.normalize import Spelling
from sanderling.warc.remote import Offsite

SKIPPED = "SELECT reason, count(*) FROM urls WHERE state = ? AND role = 'page' GROUP BY reason"
TURNED_AWAY = (Reason.ROBOTS, Reason.ROBOTS_UNREACHABLE, Reason.PRIVATE_ADDRESS)  # by hosts, which may think again


def begin_run(house: House, request: Request, seeds: Sequence[Spelling], now: float) -> int:
    """Give back old leases, judge again what other rules skipped, queue the seeds, perhaps open a new session."""
    db = house.db
    with transaction(db):
        house.queue.release_all()
        house.hosts.pardon()
        house.hosts.set_clock_right(now, house.queue.pace.delay_seconds)
        house.hosts.forget_addresses()
        order_again(house, request.wish)
        judge_again(house, request, now)
        ask_robots_again(house, request)
        if not request.driven:
            call_home(house, kept_pages(db))
        queue_seeds(house, seeds, now)
        look_again(house, now)
        if not request.driven and not house.queue.waiting() and db.execute("SELECT 1 FROM runs LIMIT 1").fetchone():
            _open_session(house)
        set_meta(db, "complete", "0")
        set_meta(db, "settings", _kept_settings(request))
        return note_start(house, request, now)


def note_start(house: House, request: Request, now: float) -> int:
    """Write down that a run began; its id."""
    row = house.db.execute(
        "INSERT INTO runs (session, started, command) VALUES (?, ?, ?) RETURNING id",
        (house.session, now, request.command),
    ).fetchone()
    return int(row[0])


def _kept_settings(request: Request) -> str:
    """What a later refresh should know of this crawl; never passwords or secret headers."""
    kept: dict[str, object] = {}
    for group in (request.scope, request.limits, request.politeness, request.fetching, request.workers):
        kept |= msgspec.to_builtins(group)
    kept["proxy"] = without_login(request.fetching.proxy)  # without it, we must not go round it
    kept["via"] = [without_login(host) for host in request.workers.via]
    secret = {"basic_auth", "header", "limit", "time_limit", "size_limit", "store", "archive", "park"}
    return json.dumps({name: value for name, value in kept.items() if name not in secret})


def _open_session(house: House) -> None:
    """A new pass over everything we know."""
    house.session += 1
    set_meta(house.db, "session", str(house.session))
    queue_everything(house, reasons=TURNED_AWAY)


def pages_of(db: Connection, session: int) -> int:
    """Pages visited in this session by earlier runs."""
    sql = (
        "SELECT count(*) FROM visits JOIN urls ON urls.id = visits.url"
        " WHERE session = ? AND outcome IN (?, ?) AND role = 'page'"
    )
    return int(db.execute(sql, (session, Outcome.FETCHED, Outcome.NOT_MODIFIED)).fetchone()[0])


def end_run(house: House, run: int, finish: Finish, coordinator: Coordinator, now: float) -> Summary:
    """Write down how it ended; hand back what nobody holds any more. On a full disk the next start does it."""
    try:
        keep_exactly(house, now)
        summary = summarise(house.db, house.counts, finish, time.monotonic() - coordinator.started)
        note_end(house, run, finish, msgspec.to_builtins(summary), now)
    except DiskFull:
        if finish is not Finish.DISK:
            raise
        summary = summarise(house.db, house.counts, finish, time.monotonic() - coordinator.started)
    return summary


def keep_exactly(house: House, now: float) -> None:
    """Before the end is written: hold no page too many, then have the log of the database written back."""
    if house.keeper is not None:
        with transaction(house.db):
            keep_best(house, house.keeper, now)
    house.write_back()


def note_end(house: House, run: int, finish: Finish, summary: object, now: float) -> None:
    """Write down how a run ended, and close what it opened; meanwhile the log of the database is written back."""
    with ThreadPoolExecutor(1) as meanwhile:
        captures = meanwhile.submit(house.captures.close)
        with needing_room():
            news = house.pairing.found(house.db) or look_up(house.db, house.rereads)
        with transaction(house.db):
            _write_end(house, run, finish, summary, now)
            _note_duplicates(house, news)
    captures.result()
    if house.offsite:
        _send_away(house, house.offsite)


def _send_away(house: House, offsite: Offsite) -> None:
    """Bring the archive to its other place; what could not be copied stays here and is tried again the next time."""
    (current,) = house.archive.lengths()
    offsite.settle(current, house.catalogue.committed())
    for name, why in offsite.trouble.items():
        house.log.note(f"{name} could not be copied to {offsite.shown}: {why}")
    offsite.close()


def _write_end(house: House, run: int, finish: Finish, summary: object, now: float) -> None:
    db = house.db
    house.queue.release_all()
    if not house.is_ahead:
        _write_memory(house)
    house.archive.close()
    for name, length in house.archive.lengths().items():
        house.catalogue.file_id(name, length)
    set_meta(db, "complete", "1" if finish is Finish.DONE else "0")
    set_meta(db, "finish_reason", finish)
    db.execute(
        "UPDATE runs SET ended = ?, finish_reason = ?, summary = ? WHERE id = ?",
        (now, finish, json.dumps(summary), run),
    )


def _write_memory(house: House) -> None:
    """Write down what was only in memory, so that the next start need not learn it again from what is stored."""
    db = house.db
    house.graph.flush()
    house.diary.save()
    save(db, house.order_name, house.order, house.catalogue.next_visit - 1)
    set_meta(db, "unlisted", str(int(get_meta(db, "unlisted", "0")) + house.judge.unlisted))
    db.execute(
        "INSERT INTO blobs VALUES ('pattern_budget', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (house.judge.budget.dump(),),
    )


def _note_duplicates(house: House, news: News) -> None:
    """Write down how often memory knew a link, and pair the pages that read nearly the same."""
    cache = house.book.cache
    duplicate_stats.add(
        house.db,
        {duplicate_stats.ASKED: cache.asked, duplicate_stats.HITS: cache.hits, duplicate_stats.EVICTED: cache.evicted},
    )
    write_down(house.db, news)


def unbegun(folder: Path) -> Summary:
    """The numbers of a run that was interrupted before it began: what is stored, and nothing else."""
    nothing = Summary(
        finish_reason=Finish.INTERRUPTED, pages=0, fetched=0, not_modified=0, duplicates=0, failed=0, skipped=0,
        bytes=0, seconds=0.0, pages_per_second=0.0,
    )  # fmt: skip
    try:
        with read_collection(folder) as collection:
            return summarise(collection.db, Counter(), Finish.INTERRUPTED, 0.0)
    except SanderlingError:  # there is none yet, or none that can be read
        return nothing


def summarise(db: Connection, counts: Counter[str], finish: Finish, seconds: float) -> Summary:
    """The numbers of a run."""
    (pages,) = db.execute(
        "SELECT count(*) FROM pages JOIN urls ON urls.id = pages.url WHERE status BETWEEN 200 AND 299 AND role = 'page'"
    ).fetchone()
    reasons = Counter(dict(db.execute(SKIPPED, (State.SKIPPED,)).fetchall()))
    outside = reasons.pop(Reason.OUT_OF_SCOPE, 0)
    unanswered = reasons.pop(Reason.ROBOTS_UNREACHABLE, 0)  # not passed over: nobody answered
    visited = counts[Outcome.FETCHED] + counts[Outcome.NOT_MODIFIED]
    return Summary(
        finish_reason=finish,
        pages=pages,
        fetched=counts[Outcome.FETCHED],
        not_modified=counts[Outcome.NOT_MODIFIED],
        duplicates=counts["duplicates"],
        failed=counts["lost"] + unanswered,
        skipped=reasons.total(),
        outside=outside,
        bytes=counts["bytes"],
        seconds=round(seconds, 3),
        pages_per_second=round(visited / seconds, 2) if seconds else 0.0,
        evicted=counts["evicted"],
    )
