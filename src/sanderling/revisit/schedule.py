"""The diary: when each page is due, kept in the database; and how often a sitemap's word was right."""

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sanderling.db.connection import Connection
from sanderling.revisit.budget import RevisitBudget
from sanderling.revisit.model.announcer_trust import Announcer
from sanderling.revisit.plan_store import PlanRow, TablePlanStore, build_group_url
from sanderling.revisit.planner import Planner
from sanderling.revisit.policies.policy import RevisitPolicy
from sanderling.revisit.policies.policy_registry import DEFAULT_POLICY, POLICIES
from sanderling.revisit.policies.sitemap_driven import RevisitHint
from sanderling.revisit.visit_history import Observation
from sanderling.storage.queries import find_url_id


class VisitFacts(Struct, frozen=True):
    """What is known of a page after a visit."""

    url_id: int
    site: str
    path: str
    visited_at: float
    previous_visit_at: float  # the visit before this one; 0 for a new page
    has_changed: bool  # what matters of it, not bytes
    visits: int = 1
    changes: int = 0
    is_missing: bool = False  # it answered 404 or 410
    modified_at: float = 0.0  # Last-Modified, if the server says
    size: int = 0
    sitemap_hint: RevisitHint | None = None


SQL_CHUNK = 400
MIN_PRECISION = 0.25  # share of announced changes that must have been real; below it lastmod is build-time stamping
PRIOR_COUNT = 2.0  # announcements a new site is credited with, all of them right
ANNOUNCER_NAMES = {
    Announcer.SITEMAP: "the sitemap",
    Announcer.FEED: "the feed",
    Announcer.PUBLISHER: "the list of changes",
}
SAVE_INTERVAL_SECONDS = 300.0  # seconds: what a crash may cost of what was learned over all pages
RECHECK_SECONDS = 86_400.0  # seconds after which a page that was missing once is looked at again


class DueVisit(Struct, frozen=True):
    """A page that is to be visited."""

    url_id: int
    due_at: float
    reason: str = ""  # in words, where somebody asked


