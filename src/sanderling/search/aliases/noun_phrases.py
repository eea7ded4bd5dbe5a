"""Where a name ends in running text: the phrase after a cue, the phrase before it, the sentence around it."""

import re
from collections.abc import Iterator

LONGEST = 80  # characters of an alias
MOST_NAMED, MOST_PLAIN = 6, 4  # words of a phrase with capitals, and without
QUOTES = {'"': '"', "“": "”", "„": "“", "«": "»", "‘": "’", "'": "'", "`": "`"}
CLOSING = {closing: opening for opening, closing in QUOTES.items()}
CODE = re.compile(r"[_(){}<>/\\@#$]|\w[.:]\w|\d|[A-Z]{2}|[a-z][A-Z]")
ALONE = re.compile(r"[_(){}<>\\@$]|\w::\w|\w\.\w")  # code that is a name by itself, whatever stands beside it
ARTICLE = re.compile(r"\A\s*(?:(?:an?|the)\s+)?", re.IGNORECASE)
MARKS = "\"“”‘’'`"
ENDS = ",;:.!?)]}—–"


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Small words between a name and a cue: "X, who is also better known as Y".
FILLER = _set("""
a an the is was are were be been being who whom whose which that it its he she they his her their also better best
popularly commonly formerly previously originally professionally sometimes often now otherwise more widely simply
usually generally officially colloquially informally internationally currently later then once still alternatively
variously just only deprecated and or by under as in to has have had this became become what of sold marketed with
""")
# Words at which a phrase without capitals ends.
STOPS = FILLER | _set("""
for on at from into if when while where because since but not no so than such these those there here can could may
might will would should must shall do does did between within without through during before after against about over
per via versus both either neither each every any all some one most many few other another same used using called named
known we you i me us them him our your my
""")
# Words with which a sentence goes on, but no name begins.
OPENERS = _set("""
it its it's it’s this that these those there here he she they we you i if when in on at for to as by and or but so not
""")
# Small words inside a name with capitals.
JOINTS = _set("of the de la le du des del della der den van von zu bin ibn al el y e and for do da dos di")


def phrase_after(text: str, named: bool) -> str:
    """Take the phrase a text begins with; empty if there is none. A phrase never runs over the end of a block."""
    text = ARTICLE.sub("", text.lstrip(" \t:,").partition("\n")[0], count=1)
    if text[:1] in QUOTES:
        end = text.find(QUOTES[text[0]], 1)
        return " ".join(text[1:end].split()) if 1 < end <= LONGEST else ""
    words = text[:200].split()[:12]
    if not words or words[0].lower() in OPENERS:
        return ""
    if _is_name(words[0]):
        return _trim(" ".join(_named_run(words)))
    return "" if named else _trim(" ".join(_plain_run(words)))


def _is_name(word: str) -> bool:
    return word[:1].isupper() or CODE.search(word) is not None


def _named_run(words: list[str]) -> Iterator[str]:
    """Take words with capitals, and the small words and dashes between them; code stands alone."""
    for place, word in enumerate(words[:MOST_NAMED]):
        following = words[place + 1][:1] if place + 1 < len(words) else ""
        joint = (word.lower() in JOINTS or word in "-–&") and following.isupper()
        if place and (word[:1] in "([{" or not (joint or (_is_name(word) and not ALONE.search(word)))):
            return
        yield word
        if _closes(word) or (place == 0 and ALONE.search(word)):
            return


def _plain_run(words: list[str]) -> Iterator[str]:
    for word in words[:MOST_PLAIN]:
        if word.lower().strip(ENDS) in STOPS or word[:1] in "([{—–":
            return
        yield word
        if _closes(word):
            return


def _closes(word: str) -> bool:
    """Say if a phrase ends with this word; a dot inside an initial or a pair of brackets does not end it."""
    if word[-1] == ")" and "(" in word:
        return False
    if word[-1] == "." and len(word) <= 3 and word[:1].isupper():
        return False
    return word[-1] in ENDS


def _trim(phrase: str) -> str:
    """Cut quotes and stops off both ends; a phrase without any letter is none."""
    phrase = phrase.strip(" \t¶" + MARKS)
    while phrase and (phrase[-1] in ",;:!?]}—–" or (phrase[-1] == ")" and "(" not in phrase)):
        phrase = phrase[:-1].rstrip(MARKS)
    if phrase.endswith(".") and not re.search(r"\b[A-Z]\.$", phrase):
        phrase = phrase.rstrip(".")
    phrase = phrase.strip(MARKS + " ").removesuffix("’s").removesuffix("'s")[:LONGEST]
    return phrase if any(map(str.isalpha, phrase)) else ""


def phrase_before(text: str, named: bool) -> str:
    """Take the phrase a text ends with; empty if there is none."""
    text = text.rstrip().rpartition("\n")[2].rstrip(" ¶")
    if text[-1:] in CLOSING:
        start = text.rfind(CLOSING[text[-1]], 0, -1)
        return " ".join(text[start + 1 : -1].split()) if start >= 0 and len(text) - start <= LONGEST else ""
    words = text[-200:].split()[-MOST_NAMED:]
    start = len(words)
    while start and _goes_on(words, start - 1, named):
        start -= 1
    taken = words[start:]
    while taken and taken[0] in JOINTS | STOPS:
        taken = taken[1:]
    return _trim(" ".join(taken).lstrip("([{"))


def _goes_on(words: list[str], place: int, named: bool) -> bool:
    """Say if the phrase at the end of some words reaches back to this one."""
    word, taken = words[place], words[place + 1 :]
    if taken and (_closes(word) or taken[0][:1] in "([{" or ALONE.search(taken[-1])):
        return False
    if not taken:
        return word.lower() not in OPENERS and (_is_name(word) or not named)
    if _is_name(taken[0]):
        joint = word.lower() in JOINTS and place > 0 and words[place - 1][:1].isupper()
        return joint or (_is_name(word) and not ALONE.search(word))
    if taken[0].lower() in JOINTS and _is_name(taken[-1]):
        return _is_name(word)
    return word.lower() not in STOPS and not _is_name(word) and len(taken) < MOST_PLAIN


def before_cue(left: str) -> Iterator[str]:
    """Give the text that may end with the name: without small words, a remark in brackets, an apposition."""
    bare = strip_filler(left)
    yield bare
    if bare.endswith(")"):
        inside = bare.rfind("(")
        if inside > 0 and len(bare) - inside < 100:
            yield strip_filler(bare[:inside])
    for match in re.finditer(r",\s+(?:an?|the)\s[^,]{1,80}$", bare[-120:]):
        yield strip_filler(bare[-120:][: match.start()])


def strip_filler(left: str) -> str:
    """Cut small words and punctuation off the end."""
    while True:
        left = left.rstrip(" \t\r\n,;:([—–-")
        head, _, word = left.replace("\n", " ").rpartition(" ")
        if word.lower().lstrip("([") not in FILLER:
            return left
        if not head:
            return ""
        left = left[: len(head)]


def sentence_around(left: str, cue: str, right: str, most: int = 300) -> str:
    """Give the sentence a cue stands in."""
    start = max(left.rfind(". ") + 2, left.rfind("! ") + 2, left.rfind("? ") + 2, left.rfind("\n\n") + 2)
    ends = [
        place + 1 for place in (right.find(". "), right.find(".\n"), right.find("! "), right.find("? ")) if place >= 0
    ]
    whole = left[start if start > 1 else 0 :] + cue + right[: min(ends, default=len(right))]
    return " ".join(whole.split())[:most]
