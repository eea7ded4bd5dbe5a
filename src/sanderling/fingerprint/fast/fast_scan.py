"""A new page at a glance: all that is asked of it, read without a tree, where that makes no difference.

`html/_native/fast_scan.c` reads most pages of most sites so, in less than half of the time; the others it gives back, and they are
parsed. What it says is what the tree says.
"""

import ctypes
from collections.abc import Callable

from sanderling.content.soft_404 import MAX_NOTICE_LENGTH, may_be_soft_error
from sanderling.fingerprint.text_hash import NATIVE_OK, NativeHashes, fingerprint_text_in_python, pack_native_hashes
from sanderling.html.declared_encoding import find_declared_encoding
from sanderling.html.native import NATIVE, NativeLibrary
from sanderling.html.scanned_page import FIELD_END, ScannedElement, ScanResult
from sanderling.html.text import MAX_TEXT

MAX_FIELDS = 100_000  # fields that elements tell; of more a tree takes less room


class _NativeScan(ctypes.Structure):
    """What the library gives: texts in UTF-8, to be given back."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("memory", "fields", "text")),
        *((name, ctypes.c_uint64) for name in ("links_size", "fields_size", "text_size", "character_count", "element_fields", "block_fields")),
        ("fingerprints", NativeHashes),
        ("fingerprint_status", ctypes.c_int32),
    )

    def read_text(self) -> str:
        return ctypes.string_at(self.text, self.text_size).decode()


def scan_page(body: bytes, charset: str) -> ScanResult | None:
    """Look at a page; None says that it has to be parsed."""
    if _native_scanner is None or len(body) > MAX_TEXT:
        return None
    encoding = find_declared_encoding(body, charset)
    return _native_scanner(body, encoding) if encoding == "UTF-8" or (encoding and body.isascii()) else None


def build_page_scanner(native: NativeLibrary) -> Callable[[bytes, str], ScanResult | None]:
    """Call the library."""
    look, give_back = native.library.sanderling_fast_scan, native.library.sanderling_free
    pointer = ctypes.POINTER(_NativeScan)
    look.argtypes = (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p, pointer)
    give_back.argtypes = (ctypes.c_void_p,)

    def seen(body: bytes, encoding: str) -> ScanResult | None:
        found = _NativeScan()
        if not look(body, len(body), native.hash_function, found):
            return None
        try:
            return _build_scan_result(found, encoding)
        finally:
            give_back(found.memory)

    return seen


def _build_scan_result(native_scan: _NativeScan, encoding: str) -> ScanResult | None:
    if native_scan.element_fields > MAX_FIELDS:
        return None
    table = ctypes.string_at(native_scan.fields, native_scan.links_size)
    said = ctypes.string_at(native_scan.fields + native_scan.links_size, native_scan.fields_size - native_scan.links_size)
    fields = said.decode().split(FIELD_END)
    told = list(
        map(ScannedElement._make, zip(*[iter(fields[: native_scan.element_fields])] * len(ScannedElement._fields), strict=True))
    )
    language, heading, *bare = fields[native_scan.element_fields + native_scan.block_fields : -1]
    if native_scan.character_count <= MAX_NOTICE_LENGTH:
        title = next((one.text for one in told if one.tag == "title" and not one.is_in_noscript), "")
        if may_be_soft_error((title, heading), native_scan.read_text()):
            return None
    marks = (
        pack_native_hashes(native_scan.fingerprints)
        if native_scan.fingerprint_status == NATIVE_OK
        else fingerprint_text_in_python(native_scan.read_text())
    )
    blocks = fields[native_scan.element_fields : native_scan.element_fields + native_scan.block_fields]
    return ScanResult(encoding, language, told, table, blocks, marks, (bare[0], bare[1]) if bare else None)


_native_scanner = build_page_scanner(NATIVE) if NATIVE is not None else None
