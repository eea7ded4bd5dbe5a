"""Simulate users of a search over real collections, some of them hostile, with learning from clicks.

    python -m benchmarks.search.click_feedback [--seeds 6] [--visits 1000]

Users pose questions of a test collection, popular ones more often (Zipf). They look at a result with a chance that
falls with its position, click what is relevant more often than what is not, and stay longer on it. One click in ten is
hostile: its clients all push one irrelevant page per question, with every sign of satisfaction. Rankings are learned
anew every 50 visits. nDCG@10 is that of the rankings users get, weighted by how often each question is posed. The
effect of hostility is given twice: between whole runs with and without it, in which honest users come to see different
rankings and so click differently (a few per cent of chance); and within a run, by leaving the hostile clicks out of
the last lesson.
"""

import argparse
import json
import os
import random
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

from benchmarks.lib.doc_tables import written
from benchmarks.lib.ranking_measures import compute_ndcg
from msgspec import Struct

from sanderling.search.engine import SearchEngine
from sanderling.search.feedback.click_model import RankingImpression, compute_weights
from sanderling.search.fields import compute_page_id
from sanderling.search.index import SearchIndex, open_search_index
from sanderling.search.search_types import Document, SearchRequest

QUESTIONS = 50
RELEARN = 50
LIKES, SLIPS = 0.8, 0.15  # chance of a click on a relevant and on an irrelevant result, once looked at
STAYS, LINGERS = 0.85, 0.2  # chance that such a visit looks satisfied
PUSHER = "pusher"
CLIENTS, HOSTILE_CLIENTS = 300, 10
OLD = 1e12  # seconds; pages of a collection have no age


class Posed(Struct, frozen=True):
    """A query and its relevant pages."""

    key: str
    text: str
    gains: dict[str, float]


class Outcome(Struct, frozen=True):
    """nDCG@10 before and after, as users meet it and with every question counted once."""

    before: float
    after: float
    before_even: float
    after_even: float
    without: float  # after, had the hostile clicks of this very run been left out of the last lesson


def posed(folder: Path, scratch: Path) -> tuple[SearchIndex, list[Posed]]:
    """The real index of a collection, and its questions."""
    index = open_search_index(scratch, write=True)
    assert index is not None
    rows = [json.loads(line) for line in (folder / "docs.jsonl").read_text().splitlines()]
    index.replace(Document(row["id"], row["title"], body=row["text"], language="en") for row in rows)
    index.commit(1)
    gains = load_judgments(folder / "qrels.tsv")
    asked = [json.loads(line) for line in (folder / "queries.jsonl").read_text().splitlines()]
    return index, [Posed(row["id"], row["text"], gains[row["id"]]) for row in asked if gains[row["id"]]]


def load_judgments(path: Path) -> dict[str, dict[str, float]]:
    """Gains by question and document; in Cranfield grade 1 is best and -1 the paper the question came from."""
    graded = [line.split("\t") for line in path.read_text().splitlines()[1:]]
    best = max(int(grade) for *_, grade in graded)
    gains: dict[str, dict[str, float]] = defaultdict(dict)
    for question, document, grade in graded:
        gains[question][document] = float(best + 1 - int(grade)) if int(grade) > 0 else float(best)
    return gains


