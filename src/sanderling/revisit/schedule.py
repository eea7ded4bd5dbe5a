"""The diary: when each page is due, kept in the database; and how often a sitemap's word was right."""

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sanderling.db.connection import Connection
from sanderling.revisit.budget import Budget
from sanderling.revisit.model.announcer_trust import Kind
from sanderling.revisit.plan_store import Row, TableShelf, address
from sanderling.revisit.planner import Planner
from sanderling.revisit.policies.policy import Policy
from sanderling.revisit.policies.policy_registry import DEFAULT, POLICIES
from sanderling.revisit.policies.sitemap_driven import Hint
from sanderling.revisit.visit_history import Look
from sanderling.storage.queries import url_id


class Facts(Struct, frozen=True):
    """What is known of a page after a visit."""

    url: int
    site: str
    path: str
    now: float
    previous: float  # the visit before this one; 0 for a new page
    changed: bool  # what matters of it, not bytes
    visits: int = 1
    changes: int = 0
    missing: bool = False  # it answered 404 or 410
    modified: float = 0.0  # Last-Modified, if the server says
    size: int = 0
    hint: Hint | None = None


CHUNK = 400
BELIEF = 0.25  # share of announced changes that must have been real; below it lastmod is build-time stamping
PRIOR = 2.0  # announcements a new site is credited with, all of them right
SAYS = {Kind.SITEMAP: "the sitemap", Kind.FEED: "the feed", Kind.PUBLISHER: "the list of changes"}
SAVE_EVERY = 300.0  # seconds: what a crash may cost of what was learned over all pages
SECOND_LOOK = 86_400.0  # seconds after which a page that was missing once is looked at again


class DueRow(Struct, frozen=True):
    """A page that is to be visited."""

    url: int
    due_at: float
    why: str = ""  # in words, where somebody asked


