"""More like this: from sample pages to the pages built like them, in the store first and then on the web.

A sample that cannot serve (a redirect, a PDF, an empty page, one that robots.txt forbids) is refused in one sentence.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from sanderling.coordinator import Coordinator
from sanderling.database import Connection, transaction
from sanderling.ending import Bounds, Finish, Progress
from sanderling.errors import UsageError
from sanderling.index.structure import Match, Structures
from sanderling.index.structure_catch_up import learn_site, looks_of, open_structures, read_arrivals
from sanderling.index.structure_drive import RANKS, Driven
from sanderling.index.structure_recognise import EARLY, Recogniser
from sanderling.index.structure_together import asked_for
from sanderling.index.structure_views import Look
from sanderling.migrants.robots import rules_for
from sanderling.migrants.settings import FetchSettings
from sanderling.organise.navigation import Navigator, parents_of
from sanderling.organise.normalise import Spelling, host_of
from sanderling.pages.matching import THETA_LOW, similarity
from sanderling.pages.parse import Document, charset_of, is_html, parse
from sanderling.pages.structure import features, likeness, structure
from sanderling.pages.tree import clean
from sanderling.probe import Answer, ask, ask_robots
from sanderling.records import Candidate, Outcome, Reason, Source, State, Url
from sanderling.request import read_seed
from sanderling.session import Request, crawl
from sanderling.store.catalogue import url_id, urls_of
from sanderling.store.collection import Collection, exists, get_meta, read_collection
from sanderling.store.look import stored
from sanderling.wanted import call_home

LEAST_FEATURES = 4  # fewer, and a page has no structure to speak of
SMALL_SITE = 24  # pages; templates of fewer are not believed
AT_ONCE = 1e9  # ranks forward: before everything else
RECALLED = 1_000  # stored pages that a drive learns from at its start
CROSS_SITE = 500  # pages of other sites that are compared tree by tree


class Found(Struct, frozen=True):
    """A page built like the samples, and where it was found: in the store or on the web."""

    url: str
    similarity: float
    source: str  # "store" or "web"


class Sample(Struct, frozen=True):
    """A page to find others like it; its id and site are 0 if it is not stored."""

    look: Look
    signature: bytes
    site: int = 0


# Samples


def take_sample(text: str, collection: Collection | None, settings: FetchSettings | None) -> Sample:
    """Look a sample up in the store, or fetch it where settings to do so are given; refuse what cannot serve."""
    spelling = read_seed(text)
    known = stored_sample(spelling.url, collection.db) if collection else None
    if known is not None:
        return known
    if settings is None:
        raise UsageError(f"{spelling.url} is not stored; leave out --stored to fetch it")
    return fetched_sample(spelling, settings)


def stored_sample(url: Url, db: Connection) -> Sample | None:
    """The stored page of a URL as a sample; None if there is none."""
    id_ = url_id(db, url)
    if not id_:
        return None
    row = db.execute(
        "SELECT p.status, p.mime, p.title, p.location, u.host, m.value FROM pages AS p JOIN urls AS u ON u.id = p.url"
        " LEFT JOIN marks AS m ON m.url = p.url AND m.kind = 'structure' WHERE p.url = ?",
        (id_,),
    ).fetchone()
    if row is None:
        state, reason = db.execute("SELECT state, reason FROM urls WHERE id = ?", (id_,)).fetchone()
        if reason == Reason.ROBOTS:
            raise UsageError(_forbidden(url))
        if state in (State.FAILED, State.GONE):
            raise UsageError(f"{url} could not be fetched ({reason or state}): give another sample")
        return None
    status, mime, title, location, site, signature = row
    _refuse(url, status, mime, location, bytes(signature or b""))
    return Sample(Look(id_, url, title, features(bytes(signature))), bytes(signature), site)


def fetched_sample(spelling: Spelling, settings: FetchSettings) -> Sample:
    """Ask the web for a sample, if robots.txt lets us."""
    robots = ask_robots(host_of(spelling.url), settings)
    if not rules_for(robots, settings.agent_token).allowed(spelling.wire):
        raise UsageError(_forbidden(spelling.url))
    answer = ask(spelling, settings)
    if answer.outcome not in (Outcome.FETCHED, Outcome.REDIRECT):
        why = answer.note or answer.reason or f"status {answer.status}"
        raise UsageError(f"{spelling.url} could not be fetched ({why}): give another sample")
    tree = _tree(answer) if is_html(answer.mime, answer.body) else None
    signature = structure(tree) if tree is not None else b""
    _refuse(spelling.url, answer.status, answer.mime, answer.location, signature)
    title = tree.find("title") if tree is not None else None
    words = " ".join(title.text.split()) if title is not None else ""
    return Sample(Look(0, spelling.url, words, features(signature)), signature)


def _tree(answer: Answer) -> Document:
    return parse(answer.body, charset_of(answer.content_type))


def _forbidden(url: str) -> str:
    return f"robots.txt of {host_of(Url(url))} does not let us fetch {url}: give another sample"


def _refuse(url: str, status: int, mime: str, location: str, signature: bytes) -> None:
    if 300 <= status < 400:
        raise UsageError(f"{url} is a redirect{f' to {location}' if location else ''}: give the page it leads to")
    if status >= 400:
        raise UsageError(f"{url} answers with status {status}: give a page that exists")
    if not signature and mime and not is_html(mime, b""):
        raise UsageError(f"{url} is {mime}, not a web page: only HTML has a structure to match")
    if len(features(signature)) < LEAST_FEATURES:
        raise UsageError(f"{url} is nearly empty: it has no structure to match")


# The store


def find_stored(folder: Path, samples: Sequence[Sample], exact: bool = False) -> list[Found]:
    """Stored pages built like any of the samples, the most alike first."""
    with read_collection(folder) as collection, open_structures(collection) as structures:
        best: dict[int, float] = {}
        for sample in samples:
            for match in _matches(sample, structures, collection):
                best[match.id] = max(best.get(match.id, 0.0), match.similarity)
        if len(samples) > 1:
            best = _asked_for(samples, best, structures)
        if exact:
            best = _exactly(samples, best, collection)
        names = urls_of(collection.db, list(best))
    found = [Found(names[id_], round(value, 4), "store") for id_, value in best.items() if id_ in names]
    return sorted(found, key=lambda page: (-page.similarity, page.url))


def _asked_for(samples: Sequence[Sample], best: dict[int, float], structures: Structures) -> dict[int, float]:
    """Of the pages found, those that have what the samples have in common by no accident."""
    members = structures.features_of(best)
    wanted = asked_for([sample.look.features for sample in samples], members.values())
    return {id_: value for id_, value in best.items() if wanted <= members.get(id_, frozenset())}


def _matches(sample: Sample, structures: Structures, collection: Collection) -> Iterable[Match]:
    db = collection.db
    site = sample.site or _site_of(db, sample.look.url)
    if not site or structures.count(site) == 0:
        return structures.like_signature(sample.signature, THETA_LOW, CROSS_SITE)
    if kept := _kept(db, site):
        return _among_all_seen(sample, looks_of(structures, db, site), kept)
    learn_site(structures, db, site)
    found = structures.like_look(site, sample.look)
    if structures.count(site) >= SMALL_SITE and structures.template_count(site) > 1:
        return found
    recogniser = Recogniser([sample.look])  # too little is known of the site: go by likeness alone
    looks = {look.id: look for look in looks_of(structures, db, site)}
    for look in looks.values():
        recogniser.show(look)
    return [match for match in found if recogniser.likeness(looks[match.id]) >= EARLY]


def _among_all_seen(sample: Sample, looks: Sequence[Look], kept: Sequence[Look]) -> Iterable[Match]:
    """Where most of a site was seen and not brought home, its templates are learned from all that was seen."""
    recogniser = Recogniser([sample.look])
    for look in [*kept, *looks]:
        recogniser.show(look)
    recogniser.study()
    return [Match(look.id, likeness(look.features, sample.look.features)) for look in looks if recogniser.wants(look)]


def _kept(db: Connection, site: int) -> list[Look]:
    """Pages of a site that migrants keep: they say what is common to all pages of the site."""
    rows = db.execute(
        "SELECT u.id, h.name || u.path, m.value FROM urls AS u JOIN hosts AS h ON h.id = u.host"
        " JOIN marks AS m ON m.url = u.id AND m.kind = 'structure'"
        " WHERE u.host = ? AND u.state = ? AND u.reason = ? LIMIT ?",
        (site, State.SKIPPED, Reason.NOT_ALIKE, RECALLED),
    )
    return [Look(id_, url, "", features(bytes(value))) for id_, url, value in rows]


def _site_of(db: Connection, url: str) -> int:
    row = db.execute("SELECT id FROM hosts WHERE name = ?", (host_of(Url(url)),)).fetchone()
    return int(row[0]) if row else 0


def _exactly(samples: Sequence[Sample], found: dict[int, float], collection: Collection) -> dict[int, float]:
    """Match whole trees: Simple Tree Matching of every page found with every sample that is stored."""
    trees = [clean(body_of(collection, sample.look.id, sample.look.url)) for sample in samples if sample.look.id]
    if not trees:
        return found
    names = urls_of(collection.db, list(found))
    exact = {}
    for id_, url in names.items():
        tree = clean(body_of(collection, id_, url))
        exact[id_] = max(similarity(tree, sample) for sample in trees)
    return exact


def body_of(collection: Collection, id_: int, url: str) -> Document:
    """The stored body of a page, parsed."""
    record = stored(collection, id_, url)
    return parse(record.body, charset_of(record.header("Content-Type")))


# The web


def is_worth_crawling(folder: Path, samples: Sequence[Sample]) -> bool:
    """Something may be out there: the samples are new, or URLs are waiting."""
    if not exists(folder) or any(not sample.look.id for sample in samples):
        return True
    with read_collection(folder) as collection:
        waiting = collection.db.execute("SELECT EXISTS (SELECT 1 FROM queue)").fetchone()[0]
        return bool(waiting) or get_meta(collection.db, "complete") != "1"


def find_on_web(
    folder: Path,
    request: Request,
    samples: Sequence[Sample],
    budget: int,
    enough: int,
    *,
    on_start: Callable[[Coordinator], None] | None = None,
    on_tick: Callable[[Progress], None] | None = None,
) -> list[Found]:
    """Crawl towards pages built like the samples, with at most so many fetches, until enough are found."""
    looks = [sample.look for sample in samples]
    crew: list[Coordinator] = []

    def start(coordinator: Coordinator) -> None:
        crew.append(coordinator)
        house = coordinator.house
        order = house.order = Driven(Recogniser(looks), navigator_for(looks))
        recall(order, house.db)
        order.let_wait = lambda urls: let_wait(coordinator, urls)
        coordinator.errands.brief = lambda trip: (
            None if order.called & {stop.id for stop in trip.stops} else order.brief()
        )
        bounds = coordinator.bounds
        coordinator.bounds = Bounds(coordinator.earlier + budget, bounds.time_limit, bounds.size_limit)
        above = look_above(coordinator, looks) if request.seeds else {}
        rank_waiting(coordinator)
        begin_with_samples(coordinator, looks, above)
        if on_start:
            on_start(coordinator)

    def tick(progress: Progress) -> None:
        coordinator = crew[0]
        look_ahead(coordinator)
        order = _driven(coordinator)
        if len(order.matches) >= enough and not order.called and coordinator.stopping is None:
            coordinator.stop(Finish.LIMIT)
        if on_tick:
            on_tick(progress)

    crawl(folder, replace(request, driven=True), on_start=start, on_tick=tick)
    order = _driven(crew[0])
    order.recogniser.study()
    bring_rest(folder, request, order.calls() | order.called)
    matches = order.matches
    return [Found(url, round(value, 4), "web") for url, value in matches.items()]


def look_above(coordinator: Coordinator, looks: Sequence[Look]) -> dict[Url, int]:
    """Let the directories above the samples wait, up to the home page: what lists a page often lies there."""
    with transaction(coordinator.house.db):
        return let_wait(coordinator, [parent for look in looks for parent in parents_of(look.url)])


def let_wait(coordinator: Coordinator, urls: Iterable[str]) -> dict[Url, int]:
    """Put URLs that no page has shown beside those that wait, if they may be visited; the caller holds the transaction.

    Gives the ids of those that are new."""
    house, now = coordinator.house, coordinator.clock()
    spellings = [read_seed(url) for url in urls]
    known = house.book.find([spelling.url for spelling in spellings])
    entries = {
        found.url: house.judge.judge(
            Candidate(found.url, found.wire_if_different, 1, Source.LINK, rank=RANKS), False, now
        )
        for found in spellings
        if found.url not in known
    }
    return house.book.add([entry for entry in entries.values() if entry is not None], now)


def begin_with_samples(coordinator: Coordinator, looks: Sequence[Look], above: Mapping[Url, int]) -> None:
    """Visit the samples first and then the home page; directories between them when the samples' links are known."""
    house, order = coordinator.house, _driven(coordinator)
    samples = [known.id for known in house.book.find([Url(look.url) for look in looks]).values()]
    homes = {id_ for url, id_ in above.items() if url == f"{host_of(url)}/"}
    between = {id_: url for url, id_ in above.items() if id_ not in homes}
    for url in between.values():
        order.ranks[url] += RANKS
    with transaction(house.db):
        house.queue.promote(
            dict.fromkeys(between, -RANKS) | dict.fromkeys(homes, RANKS) | dict.fromkeys(samples, AT_ONCE)
        )


