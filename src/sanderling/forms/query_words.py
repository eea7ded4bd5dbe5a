"""Choose words for search boxes: from the pages of the site, by how much words of a like frequency found.

The frequency of a word in the lines seen so far decides its band. The yield of each band of a search box (new records
per request) decides which band the next word is from: with a limit on results, middling words find most; without one,
frequent words do; rare words find the rest.
"""

import re
from collections.abc import Iterable

from msgspec import Struct, field

from sanderling.forms.query_runs import QueryTemplate

WORD = re.compile(r"[^\W\d_]{3,30}")
MAX_WORDS = 20_000
MIN_COUNT = 2  # words of a single line often find only the record that is known
MIDDLE_BAND = 4


class WordTable(Struct, array_like=True):
    """Words of a site with the number of lines that contain them."""

    counts: dict[str, int] = field(default_factory=dict)

    def add_lines(self, lines: Iterable[str]) -> None:
        """Count the words of lines that were not seen before."""
        for line in sorted(lines, key=len):  # words of long lines come last, and are tried first: short ones are labels
            for word in {found.lower() for found in WORD.findall(line)}:
                self.counts[word] = self.counts.get(word, 0) + 1
        if len(self.counts) > MAX_WORDS:
            kept = sorted(self.counts, key=lambda word: -self.counts[word])[: MAX_WORDS // 2]
            self.counts = {word: self.counts[word] for word in kept}

    def find_word(self, template: QueryTemplate, prior: float) -> tuple[float, str, int]:
        """Return the yield expected of the best word that the search box has not had, the word or "", and its band."""
        best: dict[int, str] = {}
        for word, count in self.counts.items():
            if word in template.used_words:
                continue
            band = count.bit_length() if count >= MIN_COUNT else 0
            if band not in best or count >= self.counts[best[band]]:
                best[band] = word
        if not best:
            return 0.0, "", 0
        expected = {number: template.get_yield(number).estimate(prior) for number in best}
        band = max(best, key=lambda number: (expected[number], bool(number), -abs(number - MIDDLE_BAND)))
        return expected[band], best[band], band
