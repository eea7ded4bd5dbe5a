"""Hash the main content of a page without dates and without what its query says.

Pages of an endless calendar differ only in their dates and in links to the next day, pages of a random redirect only in
the token that their URL has too. They have the same undated content. A number that is neither part of a date nor of the
query is content, and so are the addresses of images.
"""

import re
from collections.abc import Iterator, Set
from functools import cache
from itertools import compress, islice
from urllib.parse import unquote_plus

from xxhash import xxh3_64_digest

from sanderling.content.extract import TextBlocks, extract_blocks, find_landmarks
from sanderling.content.volatile.strip import strip_volatile_text
from sanderling.content.word_lists import load_words
from sanderling.html.parser import Document, parse_html

MAX_LINES, MAX_LINE_LENGTH = 3_000, 2_000
MAX_URL_WORDS = 100
MIN_TOKEN_LENGTH, MIN_TOKEN_CHANGES = 12, 3
MAX_DATA_SIZE = 50_000  # characters of embedded data
MAX_HEADING_WORDS = 12  # a year in a longer line is content
MAX_CLOCKS = 2  # lines that are only volatile, such as the time of a clock
MEDIA_TAGS = ("img", "iframe", "video", "audio", "source", "embed", "object")
MEDIA_ATTRIBUTES = ("src", "data-src", "srcset", "data")
DATA_SCRIPTS = 'script[type$="json" i]'  # state of a page that scripts build, and linked data
ORDINAL_SUFFIXES = frozenset(("st", "nd", "rd", "th", "er", "º", "ª"))
LAST_DAY, FIRST_YEAR, LAST_YEAR = 31, 1800, 2999

_WORD = re.compile(r"[^\W_]+")
_NUMERIC_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|\d{4}\s?[年년]|\d{1,2}\s?[月월日일]"
    r"|[日月火水木金土]曜日?|(?:星期|[周週])[一二三四五六日天]|[(（][日月火水木金土一二三四五六][)）]"
)
_INLINE_ENDS = (b"</a>", b"</span>", b"</A>", b"</SPAN>")  # links of a calendar may follow each other without a space
_HAS_DIGIT = re.compile(r"\d").search
_HAS_YEAR = re.compile(r"(?<=[/_.-])(?:19|20)\d\d(?=[/_.-]|$)").search
_WORD_OR_NUMBER = re.compile(r"\d+|[^\W\d_]+")
_TOKEN_CHANGES = re.compile(r"(?<=[a-z])(?=\d)|(?<=\d)(?=[a-z])")


def hash_undated_content(body: bytes, charset: str, url: str) -> bytes:
    """Return eight bytes that are equal for pages with the same undated content."""
    for end in _INLINE_ENDS:
        body = body.replace(end, end + b" ")
    tree = parse_html(body, charset)
    url_words = _find_url_words(url)
    blocks = extract_blocks(tree)
    title = tree.find("title")
    lines = [title.text if title is not None else "", *_select_lines(blocks)]
    has_query = "?" in url
    pieces = {" ".join(words) for words in _strip_dates(lines, url_words, has_query)}
    pieces.update(_find_media(tree, blocks))
    for script in tree.select(DATA_SCRIPTS):
        pieces.update(" ".join(words) for words in _strip_dates([script.text[:MAX_DATA_SIZE]], url_words, has_query))
    pieces.discard("")
    return xxh3_64_digest("\n".join(sorted(pieces)).encode("utf-8", "replace"))


def _select_lines(blocks: TextBlocks) -> list[str]:
    """Return the lines of the main content, or all visible lines if there is none."""
    main = [line for line in compress(blocks.lines, blocks.main_mask) if line]
    visible = (line for line, is_hidden in zip(blocks.lines, blocks.hidden_mask, strict=True) if not is_hidden)
    return (main or [line for line in visible if line])[:MAX_LINES]


def _find_media(tree: Document, blocks: TextBlocks) -> Iterator[str]:
    landmarks = blocks.landmarks or find_landmarks(tree)
    for tag in MEDIA_TAGS:
        for element in landmarks.find_in_main(tree, tag):
            yield from (value for name in MEDIA_ATTRIBUTES if (value := element.attr(name)))


def _find_url_words(url: str) -> Set[str]:
    """Return the words of the query, its numbers plus and minus one (links to neighbors), and tokens of the path.

    Other words of a path are content: pages of a finite site may only say their number. But with a year in the path,
    they may be months, weeks, and days, in any language.
    """
    path, _, query = unquote_plus(url).lower().partition("?")
    words = set(_WORD.findall(query)[:MAX_URL_WORDS])
    if _HAS_YEAR(path):
        words.update(_WORD_OR_NUMBER.findall(path.partition("//")[2].partition("/")[2])[:MAX_URL_WORDS])
    numbers = [int(word) for word in words if word.isdecimal() and len(word) < 16]
    tokens = (word for word in _WORD.findall(path)[:MAX_URL_WORDS] if _has_changes(word))
    return words.union(tokens, (str(number + step) for number in numbers for step in (-1, 1)))


