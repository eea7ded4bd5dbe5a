"""Find aliases of names in texts (GPC-5), ranked by the number of sources."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

from sanderling.search.aliases.cues import CUES, Cue
from sanderling.search.aliases.mentions import Mention, NameMatcher, find_mentions, fold_name

MAX_SENTENCES, MAX_SOURCES = 3, 20
CHUNK_BYTES = 4 << 20  # of text per task of a worker process

SourceText = tuple[str, str | bytes]
"""Source (URL or file) and text."""

T = TypeVar("T")
TextLoader = Callable[[T], Iterable[SourceText]]


@dataclass(frozen=True, slots=True)
class Alias:
    alias: str
    count: int
    source_count: int
    cues: tuple[str, ...]
    sentences: tuple[str, ...]
    sources: tuple[str, ...]


@dataclass(slots=True)
class AliasEvidence:
    """The evidence for an alias, bounded in memory."""

    variants: Counter[str] = field(default_factory=Counter)
    cues: Counter[str] = field(default_factory=Counter)
    sentences: dict[str, None] = field(default_factory=dict)
    sources: dict[str, None] = field(default_factory=dict)

    def add(self, mention: Mention) -> None:
        self.variants[mention.alias] += 1
        self.cues[mention.cue] += 1
        if len(self.sentences) < MAX_SENTENCES:
            self.sentences[mention.sentence] = None
        if len(self.sources) < 10_000:
            self.sources[mention.source] = None


EvidenceByName = dict[str, dict[str, AliasEvidence]]
"""Evidence per name and folded alias."""


def collect_evidence(texts: Iterable[SourceText], matcher: NameMatcher) -> EvidenceByName:
    found: EvidenceByName = {}
    for source, text in texts:
        add_mentions(found, find_mentions(source, text, matcher))
    return found


def add_mentions(evidence: EvidenceByName, mentions: Iterable[Mention]) -> None:
    for mention in mentions:
        per_name = evidence.setdefault(mention.name, {})
        per_name.setdefault(fold_name(mention.alias), AliasEvidence()).add(mention)


def merge_evidence(target: EvidenceByName, addition: EvidenceByName) -> None:
    """Merge the evidence of another process."""
    for name, candidates in addition.items():
        known_candidates = target.setdefault(name, {})
        for key, evidence in candidates.items():
            merged = known_candidates.setdefault(key, AliasEvidence())
            merged.variants.update(evidence.variants)
            merged.cues.update(evidence.cues)
            merged.sentences = dict.fromkeys(islice({**merged.sentences, **evidence.sentences}, MAX_SENTENCES))
            merged.sources.update(evidence.sources)


def rank_aliases(candidates: Mapping[str, AliasEvidence]) -> list[Alias]:
    """Sort by source count, then by mention count."""
    aliases = [
        Alias(
            evidence.variants.most_common(1)[0][0],
            evidence.variants.total(),
            len(evidence.sources),
            tuple(cue for cue, _ in evidence.cues.most_common()),
            tuple(evidence.sentences),
            tuple(islice(evidence.sources, MAX_SOURCES)),
        )
        for evidence in candidates.values()
    ]
    return sorted(aliases, key=lambda alias: (-alias.source_count, -alias.count, alias.alias))


def find_aliases(
    items: Iterable[T],
    names: Iterable[str],
    cues: Sequence[Cue] = CUES,
    workers: int = 1,
    load: "TextLoader[T] | None" = None,
) -> dict[str, list[Alias]]:
    """Find aliases of many names in a single pass. `load` converts items to texts in the worker processes."""
    names = list(names)
    return rank_by_name(names, NameMatcher(names, cues), find_evidence(items, names, cues, workers, load))


def find_evidence(
    items: Iterable[T], names: list[str], cues: Sequence[Cue], workers: int = 1, load: "TextLoader[T] | None" = None
) -> EvidenceByName:
    if workers > 1:
        return _collect_in_parallel(items, (names, tuple(cues), load), workers)
    return collect_evidence(_load_texts(items, load), NameMatcher(names, cues))


def rank_by_name(names: Iterable[str], matcher: NameMatcher, evidence: EvidenceByName) -> dict[str, list[Alias]]:
    return {name: rank_aliases(evidence.get(matcher.names.get(fold_name(name), name), {})) for name in names}


def _load_texts(items: Iterable[Any], load: "TextLoader[Any] | None") -> Iterator[SourceText]:
    for item in items:
        if load is None:
            yield item
        else:
            yield from load(item)


def _collect_in_parallel(items: Iterable[Any], worker_arguments: tuple[Any, ...], workers: int) -> EvidenceByName:
    found: EvidenceByName = {}
    with ProcessPoolExecutor(workers, initializer=_init_worker, initargs=worker_arguments) as pool:
        futures = []
        for chunk in _split_chunks(items):
            futures.append(pool.submit(_process_chunk, chunk))
            if len(futures) > 2 * workers:  # bound the text in memory
                merge_evidence(found, futures.pop(0).result())
        for future in futures:
            merge_evidence(found, future.result())
    return found


def _split_chunks(items: Iterable[Any]) -> Iterator[list[Any]]:
    chunk: list[Any] = []
    size = 0
    for item in items:
        chunk.append(item)
        size += len(item[1]) if isinstance(item, tuple) and isinstance(item[1], str | bytes) else CHUNK_BYTES // 100
        if size >= CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


_worker_state: list[Any] = []  # of a worker process: matcher, load


def _init_worker(names: list[str], cues: tuple[Cue, ...], load: "TextLoader[Any] | None") -> None:
    _worker_state[:] = [NameMatcher(names, cues), load]


def _process_chunk(chunk: list[Any]) -> EvidenceByName:
    matcher, load = _worker_state
    return collect_evidence(_load_texts(chunk, load), matcher)
