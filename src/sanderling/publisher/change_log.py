"""Record views, changes, deletions, and login requirements of a site in batches."""

from collections import Counter
from collections.abc import Sized
from dataclasses import dataclass, field
from hashlib import sha256

from sanderling.publisher.priority import MAX_EPOCH_HALF_LIVES, compute_view_weight
from sanderling.publisher.published_site import DAY_MS, PublishedSite
from sanderling.publisher.robots_rules import PathRules
from sanderling.publisher.state_db import Connection, advance_commit_time, load_publisher_state, write_transaction

HIDDEN_BY_ROBOTS, HIDDEN_BY_LOGIN = 1, 2  # bits of `hidden`


@dataclass(slots=True)
class ActivityBatch:
    """Activity since the last write."""

    view_counts: Counter[str] = field(default_factory=Counter)
    served_pages: dict[str, tuple[int | None, str]] = field(default_factory=dict)  # modification time, validator
    changed_pages: dict[str, int | None] = field(default_factory=dict)  # reported as changed: modification time
    gone_paths: set[str] = field(default_factory=set)
    private_paths: set[str] = field(default_factory=set)  # responded with a login requirement
    public_paths: set[str] = field(default_factory=set)  # known pages served without login
    crawler_visits: Counter[tuple[str, bool]] = field(default_factory=Counter)  # by name and whether verified
    log_position: str | None = None  # committed together with the lines read
    viewed_at: int | None = None  # time of the views; None: now

    def __len__(self) -> int:
        sets: tuple[Sized, ...] = (
            self.served_pages,
            self.changed_pages,
            self.gone_paths,
            self.private_paths,
            self.public_paths,
        )
        return len(self.view_counts) + len(self.crawler_visits) + sum(map(len, sets)) + (self.log_position is not None)


def write_batch(db: Connection, site: PublishedSite, rules: PathRules, batch: ActivityBatch, now: int) -> int:
    """Write a batch in a transaction. Returns its commit time."""
    with write_transaction(db):
        commit_time = advance_commit_time(db, now)
        _write_pages(db, site, rules, batch, commit_time)
        _count_views(db, site, batch, commit_time, now)
        _hide_removed_pages(db, batch, commit_time)
        crawlers = [(name, verified, visits, now) for (name, verified), visits in batch.crawler_visits.items()]
        db.executemany(UPSERT_CRAWLER, crawlers)
        if batch.log_position is not None:
            db.execute("UPDATE facts SET position = ?", (batch.log_position,))
    return commit_time


UPSERT_CRAWLER = """INSERT INTO crawlers VALUES (?, ?, ?, ?) ON CONFLICT (name, verified)
DO UPDATE SET visits = visits + excluded.visits, last_visit = excluded.last_visit"""

UPSERT_PAGE = """INSERT INTO pages (path, created, modified, noticed, mark, hidden)
VALUES (:path, :stamp, :modified, :stamp, :mark, :hidden)
ON CONFLICT (path) DO UPDATE SET
  created = CASE WHEN deleted THEN excluded.created ELSE created END,
  modified = excluded.modified, noticed = excluded.noticed, mark = excluded.mark, deleted = 0
WHERE deleted OR :certain OR (mark <> '' AND mark <> excluded.mark)"""

# The first validator of a page reported as changed is not another change.
SET_FIRST_VALIDATOR = "UPDATE pages SET mark = :mark WHERE path = :path AND mark = '' AND :mark <> ''"

# A private page that becomes public counts as changed.
UNHIDE_PUBLIC_PAGE = "UPDATE pages SET hidden = hidden & ~2, noticed = ? WHERE path = ? AND hidden & 2"


def _write_pages(db: Connection, site: PublishedSite, rules: PathRules, batch: ActivityBatch, commit_time: int) -> None:
    changes = {path: (modified, validator, False) for path, (modified, validator) in batch.served_pages.items()}
    changes |= {path: (modified, "", True) for path, modified in batch.changed_pages.items()}
    if _is_full(db, site, len(changes)):
        changes = {path: change for path, change in changes.items() if _is_known_path(db, path)}
    rows = [
        {
            "path": path,
            "modified": commit_time if modified is None else min(commit_time, modified),  # never in the future
            "mark": validator,
            "stamp": commit_time,
            "certain": is_certain,
            "hidden": compute_hidden_flags(site, rules, path),
        }
        for path, (modified, validator, is_certain) in changes.items()
    ]
    db.executemany(UPSERT_PAGE, rows)
    db.executemany(SET_FIRST_VALIDATOR, rows)
    db.executemany(
        UNHIDE_PUBLIC_PAGE,
        [(commit_time, path) for path in {*batch.served_pages, *batch.public_paths} if not site.is_private(path)],
    )


