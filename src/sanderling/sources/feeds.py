"""What is special about feeds: which of several addresses is the page's, and what relative ones start from."""

import re
from urllib.parse import urljoin

from sanderling.sources.markup import attributes

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:").match
_BLANK = re.compile(r"\s").search
_REGISTRY = "http://www.iana.org/assignments/relation/"  # RFC 4287, 4.2.7.2: a relation may be spelled out


def looks_like_url(text: str) -> bool:
    """Tell whether a text begins as a web address does."""
    return text[:8].lower().startswith(("http://", "https://"))


def leads_off(link: str) -> bool:
    """Tell whether a link leads out of the web: to mail, to gemini."""
    return _SCHEME(link) is not None and not looks_like_url(link)


def page_of(gathered: dict[str, str], base: str) -> str:
    """Choose the address of an entry's page: its link, else an identifier that is one; nothing if there is none."""
    link = gathered.get("link", "")
    if link and not _SCHEME(link) and not _BLANK(link):
        return joined(base, link)
    named = (link, *(gathered.get(name, "") for name in ("guid", "id", "about")))
    return next((text for text in named if looks_like_url(text)), "")


def joined(base: str, href: str) -> str:
    """Resolve an address against what stands around it, which may be relative to the file itself."""
    try:
        return urljoin(base, href) if base else href
    except ValueError:
        return href


def base_within(base: str, rest: str) -> str:
    """Give what relative addresses inside a tag start from: its xml:base, taken from the one around it."""
    return joined(base, attributes(rest).get("base", "").strip()) if "base" in rest else base


def is_alternate(relation: str) -> bool:
    """Tell whether a link of an entry leads to its page."""
    return relation.strip().lower().removeprefix(_REGISTRY) == "alternate"
