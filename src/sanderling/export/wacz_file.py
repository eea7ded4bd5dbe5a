"""Write a collection as a WACZ file (Web Archive Collection Zipped, 1.1.1).

The WARC files are copied unchanged and uncompressed, so that replay in a browser reads ranges of the ZIP file.
"""

import json
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from gzip import compress
from hashlib import file_digest, sha256
from itertools import groupby, islice
from os import replace as replace_file
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct, field

from sanderling import __version__
from sanderling.clock import Clock, system_clock
from sanderling.config.time_format import format_iso
from sanderling.errors import CollectionError, UsageError, build_write_error
from sanderling.export.row_files import PART_SUFFIX, encode_json_row
from sanderling.http.content_type import HTML_TYPES
from sanderling.storage.catalog import PageCatalog
from sanderling.storage.collection import StoredCollection
from sanderling.storage.collection_meta import CollectionMeta
from sanderling.storage.queries import load_pages
from sanderling.warc.cdxj import REVISIT_MIME, build_entry, parse_entry
from sanderling.warc.cdxj_lines import iterate_index_lines
from sanderling.warc.remote import open_warc_file
from sanderling.warc.signature import sign_digest
from sanderling.warc.warc_reader import read_single_record

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

WACZ_VERSION = "1.1.1"
LINES_PER_BLOCK = 1024  # of the compressed index; readers load a block per look-up
COPY_BYTES = 1 << 20
MAX_PLAIN_BYTES = 2_000_000_000  # a larger member of the ZIP file has 64-bit lengths
INDEX_NAME, BLOCKS_NAME, PAGES_NAME = "indexes/index.cdx.gz", "indexes/index.idx", "pages/pages.jsonl"


class _Capture(Struct):
    """The fields of an index line that are read here."""

    url: str
    mime: str = ""
    digest: str = ""
    filename: str = ""
    offset: str = ""


_decode_capture = msgspec.json.Decoder(_Capture).decode


class WaczOptions(Struct, frozen=True):
    """Title, signature, and size of WACZ files."""

    title: str = ""  # empty: the first seed
    signing_key: "EllipticCurvePrivateKey | None" = None  # None: not signed
    part_bytes: int = 0  # WARC bytes of each of several files; 0: one file
    clock: Clock = system_clock
    on_file: Callable[[str, int], None] = lambda _name, _length: None  # called before a WARC file is copied


class WaczSummary(Struct):
    """Counts of written records."""

    warc_files: int = 0
    captures: int = 0
    pages: int = 0
    bytes: int = 0
    parts: list[str] = []


class _Part(Struct, frozen=True):
    """The WARC files of a WACZ file, with their lengths. The first of several parts lists the pages."""

    files: dict[str, int]
    number: int = 1
    count: int = 1


class _Package(Struct):
    """A ZIP file that is being written, and the entry of each of its files in the data package."""

    zip: zipfile.ZipFile
    part: _Part
    resources: list[dict[str, object]] = field(default_factory=list)

    def add(self, path: str, parts: Iterable[bytes], length: int = 0, *, is_compressed: bool = False) -> None:
        """Add a file. 64-bit lengths only where needed: wabac.js cannot read the local header they make longer."""
        info = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
        info.compress_type = zipfile.ZIP_DEFLATED if is_compressed else zipfile.ZIP_STORED
        digest, size = sha256(), 0
        with self.zip.open(info, "w", force_zip64=length > MAX_PLAIN_BYTES) as member:
            for part in parts:
                member.write(part)
                digest.update(part)
                size += len(part)
        name = path.rpartition("/")[2].lower()
        self.resources.append({"name": name, "path": path, "hash": f"sha256:{digest.hexdigest()}", "bytes": size})

    def add_generated(self, path: str, parts: Iterable[bytes], scratch: Path, *, is_compressed: bool = False) -> None:
        """Add a file whose length is known only when it is complete."""
        draft = scratch / path.rpartition("/")[2]
        with draft.open("wb") as file:
            file.writelines(parts)
        length = draft.stat().st_size
        self.add(path, _read_file(scratch, draft.name, length), length, is_compressed=is_compressed)


