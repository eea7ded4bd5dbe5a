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
from sanderling.search.fields import page_id, suffixes, type_of
from sanderling.search.schema import VERSION, schema
from sanderling.search.search_types import LARGEST_BODY, LARGEST_FIELD, Document, has_changed
from sanderling.search.tokenizer import UNSTEMMED, clean, stems

HEAP_BYTES = 48_000_000  # of the one writing thread, before it writes a segment
FOREVER = 2**62
META = "meta.json"  # names the files of the last commit
MANAGED = ".managed.json"  # and all there are
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Document).decode


class Index:
    """A folder of two indexes: the pages as they are, and the versions they had. One process may write."""

    def __init__(self, now: tantivy.Index, past: tantivy.Index, *, write: bool, places: Sequence[Path] = ()) -> None:
        self._places = places
        self.now = now
        self.past = past
        self._writers = (now.writer(HEAP_BYTES, 1), past.writer(15_000_000, 1)) if write else None
        self._pending: dict[str, Document | None] = {}  # None: deleted since the last commit
        self.is_outdated: Callable[[], bool] = lambda: False  # else it sees no commit made since: open it again

    @property
    def missing_since(self) -> int:
        """The last batch that is wholly in the index; everything stored after it must be read again."""
        searcher = self.now.searcher()
        hits = searcher.search(tantivy.Query.term_query(schema(), "mark", "batch"), 1).hits
        return int(searcher.doc(hits[0][1])["batch"][0]) if hits else 0

    def __len__(self) -> int:
        marks = self.now.searcher().doc_freq("mark", "batch")
        return max(0, self.now.searcher().num_docs - min(1, marks))

    def get(self, url: str) -> Document | None:
        """Give a page as it was last committed; None if it is not in the index."""
        searcher = self.now.searcher()
        hits = searcher.search(tantivy.Query.term_query(schema(), "key", url, "basic"), 1).hits
        return page_of(searcher, hits[0][1]) if hits else None

    def held(self, url: str) -> Document | None:
        """Give a page as the next commit will have it."""
        return self._pending[url] if url in self._pending else self.get(url)

    def replace(self, documents: Iterable[Document]) -> None:
        """Put pages in, each in the place of what was there under its URL; the older version stays findable."""
        now, _ = self._writing()
        for document in documents:
            page, old = bounded(document), self.held(document.url)
            if old is not None and reads_alike(old, page):
                continue
            self._retire(old, page.changed_at)
            now.delete_documents_by_term("key", page.url)
            now.add_document(entry(page, FOREVER))
            self._pending[page.url] = page

    def delete(self, urls: Iterable[str], at: float) -> None:
        """Take pages out, because they are gone since that time."""
        now, _ = self._writing()
        for url in urls:
            self._retire(self.held(url), at)
            now.delete_documents_by_term("key", url)
            self._pending[url] = None

    def forget(self, pages: Mapping[str, Sequence[float]]) -> None:
        """Take pages out, and all versions that began at these times: nothing of them stays findable."""
        now, past = self._writing()
        for url, times in pages.items():
            now.delete_documents_by_term("key", url)
            for at in times:
                past.delete_documents_by_term("key", version_key(at, url))
            self._pending[url] = None

    def sweep(self) -> None:
        """Take away the files of a commit that was killed: the next one may call its own the same."""
        for writer in self._writers or ():
            writer.garbage_collect_files()

    def commit(self, batch: int) -> None:
        """Make everything so far durable, together with the number of the last batch it came from."""
        now, past = self._writing()
        past.commit()  # first: done again after a crash it changes nothing, left out it would lose a version
        now.delete_documents_by_term("mark", "batch")
        mark = tantivy.Document()
        mark.add_text("mark", "batch")
        mark.add_unsigned("batch", batch)
        now.add_document(mark)
        now.commit()
        self._share()
        self._pending.clear()
        self.now.reload()
        self.past.reload()

    def close(self) -> None:
        """Let merges end and give the lock back; what was not committed is dropped."""
        if self._writers:
            for writer in self._writers:
                writer.rollback()
                writer.wait_merging_threads()
            self._writers = None
            self._share()

    def _share(self) -> None:
        """Let all who may look into the folders read what names their files; tantivy keeps that to its own user."""
        for place in self._places:
            for name in (META, MANAGED):
                with suppress(OSError):  # it is not there yet, or belongs to somebody else
                    (place / name).chmod(place.stat().st_mode & 0o666)

    def _writing(self) -> tuple[tantivy.IndexWriter, tantivy.IndexWriter]:
        if self._writers is None:
            raise CollectionError("this index was opened for reading only")
        return self._writers

    def _retire(self, old: Document | None, until: float) -> None:
        """Keep the version that ends now, under its URL and its time."""
        if old is None or old.changed_at >= until or not old.changed_at:
            return
        _, past = self._writing()
        key = version_key(old.changed_at, old.url)
        past.delete_documents_by_term("key", key)
        past.add_document(entry(old, int(until), key))


