"""The index on disk. Each commit records the batch it contains."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from weakref import finalize

import msgspec
import tantivy

from sanderling.errors import CollectionError, IndexDamaged
from sanderling.http.content_type import get_type_name
from sanderling.search.fields import compute_page_id, list_domain_suffixes
from sanderling.search.schema import INDEX_VERSION, get_schema
from sanderling.search.search_types import MAX_BODY_CHARS, MAX_FIELD_CHARS, Document, has_changed
from sanderling.search.tokenizer import UNSTEMMED, remove_surrogates, stem_text

WRITER_HEAP_BYTES = 48_000_000  # of the one writer thread, per segment
FOREVER = 2**62
META_FILE = "meta.json"  # lists the files of the last commit
MANAGED_FILE = ".managed.json"  # lists all files
_encode_document = msgspec.msgpack.Encoder().encode
_decode_document = msgspec.msgpack.Decoder(Document).decode


@contextmanager
def report_index_damage(folder: Path) -> Iterator[None]:
    """Raise IndexDamaged if tantivy cannot use the index, and MemoryError if it cannot start a thread.

    It raises ValueError, or on damaged files PanicException, which no module exports and which is not an Exception.
    """
    try:
        yield
    except BaseException as error:
        if not isinstance(error, ValueError) and type(error).__name__ != "PanicException":
            raise
        if "Failed to spawn" in str(error):
            raise MemoryError(str(error)) from error
        raise IndexDamaged(
            f"the index in {folder} is damaged: {error}; delete {folder}, the next command rebuilds it from the archive"
        ) from error


class SearchIndex:
    """Indexes of current pages and of past versions. A single process may write."""

    def __init__(
        self,
        folder: Path,
        current_index: tantivy.Index,
        history_index: tantivy.Index,
        *,
        write: bool,
        folders: Sequence[Path] = (),
    ) -> None:
        self.folder = folder
        self._folders = folders
        self.current_index = current_index
        self.history_index = history_index
        self._writers = (
            (current_index.writer(WRITER_HEAP_BYTES, 1), history_index.writer(15_000_000, 1)) if write else None
        )
        self._pending: dict[str, Document | None] = {}  # uncommitted; None: deleted
        self.is_outdated: Callable[[], bool] = lambda: False  # True: reopen to see newer commits

    @property
    def last_batch(self) -> int:
        """The last indexed batch; later visits must be read again."""
        searcher = self.current_index.searcher()
        hits = searcher.search(tantivy.Query.term_query(get_schema(), "mark", "batch"), 1).hits
        return int(searcher.doc(hits[0][1])["batch"][0]) if hits else 0

    def __len__(self) -> int:
        marks = self.current_index.searcher().doc_freq("mark", "batch")
        return max(0, self.current_index.searcher().num_docs - min(1, marks))

    def get(self, url: str) -> Document | None:
        """Return the last committed version of a page, or None."""
        searcher = self.current_index.searcher()
        hits = searcher.search(tantivy.Query.term_query(get_schema(), "key", url, "basic"), 1).hits
        return load_document(searcher, hits[0][1]) if hits else None

    def get_pending(self, url: str) -> Document | None:
        """Return the version of the next commit, or None."""
        return self._pending[url] if url in self._pending else self.get(url)

    def replace(self, documents: Iterable[Document]) -> None:
        """Index pages; their previous versions move to the history."""
        writer, _ = self._get_writers()
        for document in documents:
            page, previous = truncate_document(document), self.get_pending(document.url)
            if previous is not None and has_same_content(previous, page):
                continue
            self._archive_version(previous, page.changed_at)
            writer.delete_documents_by_term("key", page.url)
            writer.add_document(build_index_entry(page, FOREVER))
            self._pending[page.url] = page

    def mark_gone(self, urls: Iterable[str], at: float) -> None:
        """Remove pages; their last version moves to the history."""
        writer, _ = self._get_writers()
        for url in urls:
            self._archive_version(self.get_pending(url), at)
            writer.delete_documents_by_term("key", url)
            self._pending[url] = None

    def delete_permanently(self, pages: Mapping[str, Sequence[float]]) -> None:
        """Delete pages and the versions that started at these times."""
        current_writer, history_writer = self._get_writers()
        for url, times in pages.items():
            current_writer.delete_documents_by_term("key", url)
            for at in times:
                history_writer.delete_documents_by_term("key", build_version_key(at, url))
            self._pending[url] = None

    def add_copies(self, pages: Iterable[tantivy.Document], versions: Iterable[tantivy.Document]) -> None:
        """Add entries as they are, to an empty index."""
        for writer, entries in zip(self._get_writers(), (pages, versions), strict=True):
            for entry in entries:
                writer.add_document(entry)

    def collect_garbage(self) -> None:
        """Delete files of an interrupted commit, whose names may be reused."""
        for writer in self._writers or ():
            writer.garbage_collect_files()

    def commit(self, batch: int) -> None:
        """Make changes durable together with the batch number."""
        current_writer, history_writer = self._get_writers()
        history_writer.commit()  # first: repeating it after a crash is harmless, skipping it loses a version
        current_writer.delete_documents_by_term("mark", "batch")
        mark = tantivy.Document()
        mark.add_text("mark", "batch")
        mark.add_unsigned("batch", batch)
        current_writer.add_document(mark)
        current_writer.commit()
        self._share_metadata()
        self._pending.clear()
        self.current_index.reload()
        self.history_index.reload()

    def close(self) -> None:
        """Wait for merges. Uncommitted changes are dropped."""
        if self._writers:
            for writer in self._writers:
                writer.rollback()
                writer.wait_merging_threads()
            self._writers = None
            self._share_metadata()

    def _share_metadata(self) -> None:
        """Give metadata files the permissions of their folder; tantivy makes them private."""
        for folder in self._folders:
            for name in (META_FILE, MANAGED_FILE):
                with suppress(OSError):  # not written yet, or owned by another user
                    (folder / name).chmod(folder.stat().st_mode & 0o666)

    def _get_writers(self) -> tuple[tantivy.IndexWriter, tantivy.IndexWriter]:
        if self._writers is None:
            raise CollectionError("the index is open read-only")
        return self._writers

    def _archive_version(self, old: Document | None, until: float) -> None:
        if old is None or old.changed_at >= until or not old.changed_at:
            return
        _, history_writer = self._get_writers()
        key = build_version_key(old.changed_at, old.url)
        history_writer.delete_documents_by_term("key", key)
        history_writer.add_document(build_index_entry(old, int(until), key))


def open_search_index(folder: Path, *, write: bool) -> SearchIndex | None:
    """Return None if it does not exist and `write` is false."""
    folders = [folder / f"v{INDEX_VERSION}" / name for name in ("now", "past")]
    if not write and not all((index_folder / META_FILE).exists() for index_folder in folders):
        return None
    if not write and not all(os.access(index_folder, os.W_OK) for index_folder in folders):
        return _open_mirrored(folder, folders)
    for index_folder in folders:
        index_folder.mkdir(parents=True, exist_ok=True)
    return _open_folders(folder, folders, write)


def _open_folders(folder: Path, folders: Sequence[Path], write: bool) -> SearchIndex:
    try:
        with report_index_damage(folder):
            return _open_tantivy(folder, folders, write)
    except IndexDamaged as error:
        if "Lock" in str(error):  # LockBusy, LockFailure
            raise CollectionError(f"the index in {folder} cannot be opened: {error.__cause__}") from error
        raise


def _open_tantivy(folder: Path, folders: Sequence[Path], write: bool) -> SearchIndex:
    current_index, history_index = (tantivy.Index(get_schema(), path=str(index_folder)) for index_folder in folders)
    index = SearchIndex(folder, current_index, history_index, write=write, folders=folders if write else ())
    index.collect_garbage()
    return index


def _open_mirrored(folder: Path, folders: Sequence[Path]) -> SearchIndex:
    """Open an index through symlinks in a temporary folder: tantivy locks even to read."""
    commits = _stat_commits(folders)
    mirror = Path(mkdtemp(prefix="sanderling-"))
    try:
        index = _open_folders(
            folder, [_link_files(index_folder, mirror / index_folder.name) for index_folder in folders], write=False
        )
    except (CollectionError, OSError) as error:
        rmtree(mirror, ignore_errors=True)
        if _stat_commits(folders) != commits:  # a commit replaced the files meanwhile
            return _open_mirrored(folder, folders)
        if isinstance(error, CollectionError):
            raise
        raise CollectionError(f"the index in {folder} cannot be opened: {error}") from error
    index.is_outdated = lambda: _stat_commits(folders) != commits
    finalize(index, rmtree, mirror, ignore_errors=True)
    return index


def _link_files(source: Path, mirror: Path) -> Path:
    """Copy the metadata, which the next commit replaces; symlink the rest."""
    mirror.mkdir()
    (mirror / META_FILE).write_bytes((source / META_FILE).read_bytes())
    for file in source.iterdir():
        if file.name != META_FILE and file.suffix != ".lock":
            (mirror / file.name).symlink_to(file.resolve())
    return mirror


def _stat_commits(folders: Sequence[Path]) -> list[tuple[int, int] | None]:
    try:
        return [(status.st_ino, status.st_mtime_ns) for status in ((folder / META_FILE).stat() for folder in folders)]
    except FileNotFoundError:
        return [None]


def build_version_key(changed_at: float, url: str) -> str:
    return f"{changed_at!r} {url}"


def load_document(searcher: tantivy.Searcher, address: tantivy.DocAddress) -> Document:
    return _decode_document(bytes(searcher.doc(address)["page"][0]))


def has_same_content(old: Document, new: Document) -> bool:
    """Return whether versions differ only in their times."""
    times = {name: getattr(old, name) for name in ("changed_at", "visited_at", "first_seen_at")}
    return msgspec.structs.replace(new, **times) == old


def build_index_entry(document: Document, until: int, key: str = "") -> tantivy.Document:
    entry = tantivy.Document()
    entry.add_text("key", key or document.url)
    entry.add_integer("id", compute_page_id(document.url))
    entry.add_text("site", document.site)
    entry.add_text("type", get_type_name(document.mime))
    entry.add_text("language", document.language)
    for suffix in list_domain_suffixes(document.site):
        entry.add_text("sites", suffix)
    for field in ("title", "headings", "anchors", "body"):
        entry.add_text(field, stem_text(getattr(document, field), document.language))
    entry.add_text("address", stem_text(document.url, UNSTEMMED))
    entry.add_integer("changed", int(document.changed_at))
    entry.add_integer(
        "modified", int(document.changed_at) if has_changed(document.changed_at, document.first_seen_at) else 0
    )
    entry.add_integer("until", until)
    entry.add_float("link", document.link_rank)
    entry.add_bytes("page", _encode_document(document))
    return entry


def truncate_document(document: Document) -> Document:
    """Truncate fields and remove lone surrogates."""
    return msgspec.structs.replace(
        document,
        title=remove_surrogates(document.title[:MAX_FIELD_CHARS]),
        headings=remove_surrogates(document.headings[: MAX_FIELD_CHARS * 10]),
        anchors=remove_surrogates(document.anchors[: MAX_FIELD_CHARS * 10]),
        body=remove_surrogates(document.body[:MAX_BODY_CHARS]),
    )