class Diary:
    """Plans the next visits of a batch and finds what is due."""

    def __init__(self, db: Connection, policy: Policy, budget: Budget | None = None, may_write: bool = True) -> None:
        self.db = db
        self.shelf = TableShelf(db)
        self.planner = Planner(policy, self.shelf, budget)
        self.saved_at = 0.0
        if not may_write:
            self.shelf.may_write = False
        row = db.execute("SELECT state FROM policies WHERE name = ?", (policy.name,)).fetchone()
        if row:
            self.planner.restore(bytes(row[0]))

    def plan(self, facts: Sequence[Facts]) -> None:
        """Write down when to come back to these pages, and plan some others anew."""
        if not facts:
            return
        known = self.shelf.find([page.url for page in facts])
        rows = [self._planned(page, known.get(page.url)) for page in facts]
        self.shelf.write(rows, len(facts) - len(known))
        again, now = sum(page.previous > 0 for page in facts), facts[-1].now
        if again:
            self.planner.sweep(now, again)
        if not 0 <= now - self.saved_at < SAVE_EVERY:
            self.save()
            self.saved_at = now

    def _planned(self, page: Facts, row: Row | None) -> tuple[Row, str]:
        planner, now = self.planner, page.now
        if row is not None and page.missing:
            return replace(row, due_at=now + SECOND_LOOK), "it was missing: a second look"
        if row is not None and not page.previous:
            return planner.keep(row, replace(row.history, last=now), now), "it moved here; its history came with it"
        if row is None:
            row = planner.enter(page.url, address(f"http://{page.site}", page.path), now, page.size)
            return planner.hinted(row, page.hint, Kind.SITEMAP, now), ""
        row = planner.seen(row, Look(now, page.changed, page.modified, page.size))
        row = planner.hinted(row, page.hint, Kind.SITEMAP, now)
        return row, ""

    def save(self) -> None:
        """Keep what was learned over all pages."""
        self.db.execute(
            "INSERT INTO policies VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET state = excluded.state",
            (self.planner.policy.name, self.planner.export()),
        )

    def due(self, now: float, most: int, least: float = -1.0, ahead: bool = False) -> list[DueRow]:
        """The pages most worth a visit now; where a list is trusted, those it put above `least`.

        With `ahead`, pages whose time has not come fill what room is left: so a standing budget is spent.
        """
        self.shelf.least = least
        rows = self.planner.due(now, most, ahead)
        return [DueRow(row.id, row.due_at) for row in rows]

    def everything(self, most: int) -> list[DueRow]:
        """All pages, the earliest first, due or not."""
        rows = self.db.execute("SELECT url, due_at FROM due ORDER BY due_at LIMIT ?", (most,))
        return [DueRow(url, due_at) for url, due_at in rows]

    def explain(self, rows: Sequence[DueRow], now: float) -> list[DueRow]:
        """The same with reasons: that of the moment where one was written down, else that of the policy."""
        known = self.shelf.find([row.url for row in rows])
        said: dict[int, str] = {}
        for start in range(0, len(rows), CHUNK):
            part = [row.url for row in rows[start : start + CHUNK]]
            sql = f"SELECT url, why FROM due WHERE url IN ({','.join('?' * len(part))})"
            said.update(self.db.execute(sql, part).fetchall())
        return [DueRow(row.url, row.due_at, said.get(row.url) or self._why(known.get(row.url), now)) for row in rows]

    def _why(self, row: Row | None, now: float) -> str:
        return self.planner.explain(row, now).why if row else "nothing is known of it yet"

    def postpone(self, urls: Sequence[int], until: float, why: str) -> None:
        """These could not be seen now; try again later."""
        self.db.executemany("UPDATE due SET due_at = ?, why = ? WHERE url = ?", [(until, why, url) for url in urls])

    def drop(self, urls: Sequence[int]) -> None:
        """These pages are gone: nobody comes back to them."""
        for row in self.shelf.find(urls).values():
            self.planner.left(row.url)
        self.shelf.drop(urls)

    def inherit(self, moved: Mapping[int, int]) -> None:
        """Pages moved for good, from one address to another: their histories go with them, if the other has none."""
        if not moved:
            return
        old, new = self.shelf.find(list(moved)), self.shelf.find(list(moved.values()))
        heirs = {moved[url]: row for url, row in old.items() if moved[url] not in new}
        self.shelf.write([(replace(row, id=url), "it moved here") for url, row in heirs.items()], len(heirs))

    def weigh(self, liked: Mapping[str, float]) -> None:
        """What users think of pages, from -1 to 1: those liked are worth up to twice the visits, the others half."""
        ids = {url: url_id(self.db, url) for url in liked}
        self.db.executemany(
            "UPDATE due SET weight = ? WHERE url = ?", [(2.0 ** liked[url], id_) for url, id_ in ids.items() if id_]
        )

    # Signals: a sitemap says that a page changed

    def believes(self, site: str) -> bool:
        """Has this site's word been right often enough to act on it?"""
        row = self.db.execute("SELECT announced, confirmed FROM trust WHERE site = ?", (site,)).fetchone()
        announced, confirmed = row or (0.0, 0.0)
        return bool((confirmed + PRIOR) / (announced + PRIOR) >= BELIEF)

    def announce(self, news: Mapping[int, float], now: float, kind: Kind = Kind.SITEMAP) -> int:
        """These are said to have changed then: due now, or with a budget as soon as they are worth it. How many?"""
        rows = self.shelf.find(list(news))
        told = {url: self.planner.announced(row, news[url], kind, now) for url, row in rows.items()}
        fresh = [row for url, row in told.items() if row.history != rows[url].history]
        if kind is not Kind.PUBLISHER:  # lists of changes are judged by themselves (lists.py)
            self.db.executemany(
                "INSERT INTO signals VALUES (?, ?) ON CONFLICT (url) DO NOTHING", [(row.id, now) for row in fresh]
            )
        if self.planner.budget is None:
            fresh = [replace(row, due_at=min(row.due_at, now)) for row in fresh]
        self.shelf.write([(row, f"{SAYS[kind]} says it changed") for row in fresh])
        return len(fresh)

    def enlist(self, hints: Mapping[int, Hint], now: float, kind: Kind = Kind.SITEMAP) -> None:
        """What a sitemap or feed says of pages we know."""
        rows = self.shelf.find(list(hints))
        told = [(row, self.planner.hinted(row, hints[url], kind, now)) for url, row in rows.items()]
        self.shelf.put([after for before, after in told if after is not before])

    def unlist(self, urls: Sequence[int], now: float, kind: Kind = Kind.SITEMAP) -> None:
        """A sitemap or feed no longer speaks of these pages: its word goes, what was seen stays."""
        rows = [self.planner.hinted(row, None, kind, now) for row in self.shelf.find(urls).values()]
        self.shelf.write([(row, f"{SAYS[kind]} no longer lists it") for row in rows])

    def confirm(self, changed: Mapping[int, tuple[str, bool]]) -> None:
        """Visited pages, with their site and whether they had changed: was the announcement right?"""
        for url, (site, was) in changed.items():
            if self.db.execute("DELETE FROM signals WHERE url = ? RETURNING url", (url,)).fetchone():
                self.db.execute(
                    "INSERT INTO trust VALUES (?, 1, ?) ON CONFLICT (site) DO UPDATE SET"
                    " announced = trust.announced * 0.99 + 1, confirmed = trust.confirmed * 0.99 + excluded.confirmed",
                    (site, float(was)),
                )


def reasons(db: Connection, urls: Sequence[int], now: float) -> dict[int, str]:
    """Why these pages are due when they are, in words, for somebody who only looks."""
    diary = Diary(db, POLICIES[DEFAULT], may_write=False)
    return {row.url: row.why for row in diary.explain([DueRow(url, 0.0) for url in urls], now)}
