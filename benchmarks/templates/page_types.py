"""Page types found from one, three and five samples, with baselines; parameters chosen on the other sites."""

import random
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from math import exp, log

from benchmarks.templates.labelled_sites import Site, load_views
from msgspec import Struct

from sanderling.fingerprint.structure import compute_feature_similarity, decode_features
from sanderling.templates import concept_averaging
from sanderling.templates.concept_averaging import CALIBRATION, PageSets, infer_concepts
from sanderling.templates.page_features import extract_features
from sanderling.templates.page_partition import partition_pages

SAMPLE_COUNTS = (1, 3, 5)
DRAWS = 3
MIN_PAGES = 10  # of a type that is measured
MAX_PAGES = 600  # of a site, chosen at random
JACCARD_THRESHOLD = 0.7
QUESTIONS = 3
GRID = list(product((1.0, 1.5, 2.0), (1.0, 2.0), (0.5, 0.75)))  # coherence, URL weight, sharpness
GENERATORS = {"junit4-doc": "javadoc", "libjsoup-java-doc": "javadoc", "openjdk-17-doc": "javadoc"}
Grid = dict[tuple[float, float, float], dict[int, list[float]]]
BINS = 10


class SiteViews(Struct):
    """A labelled site with the features of its pages."""

    site: Site
    paths: list[str]
    features: list[frozenset[int]]
    structures: list[frozenset[int]]
    source: PageSets
    types: dict[str, list[int]]
    leaves: list[set[int]]


def load_site(site: Site) -> SiteViews:
    views = load_views(site)
    paths = list(views)
    numbers = {path: number for number, path in enumerate(paths)}
    features = [extract_features(view) for view in views.values()]
    leaves: list[set[int]] = [set() for _ in paths]
    for page_type in partition_pages(list(views.values())):
        members = {id_ - 1 for id_ in page_type.ids}
        for number in members:
            leaves[number] = members
    return SiteViews(
        site,
        paths,
        features,
        [decode_features(view.fingerprint) for view in views.values()],
        PageSets(features),
        {
            kind: [numbers[path] for path in members]
            for kind, members in site.group_by_type().items()
            if len(members) >= MIN_PAGES
        },
        leaves,
    )


def limit_pages(site: Site, limit: int = MAX_PAGES) -> Site:
    paths = sorted(site.types)
    chosen = random.Random(0).sample(paths, min(limit, len(paths)))
    return Site(site.name, site.root, {path: site.types[path] for path in sorted(chosen)})


def compute_f1(found: set[int], wanted: set[int]) -> float:
    return 2 * len(found & wanted) / (len(found) + len(wanted)) if found or wanted else 0.0


def draw_samples(site: SiteViews, kind: str, draw: int, count: int) -> list[int]:
    return random.Random(f"{site.site.name} {kind} {draw} {count}").sample(site.types[kind], count)


def find_by_concepts(site: SiteViews, samples: Sequence[int]) -> set[int]:
    inference = infer_concepts(site.source, [site.features[n] for n in samples])
    return {*inference.rank_pages(), *samples}


def find_in_directory(site: SiteViews, samples: Sequence[int]) -> set[int]:
    folders = {site.paths[n].rpartition("/")[0] for n in samples}
    return {n for n, path in enumerate(site.paths) if path.rpartition("/")[0] in folders}


def find_by_jaccard(site: SiteViews, samples: Sequence[int]) -> set[int]:
    wanted = [site.structures[n] for n in samples]
    return {
        n
        for n, structure in enumerate(site.structures)
        if max(compute_feature_similarity(structure, sample) for sample in wanted) >= JACCARD_THRESHOLD
    }


Finder = Callable[[SiteViews, Sequence[int]], set[int]]


def score_draws(site: SiteViews, count: int, find: Finder) -> list[float]:
    """Return the macro F1 of a site for each draw."""
    scores = []
    for draw in range(DRAWS):
        kinds = [kind for kind, members in site.types.items() if len(members) > count]
        values = []
        for kind in kinds:
            samples = draw_samples(site, kind, draw, count)
            values.append(compute_f1(find(site, samples), set(site.types[kind])))
        scores.append(statistics.mean(values))
    return scores


def score_grid(site: SiteViews) -> Grid:
    """Return the scores of a site for all parameters and sample counts."""
    names, found = ("COHERENCE", "URL_WEIGHT", "SHARPNESS"), {}
    kept = [getattr(concept_averaging, name) for name in names]
    try:
        for parameters in GRID:
            for name, value in zip(names, parameters, strict=True):
                setattr(concept_averaging, name, value)
            found[parameters] = {count: score_draws(site, count, find_by_concepts) for count in SAMPLE_COUNTS}
    finally:
        for name, value in zip(names, kept, strict=True):
            setattr(concept_averaging, name, value)
    return found


