"""Strip mean visitor ratings from lines: "4.5 (231)", "4.5 out of 5 stars", "4,5 von 5 Sternen".

A mean changes with every vote. A whole number is a single review or a hotel category, and stays.
"""

from sanderling.content.volatile._regex import compile_pattern
from sanderling.content.volatile.counters import COUNTER_NOUNS, split_phrases

MAX_LINE_LENGTH = 80  # characters
STARS = "[★☆⭐✩✭✰]"
OF_WORDS = ("out of", "of", "von", "sur", "de", "su", "van", "av", "af", "z")
MEAN_SCORE = r"(?<![\w.,])[0-5][.,]\d{1,2}"
SCALE_OF_FIVE = rf"(?:/|{'|'.join(OF_WORDS)}|из)\s*5(?:[.,]0)?\b(?![.,]\d)"
STAR_WORDS = r"stars?|sternen?|étoiles?|estrellas|estrelas|stelle|sterren|звезды?|звёзд|stjärnor|stjerner|gwiazde?k|★"
SCORE_OF_FIVE = rf"{MEAN_SCORE}\s*{SCALE_OF_FIVE}\s*(?:(?:{STAR_WORDS})(?!\w)|"
SCORE_OF_FIVE += r"(?=$|[(|·•,)]|based\b|from\b|basierend\b|aus\b|basé\b|basado\b))"
STARRED_SCORE = (
    rf"{STARS}\s*[0-5][.,]\d(?=\s*(?:\(|$))|(?<![\w.,])[0-5][.,]\d\s*(?={STARS})"  # 4.50 in "★★★ 4.50" is a price
)
RATING_COUNT = r"(?!(?:19|20)\d\d\b)(?:\d{1,3}(?:[.,]\d{3})+|\d+)"  # number of votes; not a year
SCORE_WITH_COUNT = rf"({STARS}*)\s*[1-5][.,]\d\s*{STARS}*\s*\(\s*({RATING_COUNT})\s*([^\W\d]*)\s*\)"
MIN_COUNT_DIGITS = 2  # of a number in parentheses without a noun
ZEROED_TRIGGERS = (
    b"0.0 (",
    b"0,0 (",
    b"0.0(",
    b"0,0(",
    b"0.0/0",
    b"0,0/0",
    *(f"0 {word} 0".encode() for word in OF_WORDS),
)
"""Each ASCII rating contains one of these after all digits are replaced by zeros."""
RATING_NOUNS = split_phrases(COUNTER_NOUNS)


def strip_ratings(line: str) -> str:
    """Return a short line without mean ratings."""
    if len(line) > MAX_LINE_LENGTH or not any(map(line.__contains__, "5★☆⭐✩✭✰(")):
        return line
    match = compile_pattern(SCORE_WITH_COUNT).fullmatch(line.strip())
    if match is not None:
        noun = match[3].lower()
        return "" if noun in RATING_NOUNS or (not noun and (match[1] or len(match[2]) >= MIN_COUNT_DIGITS)) else line
    stripped = compile_pattern(SCORE_OF_FIVE).sub("", line) if "5" in line else line
    return stripped if line.isascii() else compile_pattern(STARRED_SCORE).sub("", stripped)
