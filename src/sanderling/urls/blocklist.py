"""URLs that are to be forgotten: single ones, or all that are like a pattern in which * stands for anything."""

import re
from collections.abc import Iterable

from sanderling.errors import UsageError
from sanderling.urls.normalize import normalize_url

WILDCARD = "*"


def parse_pattern(text: str) -> str:
    """Spell what a person typed: a pattern stays as it is, a URL gets its one spelling."""
    raw = text.strip()
    if WILDCARD in raw:
        return raw
    spelling = normalize_url(raw if "://" in raw else f"https://{raw}")
    if spelling is None:
        raise UsageError(f"{text!r} is neither a URL nor a pattern with *")
    return spelling.url


def compile_patterns(patterns: Iterable[str]) -> re.Pattern[str] | None:
    """One expression for all patterns; None if there are none."""
    parts = [".*".join(map(re.escape, pattern.split(WILDCARD))) for pattern in patterns]
    return re.compile("|".join(f"(?:{part})" for part in parts), re.DOTALL) if parts else None
