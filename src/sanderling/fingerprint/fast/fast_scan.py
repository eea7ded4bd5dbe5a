"""Fast scan: read a new page in a single pass in C, without a tree.

`html/_native` handles most pages in less than half of the time and rejects the others, which are parsed. Both give the
same result.
"""

import ctypes
from collections.abc import Callable

from sanderling.content.soft_404 import may_be_soft_error
from sanderling.fingerprint.text_hash import NATIVE_OK, NativeHashes, fingerprint_text_in_python, pack_native_hashes
from sanderling.html.declared_encoding import find_declared_encoding
from sanderling.html.native import NATIVE
from sanderling.html.native_tables import MAX_NOTICE_LENGTH, ScannedElement
from sanderling.html.scanned_page import FIELD_END, ScanResult
from sanderling.html.text import MAX_TEXT

MAX_FIELDS = 100_000  # of all elements; a tree takes less memory than more


class _NativeScan(ctypes.Structure):
    """UTF-8 texts in a buffer of the library, to be released."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("buffer", "data", "text")),
        *((name, ctypes.c_uint64) for name in ("links_size", "data_size", "text_size")),
        *((name, ctypes.c_uint64) for name in ("text_length", "field_count", "block_count")),
        ("hashes", NativeHashes),
        ("hash_status", ctypes.c_int32),
    )

    def read_text(self) -> str:
        return ctypes.string_at(self.text, self.text_size).decode()


def scan_page(body: bytes, charset: str) -> ScanResult | None:
    """Scan a page; None if it has to be parsed."""
    if _native_scanner is None or len(body) > MAX_TEXT:
        return None
    encoding = find_declared_encoding(body, charset)
    return _native_scanner(body, encoding) if encoding == "UTF-8" or (encoding and body.isascii()) else None


def build_page_scanner(native: ctypes.CDLL) -> Callable[[bytes, str], ScanResult | None]:
    scan, release = native.sanderling_fast_scan, native.sanderling_free
    pointer = ctypes.POINTER(_NativeScan)
    scan.argtypes = (ctypes.c_char_p, ctypes.c_size_t, pointer)
    release.argtypes = (ctypes.c_void_p,)

    def scan_body(body: bytes, encoding: str) -> ScanResult | None:
        found = _NativeScan()
        if not scan(body, len(body), found):
            return None
        try:
            return _build_scan_result(found, encoding)
        finally:
            release(found.buffer)

    return scan_body


def _build_scan_result(native_scan: _NativeScan, encoding: str) -> ScanResult | None:
    links_size, field_count = native_scan.links_size, native_scan.field_count
    if field_count > MAX_FIELDS:
        return None
    link_table = ctypes.string_at(native_scan.data, links_size)
    data = ctypes.string_at(native_scan.data + links_size, native_scan.data_size - links_size)
    fields = data.decode().split(FIELD_END)
    elements = list(
        map(ScannedElement._make, zip(*[iter(fields[:field_count])] * len(ScannedElement._fields), strict=True))
    )
    blocks_end = field_count + native_scan.block_count
    language, heading, *same_page_link = fields[blocks_end:-1]
    if native_scan.text_length <= MAX_NOTICE_LENGTH:
        title = next((one.text for one in elements if one.tag == "title" and not one.is_in_noscript), "")
        if may_be_soft_error((title, heading), native_scan.read_text()):
            return None
    fingerprints = (
        pack_native_hashes(native_scan.hashes)
        if native_scan.hash_status == NATIVE_OK
        else fingerprint_text_in_python(native_scan.read_text())
    )
    blocks = fields[field_count:blocks_end]
    link = (same_page_link[0], same_page_link[1]) if same_page_link else None
    return ScanResult(encoding, language, elements, link_table, blocks, fingerprints, link)


_native_scanner = build_page_scanner(NATIVE) if NATIVE is not None else None
