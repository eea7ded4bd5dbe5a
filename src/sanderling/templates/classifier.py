"""Tell wanted pages from others while a crawl is under way, knowing little but the samples.

At first a page is recognised by what it shares with a sample, what every page has counting nothing: features of how it
is built, and words of its URL and title. As pages come in the site's templates are learned, again and again, and then
the template decides.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import exp, log

from sanderling.fingerprint.structure import (
    build_pair_feature,
    compute_weighted_similarity,
    find_neighbors,
    is_block_feature,
    is_plain_feature,
)
from sanderling.templates.learn_templates import Model, learn_host_templates
from sanderling.templates.link_model import name_words
from sanderling.templates.template_views import PageView
from sanderling.templates.title_match import Called
from sanderling.urls.tokens import MAX_TEXT_LENGTH, WORD, split_path, tokenize_page

FIRST_LESSON = 24  # pages before templates are learned
NEXT_LESSON = 1.3  # growth until they are learned again
MOST = 5_000  # pages learned from
SURE_OF_SITE = 48  # pages after which a template is believed with little likeness
EARLY = 0.4  # likeness, or agreement, asked for before
EVEN, STEEP = 0.4, 12.0  # agreement at which a page is as likely wanted as not, and how fast that changes
WHEREABOUTS = ("depth:", "folder:", "top:", "within:")
SLOTS = ("last", "lasts")  # places in which a site may name the kind of a page: the end of its title
RARE = 1.0  # rarity that a word must have to count as much as likeness
DOUBT_OF_NAMESAKE = 0.3  # what is left of doubt when a page is called as a sample is
TRUST_IN_OTHERS = 0.4  # and of belief when it is called otherwise
DOUBT_OF_UNNAMED = 0.5  # what is left of doubt when a page names no kind, like the samples, and others do
BESIDE = 0.4  # share of what the smaller of two pages is built of that is on both, if one site made them
NEARNESS = 0.3  # weight of where a page lies: a crawl begins near the samples, so much lies there


def extract_page_tokens(look: PageView) -> list[str]:
    """What the URL and the title of a page say; how a title and a name end or begin often says of what kind it is."""
    words = WORD.findall(look.title[:MAX_TEXT_LENGTH])
    end = [f"last:{words[-1]}", f"lasts:{words[-2]} {words[-1]}"] if len(words) > 1 else []
    return [*tokenize_page(look.url, look.title), *end, *name_words(split_path(look.url)[1])]


def slot_of(word: str) -> str:
    """The place in which a word stands."""
    return word.partition(":")[0]


class Recogniser:
    """Decides whether a page is built like one of the samples; learns from every page it is shown."""

    def __init__(self, samples: Sequence[PageView]) -> None:
        self.samples = list(samples)
        self.looks: list[PageView] = list(samples)
        self.wanted = 0.0
        self.liked: Counter[int] = Counter()  # features of wanted pages
        self.others = 0
        self.common: Counter[int] = Counter()  # features of the others
        for look in samples:
            self._count(look, True)
        self.model: Model | None = None
        self.homes: set[int] = set()
        self.lesson = float(FIRST_LESSON)
        self.words: Counter[str] = Counter()  # of URLs and titles, and how many pages say them
        self.said = [extract_page_tokens(look) for look in samples]
        self.heard = len(samples)
        self.called = Called(look.title for look in samples)
        self.single: Counter[str] = Counter()  # pages that say in such a place what no other says, or nothing
        for said in self.said:
            self._hear(said)

    def show(self, look: PageView) -> bool:
        """Take a page in, and say whether it is wanted."""
        new = all(look.url != sample.url for sample in self.samples)
        if len(self.looks) < MOST:
            self.looks.append(look)
            if new:
                self.heard += 1
                self._hear(extract_page_tokens(look))
            if len(self.looks) >= self.lesson:
                self.study()
        self._count(look, False)
        wanted = self.wants(look)
        if new and self._is_beside(look):
            self.called.add_title(look.title, wanted)
        if wanted:
            self.others -= 1
            self.common.subtract(look.features)
            self._count(look, True)
        return wanted

    def _count(self, look: PageView, wanted: bool) -> None:
        self.wanted += wanted
        self.others += not wanted
        (self.liked if wanted else self.common).update(look.features)

    def study(self) -> None:
        """Learn the templates of the pages seen so far."""
        self.lesson = len(self.looks) * NEXT_LESSON
        self.model = learn_host_templates(self.looks)
        self.homes = {self.model.place(sample) for sample in self.samples}

    def wants(self, look: PageView) -> bool:
        """Say whether a page is built like one of the samples."""
        if self.model is not None and self.model.place(look) not in self.homes:
            return False
        settled = self.model is not None and self.model.count > 1 and len(self.looks) >= SURE_OF_SITE
        return settled or self.agreement(look) >= EARLY

    def belief(self, look: PageView) -> float:
        """How sure it is that a page is wanted, from 0 to 1."""
        found = self._resemblance(look)
        called = self.called.match_title(look.title)
        unnamed = self.called.is_unnamed(look.title) if self._is_beside(look) else None
        if called is False or unnamed is False:
            return TRUST_IN_OTHERS * found
        return 1 - (DOUBT_OF_NAMESAKE if called else DOUBT_OF_UNNAMED if unnamed else 1.0) * (1 - found)

    def _is_beside(self, look: PageView) -> bool:
        """Whether a page has what surrounds a sample: if not it may be of another site at the same address."""
        return any(
            len(look.features & sample.features) >= BESIDE * min(len(look.features), len(sample.features))
            for sample in self.samples
        )

    def _resemblance(self, look: PageView) -> float:
        """How sure it is by what a page is built of and what it says, whatever it is called."""
        graded = 1 / (1 + exp(-STEEP * (self.agreement(look) - EVEN)))
        if self.model is None or self.model.count < 2:
            return graded
        return (self.wants(look) + graded) / 2

    def agreement(self, look: PageView) -> float:
        """Likeness in both views: how a page is built, and what its URL and title say, as far as they say anything."""
        built = self.likeness(look)
        return (built + max(self._kinship(look, sample, built) for sample in self.said)) / 2

    def _kinship(self, look: PageView, sample: Sequence[str], otherwise: float) -> float:
        """Share of what a sample's URL and title say that this page's say too, each word counting as it is rare."""
        weights = {word: self._telling(word) for word in self._known(sample)}
        shared = sum(weights.get(word, 0.0) for word in self._known(extract_page_tokens(look)))
        return (shared + RARE * otherwise) / (sum(weights.values()) + RARE)

    def _hear(self, said: Sequence[str]) -> None:
        self.words.update(said)
        for word in said:
            if slot_of(word) in SLOTS and self.words[word] <= 2:  # the first that says it is alone until the second
                self.single[slot_of(word)] += 1 if self.words[word] == 1 else -1
        self.single.update(slot for slot in SLOTS if slot not in map(slot_of, said))

    def _known(self, said: Sequence[str]) -> list[str]:
        """What others say too; and the places in which a page names no kind that others name."""
        known = [word for word in said if self.words[word] > 1]
        return [*known, *(slot for slot in SLOTS if slot not in map(slot_of, known))]

    def _telling(self, word: str) -> float:
        rarity = log(self.heard / max(1, self.single[word] if word in SLOTS else self.words[word]))
        return NEARNESS * rarity if word.startswith(WHEREABOUTS) else rarity

    def likeness(self, look: PageView) -> float:
        """Share of features in common with the nearest sample, each counting as much as it is rare."""
        found = 0.0
        for sample in self.samples:
            weights = {feature: self.weight(feature) for feature in sample.features | look.features}
            found = max(found, compute_weighted_similarity(sample.features, look.features, weights, 0.0))
        return found

    def weight(self, feature: int) -> float:
        """How rare a feature is among pages seen. Wanted pages are sought: they count for no more than the others do,
        and what only some of them have is not held against the rest."""
        wanted = min(self.wanted, max(2.0, self.others))
        having = self.common[feature] + (wanted if self.liked[feature] else 0.0)
        return log((wanted + self.others + 1) / max(1.0, having))


ACCIDENT = 0.01  # less likely than this is none
FEWEST = 3  # pages with a list of their own
FEW = 0.08  # of the pages of the template


def asked_for(samples: Collection[frozenset[int]], members: Collection[frozenset[int]]) -> frozenset[int]:
    """Blocks that all samples have, and so few of the pages found that it cannot be an accident."""
    if len(samples) < 2 or not members:
        return frozenset()
    common = [block for block in frozenset.intersection(*samples) if is_block_feature(block)]
    having = _counted(members)
    return frozenset(
        block for block in common if (having[block] / len(members)) ** len(samples) * len(common) < ACCIDENT
    )


def _counted(members: Iterable[frozenset[int]]) -> Counter[int]:
    return Counter(feature for member in members for feature in member)


def own_lists(sample: frozenset[int], members: Mapping[frozenset[int], int]) -> frozenset[int]:
    """Entries of lists that the sample has and only a few pages of its template, of which there are so many of each."""
    most = FEW * sum(members.values())
    entries = [
        block
        for block in sample
        if is_block_feature(block) and build_pair_feature(block, block) in sample and not is_plain_feature(block)
    ]
    return frozenset(entry for entry in entries if _is_own(entry, members, most))


def _is_own(entry: int, members: Mapping[frozenset[int], int], most: float) -> bool:
    having = {member: count for member, count in members.items() if entry in member}
    if not FEWEST <= sum(having.values()) <= most:
        return False
    always = frozenset.intersection(*having)
    before, after = find_neighbors(entry, always)
    return entry in before & after and len(before) > 1 and len(after) > 1
