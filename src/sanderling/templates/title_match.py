"""What a page is called: as a sample is, or otherwise, where a site names the kinds of its pages in their titles.

"Vec Class Reference" and "std Namespace Reference" end in the same word and are of two kinds. While few pages are known
that says more than what they are built of: the page of a large namespace is built like that of a class. Pages that name
no kind among others that do are odds and ends, whatever they are built of; people take them for one kind.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from sanderling.templates.titles import ENDS, Titles, read_titles
from sanderling.urls.tokens import MAX_TEXT_LENGTH, WORD

SHARE = 0.25  # of all titles, before the word they end in is believed to stand for kinds
OTHERS = 2  # pages of other names that end in the same word, before a name says anything
SEVERAL = 3  # pages of one name before it is that of another kind
NAMING = 4  # titles that end in one word, before it can be told who names no kind
AGAIN = 1.1  # growth until all titles are read again
MOST = 2_000  # titles that are read


class Called:
    """Tells whether pages are called as the samples are; learns from every title."""

    def __init__(self, samples: Iterable[str]) -> None:
        self.samples = list(samples)
        self.heard = list(self.samples)
        self.sought = len(self.samples)  # titles of wanted pages
        self._read()

    def add_title(self, title: str, wanted: bool = False) -> None:
        """Take in the title of another page. Wanted pages are sought: no more of them are heard than of others."""
        namesake = wanted and any(_tail(title) == _tail(sample) for sample in self.samples)
        if namesake and 2 * self.sought > len(self.heard):
            return
        self.sought += namesake
        if len(self.heard) < MOST:
            self.heard.append(title)
            if len(self.heard) >= AGAIN * self.known:
                self._read()
            else:
                self._count([title])

    def _read(self) -> None:
        """Learn how the site names its kinds."""
        self.known = len(self.heard)
        self.titles: Titles = read_titles(self.heard)
        self.counted: Counter[str] = Counter()  # pages of each name
        self.ends: Counter[str] = Counter()  # and of all names that end in one word
        self._count(self.heard)
        self.names = {name for title in self.samples if (name := self.titles.kind(title))}

    def _count(self, titles: Sequence[str]) -> None:
        names = [name for title in titles if (name := self.titles.kind(title))]
        self.counted.update(names)
        self.ends.update(map(_end, names))

    def match_title(self, title: str) -> bool | None:
        """Whether a page is called as a sample is, or otherwise; None if its title does not say."""
        name = self.titles.kind(title)
        if name is None or not self._is_believed(_end(name)):
            return None
        if name in self.names:
            return True if self._is_one_of_several(name) else None
        return False if self.counted[name] >= SEVERAL else None

    def is_unnamed(self, title: str) -> bool | None:
        """Whether a page names no kind, where no sample does and others do; None if that cannot be told."""
        ends = self._kinds_end_in()
        if not ends or any(self.counted[name] > 1 or _end(name) in ends for name in self.names):
            return None
        name = self.titles.kind(title)
        if name is not None and _end(name) in ends:
            return False
        return True if name is None or self.counted[name] <= 1 else None

    def _kinds_end_in(self) -> set[str]:
        """Words that so many titles end in, with several names before, that kinds must be called by them."""
        several = Counter(map(_end, self.counted))
        least = max(NAMING, SHARE * len(self.heard))
        return {end for end, count in self.ends.items() if count >= least and several[end] > 1}

    def _is_believed(self, end: str) -> bool:
        """So many titles end in this word, a sample's too, that it must stand for kinds of pages."""
        return self.ends[end] >= SHARE * len(self.heard) and any(_end(name) == end for name in self.names)

    def _is_one_of_several(self, name: str) -> bool:
        return self.ends[_end(name)] >= self.counted[name] + OTHERS

    def words(self) -> list[str]:
        """The words that tell the kinds of the samples from others: "Namespace" of "Namespace Reference"."""
        believed = [name for name in self.names if self._is_believed(_end(name)) and self._is_one_of_several(name)]
        return sorted(name.removeprefix(ENDS).split(" ")[0] for name in believed)


def _end(name: str) -> str:
    return name.rpartition(" ")[2]


def _tail(title: str) -> list[str]:
    return WORD.findall(title[-MAX_TEXT_LENGTH:])[-2:]
