"""Topic relevance for focused crawls. Runs on every page in every worker, so it must be fast.

A topic is a few weighted words. A word matches at the start of a text word, with a short suffix at most: `index`
matches "indexes" and "indexed", not "reindex". The page text is never split into words.
"""

import re
import struct
from collections import Counter
from collections.abc import Mapping
from math import log

from msgspec import Struct

from sanderling.errors import UsageError

MAX_WORDS = 16  # each costs a search through every page
MAX_WORD_LENGTH = 40
MAX_SUFFIX_LENGTH = 3  # s, ed, ing
MAX_OCCURRENCES = 20  # counted per word
HALF_WEIGHT_OCCURRENCES = 2.0  # that give half of the weight on a short page
SHORT_PAGE_CHARS = 500
LONG_PAGE_CHARS = 20_000  # at this length twice as many are needed
TITLE_WEIGHT = 0.25  # share of the title in page relevance
ANCHOR_WEIGHT = 0.8  # share of the link text; the rest is the surrounding text
MIN_RELEVANCE = 0.25  # from here on the text around links is scored
REWEIGHT_INTERVAL = 16  # pages
PRIOR_PAGES = 6  # prior: each word occurs in half of this many pages
FIRST_UNSPACED_CHAR = "\u2e80"  # from here on scripts do not separate words by spaces

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
    """Words of a focused crawl with weights that add up to 1."""

    words: dict[str, float] = {}

    def __bool__(self) -> bool:
        return bool(self.words)

    def compute_coverage(self, text: str) -> float:
        """Return the total weight of the topic words in a short text, 0 to 1."""
        low = text.lower()
        return sum(weight for word, weight in self.words.items() if word in low and count_occurrences(word, low, 1))

    def score_page(self, text: str, title: str = "") -> float:
        """Return the relevance of a page, 0 to 1."""
        low = text.lower()
        return self.score_word_counts(
            {word: count_occurrences(word, low, MAX_OCCURRENCES) for word in self.words}, len(low), title
        )

    def score_word_counts(self, counts: Mapping[str, int], length: int, title: str) -> float:
        """Return the relevance from word counts. A page with only some of the words may be about something else."""
        half = HALF_WEIGHT_OCCURRENCES * (1 + length / LONG_PAGE_CHARS)
        body = sum(weight * counts[word] / (counts[word] + half) for word, weight in self.words.items())
        title_score = self.compute_coverage(title)
        coverage = sum(weight for word, weight in self.words.items() if counts[word])
        return (1 + max(coverage, title_score)) / 2 * ((1 - TITLE_WEIGHT) * body + TITLE_WEIGHT * title_score)

    def score_link(self, anchor: str, context: str) -> float:
        """Return the expected relevance of a link target from its link text and the text around it."""
        own = self.compute_coverage(anchor)
        return ANCHOR_WEIGHT * own + (1 - ANCHOR_WEIGHT) * (1.0 if own else self.compute_coverage(context))


def add_short_text(title: str, text: str) -> str:
    """Return a title with the text of the page, if that says no more than a title and a line."""
    return f"{title} {text}" if len(text) <= SHORT_PAGE_CHARS else title


class TopicScorer:
    """Scores pages in sequence, lowering the weight of words that occur on most of them (IDF)."""

    def __init__(self, topic: Topic) -> None:
        self.initial_topic = topic
        self.topic = topic
        self.page_count = 0
        self.document_frequency = dict.fromkeys(topic.words, 0)
        self.is_page_relevant = False  # the last page
        self.is_ascii = all(word.isascii() for word in topic.words)

    def score_page(self, text: str, title: str = "") -> float:
        """Return the relevance of a page with the current weights, and update the weights."""
        plain = (
            text.encode("ascii", "replace").decode("ascii") if self.is_ascii else text
        )  # lowercasing ASCII is much faster
        lowered = plain.lower()
        counts = {word: count_occurrences(word, lowered, MAX_OCCURRENCES) for word in self.initial_topic.words}
        self._update_weights(counts)
        relevance = self.topic.score_word_counts(counts, len(lowered), title)
        self.is_page_relevant = relevance >= MIN_RELEVANCE
        return relevance

    def score_link(self, anchor: str, context: str) -> float:
        """Return the expected relevance of a link target with the current weights."""
        return self.topic.score_link(anchor, context)

    def _update_weights(self, counts: Mapping[str, int]) -> None:
        self.page_count += 1
        for word, count in counts.items():
            self.document_frequency[word] += count > 0
        if self.page_count > REWEIGHT_INTERVAL and self.page_count % REWEIGHT_INTERVAL:
            return
        weights = {
            word: weight * log(1 + (self.page_count + PRIOR_PAGES) / (self.document_frequency[word] + PRIOR_PAGES / 2))
            for word, weight in self.initial_topic.words.items()
        }
        total = sum(weights.values())
        self.topic = Topic({word: weight / total for word, weight in weights.items()})


def count_occurrences(word: str, text: str, limit: int) -> int:
    """Count a word in lowercase text, up to `limit`."""
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
    return any(position >= end or not text[position].isalnum() for position in range(at, at + MAX_SUFFIX_LENGTH + 1))


def strip_plural(word: str) -> str:
    """Return a word without plural suffix; matching allows any short suffix."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def build_topic_from_query(query: str) -> Topic:
    """Return a topic of the query's words with equal weights. Raises UsageError without words."""
    words = dict.fromkeys(_extract_words(query))
    if not words:
        raise UsageError(f"--query {query!r} contains no usable word; write for example --query 'database index'")
    chosen = list(words)[:MAX_WORDS]
    return Topic({word: 1 / len(chosen) for word in chosen})


def build_topic_from_text(text: str, name: str) -> Topic:
    """Return a topic of the most frequent words, weighted by length. Raises UsageError without words."""
    counts = Counter(_extract_words(text))
    if not counts:
        raise UsageError(f"--like-text {name} contains no usable word; pass a plain text file")
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
    return struct.pack("<f", value)


def unpack_relevance(packed: bytes) -> float:
    value: float = struct.unpack("<f", packed)[0]
    return value
