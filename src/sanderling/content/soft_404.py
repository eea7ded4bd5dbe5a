"""Pages that are answered with 200 and yet are not there: "not found" in so many words, parked domains, outages.

An outage is a notice in the place of a page: maintenance, an error, a login, a question whether one is human or agrees;
or nothing at all. A page may also be just that; only who knew it with other words can tell.
"""

import re
from enum import StrEnum
from functools import cache

from sanderling.html.parser import Document
from sanderling.html.text import text

SHORT = 200  # words: a page that says "not found" and more than this says something else too
# Each kind of notice by the words that must be in a text for it to be one: nearly all pages have none of them.
MISSING_PAGE = {
    "404": r"\berror\W{0,3}404\b|\b404\W{0,5}(error|not found|page)\b",
    "found": r"\b(page|file|document|article|site)\b.{0,20}\b(not|cannot be|could not be) found\b|\bnot found\b",
    "no longer": r"\bno longer (exists|available)\b",
    "exist": r"\bdoes ?n.t exist\b|\bdoes not exist\b",
    "nicht gefunden": r"\bseite (wurde )?nicht gefunden\b",
    "page introuvable": r"\bpage introuvable\b",
    "non trouvée": r"\bpage non trouvée\b",
    "no encontrada": r"\bpágina no encontrada\b",
}
DOWN = {
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
BROKEN = {
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
ASKED = {
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
LOGIN = {
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
SIGNS = re.compile("|".join({**MISSING_PAGE, **DOWN, **BROKEN, **ASKED, **LOGIN}))


def _any_of(*notices: dict[str, str], first: str = "") -> str:
    every = [pattern for kinds in notices for pattern in kinds.values()]
    return "|".join([first, *every] if first else every)


MISSING = _any_of(MISSING_PAGE)
MISSING_TITLE = _any_of(MISSING_PAGE, first=r"^\W*404\b")
HIDING = _any_of(DOWN, BROKEN, ASKED)
ASKING_WHO = _any_of(LOGIN)
PARKED = (
    r"\bdomain (name )?(is|may be|could be) (for sale|parked|available for purchase)\b|\bbuy this domain\b"
    r"|\bthis domain (has expired|is parked)\b|\bparked (free|domain)\b|\bdomain parking\b"
    r"|\bhugedomains\b|\bsedo ?domain parking\b"
)
FATAL = r"^\s*(php )?(fatal|parse) error\s*:\s"  # all that is left of a page of PHP
SHOWN = rb"<(?:script|img|svg|picture|i?frame|object|embed|video|audio|canvas|input|meta[^>]{1,200}refresh)\b"
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
    if _says(PARKED, title) or _says(PARKED, words):
        return Pretence.PARKED
    return Pretence.SOFT_404 if _says(MISSING_TITLE, title) and _says(MISSING, words) else None


def pretended(tree: Document, letters: str, body: bytes | None = None) -> Pretence | None:
    """The same of a parsed page with these readable letters; nearly all pages are passed over at a glance.

    `body`: what was sent, if it was something else before; letters cost the tree its scripts.
    """
    if len(letters) > LONGEST:
        return None
    found, head = tree.find("title"), tree.find("h1")
    title = found.text if found is not None else ""
    heads = (title, head.text if head is not None else "")
    hinted = _hints(heads)
    if (hinted and _says(MISSING_TITLE, title)) or "domain" in letters.lower():
        said = pretence(title, text(tree))
        if said is not None:
            return said
    is_notice = hinted and (any(_says(HIDING, head) for head in heads) or _asks_who(tree, heads))
    is_nothing = body is not None and (_is_blank(tree, letters, heads[0], body) or _says(FATAL, letters))
    return Pretence.OUTAGE if is_notice or is_nothing else None


def _is_blank(tree: Document, letters: str, title: str, body: bytes) -> bool:
    """Say whether nothing is there but a title: no words, and nothing that could show or fetch some."""
    if len(letters.strip()) > len(title) or re.search(SHOWN, body, re.IGNORECASE):
        return False
    return not text(tree).strip()


def may_pretend(heads: tuple[str, str], letters: str) -> bool:
    """Say whether a short page with this title and heading has to be looked at; nearly none has."""
    return _hints(heads) or "domain" in letters.lower()


def _hints(heads: tuple[str, str]) -> bool:
    return SIGNS.search("\n".join(heads).lower()) is not None


def _asks_who(tree: Document, heads: tuple[str, str]) -> bool:
    """Say whether a page is headed as a login and has a field for a password."""
    return any(_says(ASKING_WHO, head) for head in heads) and tree.select_one(PASSWORD) is not None


def is_short(words: str) -> bool:
    """Are there so few words that a notice may be all there is?"""
    return len(words) <= LONGEST and len(words.split(None, SHORT)) <= SHORT


def _says(notices: str, words: str) -> bool:
    return _made(notices).search(words) is not None


@cache
def _made(pattern: str) -> re.Pattern[str]:
    """Make a pattern when it is first asked for: most crawls need one or none of them."""
    return re.compile(pattern, re.IGNORECASE)
