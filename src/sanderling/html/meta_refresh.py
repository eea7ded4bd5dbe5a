"""Where a page sends its readers by itself: `<meta http-equiv=refresh>`, read as browsers read it (WHATWG)."""

import re

_BLANKS = r"[\t\n\f\r ]*+"
_TIME = re.compile(rf"{_BLANKS}(?:[0-9]++|(?=\.))[0-9.]*+(?:\Z|(?=[\t\n\f\r ;,])){_BLANKS}[;,]?{_BLANKS}").match
_NAME = re.compile(rf"url{_BLANKS}={_BLANKS}", re.IGNORECASE).match


def refresh_target(content: str) -> str:
    """Read the target as spelled; empty for the page itself, and where the value is none."""
    time = _TIME(content)
    rest = content[time.end() :] if time else ""
    if name := _NAME(rest):
        rest = rest[name.end() :]
    elif rest[:1] in ("u", "U"):
        return rest
    return rest[1:].partition(rest[0])[0] if rest[:1] in ("'", '"') else rest
