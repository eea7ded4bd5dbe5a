"""Pages that are answered with 200 and yet are not there: "not found" in so many words, parked domains, outages.

An outage is a notice in the place of a page: maintenance, a login, a question whether one is human or agrees. A page
may also be just that; only who knew it with other words can tell.
"""

import re
from enum import StrEnum

from sanderling.pages.parse import Document
from sanderling.pages.text import text

SHORT = 200  # words: a page that says "not found" and more than this says something else too
NOTICE = (
    r"\berror\W{0,3}404\b|\b404\W{0,5}(error|not found|page)\b"
    r"|\b(page|file|document|article|site)\b.{0,20}\b(not|cannot be|could not be) found\b"
    r"|\bnot found\b|\bno longer (exists|available)\b|\bdoes ?n.t exist\b|\bdoes not exist\b"
    r"|\bseite (wurde )?nicht gefunden\b|\bpage (introuvable|non trouvée)\b|\bpágina no encontrada\b"
)
MISSING = re.compile(NOTICE, re.IGNORECASE)
MISSING_TITLE = re.compile(rf"^\W*404\b|{NOTICE}", re.IGNORECASE)
PARKED = re.compile(
    r"\bdomain (name )?(is|may be|could be) (for sale|parked|available for purchase)\b|\bbuy this domain\b"
    r"|\bthis domain (has expired|is parked)\b|\bparked (free|domain)\b|\bdomain parking\b"
    r"|\bhugedomains\b|\bsedo ?domain parking\b",
    re.IGNORECASE,
)
DOWN = (
    r"\b(under|for|scheduled|site|system|server|planned) maintenance\b|\bmaintenance mode\b|\bsystem (is )?down\b"
    r"|\b(temporarily|currently) (unavailable|down|offline|out of service)\b|\bservice (is )?unavailable\b"
    r"|\bwe.?(ll| will) be (right )?back\b|\bwartungsarbeiten\b|\ben maintenance\b|\ben mantenimiento\b"
    r"|\bin manutenzione\b|\bem manutenção\b|メンテナンス中|维护中"
)
ASKED = (
    r"^\W*just a moment\b|^\W*attention required\b|\bchecking your browser\b|\bare you (a )?(human|robot)\b"
    r"|\b(verify|verifying|confirm) (that )?you are (a )?human\b|\benable javascript and cookies\b|\bcaptcha\b"
    r"|^\W*access denied\b|^\W*security check\b|\bpardon our interruption\b|^\W*request unsuccessful\b"
    r"|^\W*before you continue\b|^\W*bevor sie fortfahren\b|^\W*avant de continuer\b|^\W*antes de continuar\b"
)
LOGIN = (
    r"\b(sign|log)[ -]?in\b|\blogin\b|\bsubscribe to continue\b|\bmembers only\b|\banmelden\b|\banmeldung\b"
    r"|\bse connecter\b|\bconnexion\b|\biniciar sesión\b|\baccedi\b|\binloggen\b|\blogga in\b|ログイン|登录"
)
HIDING = re.compile(f"{DOWN}|{ASKED}", re.IGNORECASE)
ASKING_WHO = re.compile(LOGIN, re.IGNORECASE)
PASSWORD = 'input[type="password" i]'
LONGEST = 4000  # characters of so few words


class Pretence(StrEnum):
    """What a page only pretends."""

    SOFT_404 = "soft_404"
    PARKED = "parked"
    OUTAGE = "outage"


def pretence(title: str, words: str) -> Pretence | None:
    """Say what a page pretends; None for one that is what it seems. Only short pages are suspected."""
    if not is_short(words):
        return None
    if PARKED.search(title) or PARKED.search(words):
        return Pretence.PARKED
    return Pretence.SOFT_404 if MISSING_TITLE.search(title) and MISSING.search(words) else None


def pretended(tree: Document, letters: str) -> Pretence | None:
    """The same of a parsed page with these readable letters; nearly all pages are passed over at a glance."""
    if len(letters) > LONGEST:
        return None
    found, head = tree.find("title"), tree.find("h1")
    title = found.text if found is not None else ""
    if MISSING_TITLE.search(title) or "domain" in letters.lower():
        said = pretence(title, text(tree))
        if said is not None:
            return said
    heads = (title, head.text if head is not None else "")
    return Pretence.OUTAGE if any(map(HIDING.search, heads)) or _asks_who(tree, heads) else None


def _asks_who(tree: Document, heads: tuple[str, str]) -> bool:
    """Say whether a page is headed as a login and has a field for a password."""
    return any(map(ASKING_WHO.search, heads)) and tree.select_one(PASSWORD) is not None


def is_short(words: str) -> bool:
    """Are there so few words that a notice may be all there is?"""
    return len(words) <= LONGEST and len(words.split(None, SHORT)) <= SHORT
