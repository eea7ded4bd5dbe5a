"""Strip volatile text from lines: timestamps, relative times, counters, copyright years, tokens, build numbers.

Volatile text is removed from short lines before hashing; the rest of the line stays, such as a price next to a clock.
"""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from types import ModuleType

from sanderling.content.volatile import counters, ratings, relative_time
from sanderling.content.volatile._regex import compile_pattern, keep_groups
from sanderling.content.volatile.counters import strip_counters
from sanderling.content.volatile.ratings import strip_ratings
from sanderling.content.volatile.relative_time import END_OF_PHRASE, strip_relative_times

MAX_VOLATILE_LENGTH = 160  # characters; a time in a longer paragraph is content
MAX_TOKEN_LINE_LENGTH = 80
MAX_CACHED_LINES = 8_192  # a site repeats such lines on every page

READING_TIME = r"\b\d+(?:\s*[-–]\s*\d+)?[\s-]*min\w*\.?[\s-]+(?:to\s+)?"
READING_TIME += (
    rf"(?:read|reading|lesezeit|de lecture|de lectura|de leitura|di lettura)\b{END_OF_PHRASE}|(\b(?:reading time|"
)
READING_TIME += r"read time|lesezeit|temps de lecture|tiempo de lectura|tempo di lettura|tempo de leitura)\W{1,3})"
READING_TIME += rf"(?:ca\.?\s*|about\s*|~\s*)?\d+\s*min\w*\.?{END_OF_PHRASE}"
HELPFUL_VOTES = r"\b\d[\d.,]*\s+(?:out\s+)?of\s+\d[\d.,]*(?=\s+(?:people\s+|users\s+)?found\s+(?:this|it)\b)"
SECONDS = r"\d[\d.,]*\s*(?:ms\b|second\(s\)|secs?\b|seconds?\b|secondes?\b|sekunden?\b|s\b)"
GENERATION_TIME = rf"\b(?:(?:generated|rendered|served|loaded|executed|built|processed|displayed) in|took)\s+{SECONDS}"
GENERATION_TIME += (
    r"(?:,?\s+(?:(?:with|using|and)\s+)?\d+\s+(?:\w+\s+)?quer(?:y|ies)\b)?"  # in hours, it is not a response time
)
GENERATION_TIME += rf"|(\b(?:generated|rendered|served|built|processed)\s+(?:on|at|by)\b.{{1,60}}?\s)in\s+{SECONDS}"
GENERATION_TIME += r"|(\b(?:(?:load|loading|generation|rendering|execution|processing|query) time|ladezeit|"
GENERATION_TIME += rf"temps (?:de |d['’])(?:génération|chargement|exécution))\s*[:=]?\s*){SECONDS}"
GENERATION_TIME += r"|\b(?:elapsed|uptime):?\s+\d[\d.,]*\s*(?:ms|secs?|seconds?|minutes?|hours?|days?|s)\b"
GENERATION_TIME += r"|\bin\s+\d[\d.,]*\s*(?:ms|sekunden)(?=\s+(?:erstellt|generiert|geladen)\b)"
TIME_UNIT = r"(?:d|h|m|s|days?|hours?|hrs?|minutes?|mins?|seconds?|secs?|tage?n?|std|stunden?|minuten?|sekunden?|"
TIME_UNIT += r"jours?|heures?|días?|horas?|minutos?|giorni|ore|minuti|uur|dagen|дней|дня|часов|часа|минут)\b\.?"
COUNTDOWN_TIME = (
    rf"(?:\d+\s*{TIME_UNIT}(?:,?\s*(?:and\s+|und\s+|et\s+|y\s+|e\s+)?\d+\s*{TIME_UNIT})+|\d+:[0-5]\d:[0-5]\d)"
)
ENDING_PHRASES = (
    r"(?:ends?|ending|closes?|closing|starts?|starting|begins?|expires?|endet|beginnt|startet) in|termine dans|"
)
ENDING_PHRASES += (
    r"termina (?:en|em|tra|fra)|eindigt over|(?:order|bestellen sie) (?:within|in|innerhalb)(?: the next| von)?|noch"
)
TIME_LEFT_PHRASES = "time left|time remaining|remaining time|restzeit|temps restant|tiempo restante|tempo restante"
# "ends in 3 days" without smaller units may be a term, which is content.
COUNTDOWN = rf"(\b(?:{ENDING_PHRASES})\s*:?\s*){COUNTDOWN_TIME}"
COUNTDOWN += rf"|(\b(?:{TIME_LEFT_PHRASES})\s*:?\s*)(?:{COUNTDOWN_TIME}|\d+\s*{TIME_UNIT})"
ID_LABEL = r"(?:\s+(?:id|number|no\.?|key|code))?\s*[:#=]?\s+(?=\S*\d)"
LABELED_ID = rf"(\b(?:request|trace|ray|incident|session){ID_LABEL})(?!(?:19|20)\d\d[-/])[\w.\-]{{6,}}\s*$"
LABELED_ID += r"|(\b(?:request|trace|ray|session)\s+(?:id|key)\s*[:#=]?\s+(?=\S*\d))[\w.\-]+\s*$"
LABELED_ID += (
    rf"|(\bbuild{ID_LABEL})(?:20\d{{6}}[\w.\-]*|(?=[0-9]*[a-f])[0-9a-f]{{7,}})\s*$"  # a short number is a version
)
BUILD_PHRASES = r"(?:built|generated|deployed|rendered|compiled|published|source|site|page)\b.{0,40}?\b"
LABELED_ID += rf"|(^\W*(?:{BUILD_PHRASES})?(?:commit|revision)\s*[:#=@(]?\s*)(?=[0-9a-f]*\d)[0-9a-f]{{7,40}}\)?\W*$"
LABELED_ID += rf"|(\b(?:transaction|error|revision|reference){ID_LABEL})(?:[0-9a-f]{{7,}}|[\w.\-]{{12,}})\s*$"
ARITHMETIC = r"\d{1,2}\s*(?:[+×*]|\s[-−–x]\s|\b(?:plus|minus|times|fois|más|плюс|минус)\b)\s*\d{1,2}"
ARITHMETIC_CAPTCHA = rf"\b{ARITHMETIC}(?=\s*(?:=\s*\??|\?)\s*$)"
VISITOR_IP = r"(\b(?:your|ihre|deine|votre|tu|su|il tuo|seu|uw|ваш)\s+ip\b\D{0,16})\d{1,3}(?:\.\d{1,3}){3}\b"
YEARS = r"\b(?:19|20)\d\d(?:\s*[-–,/]\s*(?:19|20)?\d\d)*\b"
LAW_WORDS = "act|law|order|directive|regulation|rules|code|bill|treaty|statute"
COPYRIGHT_YEARS = rf"((?:©|\bcopyright\b(?!\s+(?:{LAW_WORDS})\b))[^.\d]{{0,40}}?){YEARS}|{YEARS}(?=\s*(?:©|\(c\)))"
COPYRIGHT_YEARS += rf"|(\(c\)\s*){YEARS}(?=\W*$|\W+(?-i:[A-Z])|\W+by\b)"  # not a clause (c) of a law

