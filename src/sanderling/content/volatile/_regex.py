"""Patterns of what changes by itself in a line: made when they are first wanted, and what they leave of it."""

import re
from functools import cache


@cache
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Make a pattern when it is first asked for: all of them take long, and a first crawl asks for none."""
    return re.compile(pattern, re.IGNORECASE)


def keep_groups(match: re.Match[str]) -> str:
    """Keep the words that a stamp, an age or a counter belongs to: what a pattern has in brackets."""
    return "".join(filter(None, match.groups()))