def _strip_dates(lines: list[str], url_words: Set[str], has_query: bool) -> Iterator[list[str]]:
    """Yield the words of each line that belong neither to a date nor to the URL, nor count up as days of a month."""
    date_words, dropped_words = _load_date_words(), ORDINAL_SUFFIXES.union(url_words)
    split = [_split_words(line, url_words) for line in _strip_volatile(lines)]
    has_number = [any(map(str.isdecimal, words)) for words in split]
    # Of a line without numbers, one word interrupts the counting as well as all of them.
    counting = iter(
        _find_counting(
            [word for words, is_all in zip(split, has_number, strict=True) for word in words[: None if is_all else 1]]
        )
    )
    for words, is_dated in zip(split, has_number, strict=True):
        in_run = [*islice(counting, len(words) if is_dated else min(1, len(words)))]
        if is_dated:
            numbers = [None if is_counting else word for word, is_counting in zip(words, in_run, strict=True)]
            words = [word for word in _drop_date_words(numbers, has_query) if word is not None]
        yield [word for word in words if word not in date_words and word not in dropped_words]


def _split_words(line: str, url_words: Set[str]) -> list[str]:
    """Return words and numbers without numeric dates, tokens, and words of the URL."""
    text, parts = line.lower(), []
    if not text.isascii() or _HAS_DIGIT(text):
        text = _NUMERIC_DATE.sub(" ", text)
    for word in _WORD.findall(text):
        if word in url_words:
            continue
        if word.isalpha():  # most words; they are no tokens, and have one part
            parts.append(word)
        elif not _is_token(word):
            parts += _WORD_OR_NUMBER.findall(word)
    return parts


def _strip_volatile(lines: list[str]) -> list[str]:
    """Strip volatile text, but keep lines that are only times if there are several: a timetable is content."""
    lines = [line[:MAX_LINE_LENGTH] for line in lines]
    stripped = [strip_volatile_text(line) if _HAS_DIGIT(line) else line for line in lines]
    emptied = sum(1 for line, rest in zip(lines, stripped, strict=True) if line and not _WORD.search(rest))
    if emptied <= MAX_CLOCKS:
        return stripped
    return [rest if _WORD.search(rest) else line for line, rest in zip(lines, stripped, strict=True)]


def _find_counting(words: list[str]) -> list[bool]:
    """Flag numbers that follow each other as in the grid of a month: 29 30 1 2 3."""
    values = [int(word) if word.isdecimal() and len(word) <= 2 else -9 for word in words]
    flags = [False] * len(values)
    for place in range(1, len(values)):
        if values[place] >= 0 and values[place] == values[place - 1] + 1:
            flags[place - 1] = flags[place] = True
    return flags


def _drop_date_words(words: list[str | None], drops_years: bool) -> list[str | None]:
    """Replace the words of dates by None; `drops_years`: also a year without a day, in a short line."""
    found: list[str | None] = list(words)
    date_words = _load_date_words()
    for place, word in enumerate(words):
        if word in date_words:
            found[place] = None
            before = _drop_number(found, place - 1, can_be_day=True) or _drop_number(found, place - 2, can_be_day=True)
            after = _drop_number(found, place + 1, can_be_day=not before)
            _drop_number(found, place + 2, can_be_day=not (before or after))
            _drop_number(found, place + 3, can_be_day=False)
    if len(words) <= MAX_HEADING_WORDS:
        # Month names of languages without a word list.
        for place in [place for place, word in enumerate(found) if word is not None and word.isdecimal()]:
            is_year = drops_years or _is_day(found, place - 2) or _is_day(found, place - 1)
            if is_year and _drop_number(found, place, can_be_day=False):
                _drop_number(found, place - 2, can_be_day=True) or _drop_number(found, place - 1, can_be_day=True)
    return found


def _is_day(words: list[str | None], place: int) -> bool:
    word = words[place] if place >= 0 else None
    return word is not None and word.isdecimal() and 0 < int(word[:4]) <= LAST_DAY


def _drop_number(words: list[str | None], place: int, *, can_be_day: bool) -> bool:
    """Replace a day of a month or a year by None; return whether there was one."""
    word = words[place] if 0 <= place < len(words) else None
    if word is None:
        return False
    if not word.isdecimal() or len(word) > 4:
        return False
    value = int(word)
    if (can_be_day and 0 < value <= LAST_DAY) or (len(word) == 4 and FIRST_YEAR <= value <= LAST_YEAR):
        words[place] = None
        return True
    return False


def _is_token(word: str) -> bool:
    """Return whether a word is a random identifier, or several numbers without spaces."""
    return len(word) >= MIN_TOKEN_LENGTH and (word.isdecimal() or _has_changes(word))


def _has_changes(word: str) -> bool:
    """Return whether letters and digits alternate."""
    return len(_TOKEN_CHANGES.findall(word[:64])) >= MIN_TOKEN_CHANGES


@cache
def _load_date_words() -> frozenset[str]:
    """Return names and abbreviations of months and weekdays in all languages."""
    phrases = load_words("volatile.months", "volatile.weekdays", "volatile.weekday_abbreviations")
    return frozenset(word for phrase in phrases for word in [phrase.strip("*+.")] if len(word) > 1)