def bring_rest(folder: Path, request: Request, kept: set[int]) -> None:
    """When all is seen, bring home what migrants keep and turned out to be wanted; the web is not asked again."""

    def start(coordinator: Coordinator) -> None:
        house, bounds = coordinator.house, coordinator.bounds
        with transaction(house.db):
            call_home(house, kept)
            house.queue.promote(dict.fromkeys(kept, AT_ONCE))
        coordinator.bounds = Bounds(coordinator.earlier + len(kept), bounds.time_limit, bounds.size_limit)

    if kept:
        crawl(folder, replace(request, driven=True), on_start=start)


def look_ahead(coordinator: Coordinator) -> None:
    """Move what waits by what was learned; call home what migrants keep and we want, at no cost to the budget."""
    house, order, bounds = coordinator.house, _driven(coordinator), coordinator.bounds
    with transaction(house.db):
        house.queue.promote(order.gains())
        called = call_home(house, order.calls())
    coordinator.bounds = Bounds(bounds.limit + called, bounds.time_limit, bounds.size_limit)


def recall(order: Driven, db: Connection) -> None:
    """Let a drive learn from what is stored already, the latest pages."""
    rows = db.execute("SELECT url FROM pages ORDER BY visit DESC LIMIT ?", (RECALLED,)).fetchall()
    for page in reversed(read_arrivals(db, [url for (url,) in rows])):
        order.take_in(page)
    order.matches.clear()


def navigator_for(looks: Sequence[Look]) -> Navigator:
    """A navigator that knows the samples' URLs."""
    return Navigator([look.url for look in looks])


def _driven(coordinator: Coordinator) -> Driven:
    order = coordinator.house.order
    if not isinstance(order, Driven):
        raise TypeError("the crawl was not started to find pages like samples")
    return order


def rank_waiting(coordinator: Coordinator) -> None:
    """Put what waits from earlier crawls in the order of what it promises."""
    house, order = coordinator.house, _driven(coordinator)
    rows = house.db.execute(
        "SELECT q.url, h.name || u.path FROM queue AS q JOIN urls AS u ON u.id = q.url JOIN hosts AS h ON h.id = u.host"
    ).fetchall()
    with transaction(house.db):
        house.db.executemany(
            "UPDATE queue SET rank = ? WHERE url = ?", [(order.place(Url(url), id_), id_) for id_, url in rows]
        )
