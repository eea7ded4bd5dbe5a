"""What changes by itself on a page: clocks, "3 hours ago", counters, copyright years, tokens, build numbers.

A stamp is taken out of a short line before it is hashed, so that it may change unnoticed; all else of the line stays: a
price beside a clock is content.
"""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from types import ModuleType

from sanderling.content.volatile import counters, ratings, relative_time
from sanderling.content.volatile._regex import kept, made
from sanderling.content.volatile.counters import without_counters
from sanderling.content.volatile.ratings import without_ratings
from sanderling.content.volatile.relative_time import ALONE, without_ages

MAX_STAMPED = 160  # characters of a line that may have a stamp; a long paragraph with a time in it is content
MAX_LABELLED = 80  # the same for tokens
MAX_KNOWN = 8_192  # lines remembered; a site repeats its stamps on every page

READING = r"\b\d+(?:\s*[-–]\s*\d+)?[\s-]*min\w*\.?[\s-]+(?:to\s+)?"
READING += rf"(?:read|reading|lesezeit|de lecture|de lectura|de leitura|di lettura)\b{ALONE}|(\b(?:reading time|"
READING += r"read time|lesezeit|temps de lecture|tiempo de lectura|tempo di lettura|tempo de leitura)\W{1,3})"
READING += rf"(?:ca\.?\s*|about\s*|~\s*)?\d+\s*min\w*\.?{ALONE}"
HELPFUL = r"\b\d[\d.,]*\s+(?:out\s+)?of\s+\d[\d.,]*(?=\s+(?:people\s+|users\s+)?found\s+(?:this|it)\b)"
SECONDS = r"\d[\d.,]*\s*(?:ms\b|second\(s\)|secs?\b|seconds?\b|secondes?\b|sekunden?\b|s\b)"
SPENT = rf"\b(?:(?:generated|rendered|served|loaded|executed|built|processed|displayed) in|took)\s+{SECONDS}"
SPENT += (
    r"(?:,?\s+(?:(?:with|using|and)\s+)?\d+\s+(?:\w+\s+)?quer(?:y|ies)\b)?"  # what takes hours is no machine's work
)
SPENT += rf"|(\b(?:generated|rendered|served|built|processed)\s+(?:on|at|by)\b.{{1,60}}?\s)in\s+{SECONDS}"
SPENT += r"|(\b(?:(?:load|loading|generation|rendering|execution|processing|query) time|ladezeit|"
SPENT += rf"temps (?:de |d['’])(?:génération|chargement|exécution))\s*[:=]?\s*){SECONDS}"
SPENT += r"|\b(?:elapsed|uptime):?\s+\d[\d.,]*\s*(?:ms|secs?|seconds?|minutes?|hours?|days?|s)\b"
SPENT += r"|\bin\s+\d[\d.,]*\s*(?:ms|sekunden)(?=\s+(?:erstellt|generiert|geladen)\b)"
UNIT = r"(?:d|h|m|s|days?|hours?|hrs?|minutes?|mins?|seconds?|secs?|tage?n?|std|stunden?|minuten?|sekunden?|"
UNIT += r"jours?|heures?|días?|horas?|minutos?|giorni|ore|minuti|uur|dagen|дней|дня|часов|часа|минут)\b\.?"
TICKING = rf"(?:\d+\s*{UNIT}(?:,?\s*(?:and\s+|und\s+|et\s+|y\s+|e\s+)?\d+\s*{UNIT})+|\d+:[0-5]\d:[0-5]\d)"
ENDING = r"(?:ends?|ending|closes?|closing|starts?|starting|begins?|expires?|endet|beginnt|startet) in|termine dans|"
ENDING += (
    r"termina (?:en|em|tra|fra)|eindigt over|(?:order|bestellen sie) (?:within|in|innerhalb)(?: the next| von)?|noch"
)
LEFT = "time left|time remaining|remaining time|restzeit|temps restant|tiempo restante|tempo restante"
COUNTDOWN = (
    rf"(\b(?:{ENDING})\s*:?\s*){TICKING}|(\b(?:{LEFT})\s*:?\s*)(?:{TICKING}|\d+\s*{UNIT})"  # a term does not tick
)
NAME = r"(?:\s+(?:id|number|no\.?|key|code))?\s*[:#=]?\s+(?=\S*\d)"
NUMBERED = rf"(\b(?:request|trace|ray|incident|session){NAME})(?!(?:19|20)\d\d[-/])[\w.\-]{{6,}}\s*$"
NUMBERED += r"|(\b(?:request|trace|ray|session)\s+(?:id|key)\s*[:#=]?\s+(?=\S*\d))[\w.\-]+\s*$"
NUMBERED += rf"|(\bbuild{NAME})(?:20\d{{6}}[\w.\-]*|(?=[0-9]*[a-f])[0-9a-f]{{7,}})\s*$"  # a short one is a version
MADE_FROM = r"(?:built|generated|deployed|rendered|compiled|published|source|site|page)\b.{0,40}?\b"
NUMBERED += rf"|(^\W*(?:{MADE_FROM})?(?:commit|revision)\s*[:#=@(]?\s*)(?=[0-9a-f]*\d)[0-9a-f]{{7,40}}\)?\W*$"
NUMBERED += rf"|(\b(?:transaction|error|revision|reference){NAME})(?:[0-9a-f]{{7,}}|[\w.\-]{{12,}})\s*$"
SUMS = r"\d{1,2}\s*(?:[+×*]|\s[-−–x]\s|\b(?:plus|minus|times|fois|más|плюс|минус)\b)\s*\d{1,2}"
ASKED = rf"\b{SUMS}(?=\s*(?:=\s*\??|\?)\s*$)"  # a question that tells people from machines
ADDRESS = r"(\b(?:your|ihre|deine|votre|tu|su|il tuo|seu|uw|ваш)\s+ip\b\D{0,16})\d{1,3}(?:\.\d{1,3}){3}\b"
YEARS = r"\b(?:19|20)\d\d(?:\s*[-–,/]\s*(?:19|20)?\d\d)*\b"
LAWS = "act|law|order|directive|regulation|rules|code|bill|treaty|statute"
CLAIMED = rf"((?:©|\bcopyright\b(?!\s+(?:{LAWS})\b))[^.\d]{{0,40}}?){YEARS}|{YEARS}(?=\s*(?:©|\(c\)))"
CLAIMED += rf"|(\(c\)\s*){YEARS}(?=\W*$|\W+(?-i:[A-Z])|\W+by\b)"  # a clause (c) of a law is another thing