TOKEN = (
    r"\b(?=[\w-]*\d)(?:[0-9a-f]{12,}|[0-9a-f]{8}-[0-9a-f-]{13,}|(?<!\.)\d{12,}(?!\.)|(?=(?:[\w-]*\d){4})[\w-]{20,})\b"
)
CHECKSUM = r"\W*[0-9a-f]{40}(?:[0-9a-f]{24}|[0-9a-f]{56}|[0-9a-f]{88})?\W*"

READING_WORDS = ("read", "reading", "lesezeit", "lecture", "lectura", "lettura", "leitura")
GENERATION_WORDS = (
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
ARITHMETIC_WORDS = ("plus", "minus", "times", "fois", "más", "плюс", "минус")
ID_WORDS = (
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
COUNTDOWN_WORDS = (
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
VOLATILE_PATTERNS = tuple(
    (frozenset(words), pattern)
    for words, pattern in (
        (READING_WORDS, READING_TIME),
        (("found",), HELPFUL_VOTES),
        (GENERATION_WORDS, GENERATION_TIME),
        (ID_WORDS, LABELED_ID),
        (COUNTDOWN_WORDS, COUNTDOWN),
        (("copyright", "c"), COPYRIGHT_YEARS),
        (ARITHMETIC_WORDS, ARITHMETIC_CAPTCHA),
        (("ip",), VISITOR_IP),
    )
)  # a pattern needs one of its words; looking up words is much cheaper
TRIGGER_WORDS = frozenset(word for words, _ in VOLATILE_PATTERNS for word in words)
TOKEN_LABELS = frozenset(
    ("csrf", "token", "nonce", "session", "sid", "id", "uuid", "guid", "request", "trace", "ray", "key")
)
LONG_RUN = re.compile(r"[\w-]{12}")
WORD = re.compile(r"[^\W\d_]+")
NON_LETTERS_TO_SPACE = {code: " " for code in range(128) if not chr(code).isalpha()}
LETTERS_ONLY_TABLE = bytes(code if code == 10 or chr(code).isalpha() else 32 for code in range(128)) + b" " * 128
DIGITS_TO_ZERO_TABLE = bytes.maketrans(b"123456789", b"0" * 9)
ALPHANUMERIC_TABLE = bytes(119 if chr(code).isalnum() or code in b"_-" else code for code in range(128)) + bytes(128)
HEX_TABLE = bytes(120 if code in b"0123456789abcdef" else code for code in range(128)) + bytes(128)
ALPHANUMERIC_RUN, HEX_RUN = b"w" * 20, b"x" * 8  # each token contains one of these runs
ZEROED_ARITHMETIC = (b"0 + 0", b"0+0", b"0 - 0", b"0 x 0", b"0 * 0", b"0*0")
ZEROED_TRIGGERS = (b"0:00", b"0h00", b"0am", b"0pm", b"(c)", *ZEROED_ARITHMETIC, *ratings.ZEROED_TRIGGERS)
"""Each clock time, copyright claim, captcha, and rating contains one of these after digits are replaced by zeros."""
ASCII_REPLACEMENTS = {"\u00a0": " "} | dict.fromkeys(
    "\u2013\u2014\u2018\u2019\u201c\u201d\u2026\u2022\u2192\u00a7", ","
)  # typographic characters do not make a line non-ASCII
HEX_OR_NUMBER = re.compile(r"[0-9a-f]{8,}|\d{5,}", re.IGNORECASE)
BUILD_ID = re.compile(  # app.a1b2c3.js, /v123/app.js, /Xk3LmZ9QpR7sT1uV2wY4a/app.js
    r"[0-9a-fA-F]{8,}|\d{5,}|(?<=[._/-])(?=[0-9a-f]*\d)[0-9a-f]{6,7}(?=[./])|(?<=/)v?\d{3,}(?=/)"
    r"|(?<=/)(?=[\w-]*\d)(?=[\w-]*[A-Z])[\w-]{16,}(?=/)"
)


_volatile_cache: dict[str, bool] = {}  # line with a digit: whether it may have volatile text


def strip_volatile_text(line: str) -> str:
    """Return a line without volatile text. Expects a line with a digit. Cached."""
    return _strip_cached(line) if len(line) <= MAX_VOLATILE_LENGTH else line


def flag_volatile_lines(lines: Sequence[str]) -> list[bool]:
    """Return for each line with a digit whether it may have volatile text. Cached."""
    cached = {line: _volatile_cache.get(line) for line in lines if len(line) <= MAX_VOLATILE_LENGTH}
    uncached = [line for line, flag in cached.items() if flag is None]
    flags = dict(zip(uncached, _flag_uncached_lines(uncached), strict=True)) if uncached else {}
    if len(_volatile_cache) + len(flags) > MAX_CACHED_LINES:
        _volatile_cache.clear()
    _volatile_cache.update(flags)
    return [bool(flags.get(line, cached.get(line))) for line in lines]


def _flag_uncached_lines(lines: Sequence[str]) -> list[bool]:
    """Search triggers in many lines at once. A line with non-ASCII characters is always flagged."""
    text = "\n".join(lines)
    for char, replacement in () if text.isascii() else ASCII_REPLACEMENTS.items():
        text = text.replace(char, replacement)
    raw = text.lower().encode("utf-8", "replace")
    zeros = raw.translate(DIGITS_TO_ZERO_TABLE)
    triggers, trigger_words = [trigger for trigger in ZEROED_TRIGGERS if trigger in zeros], _build_trigger_words()
    rows = (
        text.split("\n"),
        raw.translate(LETTERS_ONLY_TABLE).decode().split("\n"),
        zeros.split(b"\n"),
        raw.translate(ALPHANUMERIC_TABLE).split(b"\n"),
        raw.translate(HEX_TABLE).split(b"\n"),
    )
    return [
        not line.isascii()
        or not trigger_words.isdisjoint(words.split())
        or (bool(triggers) and any(map(zeroed.__contains__, triggers)))
        or ((ALPHANUMERIC_RUN in runs or HEX_RUN in hexes) and _has_token(line))
        for line, words, zeroed, runs, hexes in zip(*rows, strict=True)
    ]


def _has_token(line: str) -> bool:
    if len(line) > MAX_TOKEN_LINE_LENGTH or _is_plain_word(line.split(None, 1)[0]):
        return False
    return compile_pattern(TOKEN).search(line) is not None


@cache
def _build_trigger_words() -> frozenset[str]:
    """Return the words required for volatile text in an ASCII line, unless `ZEROED_TRIGGERS` or a token matches."""
    timestamp_words: frozenset[str] = _load_timestamps().TRIGGER_WORDS
    return timestamp_words.union(
        TRIGGER_WORDS - {"c"}, relative_time.TRIGGER_WORDS, counters.TRIGGER_WORDS
    )  # "c" counts only as "(c)"


@cache
def _load_timestamps() -> ModuleType:
    from sanderling.content.volatile import timestamps  # compiles slow patterns; a first crawl needs none

    return timestamps


def _split_words(line: str) -> set[str]:
    lowercase = line.lower()
    return set(lowercase.translate(NON_LETTERS_TO_SPACE).split() if lowercase.isascii() else WORD.findall(lowercase))


@lru_cache(maxsize=MAX_CACHED_LINES)
def _strip_cached(line: str) -> str:
    words = _split_words(line)
    stripped = line
    if not TRIGGER_WORDS.isdisjoint(words):
        for triggers, pattern in VOLATILE_PATTERNS:
            stripped = stripped if triggers.isdisjoint(words) else compile_pattern(pattern).sub(keep_groups, stripped)
    if "©" in line:
        stripped = compile_pattern(COPYRIGHT_YEARS).sub(keep_groups, stripped)
    if line.endswith(("?", "=")):
        stripped = compile_pattern(ARITHMETIC_CAPTCHA).sub("", stripped)
    stripped = strip_ratings(stripped)
    stripped = strip_counters(_load_timestamps().strip_timestamps(strip_relative_times(stripped, words), words), words)
    return _strip_token(stripped) if len(line) <= MAX_TOKEN_LINE_LENGTH and LONG_RUN.search(stripped) else stripped


def clear_caches() -> None:
    _strip_cached.cache_clear()
    _volatile_cache.clear()


def _strip_token(line: str) -> str:
    """Return a line without its token. A token in a sentence and a file checksum are content."""
    if any(map(_is_plain_word, line.split())):
        return line
    rest = compile_pattern(TOKEN).sub("", line)
    is_only_token = rest != line and TOKEN_LABELS.issuperset(WORD.findall(rest.lower()))
    return rest if is_only_token and not compile_pattern(CHECKSUM).fullmatch(line) else line


def _is_plain_word(word: str) -> bool:
    return word.isalpha() and word.isascii() and word.lower() not in TOKEN_LABELS


def strip_build_id(reference: str) -> str:
    """Return the URL of an asset without query, fragment, build number, and content hash."""
    return BUILD_ID.sub("", reference.split("?", 1)[0].split("#", 1)[0])
