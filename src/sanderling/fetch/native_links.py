"""Pack the links of a fast-scanned page in C, without a Python object per link.

`links.c` joins plain links; Python resolves the others. The result equals that of `link_resolution.resolve_links`.
"""

import ctypes
from collections.abc import Callable

from msgspec import Raw

from sanderling.html.links import PageMetadata
from sanderling.html.native import NATIVE
from sanderling.html.scanned_page import FIELD_END, ScanResult
from sanderling.urls.normalize import get_request_url, resolve_urls, truncate_long_url

LinkPacker = Callable[[PageMetadata, bytes, str, bool], Raw | None]

STATUS_PACKED, STATUS_UNRESOLVED = 1, 2  # return values of sanderling_links


class _PackedLinks(ctypes.Structure):
    """Output buffer of the library; must be freed."""

    _fields_ = (("buffer", ctypes.c_void_p), ("data", ctypes.c_void_p), ("size", ctypes.c_uint64))


def pack_scanned_links(head: PageMetadata, page: ScanResult, url: str, nofollow: bool) -> Raw | None:
    """Pack all links of a page, or return None if it needs the Python path."""
    if _packer is None or head.refresh_target:
        return None
    return _packer(head, build_link_table(head, page, url), url, nofollow)


def build_link_table(head: PageMetadata, page: ScanResult, url: str) -> bytes:
    """Return all links as target, rel, and link text."""
    rows = "".join([_build_row(link.href, "nofollow" if link.nofollow else "", link.anchor) for link in head.links])
    last = _build_row("", *page.same_page_link) if page.same_page_link is not None and head.base_url != url else ""
    return b"".join((rows.encode(), page.link_table, last.encode()))


def _build_row(*fields: str) -> str:
    return FIELD_END.join((*fields, ""))


def build_packer(native: ctypes.CDLL) -> LinkPacker:
    call, free_buffer = native.sanderling_links, native.sanderling_free
    text = (ctypes.c_char_p, ctypes.c_size_t)
    call.argtypes = (*text, *text, *text, ctypes.c_int, ctypes.POINTER(_PackedLinks))
    free_buffer.argtypes = (ctypes.c_void_p,)

    def call_library(table: bytes, base: bytes, answers: bytes, nofollow: bool) -> tuple[int, bytes]:
        packed = _PackedLinks()
        status = call(table, len(table), base, len(base), answers, len(answers), nofollow, packed)
        if not status:
            return status, b""
        try:
            return status, ctypes.string_at(packed.data, packed.size)
        finally:
            free_buffer(packed.buffer)

    def pack(head: PageMetadata, table: bytes, url: str, nofollow: bool) -> Raw | None:
        base = url if head.base_url == url else get_request_url(head.base_url)
        if base is None:
            return None
        status, packed = call_library(table, base.encode(), b"", nofollow)
        if status == STATUS_UNRESOLVED and (answers := _resolve_complex_links(head, packed)) is not None:
            status, packed = call_library(table, base.encode(), answers, nofollow)
        return Raw(packed) if status == STATUS_PACKED else None

    return pack


def _resolve_complex_links(head: PageMetadata, unresolved: bytes) -> bytes | None:
    """Resolve links that are not plain. None: a link is too long."""
    hrefs = unresolved.decode().split(FIELD_END)[:-1]
    resolved_urls = resolve_urls(head.base_url, hrefs, head.encoding)
    if any(
        resolved is None and truncate_long_url(head.base_url, href)
        for href, resolved in zip(hrefs, resolved_urls, strict=True)
    ):
        return None
    return "".join(
        [
            _build_row(resolved.url, resolved.distinct_request_url) if resolved else _build_row("", "")
            for resolved in resolved_urls
        ]
    ).encode()


_packer = build_packer(NATIVE) if NATIVE is not None else None
