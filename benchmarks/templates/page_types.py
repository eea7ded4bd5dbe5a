"""Page types found from samples, by templates; and, for comparison, by similarity with one threshold."""

import random
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.templates.labelled_sites import Site, looks
from msgspec import Struct

from sanderling.fingerprint.structure import compute_feature_similarity
from sanderling.html.parser import parse_html
from sanderling.html.tag_tree import TagNode, build_tag_tree
from sanderling.html.tree_match import SIMILARITY_MEASURES
from sanderling.templates.classifier import asked_for, own_lists
from sanderling.templates.learn_templates import learn_host_templates
from sanderling.templates.template_index import STRAY_LIKENESS

TARGET = 0.97
LARGE = 10  # pages


def f1(found: set[str], wanted: set[str]) -> float:
    """Harmonic mean of precision and recall."""
    return 2 * len(found & wanted) / (len(found) + len(wanted)) if found else 0.0


class Found(Struct, frozen=True):
    """How well the pages of a type are found, from one sample and from three; means of F1."""

    pages: int
    one: float
    three: float


class Finder:
    """Answers for samples of a site, as the store does."""

    def __init__(self, site: Site) -> None:
        self.seen = looks(site)
        self.model = learn_host_templates(list(self.seen.values()))
        self.numbers = {path: self.model.place(look) for path, look in self.seen.items()}
        self.placed: defaultdict[int, set[str]] = defaultdict(set)
        for path, number in self.numbers.items():
            self.placed[number].add(path)

    def ask(self, samples: Sequence[str]) -> set[str]:
        """Pages found for one sample or more."""
        found = set[str]().union(*(self._like(sample) for sample in samples))
        members = {path: self.seen[path].features for path in found}
        wanted = asked_for([self.seen[sample].features for sample in samples], members.values())
        return {path for path, features in members.items() if wanted <= features}

    def _like(self, sample: str) -> set[str]:
        found, features = self.placed[self.numbers[sample]], self.seen[sample].features
        if self.numbers[sample] < self.model.count:
            wanted = own_lists(features, Counter(self.seen[path].features for path in found))
            return {path for path in found if wanted <= self.seen[path].features}
        return {
            path for path in found if compute_feature_similarity(self.seen[path].features, features) >= STRAY_LIKENESS
        }


def find_types(site: Site, samples: int) -> dict[str, Found]:
    """Some samples of a type, all pages of that type to be found, for every type."""
    finder, chooser = Finder(site), random.Random(8)
    results = {}
    for kind, members in site.of_type().items():
        ones = [[sample] for sample in chooser.sample(members, min(samples, len(members)))]
        threes = [chooser.sample(members, min(3, len(members))) for _ in ones]
        one, three = (
            statistics.mean(f1(finder.ask(chosen), set(members)) for chosen in many) for many in (ones, threes)
        )
        results[kind] = Found(len(members), one, three)
    return results


def types_table(sites: Sequence[Site], samples: int) -> Iterator[str]:
    """The table of page types."""
    yield "### Page types found from one sample, and from three"
    yield ""
    yield f"Mean over up to {samples} random choices for each type; target: macro F1 at least {TARGET} with one sample."
    yield ""
    yield "| site | pages | types | macro F1 | types of 10 pages and more | three samples | below 0.97 with one |"
    yield "|---|---:|---:|---:|---:|---:|---|"
    for site in sites:
        results = find_types(site, samples)
        every = statistics.mean(found.one for found in results.values())
        large = statistics.mean(found.one for found in results.values() if found.pages >= LARGE)
        three = statistics.mean(found.three for found in results.values())
        low = [
            f"{kind} ({found.pages}): {found.one:.2f}, three {found.three:.2f}"
            for kind, found in results.items()
            if found.one < TARGET
        ]
        cells = f"{every:.3f} | {large:.3f} | {three:.3f} | {'; '.join(low) or '-'}"
        yield f"| {site.name} | {len(site.types):,} | {len(results)} | {cells} |"


def methods_table(sites: Sequence[Site]) -> Iterator[str]:
    """Whole-tree similarities with one threshold for all sites, the best there is, on some pages of every type."""
    yield "### Similarity with one threshold, for comparison"
    yield ""
    yield "Up to 12 pages of every type; the threshold that is best over all sites, chosen with the labels at hand."
    yield ""
    yield "| method | best threshold | " + " | ".join(site.name for site in sites) + " | pairs/s |"
    yield "|---|---:|" + "---:|" * (len(sites) + 1)
    trees = {site.name: _some_trees(site) for site in sites}
    for name, method in SIMILARITY_MEASURES.items():
        start, pairs, scores = time.perf_counter(), 0, {}
        for site, kinds in trees.items():
            scores[site] = {a: {b: method(kinds[a][1], kinds[b][1]) for b in kinds} for a in kinds}
            pairs += len(kinds) ** 2
        speed = pairs / (time.perf_counter() - start)
        best, values = max(
            (statistics.mean(row := [_at(scores[site], kinds, t / 50) for site, kinds in trees.items()]), (t / 50, row))
            for t in range(5, 50)
        )[1]
        cells = " | ".join(f"{value:.2f}" for value in values)
        yield f"| {name} | {best:.2f} | {cells} | {speed:,.0f} |"


def _some_trees(site: Site) -> dict[str, tuple[str, TagNode]]:
    chooser = random.Random(5)
    found = {}
    for kind, members in site.of_type().items():
        for path in chooser.sample(members, min(12, len(members))):
            found[path] = (kind, build_tag_tree(parse_html(site.read(path))))
    return found


def _at(scores: Mapping[str, Mapping[str, float]], kinds: Mapping[str, tuple[str, TagNode]], threshold: float) -> float:
    """Macro F1 where everything over a threshold is taken."""
    per_type: defaultdict[str, list[float]] = defaultdict(list)
    for sample, row in scores.items():
        found = {path for path, value in row.items() if value >= threshold}
        wanted = {path for path, (kind, _) in kinds.items() if kind == kinds[sample][0]}
        per_type[kinds[sample][0]].append(f1(found, wanted))
    return statistics.mean(statistics.mean(values) for values in per_type.values())
