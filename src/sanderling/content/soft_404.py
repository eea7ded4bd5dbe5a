"""Detect soft errors: pages with status 200 that are "not found" notices, parked domains, or outages.

An outage is a short notice instead of the page (maintenance, error, login, CAPTCHA, consent) or a blank page. A page
may legitimately look like that; the caller compares it with earlier versions.
"""

import re
from enum import StrEnum
from functools import cache

from sanderling.html.parser import Document
from sanderling.html.text import render_text

MAX_NOTICE_WORDS = 200  # a longer page has other content
MAX_OUTAGE_WORDS = 60
# Keys: substrings required by the pattern, as a prefilter that rejects nearly all pages.
NOT_FOUND_PHRASES = {
    "404": r"\berror\W{0,3}404\b|\b404\W{0,5}(error|not found|page)\b",
    "found": r"\b(page|file|document|article|site)\b.{0,20}\b(not|cannot be|could not be) found\b|\bnot found\b",
    "no longer": r"\bno longer (exists|available)\b",
    "exist": r"\bdoes ?n.t exist\b|\bdoes not exist\b",
    "nicht gefunden": r"\bseite (wurde )?nicht gefunden\b",
    "page introuvable": r"\bpage introuvable\b",
    "non trouvée": r"\bpage non trouvée\b",
    "no encontrada": r"\bpágina no encontrada\b",
}
DOWNTIME_PHRASES = {
    "maintenance": r"\b(under|for|scheduled|site|system|server|planned|en) maintenance\b|\bmaintenance mode\b",
    "down": r"\bsystem (is )?down\b|\b(temporarily|currently) down\b",
    "unavailable": r"\b(temporarily|currently|service|service is) unavailable\b",
    "offline": r"\b(temporarily|currently) offline\b",
    "out of service": r"\b(temporarily|currently) out of service\b",
    "back": r"\bwe.?(ll| will) be (right )?back\b",
    "wartungsarbeiten": r"\bwartungsarbeiten\b",
    "en mantenimiento": r"\ben mantenimiento\b",
    "in manutenzione": r"\bin manutenzione\b",
    "em manutenção": r"\bem manutenção\b",
    "メンテナンス中": r"メンテナンス中",
    "维护中": r"维护中",
}
ERROR_PHRASES = {
    "error occurred": r"\berror occurred\b",
    "error has occurred": r"\berror has occurred\b",
    "went wrong": r"\bsomething went wrong\b",
    "server error": r"\binternal server error\b|^\W*(500\W{0,5})?server error\b",
    "application error": r"^\W*application error\b",
    "gateway": r"\bbad gateway\b|\bgateway time-?out\b",
    "database": r"^\W*database error\b|\bestablishing a database connection\b",
    "too many requests": r"\btoo many requests\b",
    "fehler aufgetreten": r"\bfehler aufgetreten\b",
    "une erreur": r"\bune erreur (inattendue )?(est survenue|s.est produite)\b",
    "un error": r"\b(ha ocurrido|ocurrió|se ha producido|se produjo) un error\b",
    "un errore": r"\bsi è verificato un errore\b",
    "ocorreu um erro": r"\bocorreu um erro\b",
    "fout opgetreden": r"\bfout opgetreden\b",
    "произошла ошибка": r"\bпроизошла ошибка\b",
    "エラーが発生": r"エラーが発生",
    "发生错误": r"发生错误",
}
CHALLENGE_PHRASES = {
    "just a moment": r"^\W*just a moment\b",
    "attention required": r"^\W*attention required\b",
    "checking your browser": r"\bchecking your browser\b",
    "human": r"\bare you (a )?human\b|\b(verify|verifying|confirm) (that )?you are (a )?human\b",
    "robot": r"\bare you (a )?robot\b",
    "javascript": r"\benable javascript and cookies\b",
    "captcha": r"\bcaptcha\b",
    "access denied": r"^\W*access denied\b",
    "security check": r"^\W*security check\b",
    "pardon our": r"\bpardon our interruption\b",
    "unsuccessful": r"^\W*request unsuccessful\b",
    "you continue": r"^\W*before you continue\b",
    "sie fortfahren": r"^\W*bevor sie fortfahren\b",
    "de continuer": r"^\W*avant de continuer\b",
    "de continuar": r"^\W*antes de continuar\b",
}
LOGIN_PHRASES = {
    "sign": r"\bsign[ -]?in\b",
    "log": r"\blog[ -]?in\b|\binloggen\b|\blogga in\b",
    "subscribe to": r"\bsubscribe to continue\b",
    "members only": r"\bmembers only\b",
    "anmeld": r"\banmelden\b|\banmeldung\b",
    "se connecter": r"\bse connecter\b",
    "connexion": r"\bconnexion\b",
    "iniciar": r"\biniciar sesión\b",
    "accedi": r"\baccedi\b",
    "ログイン": r"ログイン",
    "登录": r"登录",
}
NOTICE_HINTS = re.compile(
    "|".join({**NOT_FOUND_PHRASES, **DOWNTIME_PHRASES, **ERROR_PHRASES, **CHALLENGE_PHRASES, **LOGIN_PHRASES})
)


