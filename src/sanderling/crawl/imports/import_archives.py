"""Import WARC, ARC, and WACZ files of other programs as history: pages, versions, links, and changes between them.

Records are copied unchanged into the archive first. Then they pass the pipeline in the order of their dates, with
leases like fetched pages. Both steps resume where a killed import stopped.
"""

import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from sanderling.clock import Clock, system_clock
from sanderling.crawl.context import CrawlContext, RunStats
from sanderling.crawl.dispatch import load_stored_versions
from sanderling.crawl.imports.import_workers import open_readers, read_in_order
from sanderling.crawl.imports.imported_records import (
    ImportedArchive,
    ImportedIndex,
    ImportReaderConfig,
    ImportTask,
    ProcessedImport,
)
from sanderling.crawl.open_context import CrawlPlan, open_context
from sanderling.crawl.pipeline import commit_batch, process_batch
from sanderling.crawl.request import CrawlRequest, build_fetch_settings
from sanderling.crawl.run import collect_settings, record_run_end, record_run_start
from sanderling.crawl.stop import FinishReason
from sanderling.db.connection import transaction
from sanderling.errors import CollectionError
from sanderling.frontier.imported_urls import IMPORT_WORKER, lease_imported, load_roles
from sanderling.frontier.url_store import FrontierEntry
from sanderling.models import CandidateUrl, Url, UrlSource, UrlState, Visit, WorkerReport
from sanderling.storage.collection import open_collection
from sanderling.storage.collection_meta import CollectionMeta
from sanderling.storage.import_queue import (
    CopyReport,
    QueuedImport,
    close_import_writer,
    count_queued_imports,
    delete_queued_imports,
    load_queued_imports,
    open_import_writer,
)
from sanderling.storage.reports import count_pages
from sanderling.urls.normalize import NormalizedUrl, normalize_url
from sanderling.warc.import_sources import check_source, open_source
from sanderling.warc.warc_reader import read_single_record

BATCH_RECORDS = 256
SEED_SAMPLE_RECORDS = 1_000  # read to find a page in an archive that declares none as HTML
HTML_START_BYTES = 2_000


class ImportSummary(Struct):
    """Result of an import."""

    files: int = 0
    known_files: int = 0  # imported before
    records: int = 0  # copied
    rejected: int = 0
    other_records: dict[str, int] = field(default_factory=dict)  # copied records that are no responses, by kind
    versions: int = 0  # records that became a version of a page, or confirmed one
    replay_only: dict[str, int] = field(default_factory=dict)  # copied records without a version, by reason
    pages: int = 0  # of the collection
    changed: int = 0
    bytes: int = 0
    seconds: float = 0.0
    rejections: list[str] = field(default_factory=list)  # the first ones


class ImportProgress(Struct, frozen=True):
    """How far an import is."""

    copied_records: int
    processed_records: int = 0
    remaining_records: int = 0


def import_archives(
    folder: Path,
    files: Sequence[Path],
    request: CrawlRequest,
    *,
    on_progress: Callable[[ImportProgress], None] = lambda _progress: None,
    clock: Clock = system_clock,
) -> ImportSummary:
    """Import files into a collection. The same call resumes an interrupted import."""
    started_at = time.monotonic()
    for path in files:
        check_source(path)
    report, seeds = _copy_files(folder, files, clock, on_progress)
    summary = ImportSummary(
        report.files, report.known_files, report.records, report.rejected.total(), bytes=report.bytes,
        other_records=dict(report.other), rejections=report.examples,
    )  # fmt: skip
    if not seeds:  # nothing to process, now or before
        return summary
    stats = RunStats()
    with open_context(CrawlPlan(folder, request, seeds, clock=clock), stats) as (context, full_request):
        with transaction(context.db):
            context.frontier.begin_run(clock())
            meta = CollectionMeta(context.db)
            meta.settings = meta.settings or collect_settings(full_request)
            run_id = record_run_start(context, full_request, clock())
        processor = _ImportRun(context, full_request)
        processor.process_all(lambda done, left: on_progress(ImportProgress(report.records, done, left)))
        summary.versions, summary.replay_only = processor.versions, dict(processor.replay_only)
        summary.changed, summary.pages = stats.changed, count_pages(context.db)
        summary.seconds = round(time.monotonic() - started_at, 3)
        record_run_end(context, run_id, FinishReason.DONE, msgspec.to_builtins(summary), clock())
        with transaction(context.db):
            meta.is_complete = False  # links of the imported pages are queued
    return summary


