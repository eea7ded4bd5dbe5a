"""Words and tags of a site written as one or two bytes: fewer symbols for a model of text, and longer contexts.

A text is escaped, its capitals become a mark and a small letter, then what is in the dictionary becomes a code. The
dictionary comes from the first pages of a site. Words that end alike lie together: what can stand in one place of a
sentence often ends alike.
"""

import re
from collections import Counter
from collections.abc import Sequence

MOST_WORDS = 2000
LONGEST = 64  # bytes of a word: what a code can become is bounded
LEAST_SEEN = 3
FOREIGN = 0.02  # share of bytes beyond ASCII above which codes would cost more than they save

CAPITAL, ESCAPE = b"\x05", b"\x06"
ONE = bytes((*range(0x0E, 0x20), *range(0x80, 0xA8)))
LEADS = range(0xA8, 0x100)
GROUP = 16  # words behind one lead, at least

TOKEN = re.compile(rb'</?[a-z0-9]+(?: class="[^"<>\x00-\x1f\x80-\xff]{0,40}")?>?|[A-Za-z]{2,}')
SPECIAL = re.compile(rb"[\x05\x06\x0e-\x1f\x80-\xff]")
UPPER = re.compile(rb"(?<![A-Za-z])[A-Z](?=[a-z])")
CODE = re.compile(rb"\x06.|[\xa8-\xff].|[\x0e-\x1f\x80-\xa7]", re.DOTALL)
MARK = re.compile(rb"\x06(.)|\x05([a-z])", re.DOTALL)
CODES = bytes((*ONE, *LEADS))


def choose(sample: bytes) -> tuple[bytes, ...]:
    """Choose the words of a dictionary; none if most of the text is in another script."""
    foreign = len(sample) - len(sample.translate(None, bytes(range(0x80, 0x100))))
    if foreign > FOREIGN * len(sample):
        return ()
    seen = Counter(TOKEN.findall(_escape(sample)))
    fitting = [word for word, count in seen.items() if count >= LEAST_SEEN and len(word) <= LONGEST]
    best = sorted(fitting, key=lambda word: (-seen[word] * (len(word) - 1), word))[:MOST_WORDS]
    best.sort(key=lambda word: (-seen[word], word))
    return (*best[: len(ONE)], *sorted(best[len(ONE) :], key=lambda word: word[::-1]))


class Words:
    """A dictionary in use; without words, a text stays as it is."""

    def __init__(self, words: Sequence[bytes]) -> None:
        if len(words) > MOST_WORDS or any(len(word) > LONGEST for word in words):
            raise ValueError("a dictionary that is too large")
        two = words[len(ONE) :]
        each = max(GROUP, -(-len(two) // len(LEADS)))
        self.codes = {word: bytes((code,)) for word, code in zip(words, ONE, strict=False)}
        self.codes |= {word: bytes((LEADS[n // each], 0x80 + n % each)) for n, word in enumerate(two)}
        self.words = {code: word for word, code in self.codes.items()}

    def shorten(self, text: bytes) -> bytes:
        """Write words as codes."""
        if not self.codes:
            return text
        codes = self.codes
        return TOKEN.sub(lambda found: codes.get(found[0], found[0]), _escape(text))

    def restore(self, short: bytes, most: int) -> bytes:
        """Write codes as words; ValueError if that could be more than `most` bytes or a code means nothing."""
        if not self.codes:
            return short
        if len(short) + LONGEST * (len(short) - len(short.translate(None, CODES))) > LONGEST * most:
            raise ValueError("a text that grows too much")
        words = self.words
        try:
            text = CODE.sub(lambda found: found[0] if found[0][0] == ESCAPE[0] else words[found[0]], short)
        except KeyError:
            raise ValueError("a code without a word") from None
        return MARK.sub(lambda found: found[1] or found[2].upper(), text)


def _escape(text: bytes) -> bytes:
    text = SPECIAL.sub(lambda found: ESCAPE + found[0], text)
    return UPPER.sub(lambda found: CAPITAL + found[0].lower(), text)
