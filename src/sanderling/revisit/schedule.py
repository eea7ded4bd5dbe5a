"""The revisit schedule: due times of all pages, stored in the database."""

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sanderling.db.connection import Connection, is_schema_current, select_by_ids
from sanderling.db.schema.revisit import MIGRATIONS
from sanderling.revisit.announcements import Announcer, RevisitHint
from sanderling.revisit.intervals import IntervalRule, IntervalRules, RevisitBudget, parse_budget
from sanderling.revisit.plan_store import MAX_DUE_TIME, PlanRow, TablePlanStore
from sanderling.revisit.planner import FOLLOWED_CHANGES, Planner
from sanderling.revisit.policies import DEFAULT_POLICY, POLICIES
from sanderling.revisit.policies.policy import RevisitPolicy
from sanderling.revisit.visit_history import DAY, Observation
from sanderling.storage.collection_meta import CollectionMeta
from sanderling.storage.queries import find_url_id


class VisitFacts(Struct, frozen=True):
    """A page after a visit."""

    url_id: int
    site: str
    path: str
    visited_at: float
    previous_visit_at: float  # 0: new page
    has_changed: bool  # significantly
    visits: int = 1
    changes: int = 0
    is_missing: bool = False  # status 404 or 410
    modified_at: float = 0.0  # Last-Modified; 0: not sent
    size: int = 0
    sitemap_hint: RevisitHint | None = None
    url: str = ""  # "": built from site and path


SQL_CHUNK = 400
REPLAN_CHUNK = 5_000  # pages in memory while rules are applied
ANNOUNCER_NAMES = {
    Announcer.SITEMAP: "the sitemap",
    Announcer.FEED: "the feed",
    Announcer.PUBLISHER: "the change list",
}
SAVE_INTERVAL_SECONDS = 300.0  # learning time that a crash may lose
SUMMARY_SAMPLE = 5_000  # pages
RECHECK_SECONDS = 86_400.0  # second check of a page that was missing once


class DueVisit(Struct, frozen=True):
    """A page to visit."""

    url_id: int
    due_at: float
    reason: str = ""  # set by explain_rows


