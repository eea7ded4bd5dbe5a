"""What visitors think of a thing, in stars or points: "4.5 (231)", "4.5 out of 5 stars", "4,5 von 5 Sternen".

It moves with every visitor who is asked. A whole number is what somebody gave, or what a hotel has: that stays.
"""

from sanderling.content.volatile._regex import made
from sanderling.content.volatile.counters import COUNTED, spelled_out

LONGEST = 80  # characters of a line that may have a rating
STARS = "[★☆⭐✩✭✰]"
OF = ("out of", "of", "von", "sur", "de", "su", "van", "av", "af", "z")
MEAN = r"(?<![\w.,])[0-5][.,]\d{1,2}"
SCALE = rf"(?:/|{'|'.join(OF)}|из)\s*5(?:[.,]0)?\b(?![.,]\d)"
CALLED = r"stars?|sternen?|étoiles?|estrellas|estrelas|stelle|sterren|звезды?|звёзд|stjärnor|stjerner|gwiazde?k|★"
OF_FIVE = rf"{MEAN}\s*{SCALE}\s*(?:(?:{CALLED})(?!\w)|(?=$|[(|·•,)]|based\b|from\b|basierend\b|aus\b|basé\b|basado\b))"
STARRED = rf"{STARS}\s*[0-5][.,]\d(?=\s*(?:\(|$))|(?<![\w.,])[0-5][.,]\d\s*(?={STARS})"  # "★★★ 4.50" has a price
ASKED = r"(?!(?:19|20)\d\d\b)(?:\d{1,3}(?:[.,]\d{3})+|\d+)"  # how many were asked; that may be no year
BRACKETED = rf"({STARS}*)\s*[1-5][.,]\d\s*{STARS}*\s*\(\s*({ASKED})\s*([^\W\d]*)\s*\)"
FEWEST = 2  # digits of a number in brackets that says by itself how many were asked
SIGNS = (b"0.0 (", b"0,0 (", b"0.0(", b"0,0(", b"0.0/0", b"0,0/0", *(f"0 {word} 0".encode() for word in OF))
"""One of them is in each plain rating, all digits being zeros."""
WORDS = spelled_out(COUNTED)


def without_ratings(line: str) -> str:
    """Take the mean of what visitors gave out of a short line."""
    if len(line) > LONGEST or not any(map(line.__contains__, "5★☆⭐✩✭✰(")):
        return line
    alone = made(BRACKETED).fullmatch(line.strip())
    if alone is not None:
        said = alone[3].lower()
        return "" if said in WORDS or (not said and (alone[1] or len(alone[2]) >= FEWEST)) else line
    left = made(OF_FIVE).sub("", line) if "5" in line else line
    return left if line.isascii() else made(STARRED).sub("", left)
