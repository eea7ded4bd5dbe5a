"""How a run begins and how it ends: old leases, other rules, seeds, a new session; the summary."""

import json
import time
from collections.abc import Collection, Sequence

import msgspec

from sanderling.coordinator import Coordinator
from sanderling.database import Connection, transaction
from sanderling.dedupe import tally
from sanderling.dedupe.twins import catch_up
from sanderling.ending import Finish
from sanderling.errors import DiskFull
from sanderling.frontier.book import Entry
from sanderling.frontier.orderings.memory import save
from sanderling.home.filing import keep_best
from sanderling.home.house import House
from sanderling.ordering import order_again
from sanderling.organise.normalise import Spelling
from sanderling.organise.scope import verdict
from sanderling.records import Candidate, Outcome, Reason, Role, Source, State, Url
from sanderling.request import Request, Summary
from sanderling.store.catalogue import urls_of
from sanderling.store.collection import get_meta, set_meta
from sanderling.store.graph import targets_of
from sanderling.store.offsite import Offsite

REJUDGED = (Reason.OUT_OF_SCOPE, Reason.EXCLUDED, Reason.DEPTH, Reason.LIMIT, Reason.EVICTED, Reason.PRIVATE_ADDRESS,
            Reason.TOO_LARGE)  # fmt: skip
TURNED_AWAY = (Reason.ROBOTS, Reason.ROBOTS_UNREACHABLE, Reason.PRIVATE_ADDRESS)  # by hosts, which may think again


def begin_run(house: House, request: Request, seeds: Sequence[Spelling], now: float) -> int:
    """Give back old leases, judge again what other rules skipped, queue the seeds, perhaps open a new session."""
    db = house.db
    with transaction(db):
        house.queue.release_all()
        house.hosts.pardon()
        house.hosts.forget_addresses()
        order_again(house, request.wish)
        _judge_again(house, request, now)
        if not request.driven:
            call_home(house, kept_pages(db))
        _queue_seeds(house, seeds, now)
        _look_again(house, now)
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
    secret = {"basic_auth", "header", "limit", "time_limit", "size_limit", "store", "park"}
    return json.dumps({name: value for name, value in kept.items() if name not in secret})


def _queue_seeds(house: House, seeds: Sequence[Spelling], now: float) -> None:
    known = house.book.find([seed.url for seed in seeds])
    entries: dict[Url, Entry] = {}
    for seed in seeds:
        candidate = Candidate(seed.url, seed.wire_if_different, house.judge.seed_level(seed.url), Source.SEED)
        if seed.url not in known:
            entry = house.judge.judge(candidate, False, now)
            if entry is not None:
                entries[seed.url] = entry
        elif known[seed.url].soft:
            house.book.requeue(known[seed.url].id, candidate)
        elif known[seed.url].depth > candidate.depth:
            house.book.shorten(known[seed.url].id, candidate)
    house.book.add(list(entries.values()), now)


def _judge_again(house: House, request: Request, now: float) -> None:
    """When other rules hold than in the last run: what was skipped may be wanted now, and the other way round."""
    rules = json.dumps([request.scope.scope, request.scope.include, request.scope.exclude, house.judge.depth_limit,
                        sorted(house.judge.rule.seeds), request.limits.keep, request.fetching.allow_private,
                        request.fetching.max_body])  # fmt: skip
    before = get_meta(house.db, "rules")
    set_meta(house.db, "rules", rules)
    if before in ("", rules):
        return
    _leave_out(house)
    rows = house.db.execute(
        "SELECT u.id, h.name || u.path, u.depth, u.wire, u.via FROM urls AS u JOIN hosts AS h ON h.id = u.host"
        f" WHERE u.state = ? AND u.reason IN ({_marks(REJUDGED)})",
        (State.SKIPPED, *REJUDGED),
    ).fetchall()
    for id_, url, depth, wire, via in rows:
        candidate = Candidate(Url(url), wire, depth, via=via, rank=house.order.again(id_, depth))
        entry = house.judge.judge(candidate, False, now)
        if entry is not None and entry.state is State.QUEUED:
            house.book.requeue(id_, candidate)


