"""From lines of an access log to a batch: who viewed what, what asked for a login, which crawlers came."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from sanderling.publisher.access_log import Line, read_line
from sanderling.publisher.change_log import Batch, record
from sanderling.publisher.crawlers import Verify, claimed_name, is_machine
from sanderling.publisher.log_tail import lines, read_position, to_read
from sanderling.publisher.paths import canonical, with_query, without_index
from sanderling.publisher.published_site import Site
from sanderling.publisher.robots import Rules
from sanderling.publisher.state_db import Connection, facts


@dataclass(frozen=True, slots=True)
class Reading:
    """How many lines were read, and how many of them made no sense."""

    lines: int = 0
    malformed: int = 0


def follow(db: Connection, site: Site, rules: Rules, path: Path, now: int, verify: Verify | None = None) -> Reading:
    """Read on from where we stopped, and commit each chunk together with the place it reaches."""
    total, malformed = 0, 0
    for file, offset in to_read(path, read_position(facts(db).position)):
        for chunk, position in lines(file, offset):
            batch, bad = fold(chunk, site, verify)
            batch.position = str(position)
            record(db, site, rules, batch, now)
            total, malformed = total + len(chunk), malformed + bad
    return Reading(total, malformed)


def fold(chunk: Iterable[bytes], site: Site, verify: Verify | None = None) -> tuple[Batch, int]:
    """Add up the lines of a chunk; say how many were malformed."""
    batch, malformed = Batch(), 0
    for raw in chunk:
        line = read_line(raw)
        if line is not None:
            _add(batch, line, site, verify)
        elif raw.strip():
            malformed += 1
    return batch, malformed


def _add(batch: Batch, line: Line, site: Site, verify: Verify | None) -> None:
    batch.at = line.at
    path = _spelled(line.target, site) if line.method == "GET" else None
    if path is None:
        return
    if line.status in (200, 304):
        if line.agent is None or not is_machine(line.agent):
            batch.hits[path] += 1
        else:
            verified = verify(line.agent, line.host) if verify else False
            batch.crawlers[(claimed_name(line.agent), verified)] += 1
        if not line.user:
            batch.public.add(path)
            batch.private.discard(path)
    elif line.status in (401, 403):
        batch.private.add(path)
        batch.public.discard(path)


@lru_cache(maxsize=16384)
def _spelled(target: str, site: Site) -> str | None:
    raw, _, query = target.partition("?")
    path = canonical(raw)
    return with_query(without_index(path, site.index), query, site.kept_parameters) if path else None
