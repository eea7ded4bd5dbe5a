"""Strip volatile text from lines: timestamps, relative times, counters, copyright years, tokens, build numbers.

Volatile text is removed from short lines before hashing; the rest of the line stays, such as a price next to a clock.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache

from sanderling.content.rule import Rule
from sanderling.content.volatile.counters import load_counter_triggers, strip_counters
from sanderling.content.volatile.ratings import load_zeroed_triggers, strip_ratings
from sanderling.content.volatile.relative_time import END_OF_PHRASE, load_relative_time_triggers, strip_relative_times
from sanderling.content.volatile.timestamps import load_timestamp_triggers, strip_timestamps
from sanderling.content.word_lists import compile_words, keep_groups, load_trigger_words

MAX_VOLATILE_LENGTH = 160  # characters; a time in a longer paragraph is content
MAX_TOKEN_LINE_LENGTH = 80
MAX_CACHED_LINES = 8_192  # a site repeats such lines on every page

READING_TIME = (
    rf"\b\d+(?:\s*[-–]\s*\d+)?[\s-]*min\w*\.?[\s-]+(?:to\s+)?(?:{{volatile.reading_time_after}})\b{END_OF_PHRASE}"
)
READING_TIME += r"|(\b(?:{volatile.reading_time_before})\W{1,3})"
READING_TIME += rf"(?:ca\.?\s*|about\s*|~\s*)?\d+\s*min\w*\.?{END_OF_PHRASE}"
HELPFUL_VOTES = r"\b\d[\d.,]*\s+(?:out\s+)?of\s+\d[\d.,]*(?=\s+(?:people\s+|users\s+)?found\s+(?:this|it)\b)"
SECONDS = r"\d[\d.,]*\s*(?:ms\b|second\(s\)|secs?\b|seconds?\b|secondes?\b|sekunden?\b|segundos?\b|secondi\b|"
SECONDS += r"sekund[ay]?\b|seconden\b|s\b)"
QUERY_COUNT = r"\d+\s+(?:\w+\s+)?quer(?:y|ies)\b"
GENERATED = "generated|rendered|served|built|processed|generiert|erstellt|générée?|generad[oa]|gerad[oa]|generat[oa]"
GENERATED += "|gegenereerd"
GENERATION_TIME = rf"\b(?:(?:generated|rendered|served|loaded|executed|built|processed|displayed) in|took)\s+{SECONDS}"
GENERATION_TIME += rf"(?:,?\s+(?:(?:with|using|and)\s+)?{QUERY_COUNT})?"  # in hours, it is not a response time
GENERATION_TIME += (
    rf"|(\b(?:{GENERATED})\s(?:(?:on|at|by|am|um|le|à|el|il|em|op)\b.{{1,60}}?\s)?)(?:in|en|em)\s+{SECONDS}"
)
GENERATION_TIME += rf"(?:,?\s+(?:(?:with|using|and)\s+)?{QUERY_COUNT})?|\b{QUERY_COUNT}\s+(?:in|took)\s+{SECONDS}"
GENERATION_TIME += r"|(\b(?:(?:load|loading|generation|rendering|execution|processing|query) time|ladezeit|"
GENERATION_TIME += rf"temps (?:de |d['’])(?:génération|chargement|exécution))\s*[:=]?\s*){SECONDS}"
GENERATION_TIME += r"|\b(?:elapsed|uptime):?\s+\d[\d.,]*\s*(?:ms|secs?|seconds?|minutes?|hours?|days?|s)\b"
GENERATION_TIME += r"|\bin\s+\d[\d.,]*\s*(?:ms|sekunden)(?=\s+(?:erstellt|generiert|geladen)\b)"
TIME_UNIT = r"(?:{volatile.countdown_unit})\b\.?"
COUNTDOWN_TIME = (
    rf"(?:\d+\s*{TIME_UNIT}(?:,?\s*(?:and\s+|und\s+|et\s+|y\s+|e\s+)?\d+\s*{TIME_UNIT})+|\d+:[0-5]\d:[0-5]\d)"
)
# "ends in 3 days" without smaller units may be a term, which is content.
COUNTDOWN = rf"(\b(?:{{volatile.countdown_start}})\s*:?\s*){COUNTDOWN_TIME}"
COUNTDOWN += rf"|(\b(?:{{volatile.time_left}})\s*:?\s*)(?:{COUNTDOWN_TIME}|\d+\s*{TIME_UNIT})"
ID_LABEL = r"(?:\s+(?:id|number|no\.?|key|code))?\s*[:#=]?\s+(?=\S*\d)"
LABELED_ID = rf"(\b(?:request|trace|ray|incident|session){ID_LABEL})(?!(?:19|20)\d\d[-/])[\w.\-]{{6,}}\s*$"
LABELED_ID += r"|(\b(?:request|trace|ray|session)\s+(?:id|key)\s*[:#=]?\s+(?=\S*\d))[\w.\-]+\s*$"
LABELED_ID += (
    rf"|(\bbuild{ID_LABEL})(?:20\d{{6}}[\w.\-]*|(?=[0-9]*[a-f])[0-9a-f]{{7,}})\s*$"  # a short number is a version
)
BUILD_PHRASES = r"(?:built|generated|deployed|rendered|compiled|published|source|site|page)\b.{0,40}?\b"
LABELED_ID += rf"|(^\W*(?:{BUILD_PHRASES})?(?:commit|revision)\s*[:#=@(]?\s*)(?=[0-9a-f]*\d)[0-9a-f]{{7,40}}\)?\W*$"
LABELED_ID += rf"|(\b(?:transaction|error|revision|reference){ID_LABEL})(?:[0-9a-f]{{7,}}|[\w.\-]{{12,}})\s*$"
ARITHMETIC = r"\d{1,2}\s*(?:[+×*]|\s[-−–x]\s|\b(?:{volatile.plus_or_minus})\b)\s*\d{1,2}"
ARITHMETIC_CAPTCHA = rf"\b{ARITHMETIC}(?=\s*(?:=\s*\??|\?)\s*$)"
VISITOR_IP = r"(\b(?:{volatile.your_ip})\s+ip\b\D{0,16})\d{1,3}(?:\.\d{1,3}){3}\b"
YEARS = r"\b(?:19|20)\d\d(?:\s*[-–,/]\s*(?:19|20)?\d\d)*\b"
LAW_WORDS = "act|law|order|directive|regulation|rules|code|bill|treaty|statute"
COPYRIGHT_YEARS = rf"((?:©|\bcopyright\b(?!\s+(?:{LAW_WORDS})\b))[^.\d]{{0,40}}?){YEARS}|{YEARS}(?=\s*(?:©|\(c\)))"
COPYRIGHT_YEARS += rf"|(\(c\)\s*){YEARS}(?=\W*$|\W+(?-i:[A-Z])|\W+by\b)"  # not a clause (c) of a law

TOKEN = (
    r"\b(?=[\w-]*\d)(?:[0-9a-f]{12,}|[0-9a-f]{8}-[0-9a-f-]{13,}|(?<!\.)\d{12,}(?!\.)|(?=(?:[\w-]*\d){4})[\w-]{20,})\b"
)
CHECKSUM = r"\W*[0-9a-f]{40}(?:[0-9a-f]{24}|[0-9a-f]{56}|[0-9a-f]{88})?\W*"

GENERATION_WORDS = frozenset(
    (
        "generated",
        "rendered",
        "served",
        "loaded",
        "executed",
        "built",
        "took",
        "elapsed",
        "uptime",
        *(
            "erstellt",
            "generiert",
            "geladen",
            "processed",
            "displayed",
            "time",
            "ladezeit",
            "temps",
            "query",
            "queries",
        ),
        *("généré", "générée", "generado", "generada", "gerado", "gerada", "generato", "generata", "gegenereerd"),
    )
)
ID_WORDS = frozenset(
    (
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
)
READING_GROUPS = ("volatile.reading_time_after", "volatile.reading_time_before")
COUNTDOWN_GROUPS = ("volatile.countdown_start", "volatile.time_left")
ARITHMETIC_GROUPS = ("volatile.plus_or_minus",)
VolatileStrip = Callable[[str, set[str]], str]
"""Returns a line without some volatile text, given the lowercase words of the original line."""
VolatileRule = Rule[VolatileStrip]


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
ZEROED_TRIGGERS = (b"0:00", b"0h00", b"0am", b"0pm", b"(c)", *ZEROED_ARITHMETIC)
"""Each clock time, copyright claim, and captcha contains one of these after digits are replaced by zeros."""
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
    triggers = [trigger for trigger in (*ZEROED_TRIGGERS, *load_zeroed_triggers()) if trigger in zeros]
    trigger_words = _build_trigger_words()
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
    return compile_words(TOKEN).search(line) is not None


@cache
def _build_trigger_words() -> frozenset[str]:
    """Return the words required for volatile text in an ASCII line, unless `ZEROED_TRIGGERS` or a token matches."""
    return load_timestamp_triggers().union(
        ("copyright", "found", "ip"),
        GENERATION_WORDS,
        ID_WORDS,
        load_trigger_words(*READING_GROUPS),
        load_trigger_words(*COUNTDOWN_GROUPS),
        load_trigger_words(*ARITHMETIC_GROUPS),
        load_relative_time_triggers(),
        load_counter_triggers(),
    )


def _split_words(line: str) -> set[str]:
    lowercase = line.lower()
    return set(lowercase.translate(NON_LETTERS_TO_SPACE).split() if lowercase.isascii() else WORD.findall(lowercase))


@lru_cache(maxsize=MAX_CACHED_LINES)
def _strip_cached(line: str) -> str:
    words = _split_words(line)
    for rule in VOLATILE_RULES:
        line = rule.apply(line, words)
    return line


def clear_caches() -> None:
    _strip_cached.cache_clear()
    _volatile_cache.clear()


def _strip_pattern(pattern: str, triggers: frozenset[str]) -> VolatileStrip:
    """Strip a pattern from lines with a trigger word."""
    return lambda line, words: line if triggers.isdisjoint(words) else compile_words(pattern).sub(keep_groups, line)


def _strip_word_pattern(pattern: str, groups: tuple[str, ...]) -> VolatileStrip:
    """Strip a pattern from lines with a word of some groups; looking up words is much cheaper than matching."""
    return lambda line, words: (
        line if load_trigger_words(*groups).isdisjoint(words) else compile_words(pattern).sub(keep_groups, line)
    )


def _strip_copyright_years(line: str, words: set[str]) -> str:
    has_claim = "©" in line or "copyright" in words or "c" in words
    return compile_words(COPYRIGHT_YEARS).sub(keep_groups, line) if has_claim else line


def _strip_arithmetic_captcha(line: str, words: set[str]) -> str:
    has_sum = line.endswith(("?", "=")) or not load_trigger_words(*ARITHMETIC_GROUPS).isdisjoint(words)
    return compile_words(ARITHMETIC_CAPTCHA).sub("", line) if has_sum else line


def _strip_token(line: str, _: set[str]) -> str:
    """Return a line without its token. A token in a sentence and a file checksum are content."""
    if len(line) > MAX_TOKEN_LINE_LENGTH or not LONG_RUN.search(line):
        return line
    if any(map(_is_plain_word, line.split())):
        return line
    rest = compile_words(TOKEN).sub("", line)
    is_only_token = rest != line and TOKEN_LABELS.issuperset(WORD.findall(rest.lower()))
    return rest if is_only_token and not compile_words(CHECKSUM).fullmatch(line) else line


def _is_plain_word(word: str) -> bool:
    return word.isalpha() and word.isascii() and word.lower() not in TOKEN_LABELS


def strip_build_id(reference: str) -> str:
    """Return the URL of an asset without query, fragment, build number, and content hash."""
    return BUILD_ID.sub("", reference.split("?", 1)[0].split("#", 1)[0])


VOLATILE_RULES: tuple[VolatileRule, ...] = (  # applied in this order
    Rule("reading_time", _strip_word_pattern(READING_TIME, READING_GROUPS)),
    Rule("helpful_votes", _strip_pattern(HELPFUL_VOTES, frozenset(("found",)))),
    Rule("generation_time", _strip_pattern(GENERATION_TIME, GENERATION_WORDS)),
    Rule("labeled_id", _strip_pattern(LABELED_ID, ID_WORDS)),
    Rule("countdown", _strip_word_pattern(COUNTDOWN, COUNTDOWN_GROUPS)),
    Rule("copyright_years", _strip_copyright_years),
    Rule("visitor_ip", _strip_pattern(VISITOR_IP, frozenset(("ip",)))),
    Rule("arithmetic_captcha", _strip_arithmetic_captcha),
    Rule("ratings", strip_ratings),
    Rule("relative_time", strip_relative_times),
    Rule("timestamps", strip_timestamps),
    Rule("counters", strip_counters),
    Rule("token", _strip_token),
)
