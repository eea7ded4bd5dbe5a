"""Which of the URLs we know are wanted in this run: seeds, what other rules let in or out, what is asked for again."""

import json
from collections.abc import Collection, Sequence

from sanderling.crawl.context import House
from sanderling.crawl.request import Request
from sanderling.crawl.stages.page_links import keep_best
from sanderling.crawl.stages.sitemaps import may_list
from sanderling.db.connection import Connection
from sanderling.dedup.url_variants import doubles
from sanderling.frontier.requeue import leave_out, queue_all, say_why
from sanderling.frontier.url_filter import OWNERS
from sanderling.frontier.url_store import Entry
from sanderling.models import Candidate, Reason, Role, Source, State, Url
from sanderling.storage.collection import get_meta, set_meta
from sanderling.storage.link_graph import sources_of, targets_of
from sanderling.storage.queries import urls_of
from sanderling.urls.normalize import Spelling
from sanderling.urls.scope import verdict

RULES = "rules"  # in the meta table: those of the last run
OWN = "own_hosts"  # the same for hosts whose robots.txt is ignored
REJUDGED = (Reason.OUT_OF_SCOPE, Reason.EXCLUDED, Reason.DEPTH, Reason.LIMIT, Reason.HOST_LIMIT, Reason.EVICTED,
            Reason.FORGOTTEN, Reason.PRIVATE_ADDRESS, Reason.TOO_LARGE, Reason.DUPLICATE)  # fmt: skip


def queue_seeds(house: House, seeds: Sequence[Spelling], now: float) -> None:
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


def judge_again(house: House, request: Request, now: float) -> None:
    """When other rules hold than in the last run: what was skipped may be wanted now, and the other way round."""
    rules = json.dumps([request.scope.scope, request.scope.include, request.scope.exclude, house.judge.depth_limit,
                        sorted(house.judge.rule.seeds), request.limits.keep, request.fetching.allow_private,
                        request.fetching.max_body, request.limits.limit_per_host,
                        *sorted(f"{rule.site} {rule.kind} {rule.name}" for rule in house.judge.rules)])  # fmt: skip
    before = get_meta(house.db, RULES)
    set_meta(house.db, RULES, rules)
    if before in ("", rules):
        return
    _leave_out(house)
    rows = house.db.execute(
        "SELECT u.id, h.name || u.path, u.depth, u.wire, u.via, u.source, u.reason"
        " FROM urls AS u JOIN hosts AS h ON h.id = u.host"
        f" WHERE u.state = ? AND u.reason IN ({_marks(REJUDGED)})",
        (State.SKIPPED, *REJUDGED),
    ).fetchall()
    others: list[tuple[int, Reason, str]] = []  # what is skipped for another reason now
    for id_, url, depth, wire, via, source, reason_before in rows:
        candidate = Candidate(Url(url), wire, depth, Source(source), via, rank=house.order.again(id_, depth))
        reason, note = house.judge.why_not(
            candidate.url, depth, candidate.source, _is_foreign(house, candidate, id_), now
        )
        if not reason:
            house.book.requeue(id_, candidate)
        elif reason != reason_before:
            others.append((id_, reason, note))
    say_why(house.db, others)


def ask_robots_again(house: House, request: Request) -> None:
    """When other hosts are our user's own than in the last run: read each robots.txt anew, try what it kept out."""
    own = json.dumps(sorted(request.politeness.ignore_robots))
    if own == get_meta(house.db, OWN, "[]"):
        return
    set_meta(house.db, OWN, own)
    house.hosts.forget_robots()
    queue_everything(house, states=(), reasons=(Reason.ROBOTS, Reason.ROBOTS_UNREACHABLE))


def _is_foreign(house: House, candidate: Candidate, id_: int) -> bool:
    """Does only a sitemap or feed of another site name it?"""
    if candidate.source not in OWNERS or candidate.via == 0 or sources_of(house.db, id_):
        return False
    sitemap = urls_of(house.db, [candidate.via]).get(candidate.via, "")
    return bool(sitemap) and not may_list(sitemap, candidate.url, house, {})


def _leave_out(house: House) -> None:
    """Take pages out of the queue that are no longer wanted; one that was visited before stays what it was."""
    db = house.db
    rows = db.execute(
        "SELECT u.id, h.name || u.path, u.depth, p.url FROM queue AS q JOIN urls AS u ON u.id = q.url"
        " JOIN hosts AS h ON h.id = u.host LEFT JOIN pages AS p ON p.url = u.id WHERE u.role = ?",
        (Role.PAGE,),
    ).fetchall()
    double = doubles(db, house.judge.rules, [(id_, url) for id_, url, _, _ in rows])
    gone = [
        (id_, State.VISITED if held else State.SKIPPED, Reason.NONE if held else why)
        for id_, url, depth, held in rows
        if (why := Reason.DUPLICATE if id_ in double else _why_not(house, url, depth)) is not Reason.NONE
    ]
    leave_out(db, gone)


def look_again(house: House, now: float) -> None:
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
    ).fetchall()
    double = doubles(db, house.judge.rules, [(id_, url) for id_, _, _, url in rows])
    wanted = [
        (id_, host, depth) for id_, host, depth, url in rows if id_ not in double and _is_wanted(house, url, depth)
    ]
    places = house.order.arrange([(id_, depth) for id_, _, depth in wanted], lambda id_: targets_of(db, id_).targets)
    queue_all(db, [(id_, host, place) for (id_, host, _), place in zip(wanted, places, strict=True)])
    return len(wanted)


def _marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values)) or "NULL"


def _is_wanted(house: House, url: str, depth: int) -> bool:
    return _why_not(house, url, depth) is Reason.NONE


def _why_not(house: House, url: str, depth: int) -> Reason:
    """What the rules say against a URL now."""
    why = verdict(house.judge.rule, url)
    return Reason.DEPTH if why is Reason.NONE and house.judge.is_too_deep(depth) else why
