"""Import WARC, ARC, and WACZ files of other programs as history: pages, versions, links, and changes between them.

Records are copied unchanged into the archive first. Then they pass the pipeline in the order of their dates, with
leases like fetched pages. Both steps resume where a killed import stopped.
"""

import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from sanderling.clock import Clock, system_clock
from sanderling.crawl.context import CrawlContext, RunStats
from sanderling.crawl.dispatch import load_stored_versions
from sanderling.crawl.imported_records import (
    ImportedArchive,
    ImportedIndex,
    ImportedRecord,
    ImportedResponseProcessor,
    read_import,
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
from sanderling.http.content_type import is_html, parse_mime_type
from sanderling.models import CandidateUrl, FetchTask, Url, UrlSource, UrlState, WorkerReport
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
from sanderling.storage.queries import count_pages
from sanderling.urls.normalize import NormalizedUrl, get_host, normalize_url
from sanderling.warc.import_reader import open_source
from sanderling.warc.warc_reader import read_record
from sanderling.workers.worker import compute_fingerprints

BATCH_RECORDS = 256
MAX_SEED_HOSTS = 1_000
SEED_SAMPLE_RECORDS = 20_000  # read to find the first page of each host
HTML_START_BYTES = 2_000
STATUS_OK = 200


class ImportSummary(Struct):
    """Result of an import."""

    files: int = 0
    known_files: int = 0  # imported before
    records: int = 0  # copied
    rejected: int = 0
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
    report, seeds = _copy_files(folder, files, clock, on_progress)
    summary = ImportSummary(
        report.files, report.known_files, report.records, report.rejected.total(), bytes=report.bytes,
        rejections=report.examples,
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
        processor = _ImportRun(context, full_request, clock)
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
    """Copy all records. Returns the seeds of a collection that has none."""
    named_seeds: list[str] = []
    with open_collection(folder) as collection, tempfile.TemporaryDirectory(prefix=".import-", dir=folder) as scratch:
        writer = open_import_writer(collection, clock)
        try:
            for path in files:
                with open_source(path, Path(scratch)) as (sources, seeds):
                    named_seeds += seeds
                    for source in sources:
                        writer.copy_file(source, lambda report: on_progress(ImportProgress(report.records)))
        finally:
            close_import_writer(writer)
        stored_seeds = CollectionMeta(collection.db).seeds
        if stored_seeds:
            return writer.report, [seed for url in stored_seeds if (seed := normalize_url(url))]
        found = [normalized for url in named_seeds if (normalized := normalize_url(url))]
        queued = load_queued_imports(collection.db, SEED_SAMPLE_RECORDS)
        return writer.report, found or _find_first_pages(collection.archive_folder, queued)


def _find_first_pages(archive_folder: Path, queued: Sequence[QueuedImport]) -> list[NormalizedUrl]:
    """Return the first page of each host; if there is none, the first URL."""
    seeds: dict[str, NormalizedUrl] = {}
    urls: list[NormalizedUrl] = []
    for item in queued:
        with suppress(CollectionError):
            record = read_record(archive_folder, item.location, HTML_START_BYTES)
            url, mime = normalize_url(record.url), parse_mime_type(record.get_header("Content-Type"))
            urls += [url] if url is not None and not urls else []
            if url is not None and record.status == STATUS_OK and is_html(mime, record.body):
                seeds.setdefault(get_host(url.url), url)
        if len(seeds) >= MAX_SEED_HOSTS:
            break
    return list(seeds.values()) or urls


class _ImportRun:
    """Processes copied records."""

    def __init__(self, context: CrawlContext, request: CrawlRequest, clock: Clock) -> None:
        self._folder, self._index = context.storage.archive.folder, context.storage.cdxj_index
        self._archive = ImportedArchive(context.storage.catalog.load_committed_lengths())
        stand_ins: dict[str, Any] = {"archive": self._archive, "cdxj_index": ImportedIndex()}
        self._context = replace(context, storage=replace(context.storage, **stand_ins))
        settings = replace(build_fetch_settings(request), archive_folder=str(self._folder))
        self._processor = ImportedResponseProcessor(settings, compute_fingerprints, packs_links=True)
        self._max_body = settings.max_body
        self._clock = clock
        self.versions = 0
        self.replay_only = Counter[str]()

    def process_all(self, on_batch: Callable[[int, int], None]) -> None:
        """Process all queued records, oldest first. Each batch is a transaction."""
        remaining = count_queued_imports(self._context.db)
        done = 0
        while queued := load_queued_imports(self._context.db, BATCH_RECORDS):
            count = self._process_batch(queued)
            done, remaining = done + count, remaining - count
            on_batch(done, remaining)

    def _process_batch(self, queued: Sequence[QueuedImport]) -> int:
        """Process the first records that are versions of different pages. Returns how many left the queue."""
        batch: dict[Url, ImportedRecord] = {}
        finished: list[int] = []
        ids = set[str]()
        for item in queued:
            imported = read_import(item, self._folder, self._index, self._max_body)
            if isinstance(imported, str):
                self.replay_only[imported] += 1
            elif imported.url.url in batch or imported.record_id in ids:
                break  # the next batch compares it with this version
            else:
                batch[imported.url.url] = imported
                ids.add(imported.record_id)
            finished.append(item.id)
        self._store(batch, finished)
        return len(finished)

    def _store(self, batch: dict[Url, ImportedRecord], finished: Sequence[int]) -> None:
        context, now = self._context, max((item.queued.captured_at for item in batch.values()), default=0.0)
        records = self._drop_older(batch)
        if not records:
            with transaction(context.db):
                delete_queued_imports(context.db, finished)
            return
        tasks = self._lease(records, now)
        self._archive.set_records(list(records.values()))
        visits = [self._processor.process_imported(tasks[url], imported) for url, imported in records.items()]
        packed = msgspec.msgpack.encode(WorkerReport(IMPORT_WORKER, tuple(visits)))  # links are packed in C
        entries = process_batch([msgspec.msgpack.decode(packed, type=WorkerReport)], context, now)
        delete_queued_imports(context.db, finished)
        commit_batch(entries, context)
        self.versions += len(visits)

    def _drop_older(self, batch: dict[Url, ImportedRecord]) -> dict[Url, ImportedRecord]:
        """Leave out records that are older than the stored state of their page: changes go forward in time."""
        known = self._context.frontier.url_store.get(batch)
        states = self._context.storage.catalog.load_page_states([item.id for item in known.values()])
        kept: dict[Url, ImportedRecord] = {}
        for url, imported in batch.items():
            state = states.get(known[url].id) if url in known else None
            if state is not None and state.last_visit > imported.queued.captured_at:
                self.replay_only["older than the stored page"] += 1
            elif state is None and imported.is_not_modified:
                self.replay_only["the original of a 304 is missing"] += 1
            else:
                kept[url] = imported
        return kept

    def _lease(self, records: dict[Url, ImportedRecord], now: float) -> dict[Url, FetchTask]:
        """Lease the URLs of a batch, as if they were fetched now."""
        context = self._context
        with transaction(context.db):
            known = context.frontier.url_store.get(records)
            entries = [
                FrontierEntry(
                    CandidateUrl(url, item.url.distinct_request_url, 0, UrlSource.IMPORT, role=item.role),
                    UrlState.QUEUED,
                )
                for url, item in records.items()
                if url not in known
            ]
            ids = {url: item.id for url, item in known.items()} | context.frontier.enqueue(entries, now)
            token = context.frontier.queue.allocate_tokens(len(records))
            leases = lease_imported(context.db, list(ids.values()), token, now)
        states = context.storage.catalog.load_page_states(list(ids.values()))
        versions = load_stored_versions(
            context.storage.catalog, [state for state in states.values() if state.is_present]
        )
        roles = load_roles(context.db, list(ids.values()))
        return {
            url: FetchTask(
                id_,
                leases[id_].token,
                url,
                records[url].url.distinct_request_url,
                digest=states[id_].digest if id_ in states and states[id_].digest else b"",
                role=roles[id_],
                last_version=versions.get(id_),
            )
            for url, id_ in ids.items()
        }