def write_wacz(collection: StoredCollection, path: Path, options: WaczOptions | None = None) -> WaczSummary:
    """Write all committed records of a collection. The file appears only when it is complete.

    With `part_bytes`, `NAME-1.wacz`, `NAME-2.wacz` ... are written, and `NAME.json`, which lists them (multi-WACZ).
    """
    options, summary = options or WaczOptions(), WaczSummary()
    groups = _group_files(PageCatalog(collection.db).load_committed_lengths(), options.part_bytes)
    if not groups:
        raise UsageError(f"{collection.folder} has no records to export")
    if not options.part_bytes:
        _write_file(collection, path, _Part(groups[0]), options, summary)
        return summary
    listed = []
    for number, group in enumerate(groups, 1):
        part = path.with_name(f"{path.stem}-{number}{path.suffix}")
        _write_file(collection, part, _Part(group, number, len(groups)), options, summary)
        summary.parts.append(part.name)
        listed.append(_describe_part(part))
    contents = {"profile": "multi-wacz-package", "title": _choose_title(collection, options), "resources": listed}
    with _replace_file(path.with_suffix(".json")) as list_file:
        list_file.write_text(json.dumps(contents, indent=2))
    return summary


def _group_files(committed: Mapping[str, int], part_bytes: int) -> list[dict[str, int]]:
    """Return WARC files with their lengths, in groups of at most so many bytes or of a single file."""
    groups: list[dict[str, int]] = []
    for name, length in sorted((name, length) for name, length in committed.items() if length):
        if not groups or (part_bytes and sum(groups[-1].values()) + length > part_bytes):
            groups.append({})
        groups[-1][name] = length
    return groups


def _describe_part(path: Path) -> dict[str, object]:
    with path.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    return {"name": path.name, "path": path.name, "hash": f"sha256:{digest}", "bytes": path.stat().st_size}


def _write_file(
    collection: StoredCollection, path: Path, contents: _Part, options: WaczOptions, summary: WaczSummary
) -> None:
    with (
        _replace_file(path) as part,
        tempfile.TemporaryDirectory(prefix=".wacz-", dir=path.parent) as scratch,
        zipfile.ZipFile(part, "w") as zip_file,
    ):
        _write_package(collection, _Package(zip_file, contents), options, Path(scratch), summary)
    summary.bytes += path.stat().st_size


@contextmanager
def _replace_file(path: Path) -> Iterator[Path]:
    """Yield the name to write to. The file gets its own name when it is complete."""
    part = Path(f"{path}{PART_SUFFIX}")
    try:
        yield part
        replace_file(part, path)
    except OSError as error:
        raise build_write_error(path, error) from None
    finally:
        with suppress(OSError):
            part.unlink()


def _write_package(
    collection: StoredCollection, package: _Package, options: WaczOptions, scratch: Path, summary: WaczSummary
) -> None:
    for name, length in package.part.files.items():
        options.on_file(name, length)
        package.add(f"archive/{name}", _read_file(collection.archive_folder, name, length), length)
        summary.warc_files += 1
    blocks: list[bytes] = []
    committed = PageCatalog(collection.db).load_committed_lengths()
    lines = iterate_index_lines(collection.cdxj_folder, collection.archive_folder, committed, scratch)
    kept = _drop_confirmations(lines, collection.archive_folder)
    entries = (line for line in kept if _decode_capture(line.split(b" ", 2)[2]).filename in package.part.files)
    package.add_generated(INDEX_NAME, _compress_blocks(entries, blocks, summary), scratch)
    package.add(BLOCKS_NAME, blocks, is_compressed=True)
    package.add_generated(PAGES_NAME, _build_page_lines(collection, summary, package.part), scratch, is_compressed=True)
    _write_data_package(collection, package, options)


def _read_file(folder: Path, name: str, length: int) -> Iterator[bytes]:
    """Yield the committed bytes of a WARC file; a running crawl may append to it."""
    with open_warc_file(folder, name) as file:
        while length and (data := file.read(min(COPY_BYTES, length))):
            length -= len(data)
            yield data


