"""Classify lines that consist of a boilerplate phrase ("related articles", "was this helpful"), in many languages.

Only letters are compared, so counters and punctuation make no difference. The phrases are in `data/`.
"""

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from msgspec import Struct

from sanderling.content.word_lists import load_words

MAX_PHRASE_LENGTH = 80  # characters; longer lines are not looked up
RELATED_LINKS, FEEDBACK_PROMPT, FEEDBACK_ANSWER = "related_links", "feedback_prompt", "feedback_answer"
SHARE_BUTTON, SOCIAL_NETWORK, CALL_TO_ACTION = "share_button", "social_network", "call_to_action"
TABLE_OF_CONTENTS, NAVIGATION = "table_of_contents", "navigation"
PHRASE_KINDS = (RELATED_LINKS, FEEDBACK_PROMPT, FEEDBACK_ANSWER, SHARE_BUTTON, CALL_TO_ACTION, TABLE_OF_CONTENTS)
"""Kinds of phrases, each with a group of words; a phrase of several kinds is of the first."""
NON_LETTER_BYTES = bytes(set(range(128)) - set(b"abcdefghijklmnopqrstuvwxyz\n"))
replace_symbols = re.compile(
    rb"\xc2[\x80-\xbf]|\xe2[\x80-\xbf][\x80-\xbf]|\xe3\x80[\x80-\x82]|\xef\xbc[\x80-\x8f\x9a-\xa0]|\xef\xb8\x8f|"
    rb"\xf0\x9f[\x80-\xbf][\x80-\xbf]"
).sub  # punctuation, arrows, and emoji


class PhraseTable(Struct, frozen=True):
    """The phrases of all languages as keys, and patterns for lines with several of them."""

    kind_by_key: dict[bytes, str]
    related_links_prefixes: tuple[bytes, ...]
    navigation_prefixes: tuple[bytes, ...]  # first words of breadcrumbs and pagination links
    feedback_row: re.Pattern[bytes]  # a question and its answers on the same line
    share_row: re.Pattern[bytes]
    share_phrase: re.Pattern[bytes]
    link_line_prefixes: frozenset[bytes]  # first two bytes of link lines that may match, as a prefilter


def compute_phrase_keys(lines: Sequence[str]) -> list[bytes]:
    """Return the lowercase letters of each line, UTF-8 encoded."""
    raw = "\n".join(lines).lower().encode("utf-8", "replace").translate(None, NON_LETTER_BYTES)
    return (raw if raw.isascii() else replace_symbols(b"", raw)).split(b"\n") if lines else []


def _load_keys(*groups: str) -> list[bytes]:
    return compute_phrase_keys(load_words(*(f"boilerplate.{group}" for group in groups)))


@cache
def load_phrases() -> PhraseTable:
    """Load the phrases on first use: joining them takes longer than reading a page."""
    prompts, answers, buttons = (
        _build_alternation(_load_keys(group)) for group in (FEEDBACK_PROMPT, FEEDBACK_ANSWER, SHARE_BUTTON)
    )
    share_words = _load_keys(SHARE_BUTTON, "share_filler")
    navigation = tuple(_load_keys("home_page", "pagination"))
    first_keys = (*_load_keys(FEEDBACK_PROMPT), *share_words, *navigation)
    return PhraseTable(
        {key: kind for kind in reversed(PHRASE_KINDS) for key in _load_keys(kind)},
        tuple(_load_keys("related_links_start")),
        navigation,
        re.compile(prompts + answers + b"++"),
        re.compile(_build_alternation(share_words) + b"++"),
        re.compile(buttons),
        frozenset({key[:2] for key in first_keys} | {b"x%c" % letter for letter in range(256)}),
    )


def _build_alternation(keys: list[bytes]) -> bytes:
    return b"(?>" + b"|".join(map(re.escape, sorted(set(keys), key=len, reverse=True))) + b")"


@lru_cache(maxsize=4_096)  # menus are the same on every page
def classify_link_line(key: bytes, is_link_only: bool) -> str | None:
    """Return the kind of a line with several phrases in a row, such as share buttons; None for text. Cached."""
    phrases = load_phrases()
    if phrases.feedback_row.fullmatch(key):
        return FEEDBACK_PROMPT
    if key.startswith(phrases.navigation_prefixes):
        return NAVIGATION
    if not is_link_only or not phrases.share_row.fullmatch(key):
        return None
    return SHARE_BUTTON if phrases.share_phrase.search(key) else SOCIAL_NETWORK


def classify_phrase(line: str) -> str | None:
    """Return the phrase kind of a line, or None."""
    if not 0 < len(line) <= MAX_PHRASE_LENGTH:
        return None
    return load_phrases().kind_by_key.get(compute_phrase_keys([line])[0])
