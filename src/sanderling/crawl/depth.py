"""How far to go from each seed: one limit for all, or a depth drawn for each (GPC-2, true sampling).

A depth is drawn once and remembered. A seed with a smaller one begins so many levels further down, so that one limit is
right for all, and a page found from two seeds lies as deep as the more generous of them has it.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from random import Random

from msgspec import Struct

from sanderling.db.connection import Connection, transaction
from sanderling.errors import UsageError
from sanderling.models import Source, Url
from sanderling.storage.collection import get_meta, set_meta
from sanderling.urls.depth_policy import is_sampled, read_depth

DRAWN = "drawn_depths"


class Reach(Struct, frozen=True):
    """The deepest level that is visited, -1 for none, and the level each seed begins at if that is not 0."""

    limit: int = -1
    starts: Mapping[str, int] = {}


def reach(db: Connection, text: str, seeds: Iterable[Url], draw: Random) -> Reach:
    """Read `--depth` for a collection; new seeds draw their depth, old ones keep what they drew."""
    known = drawn(db)
    if not is_sampled(text):
        limit = read_depth(text, draw)
        if limit is not None and len(set(known.values())) > 1:
            raise UsageError(
                f"the seeds of this collection drew their depths ({_listed(known)}); go on with --depth sample:MEAN"
                " or --depth -1, or begin another collection"
            )
        return Reach(-1 if limit is None else limit)
    depths = known | {seed: read_depth(text, draw) or 0 for seed in seeds if seed not in known}
    deepest = max(depths.values(), default=0)
    with transaction(db):
        if known and deepest > max(known.values()):
            db.execute("UPDATE urls SET depth = depth + ?", (deepest - max(known.values()),))
        set_meta(db, DRAWN, json.dumps(depths))
    return Reach(deepest, {seed: deepest - depth for seed, depth in depths.items()})


def drawn(db: Connection) -> dict[str, int]:
    """The depth each seed drew; empty where depths are not drawn."""
    found: dict[str, int] = json.loads(get_meta(db, DRAWN, "{}"))
    return found


def _listed(depths: Mapping[str, int]) -> str:
    shown = [f"{seed} {depth}" for seed, depth in list(depths.items())[:3]]
    return ", ".join(shown) + (" ..." if len(depths) > len(shown) else "")


class Level(Struct, frozen=True):
    """How many URLs lie so many links from their seed."""

    level: int
    visited: int = 0
    queued: int = 0
    skipped: int = 0
    failed: int = 0
    gone: int = 0


def levels(db: Connection) -> list[Level]:
    """Count the known pages of each level by their state."""
    if len(set(drawn(db).values())) > 1:
        counted = _from_own_seed(db)
    else:
        sql = "SELECT depth, state, count(*) FROM urls WHERE role = 'page' GROUP BY depth, state"
        counted = Counter({(depth, state): count for depth, state, count in db.execute(sql)})
    by_level: dict[int, dict[str, int]] = {}
    for (level, state), count in counted.items():
        by_level.setdefault(level, {})[state] = count
    return [Level(level, **states) for level, states in sorted(by_level.items())]


def _from_own_seed(db: Connection) -> Counter[tuple[int, str]]:
    """The same where seeds begin at levels of their own: every URL is followed back to its seed."""
    rows = {row[0]: row[1:] for row in db.execute("SELECT id, via, depth, source, state FROM urls WHERE role = 'page'")}
    starts: dict[int, int] = {}
    counted: Counter[tuple[int, str]] = Counter()
    for id_, (_, depth, _, state) in rows.items():
        trail, at = [], id_
        while at in rows and at not in starts and rows[at][2] != Source.SEED:
            trail.append(at)
            starts[at] = 0  # a circle ends here
            at = rows[at][0]
        start = rows[at][1] if at in rows and rows[at][2] == Source.SEED else starts.get(at, 0)
        starts |= dict.fromkeys([*trail, at], start)
        counted[depth - start, state] += 1
    return counted