def _join_patterns(*phrase_groups: dict[str, str], first: str = "") -> str:
    patterns = [pattern for phrases in phrase_groups for pattern in phrases.values()]
    return "|".join([first, *patterns] if first else patterns)


NOT_FOUND_PATTERN = _join_patterns(NOT_FOUND_PHRASES)
NOT_FOUND_TITLE_PATTERN = _join_patterns(NOT_FOUND_PHRASES, first=r"^\W*404\b")
OUTAGE_PATTERN = _join_patterns(DOWNTIME_PHRASES, ERROR_PHRASES, CHALLENGE_PHRASES)
LOGIN_PATTERN = _join_patterns(LOGIN_PHRASES)
PARKED_DOMAIN_PATTERN = (
    r"\bdomain (name )?(is|may be|could be) (for sale|parked|available for purchase)\b|\bbuy this domain\b"
    r"|\bthis domain (has expired|is parked)\b|\bparked (free|domain)\b|\bdomain parking\b"
    r"|\bhugedomains\b|\bsedo ?domain parking\b"
)
PHP_ERROR_PATTERN = r"^\s*(php )?(fatal|parse) error\s*:\s"
VISIBLE_ELEMENT_PATTERN = (
    rb"<(?:script|img|svg|picture|i?frame|object|embed|video|audio|canvas|input|meta[^>]{1,200}refresh)\b"
)
PASSWORD_FIELD = 'input[type="password" i]'
MAX_NOTICE_LENGTH = 4000  # characters


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
        if _matches(NOT_FOUND_TITLE_PATTERN, title) and _matches(NOT_FOUND_PATTERN, text)
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
    if (has_hint and _matches(NOT_FOUND_TITLE_PATTERN, title)) or "domain" in raw_text.lower():
        kind = classify_text(title, render_text(tree))
        if kind is not None:
            return kind
    is_notice = has_hint and (
        any(_matches(OUTAGE_PATTERN, heading) for heading in headings) or _is_login_page(tree, headings)
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
    return is_short and _matches(OUTAGE_PATTERN, text)


def _is_blank_page(tree: Document, raw_text: str, title: str, body: bytes) -> bool:
    """Return whether a page has no text except its title, and no element that could show or load content."""
    if len(raw_text.strip()) > len(title) or re.search(VISIBLE_ELEMENT_PATTERN, body, re.IGNORECASE):
        return False
    return not render_text(tree).strip()


def may_be_soft_error(headings: tuple[str, str], raw_text: str) -> bool:
    """Return whether a short page needs `detect_soft_error`; rejects nearly all pages."""
    return _has_notice_hint(headings) or "domain" in raw_text.lower()


def _has_notice_hint(headings: tuple[str, str]) -> bool:
    return NOTICE_HINTS.search("\n".join(headings).lower()) is not None


def _is_login_page(tree: Document, headings: tuple[str, str]) -> bool:
    return any(_matches(LOGIN_PATTERN, heading) for heading in headings) and tree.select_one(PASSWORD_FIELD) is not None


def is_short_text(text: str) -> bool:
    """Return whether a text is short enough to be only a notice."""
    return len(text) <= MAX_NOTICE_LENGTH and len(text.split(None, MAX_NOTICE_WORDS)) <= MAX_NOTICE_WORDS


def _matches(pattern: str, text: str) -> bool:
    return _compile_pattern(pattern).search(text) is not None


@cache
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
