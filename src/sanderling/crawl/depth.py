"""Depth limits: the same for all seeds, or sampled per seed (GPC-2, true sampling).

A sampled depth is stored. A seed with a smaller depth starts at a deeper level, so that a single limit fits all
seeds; a page found from two seeds gets the smaller level.
"""

from collections.abc import Iterable, Mapping
from random import Random

from msgspec import Struct

from sanderling.db.connection import Connection, transaction
from sanderling.errors import UsageError
from sanderling.frontier.requeue import shift_depths
from sanderling.frontier.url_rows import count_levels, count_levels_by_seed
from sanderling.models import Url
from sanderling.storage.collection_meta import CollectionMeta
from sanderling.urls.depth_policy import is_sampled_depth, parse_depth


class DepthLimits(Struct, frozen=True):
    """Deepest level to visit (-1: no limit), and start levels of seeds other than 0."""

    limit: int = -1
    start_depths: Mapping[str, int] = {}


def load_depth_limits(db: Connection, text: str, seeds: Iterable[Url], random: Random) -> DepthLimits:
    """Parse `--depth`. New seeds draw a depth, known seeds keep theirs."""
    known = load_drawn_depths(db)
    if not is_sampled_depth(text):
        limit = parse_depth(text, random)
        if limit is not None and len(set(known.values())) > 1:
            raise UsageError(
                f"the seeds of this collection have sampled depths ({_format_depths(known)});"
                " use --depth sample:MEAN or --depth -1, or start another collection"
            )
        return DepthLimits(-1 if limit is None else limit)
    depths = known | {seed: parse_depth(text, random) or 0 for seed in seeds if seed not in known}
    deepest = max(depths.values(), default=0)
    with transaction(db):
        if known and deepest > max(known.values()):
            shift_depths(db, deepest - max(known.values()))
        CollectionMeta(db).drawn_depths = depths
    return DepthLimits(deepest, {seed: deepest - depth for seed, depth in depths.items()})


def load_drawn_depths(db: Connection) -> dict[str, int]:
    """Load sampled depths by seed; empty if not sampled."""
    return CollectionMeta(db).drawn_depths


def _format_depths(depths: Mapping[str, int]) -> str:
    shown = [f"{seed} {depth}" for seed, depth in list(depths.items())[:3]]
    return ", ".join(shown) + (" ..." if len(depths) > len(shown) else "")


class LevelCounts(Struct, frozen=True):
    """Number of URLs at a distance from their seed, by state."""

    level: int
    visited: int = 0
    queued: int = 0
    skipped: int = 0
    failed: int = 0
    gone: int = 0


def load_level_counts(db: Connection) -> list[LevelCounts]:
    """Count URLs by level and state; levels of sampled depths are relative to the seed."""
    counts = count_levels_by_seed(db) if len(set(load_drawn_depths(db).values())) > 1 else count_levels(db)
    by_level: dict[int, dict[str, int]] = {}
    for (level, state), count in counts.items():
        by_level.setdefault(level, {})[state] = count
    return [LevelCounts(level, **states) for level, states in sorted(by_level.items())]
