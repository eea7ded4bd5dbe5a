"""What changes by itself on a page: times of day, counters, copyright years, tokens, build numbers, cache busters.

A short line with such a stamp is reduced to its words before it is hashed, so that the stamp may change unnoticed. A
date alone is left as it is: an author's "last updated" says something.
"""

import re
from functools import lru_cache

MAX_STAMPED = 160  # characters of a line that may be a stamp; a long paragraph with a time in it is content
MAX_COUNTED = 60  # the same for counters
MAX_LABELLED = 80  # the same for tokens
TOKEN_REST = 0.4  # share of a line that may be left when its token is taken out

CLOCK = r"(?<![\d.])\d{1,2}[:.h]\d{2}(?::\d{2})?(?:\.\d+)?\s*(?:[ap]\.?m\b|uhr\b|utc|gmt|h\b|z\b|[cpem][ds]t\b)"
COLON = r"(?<![\d:./])\d{1,2}:\d\d(?::\d\d)?(?![\d:/])"
AGO = r"\b(?:\d+|an?|one|few|a few)\s*(?:s|sec|min|h|hr|d|second|minute|hour|day|week|month|year)s?\.?\s+ago\b"
GONE = (
    r"\b(?:il y a|vor|hace|há)\s+\d+\s+\w+|\b\d+\s+\w+\.?\s+(?:fa|geleden|sedan|siden|temu|sitten|назад|önce|atrás)\b"
)
GONE += r"|\d+\s*(?:秒|分|分钟|時間|小时|日|天)前"
DAYS = (
    *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    *("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag"),
    *("lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"),
    *("lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"),
    *("lunedì", "martedì", "mercoledì", "giovedì", "venerdì", "sabato", "domenica"),
    *("maandag", "dinsdag", "woensdag", "donderdag", "vrijdag", "zaterdag", "zondag"),
)
TODAY = rf"\b(?:{'|'.join(DAYS)}),?\s+(?:den\s+|de\s+)?(?:\d{{1,2}}|[a-z]{{3,9}}\.?\s+\d{{1,2}})"
HELPFUL = r"\b\d[\d.,]*\s+(?:out\s+)?of\s+\d[\d.,]*\s+(?:people\s+|users\s+)?found\s+(?:this|it)\b"
MADE = r"\b(?:generated|rendered|printed|retrieved|accessed|served|built|cached|took|elapsed|uptime|today is)\b"
MADE += r"(?:\s+(?:on|at|in|by|the|date|time))*\s*[:#=]?\s*\S{0,12}\d"
NAMED = r"\b(?:request|trace|ray|incident|session|transaction|error|build|revision|reference)"
NAMED += r"(?:\s+(?:id|number|no\.?|key|code))?\s*[:#=]?\s+(?=\S*\d)[\w.\-]+\s*$"
YEARS = r"(?:©|\(c\)|copyright)[^.]{0,40}?\b(?:19|20)\d\d\b"
TOKEN = (
    r"\b(?=[\w-]*\d)(?:[0-9a-f]{12,}|[0-9a-f]{8}-[0-9a-f-]{13,}|(?<!\.)\d{12,}(?!\.)|(?=(?:[\w-]*\d){4})[\w-]{20,})\b"
)
COUNTED = (
    *("view", "views", "visit", "visits", "visitor", "visitors", "hit", "hits", "comment", "comments", "replies"),
    *(
        "like",
        "likes",
        "share",
        "shares",
        "follower",
        "followers",
        "subscriber",
        "subscribers",
        "download",
        "downloads",
    ),
    *("read", "reads", "readers", "vote", "votes", "upvote", "upvotes", "online", "guest", "guests", "reaction"),
    *("reactions", "unread", "notification", "notifications", "retweets", "watching", "stars", "forks", "karma"),
    *("rating", "ratings", "review", "reviews", "aufrufe", "kommentare", "commentaires", "vues"),
)
COUNTER = rf"\b\d[\d.,\s]*[kmb]?\+?\s*(?:{'|'.join(COUNTED)})\b|\b(?:{'|'.join(COUNTED)}|viewed|visited)\s*[:(]?\s*\d"

