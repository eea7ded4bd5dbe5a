"""The index on disk: pages are replaced one by one, never wiped; a commit names the batch it holds."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from weakref import finalize

import msgspec
import tantivy

from sanderling.errors import CollectionError
from sanderling.search.fields import compute_page_id, get_type_name, list_domain_suffixes
from sanderling.search.schema import INDEX_VERSION, get_schema
from sanderling.search.search_types import MAX_BODY_CHARS, MAX_FIELD_CHARS, Document, has_changed
from sanderling.search.tokenizer import UNSTEMMED, remove_surrogates, stem_text

WRITER_HEAP_BYTES = 48_000_000  # of the one writing thread, before it writes a segment
FOREVER = 2**62
META_FILE = "meta.json"  # names the files of the last commit
MANAGED_FILE = ".managed.json"  # and all there are
_encode_document = msgspec.msgpack.Encoder().encode
_decode_document = msgspec.msgpack.Decoder(Document).decode


class SearchIndex:
    """A folder of two indexes: the pages as they are, and the versions they had. One process may write."""

    def __init__(
        self, current_index: tantivy.Index, history_index: tantivy.Index, *, write: bool, folders: Sequence[Path] = ()
    ) -> None:
        self._folders = folders
        self.current_index = current_index
        self.history_index = history_index
        self._writers = (
            (current_index.writer(WRITER_HEAP_BYTES, 1), history_index.writer(15_000_000, 1)) if write else None
        )
        self._pending: dict[str, Document | None] = {}  # None: deleted since the last commit
        self.is_outdated: Callable[[], bool] = lambda: False  # else it sees no commit made since: open it again

    @property
    def last_batch(self) -> int:
        """The last batch that is wholly in the index; everything stored after it must be read again."""
        searcher = self.current_index.searcher()
        hits = searcher.search(tantivy.Query.term_query(get_schema(), "mark", "batch"), 1).hits
        return int(searcher.doc(hits[0][1])["batch"][0]) if hits else 0

    def __len__(self) -> int:
        marks = self.current_index.searcher().doc_freq("mark", "batch")
        return max(0, self.current_index.searcher().num_docs - min(1, marks))

    def get(self, url: str) -> Document | None:
        """Give a page as it was last committed; None if it is not in the index."""
        searcher = self.current_index.searcher()
        hits = searcher.search(tantivy.Query.term_query(get_schema(), "key", url, "basic"), 1).hits
        return load_document(searcher, hits[0][1]) if hits else None

    def get_pending(self, url: str) -> Document | None:
        """Give a page as the next commit will have it."""
        return self._pending[url] if url in self._pending else self.get(url)

    def replace(self, documents: Iterable[Document]) -> None:
        """Put pages in, each in the place of what was there under its URL; the older version stays findable."""
        now, _ = self._get_writers()
        for document in documents:
            page, old = truncate_document(document), self.get_pending(document.url)
            if old is not None and has_same_content(old, page):
                continue
            self._archive_version(old, page.changed_at)
            now.delete_documents_by_term("key", page.url)
            now.add_document(build_index_entry(page, FOREVER))
            self._pending[page.url] = page

    def mark_gone(self, urls: Iterable[str], at: float) -> None:
        """Take pages out, because they are gone since that time."""
        now, _ = self._get_writers()
        for url in urls:
            self._archive_version(self.get_pending(url), at)
            now.delete_documents_by_term("key", url)
            self._pending[url] = None

    def delete_permanently(self, pages: Mapping[str, Sequence[float]]) -> None:
        """Take pages out, and all versions that began at these times: nothing of them stays findable."""
        now, past = self._get_writers()
        for url, times in pages.items():
            now.delete_documents_by_term("key", url)
            for at in times:
                past.delete_documents_by_term("key", build_version_key(at, url))
            self._pending[url] = None

    def collect_garbage(self) -> None:
        """Take away the files of a commit that was killed: the next one may call its own the same."""
        for writer in self._writers or ():
            writer.garbage_collect_files()

    def commit(self, batch: int) -> None:
        """Make everything so far durable, together with the number of the last batch it came from."""
        now, past = self._get_writers()
        past.commit()  # first: done again after a crash it changes nothing, left out it would lose a version
        now.delete_documents_by_term("mark", "batch")
        mark = tantivy.Document()
        mark.add_text("mark", "batch")
        mark.add_unsigned("batch", batch)
        now.add_document(mark)
        now.commit()
        self._share_metadata()
        self._pending.clear()
        self.current_index.reload()
        self.history_index.reload()

    def close(self) -> None:
        """Let merges end and give the lock back; what was not committed is dropped."""
        if self._writers:
            for writer in self._writers:
                writer.rollback()
                writer.wait_merging_threads()
            self._writers = None
            self._share_metadata()

    def _share_metadata(self) -> None:
        """Let all who may look into the folders read what names their files; tantivy keeps that to its own user."""
        for place in self._folders:
            for name in (META_FILE, MANAGED_FILE):
                with suppress(OSError):  # it is not there yet, or belongs to somebody else
                    (place / name).chmod(place.stat().st_mode & 0o666)

    def _get_writers(self) -> tuple[tantivy.IndexWriter, tantivy.IndexWriter]:
        if self._writers is None:
            raise CollectionError("this index was opened for reading only")
        return self._writers

    def _archive_version(self, old: Document | None, until: float) -> None:
        """Keep the version that ends now, under its URL and its time."""
        if old is None or old.changed_at >= until or not old.changed_at:
            return
        _, past = self._get_writers()
        key = build_version_key(old.changed_at, old.url)
        past.delete_documents_by_term("key", key)
        past.add_document(build_index_entry(old, int(until), key))


def open_search_index(folder: Path, *, write: bool) -> SearchIndex | None:
    """Open the index of a collection; None if there is none yet and it is only to be read."""
    places = [folder / f"v{INDEX_VERSION}" / name for name in ("now", "past")]
    if not write and not all((place / META_FILE).exists() for place in places):
        return None
    if not write and not all(os.access(place, os.W_OK) for place in places):
        return _open_mirrored(folder, places)
    for place in places:
        place.mkdir(parents=True, exist_ok=True)
    return _open_folders(folder, places, write)


def _open_folders(folder: Path, folders: Sequence[Path], write: bool) -> SearchIndex:
    try:
        now, past = (tantivy.Index(get_schema(), path=str(place)) for place in folders)
        index = SearchIndex(now, past, write=write, folders=folders if write else ())
        index.collect_garbage()
        return index
    except ValueError as problem:
        raise CollectionError(f"the index in {folder} cannot be opened: {problem}") from problem


def _open_mirrored(folder: Path, folders: Sequence[Path]) -> SearchIndex:
    """Open an index as links in a folder of ours: tantivy wants to lock even what it only reads."""
    seen = _stat_commits(folders)
    mirror = Path(mkdtemp(prefix="sanderling-"))
    try:
        index = _open_folders(folder, [_link_files(place, mirror / place.name) for place in folders], write=False)
    except (CollectionError, OSError) as problem:
        rmtree(mirror, ignore_errors=True)
        if _stat_commits(folders) != seen:  # a commit took away what we were about to open
            return _open_mirrored(folder, folders)
        if isinstance(problem, CollectionError):
            raise
        raise CollectionError(f"the index in {folder} cannot be opened: {problem}") from problem
    index.is_outdated = lambda: _stat_commits(folders) != seen
    finalize(index, rmtree, mirror, ignore_errors=True)
    return index


def _link_files(source: Path, mirror: Path) -> Path:
    """Copy what names the files of a commit, which the next commit replaces, and link the files."""
    mirror.mkdir()
    (mirror / META_FILE).write_bytes((source / META_FILE).read_bytes())
    for file in source.iterdir():
        if file.name != META_FILE and file.suffix != ".lock":
            (mirror / file.name).symlink_to(file.resolve())
    return mirror


def _stat_commits(folders: Sequence[Path]) -> list[tuple[int, int] | None]:
    """What differs after each commit; None where there is nothing any more."""
    try:
        return [(found.st_ino, found.st_mtime_ns) for found in ((place / META_FILE).stat() for place in folders)]
    except FileNotFoundError:
        return [None]


def build_version_key(changed_at: float, url: str) -> str:
    """The name of an older version in the index."""
    return f"{changed_at!r} {url}"


def load_document(searcher: tantivy.Searcher, address: tantivy.DocAddress) -> Document:
    """Read the page that was stored with an entry."""
    return _decode_document(bytes(searcher.doc(address)["page"][0]))


def has_same_content(old: Document, new: Document) -> bool:
    """Is there nothing new but the time? Then the version goes on: it was first seen when it was."""
    times = {name: getattr(old, name) for name in ("changed_at", "visited_at", "first_seen_at")}
    return msgspec.structs.replace(new, **times) == old


def build_index_entry(document: Document, until: int, key: str = "") -> tantivy.Document:
    """Make the index entry of a page whose fields are bounded."""
    made = tantivy.Document()
    made.add_text("key", key or document.url)
    made.add_integer("id", compute_page_id(document.url))
    made.add_text("site", document.site)
    made.add_text("type", get_type_name(document.mime))
    made.add_text("language", document.language)
    for suffix in list_domain_suffixes(document.site):
        made.add_text("sites", suffix)
    for field in ("title", "headings", "anchors", "body"):
        made.add_text(field, stem_text(getattr(document, field), document.language))
    made.add_text("address", stem_text(document.url, UNSTEMMED))
    made.add_integer("changed", int(document.changed_at))
    made.add_integer(
        "modified", int(document.changed_at) if has_changed(document.changed_at, document.first_seen_at) else 0
    )
    made.add_integer("until", until)
    made.add_float("link", document.link_rank)
    made.add_bytes("page", _encode_document(document))
    return made


def truncate_document(document: Document) -> Document:
    """Cut what is longer than the index takes, and drop half characters that cannot be stored."""
    return msgspec.structs.replace(
        document,
        title=remove_surrogates(document.title[:MAX_FIELD_CHARS]),
        headings=remove_surrogates(document.headings[: MAX_FIELD_CHARS * 10]),
        anchors=remove_surrogates(document.anchors[: MAX_FIELD_CHARS * 10]),
        body=remove_surrogates(document.body[:MAX_BODY_CHARS]),
    )
