"""MIG Table 7.3: how satisfied ten users are, before and after search learned from what users did.

The thesis asked ten people. These are ten simulated ones, each with a question of their own: a proxy. Pages that merely
repeat the words of a question outrank the pages that answer it, until users' actions say otherwise.
"""

import tempfile
from pathlib import Path
from random import Random

from experiments.frame import Figure, Series, Table, measured
from experiments.web import WORDS, sentence
from sanderling.search.engine import SearchEngine
from sanderling.search.feedback.click_model import ClickWeight, RankingImpression, compute_weights
from sanderling.search.index import open_search_index
from sanderling.search.ranking import RankingWeights, combine_scores
from sanderling.search.search_types import Document, SearchRequest

TITLE = "MIG Table 7.3: satisfaction on a scale of five, simulated users (measured)"

USERS, VISITS, SHOWN = 10, 1000, 10
ANSWERS, ECHOES = 2, 6  # pages per question that answer it, and pages that only repeat its words
EARLY = 300
SEEDS = (1, 2, 3, 4)
OLD = 1e12  # seconds: no page is fresh
STARS = (5, 4, 3, 3, 2, 2, 2, 1, 1, 1)  # by the place of the first answer


class Library:
    """Pages, questions, and what was learned."""

    def __init__(self, draw: Random, folder: Path) -> None:
        self.draw = draw
        self.questions = [f"{WORDS[2 * user]} {WORDS[2 * user + 1]}" for user in range(USERS)]
        index = open_search_index(folder, write=True)
        if index is None:
            raise RuntimeError(f"no index could be made in {folder}")
        index.replace(self._documents())
        index.commit(1)
        finder = SearchEngine(index)
        self.candidates = {
            question: [
                (hit.url, hit.score_parts.text)
                for hit in finder.search(SearchRequest(question, limit=50, include_facets=False)).hits
            ]
            for question in self.questions
        }
        index.close()
        self.weights: dict[tuple[str, str], ClickWeight] = {}
        self.looks: list[RankingImpression] = []

    def _documents(self) -> list[Document]:
        made = []
        for user, question in enumerate(self.questions):
            for number in range(ECHOES + ANSWERS):
                kind, times = ("answer", 1) if number < ANSWERS else ("echo", self.draw.randrange(3, 7))
                body = f"{sentence(self.draw, 60)} {f'{question} ' * times}{sentence(self.draw, 60)}"
                made.append(
                    Document(
                        f"http://x.example/{user}/{kind}{number}", f"Page {user} {number}", body=body, language="en"
                    )
                )
        return made

    def ranking(self, question: str) -> list[str]:
        """Order the candidates as search would show them now."""
        nothing = ClickWeight(0.0, 0.0, 0.0, 0)

        def score(candidate: tuple[str, float]) -> float:
            weight = self.weights.get((question, candidate[0]), nothing).value
            return -combine_scores(candidate[1], 0.0, OLD, weight, RankingWeights()).score

        return [url for url, _ in sorted(self.candidates[question], key=score)]

    def stars(self) -> list[float]:
        """Ask every user how satisfied they are: the sooner an answer to their question comes, the more."""
        found = []
        for user, question in enumerate(self.questions):
            places = [n for n, url in enumerate(self.ranking(question)[:SHOWN]) if f"/{user}/answer" in url]
            found.append(float(STARS[places[0]]) if places else 1.0)
        return found

    def visit(self, number: int) -> None:
        """Let somebody with one of the questions look, click and stay, or not."""
        user = self.draw.randrange(USERS)
        question = self.questions[user]
        shown = self.ranking(question)[:SHOWN]
        chosen = {}
        for place, url in enumerate(shown):
            answers = f"/{user}/answer" in url
            if self.draw.random() < (place + 1) ** -0.7 and self.draw.random() < (0.8 if answers else 0.15):
                chosen[place] = 1.0 if self.draw.random() < (0.85 if answers else 0.2) else 0.2
        self.looks.append(RankingImpression(f"reader {number % 300}", question, tuple(shown), chosen))


def ask_again(seed: int) -> tuple[list[float], list[float], list[float]]:
    """Ask before anybody came, after some visits, and after many."""
    with tempfile.TemporaryDirectory() as folder:
        library = Library(Random(seed), Path(folder))
    before, early = library.stars(), list[float]()
    for number in range(VISITS):
        library.visit(number)
        if number % 50 == 49:
            library.weights = compute_weights(library.looks)
        if number + 1 == EARLY:
            early = library.stars()
    return before, early, library.stars()


def table() -> Table:
    """Ask ten users, several times over."""
    asked = [ask_again(seed) for seed in SEEDS]
    before, early, after = ([stars for answers in asked for stars in answers[when]] for when in range(3))
    worse = sum(b > a for b, a in zip(before, after, strict=True))
    rows = (
        measured("mean satisfaction, by words alone", 2.0, 2.0, sum(before) / len(before), 1.2, 2.0),
        measured(f"mean satisfaction after {EARLY} visits", None, None, sum(early) / len(early), 3.0, 5.0),
        measured(f"mean satisfaction after {VISITS} visits", 4.2, 4.2, sum(after) / len(after), 4.2, 5.0),
        measured(f"of {len(after)} users, less satisfied than before", None, None, worse, 0, 2),
    )
    figure = Figure(
        "Satisfaction of ten users",
        tuple(f"U{number + 1}" for number in range(USERS)),
        (Series("words alone", tuple(before[:USERS])), Series("with what was learned", tuple(after[:USERS]))),
        "stars",
    )
    return Table(TITLE, rows, f"{VISITS} visits by 300 readers, {len(SEEDS)} runs; a proxy, no survey.", figure)
