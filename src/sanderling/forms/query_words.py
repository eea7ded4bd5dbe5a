"""Choose words for search boxes: from the pages of the site, by how much words of a like frequency found.

The frequency of a word in the lines seen so far decides its band. The yield of each band (new records per request, old
results count less) decides which band the next word is from: with a limit on results, middling words find most; without
one, frequent words do; rare words find the rest.
"""

import re
from collections.abc import Iterable

from msgspec import Struct, field

WORD = re.compile(r"[^\W\d_]{3,30}")
MAX_WORDS = 20_000
MIN_COUNT = 2  # words of a single line often find only the record that is known
DECAY = 0.9
PRIOR_FOUND = 10.0  # a band is expected to find so many records per request before its first word


class WordTable(Struct, array_like=True):
    """Words of a site with the number of lines that contain them, and the yield of each band."""

    counts: dict[str, int] = field(default_factory=dict)
    used: dict[str, int] = field(default_factory=dict)  # word: its band
    yields: dict[int, list[float]] = field(default_factory=dict)  # band: requests, records found; both decayed

    def add_lines(self, lines: Iterable[str]) -> None:
        """Count the words of lines that were not seen before."""
        for line in sorted(lines, key=len):  # words of long lines come last, and are tried first: short ones are labels
            for word in {found.lower() for found in WORD.findall(line)}:
                self.counts[word] = self.counts.get(word, 0) + 1
        if len(self.counts) > MAX_WORDS:
            kept = sorted(self.counts, key=lambda word: -self.counts[word])[: MAX_WORDS // 2]
            self.counts = {word: self.counts[word] for word in kept}

    def choose_word(self) -> str:
        """Return the most frequent unused word of the band with the best yield, or ""."""
        best: dict[int, str] = {}
        for word, count in self.counts.items():
            if word in self.used:
                continue
            band = count.bit_length() if count >= MIN_COUNT else 0
            if band not in best or count >= self.counts[best[band]]:
                best[band] = word
        if not best:
            return ""
        band = max(best, key=lambda number: (self._estimate_yield(number), bool(number), -abs(number - 4)))
        self.used[best[band]] = band
        return best[band]

    def record_result(self, word: str, found: int) -> None:
        """Record a request for a word, with the number of new records."""
        band = self.yields.setdefault(self.used.get(word, 0), [0.0, 0.0])
        band[0], band[1] = band[0] * DECAY + 1, band[1] * DECAY + found

    def _estimate_yield(self, band: int) -> float:
        requests, found = self.yields.get(band, (0.0, 0.0))
        return (found + PRIOR_FOUND) / (requests + 1)