TIME = re.compile(rf"{CLOCK}|{COLON}")
PAIR = re.compile(r"\d[:.h]\d\d")  # is part of every time of day, and found at once
SECRET = re.compile(TOKEN)
COUNT = re.compile(COUNTER)
MONTHS = (
    *(
        "jan",
        "feb",
        "mar",
        "apr",
        "may",
        "jun",
        "jul",
        "aug",
        "sep",
        "sept",
        "oct",
        "nov",
        "dec",
        "january",
        "february",
    ),
    *("march", "april", "june", "july", "august", "september", "october", "november", "december"),
    *("januar", "februar", "märz", "mai", "juni", "juli", "oktober", "dezember"),
    *("janvier", "février", "mars", "avril", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre"),
    *("enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre"),
    *("diciembre", "gennaio", "febbraio", "aprile", "maggio", "giugno", "luglio", "settembre", "ottobre", "dicembre"),
    *("januari", "februari", "maart", "mei", "augustus"),
)
UNITS = (
    *("seconds?", "minutes?", "hours?", "days?", "weeks?", "months?", "years?", "secs?", "mins?", "hrs?"),
    *("sekunden?", "minuten?", "stunden?", "tag(?:en?)?", "wochen?", "monat(?:en?)?", "jahr(?:en?)?"),
    *("secondes?", "heures?", "jours?", "semaines?", "mois", "ans?", "segundos?", "minutos?", "horas?", "días?"),
    *("semanas?", "mes(?:es)?", "años?", "second[oi]", "minut[oi]", "or[ae]", "giorn[oi]", "settiman[ae]", "mes[ei]"),
    *("uur", "dag(?:en)?", "weken?", "week", "maand(?:en)?", "jaar"),
)
DATE_WORDS = re.compile(
    rf"\b(?:{'|'.join((*MONTHS, *DAYS, *UNITS))}|mon|tue|tues|wed|thu|thur|thurs|fri|sat|sun|am|pm|a\.m|p\.m|utc|gmt|"
    r"[cpem][ds]t|st|nd|rd|th|an?|one|few)\b",
    re.IGNORECASE,
)
NUMBERS = re.compile(r"\S*\d\S*")

LONG = re.compile(r"[\w-]{12}")
STAMPS = tuple(
    (frozenset(clues), re.compile(pattern))
    for clues, pattern in (
        (("ago",), AGO),
        (
            ("il", "vor", "hace", "há", "fa", "geleden", "sedan", "siden", "temu", "sitten", "назад", "önce", "atrás"),
            GONE,
        ),
        (DAYS, TODAY),
        (("generated", "rendered", "printed", "retrieved", "accessed", "served", "built", "cached"), MADE),
        (("took", "elapsed", "uptime", "today"), MADE),
        (("request", "trace", "ray", "incident", "session", "transaction", "error", "build", "revision"), NAMED),
        (("reference",), NAMED),
        (("found",), HELPFUL),
    )
)  # each pattern with words one of which it needs: looking for the words is much cheaper
SAID = frozenset(("am", "pm", "m", "uhr", "utc", "gmt"))  # after a time of day
CLUES = frozenset((*SAID, *(clue for clues, _ in STAMPS for clue in clues)))
LATER = re.compile(GONE)
YEAR = re.compile(YEARS)
COUNT_CLUES = frozenset((*COUNTED, "viewed", "visited"))
WORD = re.compile(r"[^\W\d]+")
HEX = re.compile(r"[0-9a-f]{8,}|\d{5,}", re.IGNORECASE)


def reduce(line: str) -> str:
    """Take the stamp out of a line with a digit; a line without a stamp stays as it is."""
    return _reduced(line) if len(line) <= MAX_STAMPED else line


@lru_cache(maxsize=8_192)  # a site repeats its stamps on every page
def _reduced(line: str) -> str:
    small = line.lower()
    words = set(WORD.findall(small))
    if _is_stamp(small, words):
        return DATE_WORDS.sub("", NUMBERS.sub("", line))
    if len(line) <= MAX_COUNTED and not COUNT_CLUES.isdisjoint(words) and COUNT.search(small):
        return NUMBERS.sub("", line)
    return _without_token(line) if len(line) <= MAX_LABELLED and LONG.search(line) else line


def _is_stamp(small: str, words: set[str]) -> bool:
    """Say whether a line in small letters has a time, or a number that changes by itself."""
    clued, claimed = not CLUES.isdisjoint(words), "\u00a9" in small or "(c)" in small or "copyright" in small
    timed = clued or claimed or ":" in small or not COUNT_CLUES.isdisjoint(words)
    if timed and PAIR.search(small) and TIME.search(small):
        return True
    if claimed and YEAR.search(small):
        return True
    if clued and any(not clues.isdisjoint(words) and pattern.search(small) for clues, pattern in STAMPS):
        return True
    return "前" in small and LATER.search(small) is not None


def _without_token(line: str) -> str:
    """Take out a token that is most of its line; one inside a sentence is content."""
    rest = SECRET.sub("", line)
    return rest if len(rest) < TOKEN_REST * len(line) else line


def steady(reference: str) -> str:
    """Spell the reference of a script, image or style without query, fragment, build number or digest in its name."""
    return HEX.sub("", reference.split("?", 1)[0].split("#", 1)[0])
