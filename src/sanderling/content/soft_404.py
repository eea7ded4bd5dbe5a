"""Detect soft errors: pages with status 200 that are "not found" notices, parked domains, or outages.

An outage is a short notice instead of the page (maintenance, error, login, CAPTCHA, consent) or a blank page. A page
may legitimately look like that; the caller compares it with earlier versions.
"""

import re
from enum import StrEnum
from functools import cache

from sanderling.content.word_lists import load_patterns
from sanderling.html.native_tables import MAX_NOTICE_LENGTH
from sanderling.html.parser import Document
from sanderling.html.text import render_text

MAX_NOTICE_WORDS = 200  # a longer page has other content
MAX_OUTAGE_WORDS = 60
PARKED_DOMAIN_PATTERN = (
    r"\bdomain (name )?(is|may be|could be) (for sale|parked|available for purchase)\b|\bbuy this domain\b"
    r"|\bthis domain (has expired|is parked)\b|\bparked (free|domain)\b|\bdomain parking\b"
    r"|\bhugedomains\b|\bsedo ?domain parking\b"
)
NOT_FOUND_TITLE = r"^\W*404\b"
PHP_ERROR_PATTERN = r"^\s*(php )?(fatal|parse) error\s*:\s"
VISIBLE_ELEMENT_PATTERN = (
    rb"<(?:script|img|svg|picture|i?frame|object|embed|video|audio|canvas|input|meta[^>]{1,200}refresh)\b"
)
PASSWORD_FIELD = 'input[type="password" i]'
NOT_FOUND, OUTAGE, LOGIN = ("not_found",), ("downtime", "error", "challenge"), ("login",)


class SoftErrorKind(StrEnum):
    """Kinds of error pages that are served with status 200."""

    SOFT_404 = "soft_404"
    PARKED = "parked"
    OUTAGE = "outage"


def classify_text(title: str, text: str) -> SoftErrorKind | None:
    """Return the soft error kind of a short page, or None."""
    if not is_short_text(text):
        return None
    if _matches(PARKED_DOMAIN_PATTERN, title) or _matches(PARKED_DOMAIN_PATTERN, text):
        return SoftErrorKind.PARKED
    return (
        SoftErrorKind.SOFT_404
        if _has_notice(NOT_FOUND, title, NOT_FOUND_TITLE) and _has_notice(NOT_FOUND, text)
        else None
    )


def detect_soft_error(tree: Document, raw_text: str, body: bytes | None = None) -> SoftErrorKind | None:
    """Return the soft error kind of a parsed page, or None. Most pages are rejected by length alone.

    `body` is the original response (None: blank pages are not checked), since `raw_text` has no scripts any more.
    """
    if len(raw_text) > MAX_NOTICE_LENGTH:
        return None
    title_element, heading = tree.find("title"), tree.find("h1")
    title = title_element.text if title_element is not None else ""
    headings = (title, heading.text if heading is not None else "")
    has_hint = _has_notice_hint(headings)
    if (has_hint and _has_notice(NOT_FOUND, title, NOT_FOUND_TITLE)) or "domain" in raw_text.lower():
        kind = classify_text(title, render_text(tree))
        if kind is not None:
            return kind
    is_notice = has_hint and (
        any(_has_notice(OUTAGE, heading) for heading in headings) or _is_login_page(tree, headings)
    )
    is_blank = body is not None and (
        _is_blank_page(tree, raw_text, headings[0], body) or _matches(PHP_ERROR_PATTERN, raw_text)
    )
    return SoftErrorKind.OUTAGE if is_notice or is_blank else None


def is_outage_text(text: str) -> bool:
    """Return whether a text of a few sentences speaks of an outage or a challenge anywhere, not only in its heading.

    Content may also read like that, so the caller needs more evidence, such as another text before.
    """
    is_short = len(text) <= MAX_NOTICE_LENGTH and len(text.split(None, MAX_OUTAGE_WORDS)) <= MAX_OUTAGE_WORDS
    return is_short and _has_notice(OUTAGE, text)


def _is_blank_page(tree: Document, raw_text: str, title: str, body: bytes) -> bool:
    """Return whether a page has no text except its title, and no element that could show or load content."""
    if len(raw_text.strip()) > len(title) or re.search(VISIBLE_ELEMENT_PATTERN, body, re.IGNORECASE):
        return False
    return not render_text(tree).strip()


def may_be_soft_error(headings: tuple[str, str], raw_text: str) -> bool:
    """Return whether a short page needs `detect_soft_error`; rejects nearly all pages."""
    return _has_notice_hint(headings) or "domain" in raw_text.lower()


def _has_notice_hint(headings: tuple[str, str]) -> bool:
    return _load_hints().search("\n".join(headings).lower()) is not None


@cache
def _load_hints() -> re.Pattern[str]:
    """Return a prefilter that rejects nearly all pages: each pattern requires a text."""
    return re.compile(
        "|".join(hint for group in NOT_FOUND + OUTAGE + LOGIN for hint in load_patterns(f"soft_404.{group}"))
    )


def _has_notice(groups: tuple[str, ...], text: str, other_pattern: str = "") -> bool:
    return _load_notices(groups, other_pattern).search(text) is not None


@cache
def _load_notices(groups: tuple[str, ...], other_pattern: str) -> re.Pattern[str]:
    patterns = [pattern for group in groups for pattern in load_patterns(f"soft_404.{group}").values()]
    return re.compile("|".join([other_pattern, *patterns] if other_pattern else patterns), re.IGNORECASE)


def _is_login_page(tree: Document, headings: tuple[str, str]) -> bool:
    return any(_has_notice(LOGIN, heading) for heading in headings) and tree.select_one(PASSWORD_FIELD) is not None


def is_short_text(text: str) -> bool:
    """Return whether a text is short enough to be only a notice."""
    return len(text) <= MAX_NOTICE_LENGTH and len(text.split(None, MAX_NOTICE_WORDS)) <= MAX_NOTICE_WORDS


def _matches(pattern: str, text: str) -> bool:
    return _compile_pattern(pattern).search(text) is not None


@cache
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