def score_questions(site: SiteViews) -> float:
    """Return the macro F1 from one sample after some answered questions."""
    values = []
    for draw in range(DRAWS):
        for kind, members in site.types.items():
            wanted = set(members)
            samples, negatives = draw_samples(site, kind, draw, 1), list[int]()
            for _ in range(QUESTIONS):
                asked = [*samples, *negatives]
                pages = _infer(site, samples, negatives).choose_questions(asked, 1)
                for page in pages:
                    (samples if page in wanted else negatives).append(page)
            found = {*_infer(site, samples, negatives).rank_pages(), *samples} - set(negatives)
            values.append(compute_f1(found, wanted))
    return statistics.mean(values)


def _infer(site: SiteViews, samples: Sequence[int], negatives: Sequence[int]) -> concept_averaging.Inference:
    return infer_concepts(site.source, [site.features[n] for n in samples], [site.features[n] for n in negatives])


def get_generator(name: str) -> str:
    return GENERATORS.get(name, name)


def choose_parameters(grids: Mapping[str, Grid], left_out: str) -> tuple[float, float, float]:
    """Return the parameters that are best on sites of other generators, for all sample counts together."""
    others = [grid for name, grid in grids.items() if get_generator(name) != get_generator(left_out)]
    return max(
        GRID,
        key=lambda parameters: statistics.mean(
            statistics.mean(grid[parameters][count]) for grid in others for count in SAMPLE_COUNTS
        ),
    )


def build_types_table(sites: Sequence[Site]) -> Iterator[str]:
    """Yield the table of page types found, and the reliability of the probabilities."""
    yield "### Page types found from samples"
    yield ""
    yield (
        f"Macro F1 over types of at least {MIN_PAGES} pages, at most {MAX_PAGES:,} pages per site, mean of"
        f" {DRAWS} draws; exponent of coherence, weight of the URL and sharpness chosen on the other generators"
        " (held out; Javadoc made three of the sites). Partition: by `sanderling templates`."
    )
    yield ""
    yield (
        "| site | pages | types | 1 sample | 3 samples | 5 samples | spread with 3 | 1 sample and 3 answers | partition"
        " | directory, 3 | Jaccard, 3 |"
    )
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    grids, others, pairs = {}, {}, {}
    sites = [limit_pages(site) for site in sites]
    for site in sites:
        views = load_site(site)
        grids[site.name] = score_grid(views)
        others[site.name] = [
            score_questions(views),
            statistics.mean(score_draws(views, 1, lambda site, samples: site.leaves[samples[0]])),
            statistics.mean(score_draws(views, 3, find_in_directory)),
            statistics.mean(score_draws(views, 3, find_by_jaccard)),
        ]
        pairs[site.name] = collect_pairs(views)
    rows = []
    for site in sites:
        draws = grids[site.name][choose_parameters(grids, site.name)]
        cells = [*(statistics.mean(draws[count]) for count in SAMPLE_COUNTS), max(draws[3]) - min(draws[3])]
        rows.append([*cells, *others[site.name]])
        kinds = sum(len(members) >= MIN_PAGES for members in site.group_by_type().values())
        yield (
            f"| {site.name} | {len(site.types):,} | {kinds} | " + " | ".join(f"{cell:.2f}" for cell in rows[-1]) + " |"
        )
    means = [statistics.mean(column) for column in zip(*rows, strict=True)]
    yield "| mean | | | " + " | ".join(f"{mean:.3f}" for mean in means) + " |"
    yield ""
    yield from build_reliability_table(pairs)


def build_whole_table(sites: Sequence[Site]) -> Iterator[str]:
    """Yield the table of page types found on sites with all their pages."""
    yield "### Page types on whole sites"
    yield ""
    yield "As above, with all pages of each site. The parameters are those of the product (tuned on these sites)."
    yield ""
    yield from _build_product_table(sites)


def build_fresh_table(sites: Sequence[Site]) -> Iterator[str]:
    """Yield the table of page types found on sites that nothing was tuned on."""
    yield "### Page types of blogs, a shop, and a wiki"
    yield ""
    yield (
        "Sites of `python -m benchmarks.templates.build_sites`, which were not looked at when features and parameters"
        " were chosen, but confirmed the choice of the cut; parameters of the product."
    )
    yield ""
    yield from _build_product_table(sites)


def build_package_table(sites: Sequence[Site]) -> Iterator[str]:
    """Yield the table of page types found on documentation of generators that nothing was tuned on."""
    yield "### Page types of four more generators"
    yield ""
    yield (
        "Documentation of `python -m benchmarks.templates.package_sites`, measured once with the parameters of the"
        f" product, which were final; at most {MAX_PAGES:,} pages per site."
    )
    yield ""
    yield from _build_product_table([limit_pages(site) for site in sites])


