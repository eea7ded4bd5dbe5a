"""How much a text speaks of a topic: for focused crawls, in every migrant, so it must be quick.

A topic is a few words with weights. Words are found as they stand at the beginning of a word of the text, with at most
a short ending behind: `index` is in "indexes" and "indexed", not in "reindex". A page's text is never split.
"""

import re
import struct
from collections import Counter
from collections.abc import Mapping
from math import log

from msgspec import Struct

from sanderling.errors import UsageError

MAX_WORDS = 16  # of a topic; each costs a search through every page
MAX_WORD_LENGTH = 40
MAX_SUFFIX_LENGTH = 3  # letters that may follow a word: s, ed, ing
MAX_OCCURRENCES = 20  # occurrences counted
HALF_WEIGHT_OCCURRENCES = 2.0  # occurrences that give half of the weight, on a short page
LONG_PAGE_CHARS = 20_000  # characters at which a page needs twice as many
TITLE_WEIGHT = 0.25  # of the relevance of a page comes from its title
ANCHOR_WEIGHT = 0.8  # LIT-SHARK: of the promise of a link comes from its own words, the rest from those around it
MIN_RELEVANCE = 0.25  # from here on it is worth while to look at the words around each link
REWEIGHT_INTERVAL = 16  # pages after which words are weighed again
PRIOR_PAGES = 6  # pages a word is taken to be in half of before any was seen
FIRST_UNSPACED_CHAR = "\u2e80"  # from here on scripts do not part words by spaces

WORD_PATTERN = re.compile(r"[^\W_]+(?:[+#]+)?")
STOPWORDS = frozenset(
    re.findall(
        r"\w+",
        """
    a about all also an and any are as at be because been but by can could do does for from had has have he her his
    how i if in into is it its like may me more most my no not of on one only or other our out over she should so
    some such than that the their them then there these they this those to up us use used was we were what when
    where which while who why will with would you your der die das und ist ein eine zu mit auf von le la les de du
    des et est un une el los las y es por para con
""",
    )
)


class Topic(Struct, frozen=True):
    """What a focused crawl is after: words, with weights that add up to 1."""

    words: dict[str, float] = {}

    def __bool__(self) -> bool:
        return bool(self.words)

    def compute_coverage(self, text: str) -> float:
        """How much of the topic a short text names, from 0 to 1."""
        low = text.lower()
        return sum(weight for word, weight in self.words.items() if word in low and count_occurrences(word, low, 1))

    def score_page(self, text: str, title: str = "") -> float:
        """How much a page speaks of it, from 0 to 1."""
        low = text.lower()
        return self.score_word_counts(
            {word: count_occurrences(word, low, MAX_OCCURRENCES) for word in self.words}, len(low), title
        )

    def score_word_counts(self, counts: Mapping[str, int], length: int, title: str) -> float:
        """The same, of a page whose words were counted; what has half of the words may speak of something else."""
        half = HALF_WEIGHT_OCCURRENCES * (1 + length / LONG_PAGE_CHARS)
        body = sum(weight * counts[word] / (counts[word] + half) for word, weight in self.words.items())
        named = self.compute_coverage(title)
        had = sum(weight for word, weight in self.words.items() if counts[word])
        return (1 + max(had, named)) / 2 * ((1 - TITLE_WEIGHT) * body + TITLE_WEIGHT * named)

    def score_link(self, anchor: str, context: str) -> float:
        """What the words of a link and those around it say of where it leads."""
        own = self.compute_coverage(anchor)
        return ANCHOR_WEIGHT * own + (1 - ANCHOR_WEIGHT) * (1.0 if own else self.compute_coverage(context))


class TopicScorer:
    """Hears a topic in one page after the other: a word that most of them have says little, so its weight falls."""

    def __init__(self, topic: Topic) -> None:
        self.initial_topic = topic
        self.topic = topic
        self.page_count = 0
        self.document_frequency = dict.fromkeys(topic.words, 0)
        self.is_page_relevant = False  # in the last page
        self.is_ascii = all(word.isascii() for word in topic.words)

    def score_page(self, text: str, title: str = "") -> float:
        """How much a page speaks of the topic, as far as words are known by now."""
        plain = text.encode("ascii", "replace").decode("ascii") if self.is_ascii else text  # made small in no time
        low = plain.lower()
        counts = {word: count_occurrences(word, low, MAX_OCCURRENCES) for word in self.initial_topic.words}
        self._update_weights(counts)
        found = self.topic.score_word_counts(counts, len(low), title)
        self.is_page_relevant = found >= MIN_RELEVANCE
        return found

    def score_link(self, anchor: str, context: str) -> float:
        """What the words of a link and those around it say of where it leads."""
        return self.topic.score_link(anchor, context)

    def _update_weights(self, counts: Mapping[str, int]) -> None:
        self.page_count += 1
        for word, count in counts.items():
            self.document_frequency[word] += count > 0
        if self.page_count > REWEIGHT_INTERVAL and self.page_count % REWEIGHT_INTERVAL:
            return
        rare = {
            word: weight * log(1 + (self.page_count + PRIOR_PAGES) / (self.document_frequency[word] + PRIOR_PAGES / 2))
            for word, weight in self.initial_topic.words.items()
        }
        total = sum(rare.values())
        self.topic = Topic({word: weight / total for word, weight in rare.items()})


def count_occurrences(word: str, text: str, limit: int) -> int:
    """Count a word in a text of small letters, up to `enough`."""
    found, at, size, end = 0, text.find(word), len(word), len(text)
    bounded = word[0] < FIRST_UNSPACED_CHAR
    while at >= 0:
        after = at + size
        if not bounded or (not (at and text[at - 1].isalnum()) and _is_word_end(text, after, end)):
            found += 1
            if found >= limit:
                break
        at = text.find(word, after)
    return found


def _is_word_end(text: str, at: int, end: int) -> bool:
    return any(place >= end or not text[place].isalnum() for place in range(at, at + MAX_SUFFIX_LENGTH + 1))


def strip_plural(word: str) -> str:
    """A word without the s of its plural: what is looked for may have any short ending."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def build_topic_from_query(query: str) -> Topic:
    """The words of a query, all of one weight."""
    words = dict.fromkeys(_extract_words(query))
    if not words:
        raise UsageError(f"--query {query!r} has no word to look for; write for example --query 'database index'")
    chosen = list(words)[:MAX_WORDS]
    return Topic({word: 1 / len(chosen) for word in chosen})


def build_topic_from_text(text: str, name: str) -> Topic:
    """The words a text uses most, the more the longer they are: long words say more."""
    counts = Counter(_extract_words(text))
    if not counts:
        raise UsageError(f"--like-text {name} has no word to look for; name a file of plain text")
    weighed = {word: count * min(len(word), 10) for word, count in counts.items() if len(word) > 2 or len(counts) < 5}
    best = Counter(weighed or counts).most_common(MAX_WORDS)
    total = sum(weight for _, weight in best)
    return Topic({word: weight / total for word, weight in best})


def _extract_words(text: str) -> list[str]:
    found = (word.lower() for word in WORD_PATTERN.findall(text))
    return [
        strip_plural(word)
        for word in found
        if word not in STOPWORDS and 1 < len(word) <= MAX_WORD_LENGTH and not word.isdigit()
    ]


def pack_relevance(value: float) -> bytes:
    """A relevance as a mark of a page."""
    return struct.pack("<f", value)


def unpack_relevance(packed: bytes) -> float:
    """The relevance a mark holds."""
    value: float = struct.unpack("<f", packed)[0]
    return value
