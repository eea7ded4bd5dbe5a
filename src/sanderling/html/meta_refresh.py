"""Parse `<meta http-equiv=refresh>` and the Refresh header as browsers do (WHATWG)."""

import re

_WHITESPACE = r"[\t\n\f\r ]*+"
_match_delay = re.compile(
    rf"{_WHITESPACE}(?:[0-9]++|(?=\.))[0-9.]*+(?:\Z|(?=[\t\n\f\r ;,])){_WHITESPACE}[;,]?{_WHITESPACE}"
).match
_match_url_prefix = re.compile(rf"url{_WHITESPACE}={_WHITESPACE}", re.IGNORECASE).match


def parse_refresh_target(content: str) -> str:
    """Return the target URL as written, or "" if invalid or the same page."""
    delay = _match_delay(content)
    rest = content[delay.end() :] if delay else ""
    if prefix := _match_url_prefix(rest):
        rest = rest[prefix.end() :]
    elif rest[:1] in ("u", "U"):
        return rest
    return rest[1:].partition(rest[0])[0] if rest[:1] in ("'", '"') else rest
