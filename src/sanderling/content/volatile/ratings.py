"""Strip mean visitor ratings from lines: "4.5 (231)", "4.5 out of 5 stars", "4,5 von 5 Sternen".

A mean changes with every vote. A whole number is a single review or a hotel category, and stays.
"""

from functools import cache

from sanderling.content.word_lists import compile_words, load_words

MAX_LINE_LENGTH = 80  # characters
STARS = "[★☆⭐✩✭✰]"
MEAN_SCORE = r"(?<![\w.,])[0-5][.,]\d{1,2}"
SCALE_OF_FIVE = r"(?:/|{volatile.rating_of})\s*5(?:[.,]0)?\b(?![.,]\d)"
SCORE_OF_FIVE = rf"{MEAN_SCORE}\s*{SCALE_OF_FIVE}\s*(?:(?:{{volatile.star}}|★)(?!\w)|"
SCORE_OF_FIVE += r"(?=$|[(|·•,)]|based\b|from\b|basierend\b|aus\b|basé\b|basado\b))"
STARRED_SCORE = (
    rf"{STARS}\s*[0-5][.,]\d(?=\s*(?:\(|$))|(?<![\w.,])[0-5][.,]\d\s*(?={STARS})"  # 4.50 in "★★★ 4.50" is a price
)
RATING_COUNT = r"(?!(?:19|20)\d\d\b)(?:\d{1,3}(?:[.,]\d{3})+|\d+)"  # number of votes; not a year
SCORE_WITH_COUNT = rf"({STARS}*)\s*[1-5][.,]\d\s*{STARS}*\s*\(\s*({RATING_COUNT})\s*([^\W\d]*)\s*\)"
MIN_COUNT_DIGITS = 2  # of a number in parentheses without a noun


@cache
def load_zeroed_triggers() -> tuple[bytes, ...]:
    """Return the substrings of ASCII ratings after all digits are replaced by zeros."""
    of_words = filter(str.isascii, load_words("volatile.rating_of"))
    return (
        *(b"0.0 (", b"0,0 (", b"0.0(", b"0,0(", b"0.0/0", b"0,0/0"),
        *(f"0 {word} 0".encode() for word in of_words),
    )


@cache
def _load_rating_nouns() -> frozenset[str]:
    return frozenset(word for noun in load_words("volatile.counter_noun") for word in noun.split())


def strip_ratings(line: str, _: set[str]) -> str:
    """Return a short line without mean ratings."""
    if len(line) > MAX_LINE_LENGTH or not any(map(line.__contains__, "5★☆⭐✩✭✰(")):
        return line
    match = compile_words(SCORE_WITH_COUNT).fullmatch(line.strip())
    if match is not None:
        noun = match[3].lower()
        return (
            ""
            if noun in _load_rating_nouns() or (not noun and (match[1] or len(match[2]) >= MIN_COUNT_DIGITS))
            else line
        )
    stripped = compile_words(SCORE_OF_FIVE).sub("", line) if "5" in line else line
    return stripped if line.isascii() else compile_words(STARRED_SCORE).sub("", stripped)
