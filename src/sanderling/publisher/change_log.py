"""Writing down what happened to a site: views, changes, deletions, logins, in batches."""

from collections import Counter
from collections.abc import Mapping, Sized
from dataclasses import dataclass, field
from hashlib import sha256

from sanderling.publisher.priority import MAX_EPOCH_HALF_LIVES, compute_view_weight
from sanderling.publisher.published_site import DAY_MS, PublishedSite
from sanderling.publisher.robots_rules import PathRules
from sanderling.publisher.state_db import Connection, advance_commit_time, load_publisher_state, write_transaction

HIDDEN_BY_ROBOTS, HIDDEN_BY_LOGIN = 1, 2  # why a page is hidden: robots.txt, or a login


@dataclass(slots=True)
class ActivityBatch:
    """What happened since the last write."""

    view_counts: Counter[str] = field(default_factory=Counter)  # human views per path
    served_pages: dict[str, tuple[int | None, str]] = field(
        default_factory=dict
    )  # served to anybody: modified, validator
    changed_pages: dict[str, int | None] = field(default_factory=dict)  # certainly changed: modified
    gone_paths: set[str] = field(default_factory=set)
    private_paths: set[str] = field(default_factory=set)  # asked for a login
    public_paths: set[str] = field(default_factory=set)  # known pages served to anybody
    crawler_visits: Counter[tuple[str, bool]] = field(default_factory=Counter)  # name, verified
    log_position: str | None = None  # how far the access log was read: committed with what was read there
    viewed_at: int | None = None  # when the views happened, if not now

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
    """Write a batch in one transaction; give its stamp."""
    with write_transaction(db):
        stamp = advance_commit_time(db, now)
        _write_pages(db, site, rules, batch, stamp)
        _count_views(db, site, batch, stamp, now)
        _hide_removed_pages(db, batch, stamp)
        crawlers = [(name, verified, visits, now) for (name, verified), visits in batch.crawler_visits.items()]
        db.executemany(UPSERT_CRAWLER, crawlers)
        if batch.log_position is not None:
            db.execute("UPDATE facts SET position = ?", (batch.log_position,))
    return stamp


UPSERT_CRAWLER = """INSERT INTO crawlers VALUES (?, ?, ?, ?) ON CONFLICT (name, verified)
DO UPDATE SET visits = visits + excluded.visits, last_visit = excluded.last_visit"""

UPSERT_PAGE = """INSERT INTO pages (path, created, modified, noticed, mark, hidden)
VALUES (:path, :stamp, :modified, :stamp, :mark, :hidden)
ON CONFLICT (path) DO UPDATE SET
  created = CASE WHEN deleted THEN excluded.created ELSE created END,
  modified = excluded.modified, noticed = excluded.noticed, mark = excluded.mark, deleted = 0
WHERE deleted OR :certain OR (mark <> '' AND mark <> excluded.mark)"""

# The first look at a page that was said to have changed shows its validator: that is not another change.
SET_FIRST_VALIDATOR = "UPDATE pages SET mark = :mark WHERE path = :path AND mark = '' AND :mark <> ''"

# A page that was private and is now served to anybody is news.
UNHIDE_PUBLIC_PAGE = "UPDATE pages SET hidden = hidden & ~2, noticed = ? WHERE path = ? AND hidden & 2"


def _write_pages(db: Connection, site: PublishedSite, rules: PathRules, batch: ActivityBatch, commit_time: int) -> None:
    news = {path: (modified, mark, False) for path, (modified, mark) in batch.served_pages.items()}
    news |= {path: (modified, "", True) for path, modified in batch.changed_pages.items()}
    if _is_full(db, site, len(news)):
        news = {path: told for path, told in news.items() if _is_known_path(db, path)}
    rows = [
        {
            "path": path,
            "modified": commit_time
            if modified is None
            else min(commit_time, modified),  # a page of tomorrow was changed now
            "mark": mark,
            "stamp": commit_time,
            "certain": certain,
            "hidden": compute_hidden_flags(site, rules, path),
        }
        for path, (modified, mark, certain) in news.items()
    ]
    db.executemany(UPSERT_PAGE, rows)
    db.executemany(SET_FIRST_VALIDATOR, rows)
    db.executemany(
        UNHIDE_PUBLIC_PAGE,
        [(commit_time, path) for path in {*batch.served_pages, *batch.public_paths} if not site.is_private(path)],
    )