class RevisitSchedule:
    """Schedules the next visits of a batch and selects due pages."""

    def __init__(
        self, db: Connection, policy: RevisitPolicy, budget: RevisitBudget | None = None, may_write: bool = True
    ) -> None:
        self.db = db
        self.plan_store = TablePlanStore(db)
        self.intervals = IntervalRules(db)
        self.planner = Planner(policy, self.plan_store, budget, self.intervals.find_interval)
        self.saved_at = 0.0
        if not may_write:
            self.plan_store.may_write = False
        row = db.execute("SELECT state FROM policies WHERE name = ?", (policy.name,)).fetchone()
        if row:
            self.planner.restore_state(bytes(row[0]))

    def schedule_visits(self, facts: Sequence[VisitFacts]) -> None:
        """Schedule the next visit of these pages, and replan a few more."""
        if not facts:
            return
        known = self.plan_store.load_rows([page.url_id for page in facts])
        rows = [self._plan_page(page, known.get(page.url_id)) for page in facts]
        self.plan_store.upsert_rows(rows, len(facts) - len(known))
        revisited, now = sum(page.previous_visit_at > 0 for page in facts), facts[-1].visited_at
        if revisited:
            self.planner.replan_oldest(now, revisited)
        if not 0 <= now - self.saved_at < SAVE_INTERVAL_SECONDS:
            self.save()
            self.saved_at = now

    def _plan_page(self, page: VisitFacts, row: PlanRow | None) -> tuple[PlanRow, str]:
        planner, now = self.planner, page.visited_at
        if row is not None and page.is_missing:
            every = self.intervals.find_interval(row.url).every
            return replace(row, due_at=now + min(RECHECK_SECONDS, every or RECHECK_SECONDS)), (
                "it was missing; second check"
            )
        if row is not None and not page.previous_visit_at:
            return planner.replace_history(
                row, replace(row.history, last_visit=now), now
            ), "moved here with its history"
        if row is None:
            row = planner.add_page(page.url_id, page.url or f"http://{page.site}{page.path}", now, page.size)
            return planner.apply_hint(row, page.sitemap_hint, Announcer.SITEMAP, now), ""
        row = planner.record_visit(row, Observation(now, page.has_changed, page.modified_at, page.size))
        row = planner.apply_hint(row, page.sitemap_hint, Announcer.SITEMAP, now)
        return row, ""

    def save(self) -> None:
        """Store the policy state that is not in page rows."""
        self.db.execute(
            "INSERT INTO policies VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET state = excluded.state",
            (self.planner.policy.name, self.planner.export_state()),
        )

    def load_due(
        self,
        now: float,
        limit: int,
        min_priority: float = -1.0,
        include_early: bool = False,
        visited_before: float = math.inf,
    ) -> list[DueVisit]:
        """Select the pages most worth a visit now. Where a change list is trusted, pages need more than `min_priority`.

        With `include_early`, pages that are not due yet fill the limit, so that a continuous budget is spent. Pages
        visited at `visited_before` or later are left out.
        """
        self.plan_store.min_priority = min_priority
        rows = self.planner.select_due(now, limit, include_early)
        return [DueVisit(row.id, row.due_at) for row in rows if row.history.last_visit < visited_before]

    def load_all(self, limit: int) -> list[DueVisit]:
        """Load all pages, due or not, in order of their due times."""
        rows = self.db.execute("SELECT url, due_at FROM due ORDER BY due_at LIMIT ?", (limit,))
        return [DueVisit(url, due_at) for url, due_at in rows]

    def explain_rows(self, rows: Sequence[DueVisit], now: float) -> list[DueVisit]:
        """Add reasons: stored, or else from the policy."""
        known = self.plan_store.load_rows([row.url_id for row in rows])
        reasons: dict[int, str] = {}
        for start in range(0, len(rows), SQL_CHUNK):
            part = [row.url_id for row in rows[start : start + SQL_CHUNK]]
            sql = f"SELECT url, why FROM due WHERE url IN ({','.join('?' * len(part))})"
            reasons.update(self.db.execute(sql, part).fetchall())
        return [
            DueVisit(row.url_id, row.due_at, reasons.get(row.url_id) or self._explain_row(known.get(row.url_id), now))
            for row in rows
        ]

    def _explain_row(self, row: PlanRow | None, now: float) -> str:
        return self.planner.explain_row(row, now).reason if row else "no history yet"

    def set_intervals(self, owner: str, rules: Sequence[IntervalRule], now: float) -> None:
        """Replace the interval rules of an owner, and replan the pages of its old and new rules."""
        before = self.intervals.load_owned(owner)
        if before == list(rules):
            return
        self.intervals.set_rules(owner, rules)
        affected = set(before).symmetric_difference(rules)
        if all(rule.is_exact for rule in affected):
            ids = [id_ for rule in affected if (id_ := find_url_id(self.db, rule.pattern))]
            self._replan(ids, now)
        else:
            ids = [url for (url,) in self.db.execute("SELECT url FROM due WHERE length(state) > 0").fetchall()]
            for start in range(0, len(ids), REPLAN_CHUNK):
                self._replan(ids[start : start + REPLAN_CHUNK], now)

    def _replan(self, url_ids: Sequence[int], now: float) -> None:
        rows = self.plan_store.load_rows(url_ids).values()
        self.plan_store.upsert_rows([(self.planner.replace_history(row, row.history, now), "") for row in rows])

    def load_due_times(self, url_ids: Sequence[int]) -> dict[int, float]:
        """Load when pages are due; infinite: not before an announcement. Pages without a plan are left out."""
        return dict(select_by_ids(self.db, "SELECT url, due_at FROM due WHERE url IN ({})", url_ids))

    def postpone(self, url_ids: Sequence[int], until: float, reason: str) -> None:
        """Set the due time of pages that cannot be visited now."""
        self.db.executemany(
            "UPDATE due SET due_at = ?, why = ? WHERE url = ?", [(until, reason, url) for url in url_ids]
        )

    def delete_pages(self, url_ids: Sequence[int]) -> None:
        """Delete the plans of pages that are gone."""
        for row in self.plan_store.load_rows(url_ids).values():
            self.planner.remove_page(row)
        self.plan_store.delete_rows(url_ids)

    def move_history(self, target_ids: Mapping[int, int]) -> None:
        """Move the history of moved pages to their targets, unless those have a plan."""
        if not target_ids:
            return
        old, new = self.plan_store.load_rows(list(target_ids)), self.plan_store.load_rows(list(target_ids.values()))
        moved = {target_ids[url]: row for url, row in old.items() if target_ids[url] not in new}
        self.plan_store.upsert_rows([(replace(row, id=url), "moved here") for url, row in moved.items()], len(moved))

    def set_importance(self, ratings: Mapping[str, float]) -> None:
        """Weight pages by user ratings from -1 to 1: the best get twice the visits, the worst half."""
        ids = {url: find_url_id(self.db, url) for url in ratings}
        self.db.executemany(
            "UPDATE due SET weight = ? WHERE url = ?", [(2.0 ** ratings[url], id_) for url, id_ in ids.items() if id_]
        )

    def mark_announced(
        self, change_times: Mapping[int, float], now: float, announcer: Announcer = Announcer.SITEMAP
    ) -> int:
        """Apply announced changes: due now, or with a budget when worth it. Returns the number of pages."""
        rows = self.plan_store.load_rows(list(change_times))
        announced = {
            url: self.planner.apply_announcement(row, change_times[url], announcer, now) for url, row in rows.items()
        }
        fresh = [row for url, row in announced.items() if row.history != rows[url].history]
        if self.planner.budget is None:
            is_known = self.planner.is_announcement_certain
            fresh = [replace(row, due_at=min(row.due_at, now)) if is_known(row, now) else row for row in fresh]
        self.plan_store.upsert_rows([(row, f"{ANNOUNCER_NAMES[announcer]} announced a change") for row in fresh])
        return len(fresh)

    def set_sitemap_hints(
        self, hints: Mapping[int, RevisitHint], now: float, announcer: Announcer = Announcer.SITEMAP
    ) -> None:
        rows = self.plan_store.load_rows(list(hints))
        announced = [(row, self.planner.apply_hint(row, hints[url], announcer, now)) for url, row in rows.items()]
        self.plan_store.update_rows([after for before, after in announced if after is not before])

    def clear_sitemap_hints(self, url_ids: Sequence[int], now: float, announcer: Announcer = Announcer.SITEMAP) -> None:
        """Drop the hints of pages that a sitemap or feed no longer lists."""
        rows = [
            self.planner.apply_hint(row, None, announcer, now) for row in self.plan_store.load_rows(url_ids).values()
        ]
        self.plan_store.upsert_rows([(row, f"{ANNOUNCER_NAMES[announcer]} no longer lists it") for row in rows])