def _build_product_table(sites: Sequence[Site]) -> Iterator[str]:
    yield (
        "| site | pages | types | 1 sample | 3 samples | 5 samples | spread with 3 | 1 sample and 3 answers"
        " | directory, 3 | Jaccard, 3 |"
    )
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    rows = []
    for site in sites:
        views = load_site(site)
        one, three, five = (score_draws(views, count, find_by_concepts) for count in SAMPLE_COUNTS)
        baselines = [statistics.mean(score_draws(views, 3, find)) for find in (find_in_directory, find_by_jaccard)]
        means = [statistics.mean(draws) for draws in (one, three, five)]
        rows.append([*means, max(three) - min(three), score_questions(views), *baselines])
        cells = " | ".join(f"{cell:.2f}" for cell in rows[-1])
        yield f"| {site.name} | {len(site.types):,} | {len(views.types)} | {cells} |"
    means = [statistics.mean(column) for column in zip(*rows, strict=True)]
    yield "| mean | | | " + " | ".join(f"{mean:.3f}" for mean in means) + " |"


# Calibration


Pairs = Mapping[int, Sequence[tuple[float, bool, float]]]


def collect_pairs(site: SiteViews) -> Pairs:
    """Return probability, truth, and weight of pages by sample count. The pages of a query weigh 1 in total."""
    found: dict[int, list[tuple[float, bool, float]]] = {count: [] for count in CALIBRATION}
    for count, draw in product(found, range(DRAWS)):
        for kind, members in site.types.items():
            wanted, samples = set(members), draw_samples(site, kind, draw, count)
            ranked = _infer(site, samples, ()).rank_pages(0.01)
            rest = sorted(set(ranked) - set(samples))
            found[count] += [(ranked[n], n in wanted, 1 / len(rest)) for n in rest]
    return found


def fit_calibration(pairs: Sequence[tuple[float, bool, float]]) -> tuple[float, float]:
    """Fit slope and offset of the log odds (Platt scaling), by Newton steps of bounded size."""
    points = [(log(max(p, 1e-4) / max(1 - p, 1e-4)), float(truth), weight) for p, truth, weight in pairs]
    slope, offset = 1.0, 0.0
    for _ in range(20):
        g0 = g1 = h00 = h01 = h11 = 0.0
        for x, truth, weight in points:
            p = 1 / (1 + exp(-max(-30.0, min(30.0, slope * x + offset))))
            g0, g1, w = g0 + weight * (truth - p) * x, g1 + weight * (truth - p), weight * p * (1 - p)
            h00, h01, h11 = h00 + w * x * x, h01 + w * x, h11 + w
        det = max(1e-9, h00 * h11 - h01 * h01)
        steps = (h11 * g0 - h01 * g1) / det, (h00 * g1 - h01 * g0) / det
        slope, offset = (value + max(-0.5, min(0.5, step)) for value, step in zip((slope, offset), steps, strict=True))
    return slope, offset


def build_reliability_table(pairs: Mapping[str, Pairs]) -> Iterator[str]:
    """Yield the share of right pages by stated probability, with calibrations fitted on the other sites."""
    yield "Reliability: share of right pages by stated probability; calibration fitted on the other generators."
    yield ""
    yield "| stated probability | pages with 1 sample | right | pages with 3 samples | right |"
    yield "|---|---:|---:|---:|---:|"
    bins: dict[int, list[list[bool]]] = {count: [[] for _ in range(BINS)] for count in (1, 3)}
    for name, own in pairs.items():
        for count in bins:
            slope, offset = fit_calibration(
                [p for site in pairs if get_generator(site) != get_generator(name) for p in pairs[site][count]]
            )
            for p, truth, _ in own[count]:
                odds = slope * log(max(p, 1e-4) / max(1 - p, 1e-4)) + offset
                bins[count][min(BINS - 1, int(BINS / (1 + exp(-max(-30.0, min(30.0, odds))))))].append(truth)
    for n in range(BINS):
        cells = [f"{len(bins[c][n]):,} | {statistics.mean(bins[c][n] or [0]):.2f}" for c in (1, 3)]
        yield f"| {n / BINS:.1f} to {(n + 1) / BINS:.1f} | {' | '.join(cells)} |"
    yield ""
    fitted = [fit_calibration([p for site in pairs.values() for p in site[count]]) for count in CALIBRATION]
    yield "Fitted on all: " + ", ".join(f"({slope:.2f}, {offset:.2f})" for slope, offset in fitted)