def open_index(folder: Path, *, write: bool) -> Index | None:
    """Open the index of a collection; None if there is none yet and it is only to be read."""
    places = [folder / f"v{VERSION}" / name for name in ("now", "past")]
    if not write and not all((place / META).exists() for place in places):
        return None
    if not write and not all(os.access(place, os.W_OK) for place in places):
        return _open_mirrored(folder, places)
    for place in places:
        place.mkdir(parents=True, exist_ok=True)
    return _open(folder, places, write)


def _open(folder: Path, places: Sequence[Path], write: bool) -> Index:
    try:
        now, past = (tantivy.Index(schema(), path=str(place)) for place in places)
        index = Index(now, past, write=write, places=places if write else ())
        index.sweep()
        return index
    except ValueError as problem:
        raise CollectionError(f"the index in {folder} cannot be opened: {problem}") from problem


def _open_mirrored(folder: Path, places: Sequence[Path]) -> Index:
    """Open an index as links in a folder of ours: tantivy wants to lock even what it only reads."""
    seen = _commits(places)
    mirror = Path(mkdtemp(prefix="sanderling-"))
    try:
        index = _open(folder, [_linked(place, mirror / place.name) for place in places], write=False)
    except (CollectionError, OSError) as problem:
        rmtree(mirror, ignore_errors=True)
        if _commits(places) != seen:  # a commit took away what we were about to open
            return _open_mirrored(folder, places)
        if isinstance(problem, CollectionError):
            raise
        raise CollectionError(f"the index in {folder} cannot be opened: {problem}") from problem
    index.is_outdated = lambda: _commits(places) != seen
    finalize(index, rmtree, mirror, ignore_errors=True)
    return index


def _linked(place: Path, mirror: Path) -> Path:
    """Copy what names the files of a commit, which the next commit replaces, and link the files."""
    mirror.mkdir()
    (mirror / META).write_bytes((place / META).read_bytes())
    for file in place.iterdir():
        if file.name != META and file.suffix != ".lock":
            (mirror / file.name).symlink_to(file.resolve())
    return mirror


def _commits(places: Sequence[Path]) -> list[tuple[int, int] | None]:
    """What differs after each commit; None where there is nothing any more."""
    try:
        return [(found.st_ino, found.st_mtime_ns) for found in ((place / META).stat() for place in places)]
    except FileNotFoundError:
        return [None]


def version_key(changed_at: float, url: str) -> str:
    """The name of an older version in the index."""
    return f"{changed_at!r} {url}"


def page_of(searcher: tantivy.Searcher, address: tantivy.DocAddress) -> Document:
    """Read the page that was stored with an entry."""
    return _decode(bytes(searcher.doc(address)["page"][0]))


def reads_alike(old: Document, new: Document) -> bool:
    """Is there nothing new but the time? Then the version goes on: it was first seen when it was."""
    times = {name: getattr(old, name) for name in ("changed_at", "visited_at", "first_seen_at")}
    return msgspec.structs.replace(new, **times) == old


def entry(page: Document, until: int, key: str = "") -> tantivy.Document:
    """Make the index entry of a page whose fields are bounded."""
    made = tantivy.Document()
    made.add_text("key", key or page.url)
    made.add_integer("id", page_id(page.url))
    made.add_text("site", page.site)
    made.add_text("type", type_of(page.mime))
    made.add_text("language", page.language)
    for suffix in suffixes(page.site):
        made.add_text("sites", suffix)
    for field in ("title", "headings", "anchors", "body"):
        made.add_text(field, stems(getattr(page, field), page.language))
    made.add_text("address", stems(page.url, UNSTEMMED))
    made.add_integer("changed", int(page.changed_at))
    made.add_integer("modified", int(page.changed_at) if has_changed(page.changed_at, page.first_seen_at) else 0)
    made.add_integer("until", until)
    made.add_float("link", page.link_rank)
    made.add_bytes("page", _encode(page))
    return made


def bounded(page: Document) -> Document:
    """Cut what is longer than the index takes, and drop half characters that cannot be stored."""
    return msgspec.structs.replace(
        page,
        title=clean(page.title[:LARGEST_FIELD]),
        headings=clean(page.headings[: LARGEST_FIELD * 10]),
        anchors=clean(page.anchors[: LARGEST_FIELD * 10]),
        body=clean(page.body[:LARGEST_BODY]),
    )
