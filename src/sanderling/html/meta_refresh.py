"""Where a page sends its readers by itself: `<meta http-equiv=refresh>`, read as browsers read it (WHATWG)."""

import re

_WHITESPACE = r"[\t\n\f\r ]*+"
_match_delay = re.compile(
    rf"{_WHITESPACE}(?:[0-9]++|(?=\.))[0-9.]*+(?:\Z|(?=[\t\n\f\r ;,])){_WHITESPACE}[;,]?{_WHITESPACE}"
).match
_match_url_prefix = re.compile(rf"url{_WHITESPACE}={_WHITESPACE}", re.IGNORECASE).match


def parse_refresh_target(content: str) -> str:
    """Read the target as spelled; empty for the page itself, and where the value is none."""
    time = _match_delay(content)
    rest = content[time.end() :] if time else ""
    if name := _match_url_prefix(rest):
        rest = rest[name.end() :]
    elif rest[:1] in ("u", "U"):
        return rest
    return rest[1:].partition(rest[0])[0] if rest[:1] in ("'", '"') else rest