def explain_due_times(db: Connection, url_ids: Sequence[int], now: float) -> dict[int, str]:
    """Explain the due times of pages, without changing the schedule."""
    if not is_schema_current(db, {"revisit": MIGRATIONS}):
        return dict.fromkeys(url_ids, "planned by an older version; the next refresh plans it again")
    schedule = open_read_only_schedule(db)
    return {row.url_id: row.reason for row in schedule.explain_rows([DueVisit(url, 0.0) for url in url_ids], now)}


def open_read_only_schedule(db: Connection) -> RevisitSchedule:
    """Open the schedule with the budget of the last refresh."""
    budget = CollectionMeta(db).revisit_budget
    return RevisitSchedule(db, POLICIES[DEFAULT_POLICY], parse_budget(budget) if budget else None, may_write=False)


class ScheduleSummary(Struct, frozen=True):
    """Number of checks of a collection, planned and wanted."""

    budget: str  # "": none
    pages: int
    checks_per_day: float
    wanted_per_day: float  # checks with which no page changes faster than it is checked
    given_up: int  # pages that change faster than they are checked


def summarize_schedule(db: Connection, now: float) -> ScheduleSummary | None:
    """Summarize the schedule of a collection from a sample of its pages, if its tables are current."""
    if not is_schema_current(db, {"revisit": MIGRATIONS}):
        return None
    schedule = open_read_only_schedule(db)
    rows, pages = schedule.plan_store.load_oldest(SUMMARY_SAMPLE), len(schedule.plan_store)
    factor, checks, wanted, given_up = pages / max(len(rows), 1), 0.0, 0.0, 0
    for row in rows:
        interval = compute_planned_interval(row, now)
        rate = schedule.planner.estimate_rate(row, now)
        checks += 1 / interval
        wanted += max(1 / interval, min(rate, 24.0))
        given_up += is_given_up(row, interval, rate)
    budget = str(schedule.planner.budget or "")
    return ScheduleSummary(budget, pages, factor * checks, factor * wanted, round(factor * given_up))


def compute_planned_interval(row: PlanRow, now: float) -> float:
    """Return the planned days between the last visit and the next."""
    return max(max(row.due_at, now) - row.history.last_visit, 3600.0) / DAY if row.due_at < MAX_DUE_TIME else 365.0


def is_given_up(row: PlanRow, interval_days: float, rate: float) -> bool:
    """Whether a page is known to change several times between two checks."""
    return row.history.changes >= 2 and rate * interval_days > FOLLOWED_CHANGES
