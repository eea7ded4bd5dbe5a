"""Seal WARC files: a chain of digests that shows which file was modified after it was sealed, and by which deletion.

`archive/seals.jsonl` has a line per sealed file, with length and digest of its bytes and the digest of the line before.
A WARC file only grows, so a seal stays valid while a crawl appends. Files are never changed by sealing. The digest of
the last line is also kept outside of the archive folder, so that the removal of the last lines is found, too.
"""

import fcntl
import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from msgspec import Struct

from sanderling.config.time_format import format_iso
from sanderling.errors import CollectionError, build_write_error
from sanderling.storage.verify_collection import CollectionFault
from sanderling.warc.remote import has_warc_file, open_warc_file
from sanderling.warc.signature import get_key_fingerprint, is_signature_valid, sign_digest

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

SEALS_FILE = "seals.jsonl"
LAST_SEAL_FILE = "last-seal"  # in the folder of the collection
READ_BYTES = 1 << 20
RESTORE_REMEDY = "restore the file from a copy; if you changed it yourself, seal it again"


class Seal(Struct, frozen=True):
    """A line of the chain."""

    file: str
    length: int
    digest: str
    sealed_at: str
    reason: str  # seal, or the command that changed the file
    previous: str  # digest of the line before; empty: the first line
    line_digest: str  # of this line, without its signature
    signed: dict[str, str] | None = None


class SealReport(Struct, frozen=True):
    """Result of sealing. `head` is the digest of the last line: kept elsewhere, it proves that no line was removed."""

    sealed: tuple[str, ...]
    unchanged: int
    head: str


def seal_files(
    folder: Path,
    committed: Mapping[str, int],
    now: float,
    key: "EllipticCurvePrivateKey | None" = None,
    reason: str = "seal",
) -> SealReport:
    """Append a seal for each file whose present length and bytes are not sealed."""
    with _open_chain(folder) as file:
        seals = _read_lines(file)
        latest = {seal.file: seal for seal in seals}
        head, sealed = seals[-1].line_digest if seals else "", []
        for name, length in sorted(committed.items()):
            old = latest.get(name)
            if not length or not has_warc_file(folder, name):
                continue
            digest = _hash_file(folder, name, length)
            is_signed = old is not None and old.signed is not None
            if old is not None and (old.length, old.digest) == (length, digest) and (is_signed or key is None):
                continue
            line = {"file": name, "length": length, "digest": digest, "sealed_at": format_iso(now), "reason": reason,
                    "previous": head}  # fmt: skip
            head = _hash_line(line)
            signature = {"signed": sign_digest(head, str(line["sealed_at"]), key)} if key is not None else {}
            _append_line(file, line | signature)
            sealed.append(name)
        _write_last_seal(folder, head)
        return SealReport(tuple(sealed), len(latest.keys() - set(sealed)), head)


def seal_again(folder: Path, names: Collection[str], now: float, reason: str) -> None:
    """Append unsigned seals for the sealed bytes of files that a command of ours has changed."""
    if (folder / SEALS_FILE).exists():
        with (folder / SEALS_FILE).open("rb") as file:
            lengths = {seal.file: seal.length for seal in _read_lines(file) if seal.file in names}
        seal_files(folder, lengths, now, reason=reason)


def check_seals(folder: Path, expected_head: str = "") -> tuple[list[Seal], list[CollectionFault]]:
    """Verify chain, signatures, and sealed bytes. Returns the seals and the faults.

    `expected_head`: a seal that must be in the chain, besides the last one that was written here.
    """
    path, expected = folder / SEALS_FILE, {expected_head, read_last_seal(folder)} - {""}
    if not path.exists():
        missing = [CollectionFault(SEALS_FILE, "the seals are missing", RESTORE_REMEDY)] if expected else []
        return [], missing
    with path.open("rb") as file:
        try:
            seals = _read_lines(file)
        except CollectionError as error:
            return [], [CollectionFault(SEALS_FILE, str(error), RESTORE_REMEDY)]
    faults = [*_check_chain(seals, expected)]
    for seal in {seal.file: seal for seal in seals}.values():
        if not has_warc_file(folder, seal.file):
            faults.append(CollectionFault(seal.file, "the sealed file is missing", RESTORE_REMEDY))
        elif _hash_file(folder, seal.file, seal.length) != seal.digest:
            problem = f"modified after it was sealed at {seal.sealed_at[:19]}"
            faults.append(CollectionFault(seal.file, problem, RESTORE_REMEDY))
    return seals, faults


