"""Delimit names in running text around a cue."""

import re
from collections.abc import Iterator

MAX_ALIAS_LENGTH = 80
MAX_NAMED_WORDS, MAX_PLAIN_WORDS = 6, 4  # words of a capitalized phrase, and of others
QUOTE_PAIRS = {'"': '"', "“": "”", "„": "“", "«": "»", "‘": "’", "'": "'", "`": "`"}
OPENING_QUOTES = {closing: opening for opening, closing in QUOTE_PAIRS.items()}
CODE_PATTERN = re.compile(r"[_(){}<>/\\@#$]|\w[.:]\w|\d|[A-Z]{2}|[a-z][A-Z]")
STANDALONE_CODE = re.compile(r"[_(){}<>\\@$]|\w::\w|\w\.\w")  # code is a name by itself, without adjacent words
LEADING_ARTICLE = re.compile(r"\A\s*(?:(?:an?|the)\s+)?", re.IGNORECASE)
QUOTE_CHARS = "\"“”‘’'`"
PHRASE_END_CHARS = ",;:.!?)]}—–"


def _split_words(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Words between a name and a cue: "X, who is also better known as Y".
FILLER_WORDS = _split_words("""
a an the is was are were be been being who whom whose which that it its he she they his her their also better best
popularly commonly formerly previously originally professionally sometimes often now otherwise more widely simply
usually generally officially colloquially informally internationally currently later then once still alternatively
variously just only deprecated and or by under as in to has have had this became become what of sold marketed with
""")
# Words that end a phrase without capitals.
PHRASE_STOP_WORDS = FILLER_WORDS | _split_words("""
for on at from into if when while where because since but not no so than such these those there here can could may
might will would should must shall do does did between within without through during before after against about over
per via versus both either neither each every any all some one most many few other another same used using called named
known we you i me us them him our your my
""")
# Words that continue a sentence; no name starts with them.
SENTENCE_OPENERS = _split_words("""
it its it's it’s this that these those there here he she they we you i if when in on at for to as by and or but so not
""")
# Lower-case words inside a capitalized name.
NAME_PARTICLES = _split_words(
    "of the de la le du des del della der den van von zu bin ibn al el y e and for do da dos di"
)


def take_leading_phrase(text: str, requires_name: bool) -> str:
    text = LEADING_ARTICLE.sub("", text.lstrip(" \t:,").partition("\n")[0], count=1)
    if text[:1] in QUOTE_PAIRS:
        end = text.find(QUOTE_PAIRS[text[0]], 1)
        return " ".join(text[1:end].split()) if 1 < end <= MAX_ALIAS_LENGTH else ""
    words = text[:200].split()[:12]
    if not words or words[0].lower() in SENTENCE_OPENERS:
        return ""
    if _is_name(words[0]):
        return _trim_phrase(" ".join(_take_named_words(words)))
    return "" if requires_name else _trim_phrase(" ".join(_take_plain_words(words)))


def _is_name(word: str) -> bool:
    return word[:1].isupper() or CODE_PATTERN.search(word) is not None


def _take_named_words(words: list[str]) -> Iterator[str]:
    """Take capitalized words with particles between them; code stands alone."""
    for index, word in enumerate(words[:MAX_NAMED_WORDS]):
        following = words[index + 1][:1] if index + 1 < len(words) else ""
        is_particle = (word.lower() in NAME_PARTICLES or word in "-–&") and following.isupper()
        if index and (word[:1] in "([{" or not (is_particle or (_is_name(word) and not STANDALONE_CODE.search(word)))):
            return
        yield word
        if _ends_phrase(word) or (index == 0 and STANDALONE_CODE.search(word)):
            return


def _take_plain_words(words: list[str]) -> Iterator[str]:
    for word in words[:MAX_PLAIN_WORDS]:
        if word.lower().strip(PHRASE_END_CHARS) in PHRASE_STOP_WORDS or word[:1] in "([{—–":
            return
        yield word
        if _ends_phrase(word):
            return


def _ends_phrase(word: str) -> bool:
    """Return whether a phrase ends here; initials ("J.") do not end it."""
    if word[-1] == ")" and "(" in word:
        return False
    if word[-1] == "." and len(word) <= 3 and word[:1].isupper():
        return False
    return word[-1] in PHRASE_END_CHARS


def _trim_phrase(phrase: str) -> str:
    """Strip quotes and punctuation; empty if no letter remains."""
    phrase = phrase.strip(" \t¶" + QUOTE_CHARS)
    while phrase and (phrase[-1] in ",;:!?]}—–" or (phrase[-1] == ")" and "(" not in phrase)):
        phrase = phrase[:-1].rstrip(QUOTE_CHARS)
    if phrase.endswith(".") and not re.search(r"\b[A-Z]\.$", phrase):
        phrase = phrase.rstrip(".")
    phrase = phrase.strip(QUOTE_CHARS + " ").removesuffix("’s").removesuffix("'s")[:MAX_ALIAS_LENGTH]
    return phrase if any(map(str.isalpha, phrase)) else ""


def take_trailing_phrase(text: str, requires_name: bool) -> str:
    text = text.rstrip().rpartition("\n")[2].rstrip(" ¶")
    if text[-1:] in OPENING_QUOTES:
        start = text.rfind(OPENING_QUOTES[text[-1]], 0, -1)
        return " ".join(text[start + 1 : -1].split()) if start >= 0 and len(text) - start <= MAX_ALIAS_LENGTH else ""
    words = text[-200:].split()[-MAX_NAMED_WORDS:]
    start = len(words)
    while start and _continues_phrase(words, start - 1, requires_name):
        start -= 1
    taken = words[start:]
    while taken and taken[0] in NAME_PARTICLES | PHRASE_STOP_WORDS:
        taken = taken[1:]
    return _trim_phrase(" ".join(taken).lstrip("([{"))


def _continues_phrase(words: list[str], index: int, requires_name: bool) -> bool:
    word, taken = words[index], words[index + 1 :]
    if taken and (_ends_phrase(word) or taken[0][:1] in "([{" or STANDALONE_CODE.search(taken[-1])):
        return False
    if not taken:
        return word.lower() not in SENTENCE_OPENERS and (_is_name(word) or not requires_name)
    if _is_name(taken[0]):
        is_particle = word.lower() in NAME_PARTICLES and index > 0 and words[index - 1][:1].isupper()
        return is_particle or (_is_name(word) and not STANDALONE_CODE.search(word))
    if taken[0].lower() in NAME_PARTICLES and _is_name(taken[-1]):
        return _is_name(word)
    return word.lower() not in PHRASE_STOP_WORDS and not _is_name(word) and len(taken) < MAX_PLAIN_WORDS


def list_name_contexts(left: str) -> Iterator[str]:
    """Yield texts that may end with the name: without filler, parenthesis, apposition."""
    bare = strip_filler(left)
    yield bare
    if bare.endswith(")"):
        opening = bare.rfind("(")
        if opening > 0 and len(bare) - opening < 100:
            yield strip_filler(bare[:opening])
    for match in re.finditer(r",\s+(?:an?|the)\s[^,]{1,80}$", bare[-120:]):
        yield strip_filler(bare[-120:][: match.start()])


def strip_filler(left: str) -> str:
    while True:
        left = left.rstrip(" \t\r\n,;:([—–-")
        head, _, word = left.replace("\n", " ").rpartition(" ")
        if word.lower().lstrip("([") not in FILLER_WORDS:
            return left
        if not head:
            return ""
        left = left[: len(head)]


def extract_sentence(left: str, cue: str, right: str, max_length: int = 300) -> str:
    start = max(left.rfind(". ") + 2, left.rfind("! ") + 2, left.rfind("? ") + 2, left.rfind("\n\n") + 2)
    ends = [
        position + 1
        for position in (right.find(". "), right.find(".\n"), right.find("! "), right.find("? "))
        if position >= 0
    ]
    sentence = left[start if start > 1 else 0 :] + cue + right[: min(ends, default=len(right))]
    return " ".join(sentence.split())[:max_length]
