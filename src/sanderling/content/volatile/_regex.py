"""Lazy compilation of the patterns for volatile text."""

import re
from functools import cache


@cache
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern on first use: compilation is slow, and a first crawl needs no patterns."""
    return re.compile(pattern, re.IGNORECASE)


def keep_groups(match: re.Match[str]) -> str:
    """Replace a match by its groups: the words around the volatile value."""
    return "".join(filter(None, match.groups()))
