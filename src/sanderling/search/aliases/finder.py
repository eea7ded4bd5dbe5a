"""Other names of persons, places, drugs, functions: found by what texts say of them (GPC-5).

Texts come in as (source, text), from an archive, an index or files; for each name asked for, candidates go out, those
that most sources agree on first, with counts, sentences and sources.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

from sanderling.search.aliases.cues import CUES, Cue
from sanderling.search.aliases.mentions import Mention, Wanted, fold, mentions

KEPT_SENTENCES, KEPT_SOURCES = 3, 20
CHUNK = 4 << 20  # bytes of text given to another process at once

Text = tuple[str, str | bytes]
"""Where it comes from, and what it says."""

T = TypeVar("T")
Load = Callable[[T], Iterable[Text]]


@dataclass(frozen=True, slots=True)
class Alias:
    """One candidate, and what speaks for it."""

    alias: str
    count: int
    source_count: int
    cues: tuple[str, ...]
    sentences: tuple[str, ...]
    sources: tuple[str, ...]


@dataclass(slots=True)
class Evidence:
    """What was seen of one candidate so far; memory is bounded, the count of sources is exact up to its bound."""

    spellings: Counter[str] = field(default_factory=Counter)
    cues: Counter[str] = field(default_factory=Counter)
    sentences: dict[str, None] = field(default_factory=dict)
    sources: dict[str, None] = field(default_factory=dict)

    def add(self, mention: Mention) -> None:
        """Add one mention."""
        self.spellings[mention.alias] += 1
        self.cues[mention.cue] += 1
        if len(self.sentences) < KEPT_SENTENCES:
            self.sentences[mention.sentence] = None
        if len(self.sources) < 10_000:
            self.sources[mention.source] = None


Found = dict[str, dict[str, Evidence]]
"""Per name, per folded spelling of the alias."""


def gather(texts: Iterable[Text], wanted: Wanted) -> Found:
    """Collect the evidence in some texts."""
    found: Found = {}
    for source, text in texts:
        add_mentions(found, mentions(source, text, wanted))
    return found


def add_mentions(found: Found, more: Iterable[Mention]) -> None:
    """Add mentions to the evidence."""
    for mention in more:
        per_name = found.setdefault(mention.name, {})
        per_name.setdefault(fold(mention.alias), Evidence()).add(mention)


def merge(into: Found, more: Found) -> None:
    """Add the evidence of another process."""
    for name, candidates in more.items():
        known = into.setdefault(name, {})
        for key, evidence in candidates.items():
            mine = known.setdefault(key, Evidence())
            mine.spellings.update(evidence.spellings)
            mine.cues.update(evidence.cues)
            mine.sentences = dict.fromkeys(islice({**mine.sentences, **evidence.sentences}, KEPT_SENTENCES))
            mine.sources.update(evidence.sources)


def rank(candidates: Mapping[str, Evidence]) -> list[Alias]:
    """Order candidates: what most sources say first, then what is said most often."""
    aliases = [
        Alias(
            evidence.spellings.most_common(1)[0][0],
            evidence.spellings.total(),
            len(evidence.sources),
            tuple(cue for cue, _ in evidence.cues.most_common()),
            tuple(evidence.sentences),
            tuple(islice(evidence.sources, KEPT_SOURCES)),
        )
        for evidence in candidates.values()
    ]
    return sorted(aliases, key=lambda alias: (-alias.source_count, -alias.count, alias.alias))


def find_aliases(
    items: Iterable[T],
    names: Iterable[str],
    cues: Sequence[Cue] = CUES,
    workers: int = 1,
    load: "Load[T] | None" = None,
) -> dict[str, list[Alias]]:
    """Find candidates for many names in one pass; every name asked for is in the answer.

    Items are texts, or anything that `load` turns into texts: where there are several workers, it runs there.
    """
    names = list(names)
    return answer_for(names, Wanted(names, cues), find_evidence(items, names, cues, workers, load))


def find_evidence(
    items: Iterable[T], names: list[str], cues: Sequence[Cue], workers: int = 1, load: "Load[T] | None" = None
) -> Found:
    """Collect the evidence in all items, with several processes if there are several workers."""
    if workers > 1:
        return _gather_in_parallel(items, (names, tuple(cues), load), workers)
    return gather(_loaded(items, load), Wanted(names, cues))


def answer_for(names: Iterable[str], wanted: Wanted, found: Found) -> dict[str, list[Alias]]:
    """Rank the evidence for every name asked for."""
    return {name: rank(found.get(wanted.names.get(fold(name), name), {})) for name in names}


def _loaded(items: Iterable[Any], load: "Load[Any] | None") -> Iterator[Text]:
    for item in items:
        if load is None:
            yield item
        else:
            yield from load(item)


def _gather_in_parallel(items: Iterable[Any], errand: tuple[Any, ...], workers: int) -> Found:
    found: Found = {}
    with ProcessPoolExecutor(workers, initializer=_prepare, initargs=errand) as pool:
        waiting = []
        for chunk in _chunks(items):
            waiting.append(pool.submit(_work, chunk))
            if len(waiting) > 2 * workers:  # no more text in memory than the workers can chew
                merge(found, waiting.pop(0).result())
        for job in waiting:
            merge(found, job.result())
    return found


def _chunks(items: Iterable[Any]) -> Iterator[list[Any]]:
    chunk: list[Any] = []
    size = 0
    for item in items:
        chunk.append(item)
        size += len(item[1]) if isinstance(item, tuple) and isinstance(item[1], str | bytes) else CHUNK // 100
        if size >= CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


_errand: list[Any] = []  # of a worker process, made once


def _prepare(names: list[str], cues: tuple[Cue, ...], load: "Load[Any] | None") -> None:
    _errand[:] = [Wanted(names, cues), load]


def _work(chunk: list[Any]) -> Found:
    wanted, load = _errand
    return gather(_loaded(chunk, load), wanted)
