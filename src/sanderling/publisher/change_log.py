"""Writing down what happened to a site: views, changes, deletions, logins, in batches."""

from collections import Counter
from collections.abc import Mapping, Sized
from dataclasses import dataclass, field
from hashlib import sha256

from sanderling.publisher.priority import STEEPEST, gain
from sanderling.publisher.published_site import DAY, Site
from sanderling.publisher.robots import Rules
from sanderling.publisher.state_db import Connection, facts, new_stamp, writing

FORBIDDEN, PRIVATE = 1, 2  # why a page is hidden: robots.txt, or a login


@dataclass(slots=True)
class Batch:
    """What happened since the last write."""

    hits: Counter[str] = field(default_factory=Counter)  # human views per path
    seen: dict[str, tuple[int | None, str]] = field(default_factory=dict)  # served to anybody: modified, validator
    touched: dict[str, int | None] = field(default_factory=dict)  # certainly changed: modified
    gone: set[str] = field(default_factory=set)
    private: set[str] = field(default_factory=set)  # asked for a login
    public: set[str] = field(default_factory=set)  # known pages served to anybody
    crawlers: Counter[tuple[str, bool]] = field(default_factory=Counter)  # name, verified
    position: str | None = None  # how far the access log was read: committed with what was read there
    at: int | None = None  # when the views happened, if not now

    def __len__(self) -> int:
        sets: tuple[Sized, ...] = (self.seen, self.touched, self.gone, self.private, self.public)
        return len(self.hits) + len(self.crawlers) + sum(map(len, sets)) + (self.position is not None)


def record(db: Connection, site: Site, rules: Rules, batch: Batch, now: int) -> int:
    """Write a batch in one transaction; give its stamp."""
    with writing(db):
        stamp = new_stamp(db, now)
        _take_up(db, site, rules, batch, stamp)
        _count(db, site, batch, stamp, now)
        _take_out(db, batch, stamp)
        crawlers = [(name, verified, visits, now) for (name, verified), visits in batch.crawlers.items()]
        db.executemany(COUNT_CRAWLER, crawlers)
        if batch.position is not None:
            db.execute("UPDATE facts SET position = ?", (batch.position,))
    return stamp


COUNT_CRAWLER = """INSERT INTO crawlers VALUES (?, ?, ?, ?) ON CONFLICT (name, verified)
DO UPDATE SET visits = visits + excluded.visits, last_visit = excluded.last_visit"""

TAKE_UP = """INSERT INTO pages (path, created, modified, noticed, mark, hidden)
VALUES (:path, :stamp, :modified, :stamp, :mark, :hidden)
ON CONFLICT (path) DO UPDATE SET
  created = CASE WHEN deleted THEN excluded.created ELSE created END,
  modified = excluded.modified, noticed = excluded.noticed, mark = excluded.mark, deleted = 0
WHERE deleted OR :certain OR (mark <> '' AND mark <> excluded.mark)"""

# The first look at a page that was said to have changed shows its validator: that is not another change.
FIRST_MARK = "UPDATE pages SET mark = :mark WHERE path = :path AND mark = '' AND :mark <> ''"

# A page that was private and is now served to anybody is news.
LET_OUT = "UPDATE pages SET hidden = hidden & ~2, noticed = ? WHERE path = ? AND hidden & 2"


def _take_up(db: Connection, site: Site, rules: Rules, batch: Batch, stamp: int) -> None:
    news = {path: (modified, mark, False) for path, (modified, mark) in batch.seen.items()}
    news |= {path: (modified, "", True) for path, modified in batch.touched.items()}
    if _is_full(db, site, len(news)):
        news = {path: told for path, told in news.items() if _is_known(db, path)}
    rows = [
        {
            "path": path,
            "modified": stamp if modified is None else min(stamp, modified),  # a page of tomorrow was changed now
            "mark": mark,
            "stamp": stamp,
            "certain": certain,
            "hidden": hidden_by(site, rules, path),
        }
        for path, (modified, mark, certain) in news.items()
    ]
    db.executemany(TAKE_UP, rows)
    db.executemany(FIRST_MARK, rows)
    db.executemany(LET_OUT, [(stamp, path) for path in {*batch.seen, *batch.public} if not site.is_private(path)])


