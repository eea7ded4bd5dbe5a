"""The diary: when each page is due, kept in the database; and how often a sitemap's word was right."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from sanderling.database import Connection
from sanderling.refresh.lists import TRUSTED
from sanderling.refresh.plans import Facts, Policy

CHUNK = 400
BELIEF = 0.25  # share of announced changes that must have been real; below it lastmod is build-time stamping
PRIOR = 2.0  # announcements a new site is credited with, all of them right


class DueRow(Struct, frozen=True):
    """A page that is to be visited."""

    url: int
    due_at: float
    why: str


class Diary:
    """Plans the next visits of a batch and finds what is due."""

    def __init__(self, db: Connection, policy: Policy, name: str) -> None:
        self.db = db
        self.policy = policy
        self.name = name
        row = db.execute("SELECT state FROM policies WHERE name = ?", (name,)).fetchone()
        if row:
            policy.load(row[0])

    def states(self, urls: Sequence[int]) -> dict[int, bytes]:
        """What the policy wrote down of these pages."""
        found: dict[int, bytes] = {}
        for start in range(0, len(urls), CHUNK):
            part = list(urls[start : start + CHUNK])
            marks = ",".join("?" * len(part))
            found.update(self.db.execute(f"SELECT url, state FROM due WHERE url IN ({marks})", part).fetchall())
        return found

    def plan(self, facts: Sequence[Facts]) -> None:
        """Write down when to come back to these pages."""
        plans = self.policy.plan(facts)
        self.db.executemany(
            "INSERT INTO due VALUES (?, ?, ?, ?)"
            " ON CONFLICT (url) DO UPDATE SET due_at = excluded.due_at, why = excluded.why, state = excluded.state",
            [(page.url, plan.due_at, plan.why, plan.state) for page, plan in zip(facts, plans, strict=True)],
        )

    def save(self) -> None:
        """Keep what the policy learned over all pages."""
        self.db.execute(
            "INSERT INTO policies VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET state = excluded.state",
            (self.name, self.policy.dump()),
        )

    def due(self, now: float, most: int, least: float = -1.0) -> list[DueRow]:
        """The pages that have waited longest past their time; where a list is trusted, those it put above `least`."""
        rows = self.db.execute(
            "SELECT d.url, d.due_at, d.why FROM due AS d JOIN urls AS u ON u.id = d.url LEFT JOIN told AS t"
            f" ON t.url = d.url LEFT JOIN (SELECT host FROM lists WHERE {TRUSTED}) AS l ON l.host = u.host"
            " WHERE d.due_at <= ? AND (u.state = 'visited' OR (u.state = 'gone' AND t.url IS NOT NULL))"
            " AND (l.host IS NULL OR t.priority > ?) ORDER BY d.due_at LIMIT ?",
            (now, least, most),
        )
        return [DueRow(*row) for row in rows]

    def next_due(self) -> float | None:
        """When the next page is due."""
        row = self.db.execute("SELECT min(due_at) FROM due").fetchone()
        return None if row[0] is None else float(row[0])

    def postpone(self, urls: Sequence[int], until: float, why: str) -> None:
        """These could not be seen now; try again later."""
        self.db.executemany("UPDATE due SET due_at = ?, why = ? WHERE url = ?", [(until, why, url) for url in urls])

    def drop(self, urls: Sequence[int]) -> None:
        """These pages are gone: nobody comes back to them."""
        self.db.executemany("DELETE FROM due WHERE url = ?", [(url,) for url in urls])

    # Signals: a sitemap says that a page changed

    def believes(self, site: str) -> bool:
        """Has this site's word been right often enough to act on it?"""
        row = self.db.execute("SELECT announced, confirmed FROM trust WHERE site = ?", (site,)).fetchone()
        announced, confirmed = row or (0.0, 0.0)
        return bool((confirmed + PRIOR) / (announced + PRIOR) >= BELIEF)

    def announce(self, urls: Sequence[int], at: float) -> None:
        """A sitemap says that these changed: they are due now."""
        self.db.executemany("INSERT INTO signals VALUES (?, ?) ON CONFLICT (url) DO NOTHING", [(u, at) for u in urls])
        self.db.executemany(
            "UPDATE due SET due_at = ?, why = 'the sitemap says it changed' WHERE url = ? AND due_at > ?",
            [(at, url, at) for url in urls],
        )

    def confirm(self, changed: Mapping[int, tuple[str, bool]]) -> None:
        """Visited pages, with their site and whether they had changed: was the announcement right?"""
        for url, (site, was) in changed.items():
            if self.db.execute("DELETE FROM signals WHERE url = ? RETURNING url", (url,)).fetchone():
                self.db.execute(
                    "INSERT INTO trust VALUES (?, 1, ?) ON CONFLICT (site) DO UPDATE SET"
                    " announced = trust.announced * 0.99 + 1, confirmed = trust.confirmed * 0.99 + excluded.confirmed",
                    (site, float(was)),
                )
