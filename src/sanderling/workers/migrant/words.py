"""Words, tags and attributes of a site written as one or two bytes: fewer symbols for a model, longer contexts.

The dictionary comes from the first pages of a site. A word with a capital is a mark and the word without. Words that
end alike lie together: what can stand in one place of a sentence often ends alike. A character beyond ASCII is a word
too, so other scripts are shortened likewise. The most frequent tags have codes that nothing else contains: they are put
back last, and fast.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

MOST_WORDS = 8000
LONGEST = 64  # bytes of a word
LEAST_SEEN = 3
MOST_SPELLED = 2**17  # words looked up, with and without a code

CAPITAL, ESCAPE = b"\x05", b"\x06"
TAGS = bytes(range(0x0E, 0x20))
ONE = bytes(range(0x80, 0xA8))
LEADS = range(0xA8, 0x100)
GROUP = 128  # words behind one lead

TOKEN = re.compile(
    rb'(</?[a-z0-9]+(?: class="[^"<>\x00-\x1f\x80-\xff]{0,40}")?>?|&[a-z0-9#]{2,8};| [a-z]+="|[A-Za-z]{2,}'
    rb"|[\xc2-\xf4][\x80-\xbf]{1,3}|[\x80-\xff])"
)
CODE = re.compile(  # it begins with one set of bytes, for which the search is twice as fast
    rb"([\x05\x06\x80-\xff](?:(?<=[\x06\xa8-\xff]).|(?<=\x05)(?:[\xa8-\xff].|[\x80-\xa7])|(?<=[\x80-\xa7])))",
    re.DOTALL,
)
TAG = re.compile(rb"<[ -;=?-~]+>").fullmatch
TITLE = re.compile(rb"[A-Z][a-z]+").fullmatch
SMALL = re.compile(rb"[a-z]{2,}").fullmatch


def choose(sample: bytes) -> tuple[bytes, ...]:
    """Choose the words of a dictionary: first the most frequent tags, then words, then the others by their endings."""
    seen = Counter[bytes]()
    for word, count in Counter(TOKEN.findall(sample)).items():
        seen[word.lower() if TITLE(word) else word] += count
    saved = {w: n * (len(_spelled(w)) - 1) for w, n in seen.items() if n >= LEAST_SEEN and len(w) <= LONGEST}
    best = sorted(saved, key=lambda word: (-saved[word], word))[:MOST_WORDS]
    best.sort(key=lambda word: (-seen[word], word))
    tags = [word for word in best if TAG(word)][: len(TAGS)]
    rest = [word for word in best if word not in set(tags)]
    return (*tags, *rest[: len(ONE)], *sorted(rest[len(ONE) :], key=lambda word: word[::-1]))


class Codes(dict[bytes, bytes]):
    """Codes by word; a word that has none is spelled, and looked up the next time."""

    def __missing__(self, word: bytes) -> bytes:
        spelled = _spelled(word)
        if len(self) < MOST_SPELLED and len(word) <= LONGEST:
            self[word] = spelled
        return spelled


class Words:
    """A dictionary in use. A text must have none of the bytes below 32 that stand for something here."""

    def __init__(self, words: Sequence[bytes]) -> None:
        if len(words) > MOST_WORDS or any(len(word) > LONGEST for word in words):
            raise ValueError("a dictionary that is too large")
        tags = list(takewhile(TAG, words[: len(TAGS)]))
        one, two = words[len(tags) :][: len(ONE)], words[len(tags) + len(ONE) :]
        self.tags = [(bytes((code,)), tag) for code, tag in zip(TAGS, tags, strict=False)]
        self.unused = TAGS[len(tags) :]
        self.codes = Codes(zip(one, (bytes((code,)) for code in ONE), strict=False))
        self.codes |= {word: bytes((LEADS[n // GROUP], 0x80 + n % GROUP)) for n, word in enumerate(two)}
        self.codes |= {word.title(): CAPITAL + code for word, code in self.codes.items() if SMALL(word)}
        self.words = {code: word for word, code in self.codes.items()}
        self.words |= {ESCAPE + bytes((byte,)): bytes((byte,)) for byte in range(0x80, 0x100)}
        self.words |= {ESCAPE + bytes((byte,)): ESCAPE + bytes((byte,)) for byte in range(0x80)}
        self.codes |= {tag: code for code, tag in self.tags}

    def shorten(self, text: bytes) -> bytes:
        """Write words as codes."""
        parts = TOKEN.split(text)
        parts[1::2] = map(self.codes.__getitem__, parts[1::2])
        return b"".join(parts)

    def restore(self, short: bytes, most: int) -> bytes:
        """Write codes as words; ValueError if that were more than `most` bytes or if a code means nothing."""
        parts = CODE.split(short)
        try:
            parts[1::2] = map(self.words.__getitem__, parts[1::2])
        except KeyError:
            raise ValueError("a code without a word") from None
        size = sum(map(len, parts))
        if size > most:
            raise ValueError("a text that grows too much")
        return self._with_tags(b"".join(parts), most - size)

    def _with_tags(self, text: bytes, room: int) -> bytes:
        if len(text.translate(None, self.unused)) < len(text):
            raise ValueError("a code without a word")
        if self._growth(text, room) > room:
            raise ValueError("a text that grows too much")
        for code, tag in self.tags:
            text = text.replace(code, tag)
        return text

    def _growth(self, text: bytes, room: int) -> int:
        """How much longer tags make a text, at most; they are counted one by one only if that may be too much."""
        most = (len(text) - len(text.translate(None, TAGS))) * LONGEST
        return most if most <= room else sum(text.count(code) * (len(tag) - 1) for code, tag in self.tags)


def _spelled(word: bytes) -> bytes:
    return word if word.isascii() else b"".join(ESCAPE + bytes((byte,)) for byte in word)
