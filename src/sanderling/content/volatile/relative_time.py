"""Strip relative times from lines: "3 hours ago", "vor einer Stunde", "3 часа назад", "3時間前".

In many languages the same words also mean "three days before". There they must be alone on the line, or separated from
the rest of it.
"""

import re
from collections.abc import Sequence
from functools import cache
from itertools import compress, count

from sanderling.content.word_lists import compile_words, find_longest_word, keep_groups, load_trigger_words, load_words

# Patterns with the words of all languages in place of `{table.group}`.
UNIT, VERB = "(?:{volatile.time_unit})", "(?:{volatile.update_verb})"
SEPARATORS = r"|·•∙()\[\]/–—،"
END_OF_PHRASE = rf"(?=\s*$|\s*[{SEPARATORS}]|\s+-\s|\s+by\b)"  # not inside or at the end of a sentence
START_OF_PHRASE = rf"(?:^|(?<=[{SEPARATORS}:])\s?)"
NOT_A_LIMIT = "(?<!than )(?<!least )(?<!most )(?<!within )(?<!over )(?<!up to )"
AMOUNT = r"(?:\b|(?<=[a-z]))\d+\+?|\b(?:an?|one|few|a few)"  # may directly follow a name: "Ann3 days ago"
AMOUNT_AGO = rf"{NOT_A_LIMIT}(?:\b\d+\s*{UNIT},?\s+(?:and\s+)?)?(?:{AMOUNT})\s*{UNIT}\.?\s+ago\b"
ABOUT_AGO = rf"{START_OF_PHRASE}(?:about|over|almost|nearly|around|less than|more than)\s+(?:\d+|an?|one)\s*{UNIT}"
ABOUT_AGO += rf"\.?\s+ago\b{END_OF_PHRASE}"
UPDATED_ABOUT_AGO = rf"(\b{VERB}\W{{1,3}})(?:about|over|almost|nearly|more than|less than)\s+\d+\s*{UNIT}"
UPDATED_ABOUT_AGO += rf"\.?\s+ago\b{END_OF_PHRASE}"
PREFIX_AGO = rf"\b(?:{{volatile.ago_prefix}})\s+(?:\d+|{{volatile.ago_prefix_amount}})\s+(?:{UNIT}|instante?s)(?!\w)\.?"
SUFFIX_AGO = r"(?:\b(?:för|for)\s+)?\b(?:\d+|{volatile.ago_suffix_amount})\s+\w+\.?\s+(?:{volatile.ago_suffix})\b"
SUFFIX_AGO += r"|\bun['’]ora fa\b"
UNIT_AGO = rf"{START_OF_PHRASE}[^\W\d]{{2,10}}\s+(?:{{volatile.ago_suffix_unit}}){END_OF_PHRASE}"  # "час назад"
PREFIX_AGO_LINE = rf"{START_OF_PHRASE}(?:{{volatile.ago_prefix_line}})\s+\d+\s+\S{{1,16}}{END_OF_PHRASE}"
SUFFIX_AGO_LINE = (
    rf"{START_OF_PHRASE}\d+\s(?:{{volatile.ago_unit_line}}){END_OF_PHRASE}"
    rf"|{START_OF_PHRASE}\d+\s*(?:\S{{1,16}}\s*)?(?:{{volatile.ago_suffix_line}}){END_OF_PHRASE}"
)
CJK_AGO = r"\d+\s*(?:秒鐘?|秒钟|分[钟鐘]?|時間|小[时時]|日|天|[週周]間?|[か个個ヶカ]月|年)前"
CJK_AGO += rf"(?={END_OF_PHRASE}|\s*に?\s*(?:更新|投稿|公開|公开|发布|發布|发表|發表|编辑))"
TIME_SUFFIX = r"[\s,]+(?:(?:{volatile.time_of_day_joiner})\s+)?\d{1,2}[:.h]\d\d(?:\s*(?:uhr|[ap]\.?m\.?|h))?"
RELATIVE_DAY = rf"^(?:{{volatile.relative_day}})(?:{TIME_SUFFIX})?$"
RELATIVE_DAY += rf"|(\b{VERB}\W{{1,3}})(?:{{volatile.recent_period}}){END_OF_PHRASE}"
GROUPS_BY_PATTERN = {  # a pattern needs a word of its groups
    PREFIX_AGO: ("volatile.ago_prefix",),
    SUFFIX_AGO: ("volatile.ago_suffix",),
    UNIT_AGO: ("volatile.ago_suffix_unit",),
    PREFIX_AGO_LINE: ("volatile.ago_prefix_line",),
    SUFFIX_AGO_LINE: ("volatile.ago_suffix_line", "volatile.ago_unit_line"),
    RELATIVE_DAY: ("volatile.relative_day", "volatile.recent_period"),
}
ENGLISH_PATTERNS = (ABOUT_AGO, UPDATED_ABOUT_AGO, AMOUNT_AGO)
# Endings of lines with the amount in words. Only singular units and those of a few follow: "vor einem Monat".
UNIT_ENDINGS = (
    *("Sekunde", "Minute", "Stunde", "Tag", "Woche", "Monat", "Jahr", "heure", "jour", "semaine", "mois", "minuto"),
    *("hora", "día", "dia", "semana", "mes", "mês", "año", "ano", "Sekunden", "Tagen", "secondes", "minutos"),
)
search_non_ascii_digit = re.compile(  # Arabic, Persian, Devanagari, Bengali, Thai
    rb"\xd9[\xa0-\xa9]|\xdb[\xb0-\xb9]|\xe0(?:[\xa5\xa7][\xa6-\xaf]|\xb9[\x90-\x99])"
).search
NON_ASCII_DIGIT_LEAD_BYTES = (b"\xd9", b"\xdb", b"\xe0")
MAX_LINE_BYTES = 60  # of a line without digits