def _leave_out(house: House) -> None:
    """Take pages out of the queue that are no longer wanted; one that was visited before stays what it was."""
    db = house.db
    rows = db.execute(
        "SELECT u.id, h.name || u.path, u.depth, p.url FROM queue AS q JOIN urls AS u ON u.id = q.url"
        " JOIN hosts AS h ON h.id = u.host LEFT JOIN pages AS p ON p.url = u.id WHERE u.role = ?",
        (Role.PAGE,),
    )
    gone = [
        (State.VISITED if held else State.SKIPPED, Reason.NONE if held else why, id_)
        for id_, url, depth, held in rows
        if (why := _why_not(house, url, depth)) is not Reason.NONE
    ]
    db.executemany("UPDATE urls SET state = ?, reason = ? WHERE id = ?", gone)
    db.executemany("DELETE FROM queue WHERE url = ?", [(id_,) for _, _, id_ in gone])
    _count_waiting(house)


def _count_waiting(house: House) -> None:
    house.db.execute("UPDATE hosts SET waiting = (SELECT count(*) FROM queue WHERE queue.host = hosts.id)")


def _look_again(house: House, now: float) -> None:
    """Pages that left a full collection, and what had no room in it, may be better than others by now."""
    if house.keeper is None:
        return
    keep_best(house, house.keeper, now)
    better = dict(house.keeper.worth_another_look(house.order))
    for id_, url in urls_of(house.db, list(better)).items():
        (via,) = house.db.execute("SELECT via FROM urls WHERE id = ?", (id_,)).fetchone()
        place = house.order.keeps(id_, better[id_], 0.0)
        house.book.requeue(id_, Candidate(Url(url), depth=better[id_], via=via, rank=place))


def kept_pages(db: Connection) -> list[int]:
    """Pages that specialised migrants keep."""
    return [id_ for (id_,) in db.execute("SELECT id FROM urls WHERE reason = ?", (Reason.NOT_ALIKE,))]


def call_home(house: House, kept: Collection[int]) -> int:
    """Ask for pages that migrants keep: they come with the next errands, and the web is not asked again."""
    for id_ in kept:
        url, depth, wire, via = house.db.execute(
            "SELECT h.name || u.path, u.depth, u.wire, u.via FROM urls AS u JOIN hosts AS h ON h.id = u.host"
            " WHERE u.id = ?",
            (id_,),
        ).fetchone()
        house.book.requeue(id_, Candidate(Url(url), wire, depth, via=via, rank=house.order.again(id_, depth)))
    return len(kept)


def _open_session(house: House) -> None:
    """A new pass over everything we know."""
    house.session += 1
    set_meta(house.db, "session", str(house.session))
    queue_everything(house, reasons=TURNED_AWAY)


def queue_everything(
    house: House,
    states: Sequence[State] = (State.VISITED, State.GONE, State.FAILED),
    reasons: Sequence[Reason] = (),
) -> int:
    """Queue every page we hold, what was missing or failed, and what was skipped for these reasons; say how many."""
    db = house.db
    rows = db.execute(
        "SELECT u.id, u.host, u.depth, h.name || u.path FROM urls AS u JOIN hosts AS h ON h.id = u.host"
        f" WHERE u.state IN ({_marks(states)}) OR (u.state = ? AND u.reason IN ({_marks(reasons)}))",
        (*states, State.SKIPPED, *reasons),
    )
    wanted = [(id_, host, depth) for id_, host, depth, url in rows if _is_wanted(house, url, depth)]
    places = house.order.arrange([(id_, depth) for id_, _, depth in wanted], lambda id_: targets_of(db, id_).targets)
    db.executemany(
        "INSERT INTO queue (host, rank, url) VALUES (?, ?, ?)",
        [(host, place, id_) for (id_, host, _), place in zip(wanted, places, strict=True)],
    )
    db.executemany("UPDATE urls SET state = ?, attempts = 0 WHERE id = ?", [(State.QUEUED, i) for i, _, _ in wanted])
    _count_waiting(house)
    return len(wanted)


