"""What robots.txt forbids to everybody (RFC 9309), so that it is never listed. Small, and without libraries."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sanderling.publisher.paths import canonicalize_path

MAX_ROBOTS_BYTES = 512 * 1024  # RFC 9309 asks for at least 500 KiB
DISALLOW_FIELDS = frozenset(
    ("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw")
)  # as people write it


@dataclass(frozen=True, slots=True)
class PathRule:
    """One allow or disallow line."""

    is_allow: bool
    literal_parts: tuple[str, ...]  # the pattern, cut at each *
    is_anchored: bool  # it ended with $
    pattern_length: int

    def is_match(self, path: str) -> bool:
        """Say if a path is meant; each piece is found from where the last one ended, so it takes no backtracking."""
        first, *rest = self.literal_parts
        if not path.startswith(first):
            return False
        if not rest:
            return not self.is_anchored or path == first
        at = len(first)
        for piece in rest[:-1] if self.is_anchored else rest:
            found = path.find(piece, at)
            if found < 0:
                return False
            at = found + len(piece)
        return not self.is_anchored or (path.endswith(rest[-1]) and len(path) - len(rest[-1]) >= at)


@dataclass(frozen=True, slots=True)
class PathRules:
    """All rules of the group for everybody."""

    rules: tuple[PathRule, ...] = ()

    def is_disallowed(self, path: str) -> bool:
        """Let the longest matching rule decide; allow wins a tie."""
        plain = _unescape_wildcards(path)
        best = max(
            (r for r in self.rules if r.is_match(plain)), key=lambda r: (r.pattern_length, r.is_allow), default=None
        )
        return best is not None and not best.is_allow


def parse_robots_rules(text: str) -> PathRules:
    """Read the rules of every group that names *."""
    rules: list[PathRule] = []
    ours, naming = False, False
    for field, value in _parse_lines(text):
        if field == "user-agent":
            ours = (naming and ours) or value == "*"
            naming = True
        elif field == "allow" or field in DISALLOW_FIELDS:
            naming = False
            if ours and value:
                rules.append(_parse_rule(field == "allow", value))
    return PathRules(tuple(rules))


def _parse_lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text[:MAX_ROBOTS_BYTES].lstrip("\ufeff").splitlines():
        field, colon, value = line.partition("#")[0].partition(":")
        if colon:
            yield field.strip().lower(), value.strip()


def _parse_rule(is_allow: bool, pattern: str) -> PathRule:
    anchored = pattern.endswith("$")
    pieces = (pattern[:-1] if anchored else pattern).split("*")
    spelled = tuple(_canonicalize_part(piece, number == 0) for number, piece in enumerate(pieces))
    return PathRule(is_allow, spelled, anchored, len(pattern))


def _canonicalize_part(part: str, is_first: bool) -> str:
    """Spell a piece of a pattern as paths are spelled; a query stays as it is."""
    path, mark, query = part.partition("?")
    if is_first and path.startswith("/"):
        return _unescape_wildcards(canonicalize_path(path) or path) + mark + query
    spelled = canonicalize_path("/" + path)
    return (_unescape_wildcards(spelled[1:]) if spelled else path) + mark + query


def _unescape_wildcards(path: str) -> str:
    """Write the two signs of the pattern language as themselves, so that /%2A names a star."""
    return path.replace("%2A", "*").replace("%24", "$")


def has_noindex(values: Iterable[str]) -> bool:
    """Return whether any X-Robots-Tag header asks not to be indexed, in any case, as `noindex` or `none`."""
    tokens = (re.split(r"[,:]", value.lower()) for value in values)
    return any(token.strip() in ("noindex", "none") for parts in tokens for token in parts)
