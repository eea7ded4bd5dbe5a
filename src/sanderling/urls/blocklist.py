"""Blocklist of deleted URLs and of patterns in which * matches anything."""

import re
from collections.abc import Iterable

from sanderling.errors import UsageError
from sanderling.urls.normalize import normalize_url

WILDCARD = "*"


def parse_pattern(text: str) -> str:
    """Normalize a URL; a pattern stays unchanged. Raises UsageError if invalid."""
    raw = text.strip()
    if WILDCARD in raw:
        return raw
    normalized = normalize_url(raw if "://" in raw else f"https://{raw}")
    if normalized is None:
        raise UsageError(f"{text!r} is neither a URL nor a pattern with *")
    return normalized.url


def compile_patterns(patterns: Iterable[str]) -> re.Pattern[str] | None:
    """Compile all patterns to a regular expression. None: no patterns."""
    parts = [".*".join(map(re.escape, pattern.split(WILDCARD))) for pattern in patterns]
    return re.compile("|".join(f"(?:{part})" for part in parts), re.DOTALL) if parts else None
