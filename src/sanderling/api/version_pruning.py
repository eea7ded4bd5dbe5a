"""Prune old versions of a collection by a retention rule."""

import re
from collections.abc import Sequence
from pathlib import Path

from sanderling.clock import system_clock
from sanderling.deletion.prune_versions import PruneReport, preview_pruning, prune_versions
from sanderling.storage.retention import RetentionRule
from sanderling.urls.scope import compile_pattern

__all__ = ["PruneReport", "prune_collection"]

DAY_SECONDS = 86_400.0


def prune_collection(
    folder: Path, *, versions: int, days: int, monthly: bool, holds: Sequence[str], dry_run: bool
) -> PruneReport:
    """Prune versions that no part of the rule keeps, or count them."""
    since = system_clock() - days * DAY_SECONDS if days else 0.0
    patterns: list[re.Pattern[str]] = [compile_pattern(hold) for hold in holds]
    rule = RetentionRule(versions, since, monthly, tuple(patterns))
    return preview_pruning(folder, rule) if dry_run else prune_versions(folder, rule)
