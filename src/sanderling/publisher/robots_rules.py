"""Parse the robots.txt rules for all user agents (RFC 9309)."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sanderling.publisher.paths import canonicalize_path

MAX_ROBOTS_BYTES = 512 * 1024  # RFC 9309 requires at least 500 KiB
# Including common misspellings.
DISALLOW_FIELDS = frozenset(("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"))


@dataclass(frozen=True, slots=True)
class PathRule:
    """An allow or disallow line."""

    is_allow: bool
    literal_parts: tuple[str, ...]  # the pattern, split at *
    is_anchored: bool  # the pattern ended with $
    pattern_length: int

    def is_match(self, path: str) -> bool:
        """Match a path in linear time."""
        first, *rest = self.literal_parts
        if not path.startswith(first):
            return False
        if not rest:
            return not self.is_anchored or path == first
        position = len(first)
        for part in rest[:-1] if self.is_anchored else rest:
            found = path.find(part, position)
            if found < 0:
                return False
            position = found + len(part)
        return not self.is_anchored or (path.endswith(rest[-1]) and len(path) - len(rest[-1]) >= position)


@dataclass(frozen=True, slots=True)
class PathRules:
    """The rules of the group for all user agents."""

    rules: tuple[PathRule, ...] = ()

    def is_disallowed(self, path: str) -> bool:
        """Apply the longest matching rule. Allow wins a tie."""
        decoded_path = _unescape_wildcards(path)
        longest = max(
            (rule for rule in self.rules if rule.is_match(decoded_path)),
            key=lambda rule: (rule.pattern_length, rule.is_allow),
            default=None,
        )
        return longest is not None and not longest.is_allow


def parse_robots_rules(text: str) -> PathRules:
    """Parse the rules of every `User-agent: *` group."""
    rules: list[PathRule] = []
    is_wildcard_group, in_user_agents = False, False
    for field, value in _parse_lines(text):
        if field == "user-agent":
            is_wildcard_group = (in_user_agents and is_wildcard_group) or value == "*"
            in_user_agents = True
        elif field == "allow" or field in DISALLOW_FIELDS:
            in_user_agents = False
            if is_wildcard_group and value:
                rules.append(_parse_rule(field == "allow", value))
    return PathRules(tuple(rules))


def _parse_lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text[:MAX_ROBOTS_BYTES].lstrip("\ufeff").splitlines():
        field, colon, value = line.partition("#")[0].partition(":")
        if colon:
            yield field.strip().lower(), value.strip()


def _parse_rule(is_allow: bool, pattern: str) -> PathRule:
    is_anchored = pattern.endswith("$")
    parts = (pattern[:-1] if is_anchored else pattern).split("*")
    literal_parts = tuple(_canonicalize_part(part, number == 0) for number, part in enumerate(parts))
    return PathRule(is_allow, literal_parts, is_anchored, len(pattern))


def _canonicalize_part(part: str, is_first: bool) -> str:
    """Canonicalize a part of a pattern like a path. Queries stay unchanged."""
    path, separator, query = part.partition("?")
    if is_first and path.startswith("/"):
        return _unescape_wildcards(canonicalize_path(path) or path) + separator + query
    canonical = canonicalize_path("/" + path)
    return (_unescape_wildcards(canonical[1:]) if canonical else path) + separator + query


def _unescape_wildcards(path: str) -> str:
    """Decode escaped * and $, so that /%2A matches a star."""
    return path.replace("%2A", "*").replace("%24", "$")


def has_noindex(values: Iterable[str]) -> bool:
    """Return whether any X-Robots-Tag header excludes a page from indexing."""
    tokens = (re.split(r"[,:]", value.lower()) for value in values)
    return any(token.strip() in ("noindex", "none") for parts in tokens for token in parts)