class World:
    """Queries, their popularity, and the learned weights."""

    def __init__(self, index: SearchIndex, questions: list[Posed], seed: int) -> None:
        self.honest, self.hostile = random.Random(seed), random.Random(seed + 1_000)
        self.questions = self.honest.sample(questions, min(QUESTIONS, len(questions)))
        self.popularity = [1 / rank for rank in range(1, len(self.questions) + 1)]
        self.keys = {question.text: question.key for question in self.questions}
        self.finder = SearchEngine(index, self.behavior)
        self.learned: dict[str, dict[int, float]] = {}
        self.shown: dict[str, list[str]] = {}
        self.looks: list[RankingImpression] = []
        self.pushed: dict[str, str] = {}

    def behavior(self, text: str) -> Callable[[int], float]:
        mine = self.learned.get(self.keys[text], {})
        return lambda page: mine.get(page, 0.0)

    def learn(self, looks: Iterable[RankingImpression]) -> None:
        """Weigh all looks anew."""
        self.learned, self.shown = {}, {}
        for (key, url), weight in compute_weights(looks).items():
            if weight.value:
                self.learned.setdefault(key, {})[compute_page_id(url)] = weight.value

    def ranking(self, question: Posed) -> list[str]:
        """The result list as search shows it now."""
        if question.key not in self.shown:
            ask = SearchRequest(question.text, limit=10, include_facets=False, include_snippets=False, now=OLD)
            self.shown[question.key] = [hit.url for hit in self.finder.search(ask).hits]
        return self.shown[question.key]

    def quality(self) -> tuple[float, float]:
        """Mean nDCG@10, by popularity and evenly."""
        values = [compute_ndcg(self.ranking(question), question.gains) for question in self.questions]
        by_popularity = sum(v * p for v, p in zip(values, self.popularity, strict=True)) / sum(self.popularity)
        return by_popularity, sum(values) / len(values)

    def visit(self) -> int:
        """Simulate an honest user; returns the number of clicks."""
        question = self.honest.choices(self.questions, self.popularity)[0]
        shown = self.ranking(question)[:10]
        dice = [self.honest.random() for _ in range(30)]
        chosen = {}
        for place, url in enumerate(shown):
            relevant = url in question.gains
            if dice[place] < (place + 1) ** -0.7 and dice[10 + place] < (LIKES if relevant else SLIPS):
                chosen[place] = 1.0 if dice[20 + place] < (STAYS if relevant else LINGERS) else 0.2
        client = f"reader {self.honest.randrange(CLIENTS)}"
        self.looks.append(RankingImpression(client, question.key, tuple(shown), chosen))
        return len(chosen)

    def push(self) -> None:
        """Simulate a hostile click on an irrelevant page."""
        question = self.hostile.choices(self.questions, self.popularity)[0]
        shown = self.ranking(question)[:10]
        bad = [url for url in shown if url not in question.gains]
        if bad:
            target = self.pushed.setdefault(question.key, self.hostile.choice(bad))
            target = target if target in shown else bad[-1]
            client = f"{PUSHER} {self.hostile.randrange(HOSTILE_CLIENTS)}"
            self.looks.append(RankingImpression(client, question.key, tuple(shown), {shown.index(target): 1.0}))


def simulate(index: SearchIndex, questions: list[Posed], seed: int, visits: int, hostile: float) -> Outcome:
    """Simulate users, and measure before and after."""
    world = World(index, questions, seed)
    before, before_even = world.quality()
    for number in range(1, visits + 1):
        for _ in range(world.visit()):
            if world.hostile.random() < hostile / (1 - hostile):
                world.push()
        if number % RELEARN == 0 or number == visits:
            world.learn(world.looks)
    after, after_even = world.quality()
    world.learn(look for look in world.looks if not look.client_id.startswith(PUSHER))
    return Outcome(before, after, before_even, after_even, world.quality()[0])


def main() -> None:
    """Print gain and harm per collection."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--visits", type=int, default=1000)
    parser.add_argument("--write", action="store_true", help="write docs/measurements/benchmarks.md")
    options = parser.parse_args()
    with written("feedback", options.write):
        run(options.seeds, options.visits)


def run(seeds: int, visits: int) -> None:
    """Let users loose on every collection."""
    suites = Path(os.environ["SANDERLING_SUITES"]) / "ir-collections"
    print(f"{visits} visits, mean of {seeds} runs; nDCG@10 weighted by popularity (unweighted)\n")
    print("| collection | text only | learned | gain | gain, 10 % hostile clicks | difference"
          " | effect of the hostile clicks |")  # fmt: skip
    print("|---|---|---|---|---|---|---|")
    for name in ("cran", "med", "cacm"):
        with tempfile.TemporaryDirectory() as scratch:
            index, questions = posed(suites / name / "norm", Path(scratch))
            runs = range(seeds)
            calm = [simulate(index, questions, seed, visits, 0.0) for seed in runs]
            rough = [simulate(index, questions, seed, visits, 0.1) for seed in runs]
            index.close()
        before, after, spoilt = (mean(x) for x in ([o.before for o in calm], [o.after for o in calm],
                                                    [o.after for o in rough]))  # fmt: skip
        even = mean([o.after_even for o in calm]) / mean([o.before_even for o in calm]) - 1
        print(f"| {name} | {before:.3f} | {after:.3f} | {after / before - 1:+.1%} ({even:+.1%}) "
              f"| {spoilt / before - 1:+.1%} | {spoilt / after - 1:+.1%} "
              f"| {spoilt / mean([o.without for o in rough]) - 1:+.1%} |")  # fmt: skip


def mean(values: list[float]) -> float:
    """The plain mean."""
    return sum(values) / len(values)


if __name__ == "__main__":
    main()