class RevisitSchedule:
    """Plans the next visits of a batch and finds what is due."""

    def __init__(
        self, db: Connection, policy: RevisitPolicy, budget: RevisitBudget | None = None, may_write: bool = True
    ) -> None:
        self.db = db
        self.plan_store = TablePlanStore(db)
        self.planner = Planner(policy, self.plan_store, budget)
        self.saved_at = 0.0
        if not may_write:
            self.plan_store.may_write = False
        row = db.execute("SELECT state FROM policies WHERE name = ?", (policy.name,)).fetchone()
        if row:
            self.planner.restore_state(bytes(row[0]))

    def schedule_visits(self, facts: Sequence[VisitFacts]) -> None:
        """Write down when to come back to these pages, and plan some others anew."""
        if not facts:
            return
        known = self.plan_store.load_rows([page.url_id for page in facts])
        rows = [self._plan_page(page, known.get(page.url_id)) for page in facts]
        self.plan_store.upsert_rows(rows, len(facts) - len(known))
        again, now = sum(page.previous_visit_at > 0 for page in facts), facts[-1].visited_at
        if again:
            self.planner.replan_oldest(now, again)
        if not 0 <= now - self.saved_at < SAVE_INTERVAL_SECONDS:
            self.save()
            self.saved_at = now

    def _plan_page(self, page: VisitFacts, row: PlanRow | None) -> tuple[PlanRow, str]:
        planner, now = self.planner, page.visited_at
        if row is not None and page.is_missing:
            return replace(row, due_at=now + RECHECK_SECONDS), "it was missing: a second look"
        if row is not None and not page.previous_visit_at:
            return planner.replace_history(
                row, replace(row.history, last_visit=now), now
            ), "it moved here; its history came with it"
        if row is None:
            row = planner.add_page(page.url_id, build_group_url(f"http://{page.site}", page.path), now, page.size)
            return planner.apply_hint(row, page.sitemap_hint, Announcer.SITEMAP, now), ""
        row = planner.record_visit(row, Observation(now, page.has_changed, page.modified_at, page.size))
        row = planner.apply_hint(row, page.sitemap_hint, Announcer.SITEMAP, now)
        return row, ""

    def save(self) -> None:
        """Keep what was learned over all pages."""
        self.db.execute(
            "INSERT INTO policies VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET state = excluded.state",
            (self.planner.policy.name, self.planner.export_state()),
        )

    def load_due(
        self, now: float, limit: int, min_priority: float = -1.0, include_early: bool = False
    ) -> list[DueVisit]:
        """The pages most worth a visit now; where a list is trusted, those it put above `least`.

        With `ahead`, pages whose time has not come fill what room is left: so a standing budget is spent.
        """
        self.plan_store.min_priority = min_priority
        rows = self.planner.select_due(now, limit, include_early)
        return [DueVisit(row.id, row.due_at) for row in rows]

    def load_all(self, limit: int) -> list[DueVisit]:
        """All pages, the earliest first, due or not."""
        rows = self.db.execute("SELECT url, due_at FROM due ORDER BY due_at LIMIT ?", (limit,))
        return [DueVisit(url, due_at) for url, due_at in rows]

    def explain_rows(self, rows: Sequence[DueVisit], now: float) -> list[DueVisit]:
        """The same with reasons: that of the moment where one was written down, else that of the policy."""
        known = self.plan_store.load_rows([row.url_id for row in rows])
        said: dict[int, str] = {}
        for start in range(0, len(rows), SQL_CHUNK):
            part = [row.url_id for row in rows[start : start + SQL_CHUNK]]
            sql = f"SELECT url, why FROM due WHERE url IN ({','.join('?' * len(part))})"
            said.update(self.db.execute(sql, part).fetchall())
        return [
            DueVisit(row.url_id, row.due_at, said.get(row.url_id) or self._explain_row(known.get(row.url_id), now))
            for row in rows
        ]

    def _explain_row(self, row: PlanRow | None, now: float) -> str:
        return self.planner.explain_row(row, now).reason if row else "nothing is known of it yet"

    def postpone(self, url_ids: Sequence[int], until: float, reason: str) -> None:
        """These could not be seen now; try again later."""
        self.db.executemany(
            "UPDATE due SET due_at = ?, why = ? WHERE url = ?", [(until, reason, url) for url in url_ids]
        )

    def delete_pages(self, url_ids: Sequence[int]) -> None:
        """These pages are gone: nobody comes back to them."""
        for row in self.plan_store.load_rows(url_ids).values():
            self.planner.remove_page(row.url)
        self.plan_store.delete_rows(url_ids)

    def move_history(self, target_ids: Mapping[int, int]) -> None:
        """Pages moved for good, from one address to another: their histories go with them, if the other has none."""
        if not target_ids:
            return
        old, new = self.plan_store.load_rows(list(target_ids)), self.plan_store.load_rows(list(target_ids.values()))
        heirs = {target_ids[url]: row for url, row in old.items() if target_ids[url] not in new}
        self.plan_store.upsert_rows([(replace(row, id=url), "it moved here") for url, row in heirs.items()], len(heirs))

    def set_importance(self, ratings: Mapping[str, float]) -> None:
        """What users think of pages, from -1 to 1: those liked are worth up to twice the visits, the others half."""
        ids = {url: find_url_id(self.db, url) for url in ratings}
        self.db.executemany(
            "UPDATE due SET weight = ? WHERE url = ?", [(2.0 ** ratings[url], id_) for url, id_ in ids.items() if id_]
        )

    # Signals: a sitemap says that a page changed

    def is_site_trusted(self, site: str) -> bool:
        """Has this site's word been right often enough to act on it?"""
        row = self.db.execute("SELECT announced, confirmed FROM trust WHERE site = ?", (site,)).fetchone()
        announced, confirmed = row or (0.0, 0.0)
        return bool((confirmed + PRIOR_COUNT) / (announced + PRIOR_COUNT) >= MIN_PRECISION)

    def mark_announced(
        self, change_times: Mapping[int, float], now: float, announcer: Announcer = Announcer.SITEMAP
    ) -> int:
        """These are said to have changed then: due now, or with a budget as soon as they are worth it. How many?"""
        rows = self.plan_store.load_rows(list(change_times))
        told = {
            url: self.planner.apply_announcement(row, change_times[url], announcer, now) for url, row in rows.items()
        }
        fresh = [row for url, row in told.items() if row.history != rows[url].history]
        if announcer is not Announcer.PUBLISHER:  # lists of changes are judged by themselves (lists.py)
            self.db.executemany(
                "INSERT INTO signals VALUES (?, ?) ON CONFLICT (url) DO NOTHING", [(row.id, now) for row in fresh]
            )
        if self.planner.budget is None:
            fresh = [replace(row, due_at=min(row.due_at, now)) for row in fresh]
        self.plan_store.upsert_rows([(row, f"{ANNOUNCER_NAMES[announcer]} says it changed") for row in fresh])
        return len(fresh)

    def set_sitemap_hints(
        self, hints: Mapping[int, RevisitHint], now: float, announcer: Announcer = Announcer.SITEMAP
    ) -> None:
        """What a sitemap or feed says of pages we know."""
        rows = self.plan_store.load_rows(list(hints))
        told = [(row, self.planner.apply_hint(row, hints[url], announcer, now)) for url, row in rows.items()]
        self.plan_store.update_rows([after for before, after in told if after is not before])

    def clear_sitemap_hints(self, url_ids: Sequence[int], now: float, announcer: Announcer = Announcer.SITEMAP) -> None:
        """A sitemap or feed no longer speaks of these pages: its word goes, what was seen stays."""
        rows = [
            self.planner.apply_hint(row, None, announcer, now) for row in self.plan_store.load_rows(url_ids).values()
        ]
        self.plan_store.upsert_rows([(row, f"{ANNOUNCER_NAMES[announcer]} no longer lists it") for row in rows])

    def score_announcements(self, changed: Mapping[int, tuple[str, bool]]) -> None:
        """Visited pages, with their site and whether they had changed: was the announcement right?"""
        for url, (site, was) in changed.items():
            if self.db.execute("DELETE FROM signals WHERE url = ? RETURNING url", (url,)).fetchone():
                self.db.execute(
                    "INSERT INTO trust VALUES (?, 1, ?) ON CONFLICT (site) DO UPDATE SET"
                    " announced = trust.announced * 0.99 + 1, confirmed = trust.confirmed * 0.99 + excluded.confirmed",
                    (site, float(was)),
                )


def explain_due_times(db: Connection, url_ids: Sequence[int], now: float) -> dict[int, str]:
    """Why these pages are due when they are, in words, for somebody who only looks."""
    diary = RevisitSchedule(db, POLICIES[DEFAULT_POLICY], may_write=False)
    return {row.url_id: row.reason for row in diary.explain_rows([DueVisit(url, 0.0) for url in url_ids], now)}
