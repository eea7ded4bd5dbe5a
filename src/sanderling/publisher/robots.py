"""What robots.txt forbids to everybody (RFC 9309), so that it is never listed. Small, and without libraries."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sanderling.publisher.paths import canonical

LARGEST = 512 * 1024  # RFC 9309 asks for at least 500 KiB
DISALLOW = frozenset(("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"))  # as people write it


@dataclass(frozen=True, slots=True)
class Rule:
    """One allow or disallow line."""

    allow: bool
    pieces: tuple[str, ...]  # the pattern, cut at each *
    anchored: bool  # it ended with $
    length: int

    def matches(self, path: str) -> bool:
        """Say if a path is meant; each piece is found from where the last one ended, so it takes no backtracking."""
        first, *rest = self.pieces
        if not path.startswith(first):
            return False
        if not rest:
            return not self.anchored or path == first
        at = len(first)
        for piece in rest[:-1] if self.anchored else rest:
            found = path.find(piece, at)
            if found < 0:
                return False
            at = found + len(piece)
        return not self.anchored or (path.endswith(rest[-1]) and len(path) - len(rest[-1]) >= at)


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules of the group for everybody."""

    rules: tuple[Rule, ...] = ()

    def forbids(self, path: str) -> bool:
        """Let the longest matching rule decide; allow wins a tie."""
        plain = _plain(path)
        best = max((r for r in self.rules if r.matches(plain)), key=lambda r: (r.length, r.allow), default=None)
        return best is not None and not best.allow


def read_rules(text: str) -> Rules:
    """Read the rules of every group that names *."""
    rules: list[Rule] = []
    ours, naming = False, False
    for field, value in _lines(text):
        if field == "user-agent":
            ours = (naming and ours) or value == "*"
            naming = True
        elif field == "allow" or field in DISALLOW:
            naming = False
            if ours and value:
                rules.append(_rule(field == "allow", value))
    return Rules(tuple(rules))


def _lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text[:LARGEST].lstrip("\ufeff").splitlines():
        field, colon, value = line.partition("#")[0].partition(":")
        if colon:
            yield field.strip().lower(), value.strip()


def _rule(allow: bool, pattern: str) -> Rule:
    anchored = pattern.endswith("$")
    pieces = (pattern[:-1] if anchored else pattern).split("*")
    spelled = tuple(_spell(piece, number == 0) for number, piece in enumerate(pieces))
    return Rule(allow, spelled, anchored, len(pattern))


def _spell(piece: str, first: bool) -> str:
    """Spell a piece of a pattern as paths are spelled; a query stays as it is."""
    path, mark, query = piece.partition("?")
    if first and path.startswith("/"):
        return _plain(canonical(path) or path) + mark + query
    spelled = canonical("/" + path)
    return (_plain(spelled[1:]) if spelled else path) + mark + query


def _plain(path: str) -> str:
    """Write the two signs of the pattern language as themselves, so that /%2A names a star."""
    return path.replace("%2A", "*").replace("%24", "$")


def forbids_index(values: Iterable[str]) -> bool:
    """Return whether any X-Robots-Tag header asks not to be indexed, in any case, as `noindex` or `none`."""
    tokens = (re.split(r"[,:]", value.lower()) for value in values)
    return any(token.strip() in ("noindex", "none") for parts in tokens for token in parts)
