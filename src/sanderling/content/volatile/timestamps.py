"""Strip timestamps from lines: when a page was generated, updated, or visited.

A time alone on its line is a clock; a date alone with "last updated" is a timestamp; a time after a word such as
"updated" belongs to that word. Any other time is content: opening hours, deadlines, departures, hearings.
"""

import re
from functools import cache

from sanderling.content.word_lists import compile_lowercase, load_words

MAX_LABEL_LENGTH = 40  # characters

# Patterns with the words of all languages in place of `{table.group}`.
CLOCK_MINUTES = (
    r":[0-5]\d(?::[0-5]\d)?(?:[.,]\d+)?(?![\d:/])|h[0-5]\d(?:min)?\b|\.[0-5]\d(?=\s*(?:[ap]\.?m\b|uhr))|\s?[ap]\.?m\b"
)
CLOCK_TIME = (
    rf"(?<![\d.:/])(?:[01]?\d|2[0-4])(?:{CLOCK_MINUTES})|\d{{1,2}}\s?[時时点]\s?\d{{1,2}}\s?分(?:\s?\d{{1,2}}\s?秒)?"
)
CLOCK_TIME += r"|(?<=kl\. )\d{1,2}\.[0-5]\d\b"
TIME_ZONE = (
    r"(?<![^\W\d])(?:[ap]\.?m\b\.?|uhr\b|h\b|utc\b|gmt\b|z\b|[cpem]e?[ds]t\b|bst\b|ist\b|jst\b|(?<=\d)[+-]\d\d:?\d\d\b)"
)
NUMERIC_DATE = r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:t(?=\d))?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\d{4}\s?[年년]|"
NUMERIC_DATE += r"\d{1,2}\s?[月월日일]"
MONTHS, WEEKDAYS = "{volatile.months}", "{volatile.weekdays}|{volatile.weekday_abbreviations}"
MONTH_OR_DAY_NAME = rf"(?:{MONTHS}|{WEEKDAYS})(?!\w)\.?"
DAY_OR_YEAR = r"(?<![\d.,])(?:\d{4}|\d{1,2}(?:st|nd|rd|th|er|º)?)(?![\d:%°]|[.,]\d)\b\.?"
CJK_WEEKDAY = "(?:星期|[周週])[一二三四五六日天]|(?<=[(（])[日月火水木金土](?=[)）])"
TIMESTAMP_PART = rf"(?:{CLOCK_TIME}|{NUMERIC_DATE}|\b{MONTH_OR_DAY_NAME}|{TIME_ZONE}|{DAY_OR_YEAR}|{CJK_WEEKDAY})"
SEPARATORS = r"[\s,;|·@()（）\[\]–-]*+"
PART_SEPARATOR = rf"(?:{SEPARATORS}(?:\b(?:{{volatile.time_joiner}})\b{SEPARATORS})?)"
TIMESTAMP = rf"{TIMESTAMP_PART}(?:{PART_SEPARATOR}{TIMESTAMP_PART})*"
TIME_RANGE = rf"(?:{CLOCK_TIME})\s*+(?:(?:{TIME_ZONE})\s*+)?(?:[-–—~]|{{volatile.range_word}})\s*+(?:{CLOCK_TIME})"
WEEKDAY, MONTH = rf"\b(?:{WEEKDAYS})\b", rf"\b(?:{MONTHS})(?!\w)"
TIMESTAMP_LABEL = (
    r"(?:^|\b)(?:({volatile.generated}|{volatile.today})|({volatile.updated})|{volatile.published})\b"
    r"(?:[\s'’]+(?:{volatile.timestamp_filler})\b)*[\s:=(\[|,–-]*$"
)
search_clock_time, search_numeric_date = re.compile(CLOCK_TIME).search, re.compile(NUMERIC_DATE).search
find_clock_times = re.compile(CLOCK_TIME).findall
CJK_UPDATED_PREFIX = re.compile(r"(?:最后|最後|最終|上次)\w{0,8}[\s:：(（]*$")  # last edited, changed, revised
TEMPERATURE = re.compile(r"[-−]?(?<!\d)\d++\s?°\s?(?:[cf]\b)?", re.IGNORECASE)
WORD = re.compile(r"[^\W\d]+")
CLOCK_TIME_HINT = re.compile(r"\d(?:[:h]\d\d|\s?[時时点]|[AaPp][Mm])")  # fast prefilter for clock times