def _copy_files(
    folder: Path, files: Sequence[Path], clock: Clock, on_progress: Callable[[ImportProgress], None]
) -> tuple[CopyReport, list[NormalizedUrl]]:
    """Copy all records. Returns the seeds of the collection."""
    named_seeds: list[str] = []
    with open_collection(folder) as collection, tempfile.TemporaryDirectory(prefix=".import-", dir=folder) as scratch:
        writer = open_import_writer(collection, clock)
        try:
            for path in files:
                source = open_source(path, Path(scratch))
                for file in source.files:
                    writer.copy_file(file, lambda report: on_progress(ImportProgress(report.records)))
                named_seeds += source.seeds
        finally:
            close_import_writer(writer)
        stored_seeds = CollectionMeta(collection.db).seeds
        if stored_seeds:
            return writer.report, [seed for url in stored_seeds if (seed := normalize_url(url))]
        first_pages = [url for _, url in writer.first_pages.values()]
        queued = [item.url or read_single_record(collection.archive_folder, item.location, 0).url
                  for item in load_queued_imports(collection.db, 1)]  # fmt: skip
        found = [normalized for url in named_seeds or first_pages or queued if (normalized := normalize_url(url))]
        return writer.report, found


class _ImportRun:
    """Processes copied records."""

    def __init__(self, context: CrawlContext, request: CrawlRequest) -> None:
        folder = context.storage.archive.folder
        self._archive = ImportedArchive(context.storage.catalog.load_committed_lengths())
        stand_ins: dict[str, Any] = {"archive": self._archive, "cdxj_index": ImportedIndex()}
        self._context = replace(context, storage=replace(context.storage, **stand_ins))
        settings = replace(build_fetch_settings(request), archive_folder=str(folder))
        self._config = ImportReaderConfig(settings, folder, context.storage.cdxj_index.folder)
        self._loaded = deque[QueuedImport]()  # records that are not given to a reader yet
        self._last: QueuedImport | None = None  # the last one loaded
        self._unstored: set[Url] = set()  # of records that are being read
        self._reading = deque[set[Url]]()  # the same by batch
        self.versions = 0
        self.replay_only = Counter[str]()

    def process_all(self, on_batch: Callable[[int, int], None]) -> None:
        """Process all queued records, oldest first. Each batch is a transaction."""
        remaining = count_queued_imports(self._context.db)
        done = 0
        readers = open_readers(self._config, remaining)
        try:
            for results in read_in_order(readers, self._next_batch):
                self._store_batch(results)
                done, remaining = done + len(results), remaining - len(results)
                on_batch(done, remaining)
        finally:
            for reader in readers:
                reader.close()

    def _next_batch(self) -> list[ImportTask]:
        """Return the next records of different pages, whose earlier versions are stored."""
        batch: dict[Url, QueuedImport] = {}
        while len(batch) < BATCH_RECORDS and (queued := self._load_next()):
            normalized = normalize_url(queued.url)
            url = normalized.url if normalized else Url(f"invalid:{queued.id}")
            if url in batch or url in self._unstored:
                self._loaded.appendleft(queued)
                break
            batch[url] = queued
        if batch:
            self._unstored.update(batch)
            self._reading.append(set(batch))
        return self._build_tasks(batch)

    def _load_next(self) -> QueuedImport | None:
        if not self._loaded:
            self._loaded.extend(load_queued_imports(self._context.db, BATCH_RECORDS, self._last))
            self._last = self._loaded[-1] if self._loaded else self._last
        if not self._loaded:
            return None
        queued = self._loaded.popleft()
        return queued if queued.url else replace(queued, url=self._read_url(queued))

    def _read_url(self, queued: QueuedImport) -> str:
        try:
            return read_single_record(self._config.archive_folder, queued.location, 0).url
        except CollectionError:
            return ""

    def _build_tasks(self, batch: dict[Url, QueuedImport]) -> list[ImportTask]:
        context = self._context
        ids = {url: known.id for url, known in context.frontier.url_store.get(batch).items()}
        states = context.storage.catalog.load_page_states(list(ids.values()))
        versions = load_stored_versions(
            context.storage.catalog, [state for state in states.values() if state.is_present]
        )
        roles = load_roles(context.db, list(ids.values()))
        return [
            ImportTask(
                queued,
                roles.get(ids.get(url, 0)),
                states[ids[url]].digest if url in ids and ids[url] in states else b"",
                versions.get(ids.get(url, 0)),
            )
            for url, queued in batch.items()
        ]

    def _store_batch(self, results: Sequence[ProcessedImport]) -> None:
        """Store the results of a batch, and remove it from the queue."""
        groups: list[dict[str, ProcessedImport]] = [{}]  # by record id, which other programs may have used twice
        finished: list[int] = []
        for result in results:
            if result.visit is None:
                self.replay_only[result.reason] += 1
                finished.append(result.queued.id)
                continue
            if result.visit.record_id in groups[-1]:
                groups.append({})
            groups[-1][result.visit.record_id] = result
        for group in groups:
            self._store(group, [*finished, *(result.queued.id for result in group.values())])
            finished = []
        self._unstored -= self._reading.popleft()

    def _store(self, group: dict[str, ProcessedImport], finished: Sequence[int]) -> None:
        context, now = self._context, max((item.queued.captured_at for item in group.values()), default=0.0)
        results = self._drop_older({item.url.url: item for item in group.values() if item.url})
        if not results:
            with transaction(context.db):
                delete_queued_imports(context.db, finished)
            return
        visits = self._lease(results, now)
        self._archive.set_locations(
            {item.visit.record_id: item.location for item in results.values() if item.visit and item.location}
        )
        entries = process_batch([WorkerReport(IMPORT_WORKER, tuple(visits))], context, now)
        delete_queued_imports(context.db, finished)
        commit_batch(entries, context)
        self.versions += len(visits)

    def _drop_older(self, results: dict[Url, ProcessedImport]) -> dict[Url, ProcessedImport]:
        """Leave out records that are older than the stored state of their page: changes go forward in time."""
        known = self._context.frontier.url_store.get(results)
        states = self._context.storage.catalog.load_page_states([item.id for item in known.values()])
        kept: dict[Url, ProcessedImport] = {}
        for url, result in results.items():
            state = states.get(known[url].id) if url in known else None
            if state is not None and state.last_visit > result.queued.captured_at:
                self.replay_only["older than the stored page"] += 1
            elif state is None and result.is_not_modified:
                self.replay_only["the original of a 304 is missing"] += 1
            else:
                kept[url] = result
        return kept

    def _lease(self, results: dict[Url, ProcessedImport], now: float) -> list[Visit]:
        """Lease the URLs of a batch, as if they were fetched now. Returns their visits."""
        context = self._context
        with transaction(context.db):
            known = context.frontier.url_store.get(results)
            entries = [
                FrontierEntry(
                    CandidateUrl(url, item.url.distinct_request_url, 0, UrlSource.IMPORT, role=item.visit.role),
                    UrlState.QUEUED,
                )
                for url, item in results.items()
                if url not in known and item.url and item.visit
            ]
            ids = {url: item.id for url, item in known.items()} | context.frontier.enqueue(entries, now)
            token = context.frontier.queue.allocate_tokens(len(results))
            leases = lease_imported(context.db, list(ids.values()), token, now)
        roles = load_roles(context.db, list(ids.values()))
        return [
            replace(result.visit, id=ids[url], token=leases[ids[url]].token, role=roles[ids[url]])
            for url, result in results.items()
            if result.visit
        ]
