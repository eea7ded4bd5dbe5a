"""Page types found from samples, by templates; and, for comparison, by similarity with one threshold."""

import random
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.structure_sites import Site, looks
from sanderling.index.structure import STRAY_LIKENESS
from sanderling.index.structure_templates import learn
from sanderling.pages.matching import RIVALS
from sanderling.pages.parse import parse
from sanderling.pages.structure import likeness
from sanderling.pages.tree import Node, clean

TARGET = 0.97


def f1(found: set[str], wanted: set[str]) -> float:
    """Harmonic mean of precision and recall."""
    return 2 * len(found & wanted) / (len(found) + len(wanted)) if found else 0.0


def find_types(site: Site, samples: int) -> dict[str, tuple[int, float]]:
    """One sample of a type, all pages of that type to be found; the mean over several samples, for every type."""
    seen = looks(site)
    model = learn(list(seen.values()))
    placed: defaultdict[int, set[str]] = defaultdict(set)
    numbers = {path: model.place(look) for path, look in seen.items()}
    for path, number in numbers.items():
        placed[number].add(path)

    def ask(sample: str) -> set[str]:
        found = placed[numbers[sample]]
        if numbers[sample] < model.count:
            return found
        return {path for path in found if likeness(seen[path].features, seen[sample].features) >= STRAY_LIKENESS}

    chooser = random.Random(8)
    results = {}
    for kind, members in site.of_type().items():
        chosen = chooser.sample(members, min(samples, len(members)))
        results[kind] = (len(members), statistics.mean(f1(ask(sample), set(members)) for sample in chosen))
    return results


def types_table(sites: Sequence[Site], samples: int) -> Iterator[str]:
    """The table of page types."""
    yield "### Page types found from one sample"
    yield ""
    yield f"Mean over up to {samples} random samples of each type; target: macro F1 at least {TARGET}."
    yield ""
    yield "| site | pages | types | macro F1, all types | macro F1, types of 10 pages and more | below 0.97 |"
    yield "|---|---:|---:|---:|---:|---|"
    for site in sites:
        results = find_types(site, samples)
        every = statistics.mean(value for _, value in results.values())
        large = statistics.mean(value for count, value in results.values() if count >= 10)
        low = ", ".join(f"{kind} ({count}): {v:.2f}" for kind, (count, v) in results.items() if v < TARGET)
        yield f"| {site.name} | {len(site.types):,} | {len(results)} | {every:.3f} | {large:.3f} | {low or '-'} |"


def methods_table(sites: Sequence[Site]) -> Iterator[str]:
    """Whole-tree similarities with one threshold for all sites, the best there is, on some pages of every type."""
    yield "### Similarity with one threshold, for comparison"
    yield ""
    yield "Up to 12 pages of every type; the threshold that is best over all sites, chosen with the labels at hand."
    yield ""
    yield "| method | best threshold | " + " | ".join(site.name for site in sites) + " | pairs/s |"
    yield "|---|---:|" + "---:|" * (len(sites) + 1)
    trees = {site.name: _some_trees(site) for site in sites}
    for name, method in RIVALS.items():
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


def _some_trees(site: Site) -> dict[str, tuple[str, Node]]:
    chooser = random.Random(5)
    found = {}
    for kind, members in site.of_type().items():
        for path in chooser.sample(members, min(12, len(members))):
            found[path] = (kind, clean(parse(site.read(path))))
    return found


def _at(scores: Mapping[str, Mapping[str, float]], kinds: Mapping[str, tuple[str, Node]], threshold: float) -> float:
    """Macro F1 where everything over a threshold is taken."""
    per_type: defaultdict[str, list[float]] = defaultdict(list)
    for sample, row in scores.items():
        found = {path for path, value in row.items() if value >= threshold}
        wanted = {path for path, (kind, _) in kinds.items() if kind == kinds[sample][0]}
        per_type[kinds[sample][0]].append(f1(found, wanted))
    return statistics.mean(statistics.mean(values) for values in per_type.values())
