"""Pages built like samples: among the stored pages, on the live site, and as a table of their fields."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from sanderling.crawl.request import CrawlRequest, build_fetch_settings
from sanderling.errors import MissingExtra
from sanderling.html.parser import Document
from sanderling.search.background_indexer import can_index, index_in_background
from sanderling.storage.collection import has_collection, open_collection_read_only
from sanderling.storage.queries import find_url_id
from sanderling.templates.driven_crawl import find_on_web, is_worth_crawling, revisit_hubs
from sanderling.templates.field_extraction import Field, learn_fields, read_fields
from sanderling.templates.sample_pages import Sample, SavedSamples, load_saved_samples, save_samples, take_sample
from sanderling.templates.similar_pages import (
    Question,
    SimilarPage,
    SimilarPages,
    find_exactly,
    find_saved,
    find_stored,
    load_body,
)

if TYPE_CHECKING:  # the index is an optional part
    from sanderling.search.feedback.unmet_queries import UnmetQuery

__all__ = [
    "FieldTable",
    "Question",
    "Sample",
    "SavedSamples",
    "SimilarPage",
    "SimilarPages",
    "SimilaritySearch",
    "StoredSimilarPages",
    "answer_unmet_queries",
    "find_on_web",
    "find_saved",
    "index_in_background",
    "is_worth_crawling",
    "load_samples",
    "load_saved_samples",
    "open_field_table",
    "renew_samples",
    "revisit_hubs",
    "save_samples",
    "take_stored_sample",
]
P = TypeVar("P")
TRAINING_PAGES = 12  # pages that the fields of a table are learned from


class SimilaritySearch(Struct, frozen=True):
    """How the stored pages are searched: `exact` for the template of the samples, else by probability."""

    folder: Path
    threshold: float | None = None
    explain: bool = False
    exact: bool = False
    limit: int | None = None

    def find(
        self, samples: Sequence[Sample], negatives: Sequence[Sample], known: set[str] | None = None
    ) -> SimilarPages:
        """Return similar stored pages; pages that are not in `known` are marked as found on the web."""
        if not has_collection(self.folder):
            return SimilarPages([])
        if self.exact:
            found = find_exactly(self.folder, samples, self.threshold)
        else:
            found = find_stored(self.folder, samples, negatives, threshold=self.threshold, explain=self.explain)
        pages = found.pages[: self.limit]
        if known is not None:
            pages = [page if page.url in known else replace(page, source="web") for page in pages]
        return replace(found, pages=pages)

    def find_question(self, samples: Sequence[Sample], negatives: Sequence[Sample]) -> Question | None:
        """Return the page whose answer would tell most, or None."""
        questions = find_stored(self.folder, samples, negatives).questions if has_collection(self.folder) else []
        return questions[0] if questions else None


class StoredSimilarPages:
    """Similar pages of a collection for an application."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, samples: Sequence[str], negatives: Sequence[str]) -> SimilarPages:
        own, others = load_samples(self.folder, SavedSamples(tuple(samples), tuple(negatives)))
        return find_stored(self.folder, own, others)

    def save(self, name: str, samples: Sequence[str], negatives: Sequence[str]) -> None:
        save_samples(self.folder, name, SavedSamples(tuple(samples), tuple(negatives)))


class FieldTable(Struct, frozen=True):
    """Fields that similar pages share, and a row of their values per page."""

    fields: list[Field]
    rows: Iterator[tuple[str, Sequence[str]]]


def load_samples(
    folder: Path, saved: SavedSamples, request: CrawlRequest | None = None
) -> tuple[list[Sample], list[Sample]]:
    """Take samples and negative samples from the stored pages, and with a request from the web."""
    settings = None if request is None else build_fetch_settings(request)
    if settings is not None and not has_collection(folder):
        return [take_sample(text, None, settings) for text in saved.samples], []
    with open_collection_read_only(folder) as collection:
        samples = [take_sample(text, collection, settings) for text in saved.samples]
        return samples, [take_sample(text, collection, settings) for text in saved.negatives]


def renew_samples(folder: Path, samples: Sequence[Sample], request: CrawlRequest) -> list[Sample]:
    """Take the samples again, after a crawl has stored them."""
    return load_samples(folder, SavedSamples(tuple(sample.view.url for sample in samples)), request)[0]


def take_stored_sample(folder: Path, url: str) -> Sample:
    """Take a stored page as a sample. Raises UsageError if it is not stored."""
    return load_samples(folder, SavedSamples((url,)))[0][0]


def answer_unmet_queries(
    folder: Path, request: CrawlRequest, report: Callable[[str], None], *, keep_index: bool = True
) -> list[tuple["UnmetQuery", int]]:
    """Crawl for unmet queries of search users; return them with the number of new pages."""
    if not can_index():
        raise MissingExtra("answering what users asked for", "search")
    from sanderling.templates.query_fulfillment import fulfill_unmet_queries

    with index_in_background(folder, report, keep_index):
        return fulfill_unmet_queries(folder, request)


@contextmanager
def open_field_table(folder: Path, pages: Sequence[SimilarPage]) -> Iterator[FieldTable]:
    """Learn the fields of similar pages from some of them, and read those of all."""
    with open_collection_read_only(folder) as collection:

        def load(page: SimilarPage) -> Document:
            return load_body(collection, find_url_id(collection.db, page.url), page.url)

        fields = learn_fields([load(page) for page in choose_training_pages(pages)])
        yield FieldTable(fields, ((page.url, read_fields(load(page), fields)) for page in pages))


def choose_training_pages(pages: Sequence[P]) -> list[P]:
    """Return the pages that the fields are learned from, the same in every run."""
    return Random(1).sample(pages, min(TRAINING_PAGES, len(pages)))
