"""Select stored versions that a retention rule no longer keeps."""

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby

from msgspec import Struct

from sanderling.db.connection import Connection
from sanderling.models import Outcome
from sanderling.storage.reports import StoredVersionRow, iterate_stored_versions


class RetentionRule(Struct, frozen=True):
    """A retention rule: a version is pruned if no part of the rule keeps it. The last version is always kept."""

    versions: int = 0  # the last ones of each page; 0: not by number
    since: float = 0.0  # stored since this time; 0: not by age
    monthly: bool = False  # the first and the last of each month
    holds: tuple[re.Pattern[str], ...] = ()  # URLs whose versions are all kept

    @property
    def is_empty(self) -> bool:
        return not (self.versions or self.since or self.monthly)


class PruneSelection(Struct):
    """Versions that are pruned, and numbers of kept versions."""

    pruned: list[StoredVersionRow]
    unchanged: list[StoredVersionRow] = []  # visits that confirmed pruned versions (304)
    kept: int = 0
    held: int = 0  # kept only because of a hold
    shared: int = 0  # kept only because a kept version has the same body


def select_versions(db: Connection, rule: RetentionRule) -> PruneSelection:
    """Return the versions to prune. A body is kept while any kept version has it."""
    selection, candidates, kept_digests = PruneSelection([]), list[StoredVersionRow](), set[bytes]()
    for url, group in groupby(iterate_stored_versions(db), lambda row: row.url):
        rows = list(group)
        kept = find_kept(rows, rule)
        if len(kept) < len(rows) and any(hold.search(url) for hold in rule.holds):
            selection.held += len(rows) - len(kept)
            kept = set(range(len(rows)))
        selection.kept += len(kept)
        kept_digests |= {rows[number].digest for number in kept}
        candidates += [row for number, row in enumerate(rows) if number not in kept]
    selection.pruned = [row for row in candidates if row.digest not in kept_digests]
    selection.shared = len(candidates) - len(selection.pruned)
    selection.kept += selection.shared
    selection.unchanged = list(_find_unchanged_visits(db, selection.pruned))
    return selection


def find_kept(rows: Sequence[StoredVersionRow], rule: RetentionRule) -> set[int]:
    """Return the positions of the kept rows of a page, given oldest first."""
    kept = {len(rows) - 1}
    if rule.since:
        kept |= {number for number, row in enumerate(rows) if row.at >= rule.since}
    if rule.versions:
        version, previous = 0, b""
        for number in range(len(rows) - 1, -1, -1):
            version += rows[number].digest != previous
            previous = rows[number].digest
            if version <= rule.versions:
                kept.add(number)
    if rule.monthly:
        months: dict[tuple[int, int], list[int]] = {}
        for number, row in enumerate(rows):
            date = datetime.fromtimestamp(row.at, UTC)
            months.setdefault((date.year, date.month), []).append(number)
        kept |= {number for numbers in months.values() for number in (numbers[0], numbers[-1])}
    return kept


def _find_unchanged_visits(db: Connection, pruned: Sequence[StoredVersionRow]) -> Iterator[StoredVersionRow]:
    """Yield visits that confirmed these versions (304): without the body, their records refer to nothing."""
    versions, pruned_ids = dict[str, list[tuple[float, int]]](), {row.visit_id for row in pruned}
    urls = {row.url for row in pruned}
    for row in iterate_stored_versions(db):
        if row.url in urls:
            versions.setdefault(row.url, []).append((row.at, row.visit_id))
    for row in iterate_stored_versions(db, Outcome.NOT_MODIFIED):
        position = bisect(versions.get(row.url, []), (row.at, row.visit_id)) - 1
        if position >= 0 and versions[row.url][position][1] in pruned_ids:
            yield row


def load_dropped_versions(db: Connection) -> set[tuple[str, float]]:
    """Return URL and time of the visits whose records were pruned."""
    sql = (
        "SELECT h.name || u.path, v.at FROM visits AS v JOIN urls AS u ON u.id = v.url JOIN hosts AS h ON h.id = u.host"
        " WHERE v.outcome = ? AND v.length = 0 AND v.record = ''"
    )
    return {(url, at) for url, at in db.execute(sql, (Outcome.FETCHED,))}


def drop_records(db: Connection, visit_ids: Sequence[int]) -> None:
    """Remove the places of pruned records. The visits stay in the history of their pages."""
    keys = [(id_,) for id_ in visit_ids]
    db.executemany("DELETE FROM digests WHERE visit = ?", keys)
    db.executemany("UPDATE visits SET file = 0, start = 0, length = 0, record = '', payload = '' WHERE id = ?", keys)