TOKEN = (
    r"\b(?=[\w-]*\d)(?:[0-9a-f]{12,}|[0-9a-f]{8}-[0-9a-f-]{13,}|(?<!\.)\d{12,}(?!\.)|(?=(?:[\w-]*\d){4})[\w-]{20,})\b"
)
SUM = r"\W*[0-9a-f]{40}(?:[0-9a-f]{24}|[0-9a-f]{56}|[0-9a-f]{88})?\W*"

READ = ("read", "reading", "lesezeit", "lecture", "lectura", "lettura", "leitura")
SPENDING = (
    "generated",
    "rendered",
    "served",
    "loaded",
    "executed",
    "built",
    "took",
    "elapsed",
    "uptime",
    *("erstellt", "generiert", "geladen", "processed", "displayed", "time", "ladezeit", "temps"),
)
ADDED = ("plus", "minus", "times", "fois", "más", "плюс", "минус")
ISSUED = (
    "request",
    "trace",
    "ray",
    "incident",
    "session",
    "build",
    "transaction",
    "error",
    "revision",
    "reference",
    "commit",
)
REMAINING = (
    *(
        "end",
        "ends",
        "ending",
        "close",
        "closes",
        "closing",
        "start",
        "starts",
        "starting",
        "begin",
        "begins",
        "expire",
    ),
    *("expires", "endet", "beginnt", "startet", "termine", "termina", "eindigt", "within", "noch", "left", "remaining"),
    *("restzeit", "restant", "restante", "order", "bestellen"),
)
STAMPS = tuple(
    (frozenset(clues), pattern)
    for clues, pattern in (
        (READ, READING),
        (("found",), HELPFUL),
        (SPENDING, SPENT),
        (ISSUED, NUMBERED),
        (REMAINING, COUNTDOWN),
        (("copyright", "c"), CLAIMED),
        (ADDED, ASKED),
        (("ip",), ADDRESS),
    )
)  # each pattern with words one of which it needs: looking for the words is much cheaper
CLUES = frozenset(clue for clues, _ in STAMPS for clue in clues)
SECRETS = frozenset(
    ("csrf", "token", "nonce", "session", "sid", "id", "uuid", "guid", "request", "trace", "ray", "key")
)
LONG = re.compile(r"[\w-]{12}")
WORD = re.compile(r"[^\W\d_]+")
NO_WORDS = {code: " " for code in range(128) if not chr(code).isalpha()}  # of ASCII
SPOKEN = bytes(code if code == 10 or chr(code).isalpha() else 32 for code in range(128)) + b" " * 128  # small letters
ZEROS = bytes.maketrans(b"123456789", b"0" * 9)
RUNS = bytes(119 if chr(code).isalnum() or code in b"_-" else code for code in range(128)) + bytes(128)
HEXES = bytes(120 if code in b"0123456789abcdef" else code for code in range(128)) + bytes(128)
RUN, HEX_RUN = b"w" * 20, b"x" * 8  # of letters and digits: one of them is in each token
ASKING = (b"0 + 0", b"0+0", b"0 - 0", b"0 x 0", b"0 * 0", b"0*0")
SIGNS = (b"0:00", b"0h00", b"0am", b"0pm", b"(c)", *ASKING, *ratings.SIGNS)
"""One of them is in each time of day, claim, question or rating."""
PLAIN = {"\u00a0": " "} | dict.fromkeys(
    "\u2013\u2014\u2018\u2019\u201c\u201d\u2026\u2022\u2192\u00a7", ","
)  # no letters
HEX = re.compile(r"[0-9a-f]{8,}|\d{5,}", re.IGNORECASE)
BUILD = re.compile(  # app.a1b2c3.js, /v123/app.js, /Xk3LmZ9QpR7sT1uV2wY4a/app.js
    r"[0-9a-fA-F]{8,}|\d{5,}|(?<=[._/-])(?=[0-9a-f]*\d)[0-9a-f]{6,7}(?=[./])|(?<=/)v?\d{3,}(?=/)"
    r"|(?<=/)(?=[\w-]*\d)(?=[\w-]*[A-Z])[\w-]{16,}(?=/)"
)