@cache
def _load_triggers() -> tuple[tuple[frozenset[str], str], ...]:
    english = tuple((frozenset(("ago",)), pattern) for pattern in ENGLISH_PATTERNS)
    return english + tuple((load_trigger_words(*groups), pattern) for pattern, groups in GROUPS_BY_PATTERN.items())


@cache
def load_relative_time_triggers() -> frozenset[str]:
    return frozenset(word for words, _ in _load_triggers() for word in words)


@cache
def _load_substrings() -> tuple[tuple[str, str], ...]:
    """Return the trigger substrings of relative times in scripts without spaces or with combining vowels."""
    words = load_words("volatile.ago_suffix_line")
    return ("前", CJK_AGO), *((word, SUFFIX_AGO_LINE) for word in words if find_longest_word(word) != word)


@cache
def _load_compact_affixes() -> tuple[tuple[bytes, ...], tuple[bytes, ...], frozenset[bytes]]:
    """Return the endings and beginnings, without spaces, of lines with a relative time in words, and the last bytes."""
    days = load_words("volatile.relative_day", "volatile.recent_period", "volatile.ago_suffix")
    endings = {
        form.replace(" ", "")
        for day in ("ago", *days)
        for form in (day, day.capitalize(), day.title(), " ".join((*day.split()[:-1], day.split()[-1].capitalize())))
    }  # as in "last Monday"
    beginnings = {
        f"{prefix}{amount}".replace(" ", "")
        for prefix in load_words("volatile.ago_prefix")
        for amount in load_words("volatile.ago_prefix_amount")
    }
    beginnings |= {beginning.capitalize() for beginning in beginnings}
    last_bytes = frozenset(ending.encode()[-2:] for ending in (*endings, *UNIT_ENDINGS))
    return tuple(map(str.encode, endings)), tuple(map(str.encode, beginnings)), last_bytes


def strip_relative_times(line: str, words: set[str]) -> str:
    """Return the line without relative times. `words`: its lowercase words."""
    stripped = line
    if not load_relative_time_triggers().isdisjoint(words):
        for triggers, pattern in _load_triggers():
            stripped = stripped if words.isdisjoint(triggers) else compile_words(pattern).sub(keep_groups, stripped)
    for substring, pattern in () if line.isascii() else _load_substrings():
        stripped = compile_words(pattern).sub("", stripped) if substring in stripped else stripped
    return stripped


def find_relative_time_lines(lines: Sequence[bytes], content: bytes) -> set[int]:
    """Return lines that may have a relative time without ASCII digits. `lines` have no whitespace."""
    endings, beginnings, last_bytes = _load_compact_affixes()
    has_ending = map(last_bytes.__contains__, [line[-2:] for line in lines])  # cheap prefilter
    line_indexes = {
        n
        for n in compress(count(), has_ending)
        if len(lines[n]) <= MAX_LINE_BYTES and (lines[n].endswith(endings) or lines[n].startswith(beginnings))
    }
    if not any(map(content.__contains__, NON_ASCII_DIGIT_LEAD_BYTES)):
        return line_indexes
    return line_indexes.union(n for n, line in enumerate(lines) if search_non_ascii_digit(line))
