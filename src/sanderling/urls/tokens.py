"""Split URLs into the parts that predict the template of a page."""

import re
from urllib.parse import urlsplit

WORD = re.compile(r"[^\W\d_]+")
MAX_TEXT_LENGTH = 2_000


def split_path(url: str) -> tuple[list[str], str, str]:
    """Split a URL into folders, file name, and query."""
    try:
        parts = urlsplit(url[:MAX_TEXT_LENGTH])
    except ValueError:  # invalid IPv6 address
        return [], "", ""
    *folders, name = parts.path.lstrip("/").split("/")
    return folders, name, parts.query