def count_unsealed_bytes(seals: Sequence[Seal], committed: Mapping[str, int]) -> int:
    """Return how many committed bytes no seal covers."""
    lengths = {seal.file: seal.length for seal in seals}
    return sum(max(0, length - lengths.get(name, 0)) for name, length in committed.items())


def read_last_seal(folder: Path) -> str:
    """Return the digest of the last line that was written; empty if there is no file."""
    try:
        return (folder.parent / LAST_SEAL_FILE).read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _write_last_seal(folder: Path, head: str) -> None:
    if head and head != read_last_seal(folder):
        draft = folder.parent / f"{LAST_SEAL_FILE}.draft"
        with draft.open("w") as file:
            file.write(head + "\n")
            file.flush()
            os.fsync(file.fileno())
        draft.replace(folder.parent / LAST_SEAL_FILE)


def _check_chain(seals: list[Seal], expected: Collection[str]) -> Iterator[CollectionFault]:
    previous, keys = "", set[str]()
    for number, seal in enumerate(seals, 1):
        if seal.previous != previous:
            yield CollectionFault(SEALS_FILE, f"line {number}: the line before was changed or removed", RESTORE_REMEDY)
        if seal.signed is not None:
            keys.add(get_key_fingerprint(seal.signed))
            if not is_signature_valid(seal.line_digest, seal.signed):
                yield CollectionFault(SEALS_FILE, f"line {number}: the signature is not valid", RESTORE_REMEDY)
        previous = seal.line_digest
    if len(keys) > 1:
        yield CollectionFault(SEALS_FILE, f"signed by several keys: {', '.join(sorted(keys))}", RESTORE_REMEDY)
    if not {seal.line_digest for seal in seals}.issuperset(expected):
        yield CollectionFault(SEALS_FILE, "the expected seal is missing: lines were removed", RESTORE_REMEDY)


@contextmanager
def _open_chain(folder: Path) -> Iterator[IO[bytes]]:
    try:
        with (folder / SEALS_FILE).open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file
    except OSError as error:
        raise build_write_error(folder / SEALS_FILE, error) from None


def _read_lines(file: IO[bytes]) -> list[Seal]:
    """Return the seals. The end of a line that a killed process left is dropped when the next one is appended."""
    file.seek(0)
    seals = []
    for number, line in enumerate(file.read().splitlines(keepends=True), 1):
        if not line.endswith(b"\n"):
            break
        try:
            fields: dict[str, Any] = json.loads(line)
            signed = fields.pop("signed", None)
            seals.append(Seal(**fields, line_digest=_hash_line(fields), signed=signed))
        except (ValueError, TypeError, AttributeError):
            raise CollectionError(f"line {number} cannot be read") from None
    return seals


def _append_line(file: IO[bytes], fields: Mapping[str, object]) -> None:
    end = file.seek(0, os.SEEK_END)
    file.seek(0)
    complete = file.read().rfind(b"\n") + 1
    if complete < end:
        file.truncate(complete)
    file.write(json.dumps(fields).encode() + b"\n")
    file.flush()
    os.fsync(file.fileno())


def _hash_line(fields: Mapping[str, object]) -> str:
    encoded = json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()
    return f"sha256:{sha256(encoded).hexdigest()}"


def _hash_file(folder: Path, name: str, length: int) -> str:
    """Return the digest of the first bytes of a file; of fewer if it is shorter."""
    digest = sha256()
    with open_warc_file(folder, name) as file:
        while length and (data := file.read(min(READ_BYTES, length))):
            digest.update(data)
            length -= len(data)
    return f"sha256:{digest.hexdigest()}"