def _drop_confirmations(lines: Iterable[bytes], archive_folder: Path) -> Iterator[bytes]:
    """Leave out the entries of 304 responses, which have their own time but the place of an earlier record.

    wabac.js rejects them. That place is known from an earlier entry; the place of another URL is read, if the digest
    came before. A digest comes again without a `revisit` record in imported archives.
    """
    for _, of_url in groupby(lines, lambda line: line.split(b" ", 1)[0]):
        seen = set[tuple[str, str]]()
        places = set[tuple[str, str, str]]()
        for _, of_second in groupby(of_url, lambda line: line.split(b" ", 2)[1]):
            captures = [(line, _decode_capture(line.split(b" ", 2)[2])) for line in of_second]
            seen |= {(one.url, one.digest) for _, one in captures if one.mime == REVISIT_MIME}
            for line, capture in captures:
                body, place = (capture.url, capture.digest), (capture.url, capture.filename, capture.offset)
                is_new = capture.mime == REVISIT_MIME or not capture.digest or body not in seen
                if place not in places and (is_new or _has_own_record(line, archive_folder)):
                    yield line
                places.add(place)
                seen.add(body)


def _has_own_record(line: bytes, archive_folder: Path) -> bool:
    """Return whether the record of an entry has its URL and time; False if it cannot be read."""
    try:
        entry = parse_entry(line)
        own = build_entry(read_single_record(archive_folder, entry.location, 0))
    except CollectionError:
        return False
    return own is not None and (own.url, own.captured_at) == (entry.url, entry.captured_at)


def _compress_blocks(lines: Iterable[bytes], blocks: list[bytes], summary: WaczSummary) -> Iterator[bytes]:
    """Yield the index in gzip members, and collect the first key and the place of each (ZipNum)."""
    offset, name = 0, INDEX_NAME.rpartition("/")[2]
    blocks.append(f"!meta 0 {json.dumps({'format': 'cdxj-gzip-1.0', 'filename': name})}\n".encode())
    remaining = iter(lines)
    while block := list(islice(remaining, LINES_PER_BLOCK)):
        member = compress(b"".join(block), mtime=0)
        key = b" ".join(block[0].split(b" ", 2)[:2])
        digest = f"sha256:{sha256(member).hexdigest()}"
        place = {"offset": offset, "length": len(member), "digest": digest, "filename": name}
        blocks.append(b"%s %s\n" % (key, json.dumps(place).encode()))
        summary.captures += len(block)
        offset += len(member)
        yield member


def _build_page_lines(collection: StoredCollection, summary: WaczSummary, part: _Part) -> Iterator[bytes]:
    yield b'{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}\n'
    if part.number > 1:
        return
    html_types = ",".join(f"'{name}'" for name in sorted(HTML_TYPES))
    where = f"p.status BETWEEN 200 AND 299 AND p.mime IN ({html_types})"
    for page in load_pages(collection.db, where):
        summary.pages += 1
        row: dict[str, object] = {
            "id": f"p{page.url_id}",
            "url": page.url,
            "title": page.title or page.url,
            "ts": _format_time(page.last_visit),
            "mime": page.mime,
            "status": page.status,
            "size": page.body_bytes,
        }
        yield encode_json_row(row | ({"seed": True} if page.source == "seed" else {})).encode()


def _write_data_package(collection: StoredCollection, package: _Package, options: WaczOptions) -> None:
    created, part = _format_time(options.clock()), package.part
    contents = {
        "profile": "data-package",
        "wacz_version": WACZ_VERSION,
        "title": _choose_title(collection, options) + (f" ({part.number} of {part.count})" if part.count > 1 else ""),
        "created": created,
        "software": f"sanderling {__version__}",
        "resources": package.resources,
    }
    encoded = json.dumps(contents, indent=2).encode()
    digest = f"sha256:{sha256(encoded).hexdigest()}"
    signature: dict[str, object] = {"path": "datapackage.json", "hash": digest}
    if options.signing_key is not None:
        signature["signedData"] = sign_digest(digest, created, options.signing_key)
    package.add("datapackage.json", [encoded], is_compressed=True)
    package.add("datapackage-digest.json", [json.dumps(signature, indent=2).encode()], is_compressed=True)


def _choose_title(collection: StoredCollection, options: WaczOptions) -> str:
    return options.title or next(iter(CollectionMeta(collection.db).seeds), collection.folder.name)


def _format_time(at: float) -> str:
    return f"{(format_iso(float(int(at))) or '')[:19]}Z"