def _marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values)) or "NULL"


def _is_wanted(house: House, url: str, depth: int) -> bool:
    return _why_not(house, url, depth) is Reason.NONE


def _why_not(house: House, url: str, depth: int) -> Reason:
    """What the rules say against a URL now."""
    why = verdict(house.judge.rule, url)
    return Reason.DEPTH if why is Reason.NONE and house.judge.is_too_deep(depth) else why


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
        with transaction(house.db):
            keep_exactly(house, now)
        summary = summarise(house, finish, time.monotonic() - coordinator.started)
        note_end(house, run, finish, msgspec.to_builtins(summary), now)
    except DiskFull:
        if finish is not Finish.DISK:
            raise
        summary = summarise(house, finish, time.monotonic() - coordinator.started)
    return summary


def keep_exactly(house: House, now: float) -> None:
    """At the end a collection of limited size holds no page too many."""
    if house.keeper is not None:
        keep_best(house, house.keeper, now)


def note_end(house: House, run: int, finish: Finish, summary: object, now: float) -> None:
    """Write down how a run ended, and close what it opened."""
    with transaction(house.db):
        _write_end(house, run, finish, summary, now)
    house.captures.close()
    if house.offsite:
        _send_away(house, house.offsite)


def _send_away(house: House, offsite: Offsite) -> None:
    """Bring the archive to its other place; what could not be copied stays here and is tried again the next time."""
    (current,) = house.archive.lengths()
    offsite.settle(current, house.catalogue.committed())
    for name, why in offsite.trouble.items():
        house.log.note(f"{name} could not be copied to {offsite.address}: {why}")
    offsite.close()


def _write_end(house: House, run: int, finish: Finish, summary: object, now: float) -> None:
    db = house.db
    house.queue.release_all()
    keep_exactly(house, now)
    house.graph.flush()
    house.diary.save()
    save(db, house.order_name, house.order, house.catalogue.next_visit - 1)
    _note_duplicates(house)
    house.archive.close()
    for name, length in house.archive.lengths().items():
        house.catalogue.file_id(name, length)
    set_meta(db, "complete", "1" if finish is Finish.DONE else "0")
    set_meta(db, "finish_reason", finish)
    db.execute(
        "INSERT INTO blobs VALUES ('pattern_budget', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (house.judge.budget.dump(),),
    )
    db.execute(
        "UPDATE runs SET ended = ?, finish_reason = ?, summary = ? WHERE id = ?",
        (now, finish, json.dumps(summary), run),
    )


def _note_duplicates(house: House) -> None:
    """Write down how many links were known, and pair the pages that read nearly the same."""
    counts, cache = house.counts, house.book.cache
    tally.add(
        house.db,
        {tally.LINKS: counts["links"], tally.NEW: counts["links_new"], tally.ASKED: cache.asked,
         tally.HITS: cache.hits, tally.EVICTED: cache.evicted},
    )  # fmt: skip
    catch_up(house.db)


def summarise(house: House, finish: Finish, seconds: float) -> Summary:
    """The numbers of a run."""
    counts, db = house.counts, house.db
    (pages,) = db.execute(
        "SELECT count(*) FROM pages JOIN urls ON urls.id = pages.url WHERE status BETWEEN 200 AND 299 AND role = 'page'"
    ).fetchone()
    (skipped,) = db.execute("SELECT count(*) FROM urls WHERE state = ? AND role = 'page'", (State.SKIPPED,)).fetchone()
    visited = counts[Outcome.FETCHED] + counts[Outcome.NOT_MODIFIED]
    return Summary(
        finish_reason=finish,
        pages=pages,
        fetched=counts[Outcome.FETCHED],
        not_modified=counts[Outcome.NOT_MODIFIED],
        duplicates=counts["duplicates"],
        failed=counts["lost"],
        skipped=skipped,
        bytes=counts["bytes"],
        seconds=round(seconds, 3),
        pages_per_second=round(visited / seconds, 2) if seconds else 0.0,
        evicted=counts["evicted"],
    )