def _is_full(db: Connection, site: PublishedSite, new_count: int) -> bool:
    """Say if more pages would be too many; pages are only counted when their ids say they might be."""
    (last,) = db.execute("SELECT coalesce(max(id), 0) FROM pages").fetchone()
    if last + new_count <= site.max_urls:
        return False
    (count,) = db.execute("SELECT count(*) FROM pages").fetchone()
    return bool(count + new_count > site.max_urls)


def _is_known_path(db: Connection, path: str) -> bool:
    return db.execute("SELECT 1 FROM pages WHERE path = ?", (path,)).fetchone() is not None


def compute_hidden_flags(site: PublishedSite, rules: PathRules, path: str) -> int:
    """Say why a path may not be listed; 0 if it may."""
    return HIDDEN_BY_ROBOTS * rules.is_disallowed(path) + HIDDEN_BY_LOGIN * site.is_private(path)


def _count_views(db: Connection, site: PublishedSite, batch: ActivityBatch, commit_time: int, now: int) -> None:
    if batch.view_counts:
        each = _update_view_weight(db, site, now if batch.viewed_at is None else batch.viewed_at)
        db.executemany(
            "UPDATE pages SET hits = hits + ?, score = score + ?, hit_at = ? WHERE path = ? AND deleted = 0",
            [(views, views * each, commit_time, path) for path, views in batch.view_counts.items()],
        )


def _update_view_weight(db: Connection, site: PublishedSite, viewed_at: int) -> float:
    """Say what a view adds; begin again where the formula changed, move the epoch before numbers run out."""
    known = load_publisher_state(db)
    if known.priority_formula != site.priority_formula:
        db.execute("UPDATE pages SET score = hits")
        db.execute("UPDATE facts SET formula = ?, epoch = ?", (site.priority_formula, viewed_at))
        return 1.0
    age = (viewed_at - known.epoch) / site.half_life_ms
    if site.priority_formula == "decay" and age > MAX_EPOCH_HALF_LIVES:
        db.execute("UPDATE pages SET score = score * ?", (2.0**-age,))
        db.execute("UPDATE facts SET epoch = ?", (viewed_at,))
        return 1.0
    return compute_view_weight(site.priority_formula, viewed_at, known.epoch, site.half_life_ms)


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
    """Hide and show pages if robots.txt or the owner's wishes changed; what comes to light is news."""
    digest = sha256(repr((rules, site.private_prefixes)).encode()).hexdigest()
    if load_publisher_state(db).rules_digest == digest:
        return
    db.create_function("hidden_by", 1, lambda path: compute_hidden_flags(site, rules, path), deterministic=True)
    with write_transaction(db):
        db.execute(APPLY_RULES, {"stamp": advance_commit_time(db, now)})
        db.execute("UPDATE facts SET rules = ?", (digest,))


def record_changes(
    db: Connection, site: PublishedSite, rules: PathRules, changed_pages: Mapping[str, int | None], now: int
) -> int:
    """Say that pages changed, or are new: path and time of the change, None for now."""
    return write_batch(db, site, rules, ActivityBatch(changed_pages=dict(changed_pages)), now)


def purge_deletions(db: Connection, site: PublishedSite, now: int) -> int:
    """Drop deletions that were told long enough; give how many."""
    with write_transaction(db):
        before = now - int(site.deletion_days * DAY_MS)
        return db.execute("DELETE FROM pages WHERE deleted = 1 AND noticed < ?", (before,)).rowcount