_known: dict[str, bool] = {}  # lines with a digit, and whether they may have a stamp


def reduce(line: str) -> str:
    """Take the stamps out of a line with a digit; a line without a stamp stays as it is."""
    return _reduced(line) if len(line) <= MAX_STAMPED else line


def stamped(lines: Sequence[str]) -> list[bool]:
    """Say of lines with a digit which may have a stamp: of most it is seen at once that they have none."""
    told = {line: _known.get(line) for line in lines if len(line) <= MAX_STAMPED}
    fresh = [line for line, known in told.items() if known is None]
    found = dict(zip(fresh, _stamped(fresh), strict=True)) if fresh else {}
    if len(_known) + len(found) > MAX_KNOWN:
        _known.clear()
    _known.update(found)
    return [bool(found.get(line, told.get(line))) for line in lines]


def _stamped(lines: Sequence[str]) -> list[bool]:
    """Look for what stamps are known by in many lines at once; one with letters beyond ASCII is looked at later."""
    whole = "\n".join(lines)
    for mark, plain in () if whole.isascii() else PLAIN.items():
        whole = whole.replace(mark, plain)
    raw = whole.lower().encode("utf-8", "replace")
    zeros = raw.translate(ZEROS)
    signs, clues = [sign for sign in SIGNS if sign in zeros], _clues()
    rows = (
        whole.split("\n"),
        raw.translate(SPOKEN).decode().split("\n"),
        zeros.split(b"\n"),
        raw.translate(RUNS).split(b"\n"),
        raw.translate(HEXES).split(b"\n"),
    )
    return [
        not line.isascii()
        or not clues.isdisjoint(words.split())
        or (bool(signs) and any(map(numbers.__contains__, signs)))
        or ((RUN in runs or HEX_RUN in hexes) and _has_token(line))
        for line, words, numbers, runs, hexes in zip(*rows, strict=True)
    ]


def _has_token(line: str) -> bool:
    """Say whether a token stands in a line that does not begin with a word."""
    if len(line) > MAX_LABELLED or _is_plain(line.split(None, 1)[0]):
        return False
    return made(TOKEN).search(line) is not None


@cache
def _clues() -> frozenset[str]:
    """The words without one of which a plain line has at most a time, a claim or a token that changes by itself."""
    hints: frozenset[str] = _moments().HINTS
    return hints.union(CLUES - {"c"}, relative_time.CLUES, counters.CLUES)  # "c" says it in brackets alone


@cache
def _moments() -> ModuleType:
    from sanderling.content.volatile import timestamps  # its patterns take long to make, and a first crawl asks none

    return timestamps


def _words(line: str) -> set[str]:
    """The words of a line, small; without an expression where all its letters are English ones."""
    small = line.lower()
    return set(small.translate(NO_WORDS).split() if small.isascii() else WORD.findall(small))


@lru_cache(maxsize=MAX_KNOWN)
def _reduced(line: str) -> str:
    words = _words(line)
    left = line
    if not CLUES.isdisjoint(words):
        for clues, pattern in STAMPS:
            left = left if clues.isdisjoint(words) else made(pattern).sub(kept, left)
    if "©" in line:
        left = made(CLAIMED).sub(kept, left)
    if line.endswith(("?", "=")):
        left = made(ASKED).sub("", left)
    left = without_ratings(left)
    left = without_counters(_moments().without_moments(without_ages(left, words), words), words)
    return _without_token(left) if len(line) <= MAX_LABELLED and LONG.search(left) else left


def forget() -> None:
    """Forget the lines that were read."""
    _reduced.cache_clear()
    _known.clear()


def _without_token(line: str) -> str:
    """Take out a token that has its line for itself; one inside a sentence, and the checksum of a file, is content."""
    if any(map(_is_plain, line.split())):
        return line
    rest = made(TOKEN).sub("", line)
    mine = rest != line and SECRETS.issuperset(WORD.findall(rest.lower()))
    return rest if mine and not made(SUM).fullmatch(line) else line


def _is_plain(word: str) -> bool:
    """Say whether a word of a line is sure to be no token, nor the name of one."""
    return word.isalpha() and word.isascii() and word.lower() not in SECRETS


def steady(reference: str) -> str:
    """Spell the reference of a script, image or style without query, fragment, build number or digest in its name."""
    return BUILD.sub("", reference.split("?", 1)[0].split("#", 1)[0])
