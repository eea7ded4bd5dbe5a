"""What visitors think of a thing, in stars or points: "4.5 (231)", "4.5 out of 5 stars", "4,5 von 5 Sternen".

It moves with every visitor who is asked. A whole number is what somebody gave, or what a hotel has: that stays.
"""

from sanderling.content.volatile._regex import compile_pattern
from sanderling.content.volatile.counters import COUNTER_NOUNS, split_phrases

MAX_LINE_LENGTH = 80  # characters of a line that may have a rating
STARS = "[★☆⭐✩✭✰]"
OF_WORDS = ("out of", "of", "von", "sur", "de", "su", "van", "av", "af", "z")
MEAN_SCORE = r"(?<![\w.,])[0-5][.,]\d{1,2}"
SCALE_OF_FIVE = rf"(?:/|{'|'.join(OF_WORDS)}|из)\s*5(?:[.,]0)?\b(?![.,]\d)"
STAR_WORDS = r"stars?|sternen?|étoiles?|estrellas|estrelas|stelle|sterren|звезды?|звёзд|stjärnor|stjerner|gwiazde?k|★"
SCORE_OF_FIVE = rf"{MEAN_SCORE}\s*{SCALE_OF_FIVE}\s*(?:(?:{STAR_WORDS})(?!\w)|(?=$|[(|·•,)]|based\b|from\b|basierend\b|aus\b|basé\b|basado\b))"
STARRED_SCORE = rf"{STARS}\s*[0-5][.,]\d(?=\s*(?:\(|$))|(?<![\w.,])[0-5][.,]\d\s*(?={STARS})"  # "★★★ 4.50" has a price
RATING_COUNT = r"(?!(?:19|20)\d\d\b)(?:\d{1,3}(?:[.,]\d{3})+|\d+)"  # how many were asked; that may be no year
SCORE_WITH_COUNT = rf"({STARS}*)\s*[1-5][.,]\d\s*{STARS}*\s*\(\s*({RATING_COUNT})\s*([^\W\d]*)\s*\)"
MIN_COUNT_DIGITS = 2  # digits of a number in brackets that says by itself how many were asked
ZEROED_TRIGGERS = (
    b"0.0 (",
    b"0,0 (",
    b"0.0(",
    b"0,0(",
    b"0.0/0",
    b"0,0/0",
    *(f"0 {word} 0".encode() for word in OF_WORDS),
)
"""One of them is in each plain rating, all digits being zeros."""
RATING_NOUNS = split_phrases(COUNTER_NOUNS)


def strip_ratings(line: str) -> str:
    """Take the mean of what visitors gave out of a short line."""
    if len(line) > MAX_LINE_LENGTH or not any(map(line.__contains__, "5★☆⭐✩✭✰(")):
        return line
    alone = compile_pattern(SCORE_WITH_COUNT).fullmatch(line.strip())
    if alone is not None:
        said = alone[3].lower()
        return "" if said in RATING_NOUNS or (not said and (alone[1] or len(alone[2]) >= MIN_COUNT_DIGITS)) else line
    left = compile_pattern(SCORE_OF_FIVE).sub("", line) if "5" in line else line
    return left if line.isascii() else compile_pattern(STARRED_SCORE).sub("", left)
