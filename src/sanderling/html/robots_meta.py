"""Parse the X-Robots-Tag header."""

import re
from collections.abc import Iterator

from sanderling.html.links import search_unavailable_after

# An agent name in lower case, which is not part of a date.
_is_agent_name = re.compile(r"\*|(?=[0-9]*+[a-z_\-])[a-z0-9_\-]++(?:/[\w.]*+)?").fullmatch
_find_names = re.compile(r"(?<![\w*\-])([\w*\-]++)(?:/[\w.]*+)?+\s*+:").findall  # any word before a colon
_VALUED_DIRECTIVES = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})


def parse_robots_tag(value: str, agent: str = "sanderling") -> tuple[bool, bool]:
    """Return (noindex, nofollow) for `agent`. `value` has a line per header."""
    directives = {word for line in value.lower().split("\n") for word in _iterate_directives(line, agent.lower())}
    return bool(directives & {"noindex", "none"}), bool(directives & {"nofollow", "none"})


def parse_unavailable_after(value: str, agent: str = "sanderling") -> str:
    """Return the unavailable_after date as written, or ""."""
    for line in value.split("\n"):
        found = search_unavailable_after(line)
        names = (
            [name for name in _find_names(line[: found.start()].lower()) if name not in _VALUED_DIRECTIVES]
            if found
            else []
        )
        if found and names[-1:] in ([], ["*"], [agent.lower()]):
            return found[1]
    return ""


def _iterate_directives(line: str, agent: str) -> Iterator[str]:
    """Yield the directives of a line; an agent name applies to everything after it."""
    applies = True
    for part in line.split(","):
        *names, value = part.split(":")
        for name in map(str.strip, names):
            if name in _VALUED_DIRECTIVES or not _is_agent_name(name):
                break  # the rest is its value, which may contain colons
            applies = name.partition("/")[0] in ("*", agent)
        else:
            if applies:
                yield from value.replace(";", " ").split()