@cache
def _load_word_set(*groups: str) -> frozenset[str]:
    """Return the single words of the phrases in groups of volatile words."""
    phrases = load_words(*(f"volatile.{group}" for group in groups))
    return frozenset(word for phrase in phrases for word in WORD.findall(phrase))


@cache
def _load_update_words() -> frozenset[str]:
    return _load_word_set("updated") - _load_word_set("ambiguous_update_words")


@cache
def _load_date_label_words() -> frozenset[str]:
    return _load_update_words().union(load_words("volatile.generated", "volatile.today"))


@cache
def load_timestamp_triggers() -> frozenset[str]:
    """Return the trigger words of timestamps without a clock time."""
    days = load_words("volatile.weekdays", "volatile.weekday_abbreviations")
    return _load_date_label_words().union(days, ("am", "pm", "m", "uhr", "分"))


def strip_timestamps(line: str, words: set[str]) -> str:
    """Return the line without timestamps; other times stay. `words`: its lowercase words."""
    if load_timestamp_triggers().isdisjoint(words) and not CLOCK_TIME_HINT.search(line):
        return line
    stripped = TEMPERATURE.sub("", line) if "°" in line else line
    lowercase = stripped.lower()
    if (
        len(lowercase) != len(stripped)
        or not _load_word_set("deadline").isdisjoint(words)
        or compile_lowercase(TIME_RANGE).search(lowercase)
    ):
        return line
    matches = [match for match in compile_lowercase(TIMESTAMP).finditer(lowercase) if _has_time_or_date(match[0])]
    is_standalone = _is_standalone_timestamp(lowercase, matches)
    if is_standalone and not _load_date_label_words().isdisjoint(words):
        return ""  # the label "updated" alone is no content either
    timestamps = matches if is_standalone else [match for match in matches if _has_timestamp_label(lowercase, match)]
    for match in reversed(timestamps):
        stripped = f"{stripped[: match.start()]}{stripped[match.end() :]}"
    return stripped if timestamps else line


def _has_time_or_date(timestamp: str) -> bool:
    return search_clock_time(timestamp) is not None or _has_date(timestamp) or _has_weekday(timestamp)


def _has_date(timestamp: str) -> bool:
    return search_numeric_date(timestamp) is not None or (
        compile_lowercase(MONTH).search(timestamp) is not None and any(map(str.isdecimal, timestamp))
    )


def _has_weekday(timestamp: str) -> bool:
    return compile_lowercase(WEEKDAY).search(timestamp) is not None and any(map(str.isdecimal, timestamp))


def _is_standalone_timestamp(lowercase_line: str, matches: list[re.Match[str]]) -> bool:
    """Return whether a line consists of a clock time, weekday, or update date, and words for it."""
    if len(matches) != 1:
        return False
    words = WORD.findall(f"{lowercase_line[: matches[0].start()]} {lowercase_line[matches[0].end() :]}")
    has_time = _has_weekday(matches[0][0]) or len(find_clock_times(matches[0][0])) == 1
    known_words = _load_word_set("generated", "today", "updated", "published", "timestamp_filler")
    return known_words.issuperset(words) and (has_time or not _load_update_words().isdisjoint(words))


def _has_timestamp_label(lowercase_line: str, match: re.Match[str]) -> bool:
    """Return whether the preceding words label a timestamp; in prose, "updated" does not label a date."""
    before = lowercase_line[: match.start()]
    label = compile_lowercase(TIMESTAMP_LABEL).search(before)
    if label is None:
        return search_clock_time(match[0]) is not None and CJK_UPDATED_PREFIX.search(before) is not None
    if label[1] in load_words("volatile.today") and not _starts_new_phrase(before[: label.start()]):
        return False
    if label[1] or (label[2] and ":" in label[0]):
        return True
    return search_clock_time(match[0]) is not None or _has_weekday(match[0])


def _starts_new_phrase(prefix: str) -> bool:
    """Return whether a new phrase starts after `prefix`: "Ann, today at 10:30", but not "tour: today at 10:30"."""
    return not prefix.strip() or (not prefix.rstrip().endswith(":") and not prefix.rstrip()[-1].isalnum())


def is_time_label(line: str) -> bool:
    """Return whether a line labels an event time on the next line."""
    return len(line) <= MAX_LABEL_LENGTH and not _load_word_set("deadline", "time_label").isdisjoint(
        WORD.findall(line.lower())
    )


def is_weekday_date(line: str) -> bool:
    match = compile_lowercase(TIMESTAMP).fullmatch(line.strip().lower())
    return match is not None and _has_weekday(match[0])