def _is_full(db: Connection, site: Site, more: int) -> bool:
    """Say if more pages would be too many; pages are only counted when their ids say they might be."""
    (last,) = db.execute("SELECT coalesce(max(id), 0) FROM pages").fetchone()
    if last + more <= site.most_urls:
        return False
    (count,) = db.execute("SELECT count(*) FROM pages").fetchone()
    return bool(count + more > site.most_urls)


def _is_known(db: Connection, path: str) -> bool:
    return db.execute("SELECT 1 FROM pages WHERE path = ?", (path,)).fetchone() is not None


def hidden_by(site: Site, rules: Rules, path: str) -> int:
    """Say why a path may not be listed; 0 if it may."""
    return FORBIDDEN * rules.forbids(path) + PRIVATE * site.is_private(path)


def _count(db: Connection, site: Site, batch: Batch, stamp: int, now: int) -> None:
    if batch.hits:
        each = _gain(db, site, now if batch.at is None else batch.at)
        db.executemany(
            "UPDATE pages SET hits = hits + ?, score = score + ?, hit_at = ? WHERE path = ? AND deleted = 0",
            [(views, views * each, stamp, path) for path, views in batch.hits.items()],
        )


def _gain(db: Connection, site: Site, at: int) -> float:
    """Say what a view adds; begin again where the formula changed, move the epoch before numbers run out."""
    known = facts(db)
    if known.formula != site.formula:
        db.execute("UPDATE pages SET score = hits")
        db.execute("UPDATE facts SET formula = ?, epoch = ?", (site.formula, at))
        return 1.0
    age = (at - known.epoch) / site.half_life
    if site.formula == "decay" and age > STEEPEST:
        db.execute("UPDATE pages SET score = score * ?", (2.0**-age,))
        db.execute("UPDATE facts SET epoch = ?", (at,))
        return 1.0
    return gain(site.formula, at, known.epoch, site.half_life)


def _take_out(db: Connection, batch: Batch, stamp: int) -> None:
    db.executemany(
        "UPDATE pages SET deleted = 1, modified = ?, noticed = ? WHERE path = ? AND deleted = 0",
        [(stamp, stamp, path) for path in batch.gone],
    )
    db.executemany("UPDATE pages SET hidden = hidden | 2 WHERE path = ?", [(path,) for path in batch.private])


APPLY = """UPDATE pages SET
  noticed = CASE WHEN hidden_by(path) | (hidden & 2) THEN noticed ELSE :stamp END,
  hidden = hidden_by(path) | (hidden & 2)
WHERE hidden <> hidden_by(path) | (hidden & 2)"""


def apply_rules(db: Connection, site: Site, rules: Rules, now: int) -> None:
    """Hide and show pages if robots.txt or the owner's wishes changed; what comes to light is news."""
    digest = sha256(repr((rules, site.private)).encode()).hexdigest()
    if facts(db).rules == digest:
        return
    db.create_function("hidden_by", 1, lambda path: hidden_by(site, rules, path), deterministic=True)
    with writing(db):
        db.execute(APPLY, {"stamp": new_stamp(db, now)})
        db.execute("UPDATE facts SET rules = ?", (digest,))


def touch(db: Connection, site: Site, rules: Rules, changed: Mapping[str, int | None], now: int) -> int:
    """Say that pages changed, or are new: path and time of the change, None for now."""
    return record(db, site, rules, Batch(touched=dict(changed)), now)


def forget(db: Connection, site: Site, now: int) -> int:
    """Drop deletions that were told long enough; give how many."""
    with writing(db):
        before = now - int(site.forget_days * DAY)
        return db.execute("DELETE FROM pages WHERE deleted = 1 AND noticed < ?", (before,)).rowcount