def _is_full(db: Connection, site: PublishedSite, new_count: int) -> bool:
    """Return whether the page limit would be exceeded."""
    (last,) = db.execute("SELECT coalesce(max(id), 0) FROM pages").fetchone()
    if last + new_count <= site.max_urls:
        return False
    (count,) = db.execute("SELECT count(*) FROM pages").fetchone()
    return bool(count + new_count > site.max_urls)


def _is_known_path(db: Connection, path: str) -> bool:
    return db.execute("SELECT 1 FROM pages WHERE path = ?", (path,)).fetchone() is not None


def compute_hidden_flags(site: PublishedSite, rules: PathRules, path: str) -> int:
    """Return the reasons why a path may not be listed, or 0."""
    return HIDDEN_BY_ROBOTS * rules.is_disallowed(path) + HIDDEN_BY_LOGIN * site.is_private(path)


def _count_views(db: Connection, site: PublishedSite, batch: ActivityBatch, commit_time: int, now: int) -> None:
    if batch.view_counts:
        view_weight = _update_view_weight(db, site, now if batch.viewed_at is None else batch.viewed_at)
        db.executemany(
            "UPDATE pages SET hits = hits + ?, score = score + ?, hit_at = ? WHERE path = ? AND deleted = 0",
            [(views, views * view_weight, commit_time, path) for path, views in batch.view_counts.items()],
        )


def _update_view_weight(db: Connection, site: PublishedSite, viewed_at: int) -> float:
    """Return the weight of a view; moves the epoch before overflow."""
    state = load_publisher_state(db)
    if state.priority_formula != site.priority_formula:
        db.execute("UPDATE pages SET score = hits")
        db.execute("UPDATE facts SET formula = ?, epoch = ?", (site.priority_formula, viewed_at))
        return 1.0
    age = (viewed_at - state.epoch) / site.half_life_ms
    if site.priority_formula == "decay" and age > MAX_EPOCH_HALF_LIVES:
        db.execute("UPDATE pages SET score = score * ?", (2.0**-age,))
        db.execute("UPDATE facts SET epoch = ?", (viewed_at,))
        return 1.0
    return compute_view_weight(site.priority_formula, viewed_at, state.epoch, site.half_life_ms)


def _hide_removed_pages(db: Connection, batch: ActivityBatch, commit_time: int) -> None:
    db.executemany(
        "UPDATE pages SET deleted = 1, modified = ?, noticed = ? WHERE path = ? AND deleted = 0",
        [(commit_time, commit_time, path) for path in batch.gone_paths],
    )
    db.executemany("UPDATE pages SET hidden = hidden | 2 WHERE path = ?", [(path,) for path in batch.private_paths])


APPLY_RULES = """UPDATE pages SET
  noticed = CASE WHEN hidden_by(path) | (hidden & 2) THEN noticed ELSE :stamp END,
  hidden = hidden_by(path) | (hidden & 2)
WHERE hidden <> hidden_by(path) | (hidden & 2)"""


def apply_robots_rules(db: Connection, site: PublishedSite, rules: PathRules, now: int) -> None:
    """Update hidden pages if robots.txt or private prefixes changed. Revealed pages count as changed."""
    digest = sha256(repr((rules, site.private_prefixes)).encode()).hexdigest()
    if load_publisher_state(db).rules_digest == digest:
        return
    db.create_function("hidden_by", 1, lambda path: compute_hidden_flags(site, rules, path), deterministic=True)
    with write_transaction(db):
        db.execute(APPLY_RULES, {"stamp": advance_commit_time(db, now)})
        db.execute("UPDATE facts SET rules = ?", (digest,))


def purge_deletions(db: Connection, site: PublishedSite, now: int) -> int:
    """Delete expired deletions. Returns their number."""
    with write_transaction(db):
        before = now - int(site.deletion_days * DAY_MS)
        return db.execute("DELETE FROM pages WHERE deleted = 1 AND noticed < ?", (before,)).rowcount
