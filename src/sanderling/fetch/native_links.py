"""Where a page that was seen at a glance leads, packed as it goes home: no link of it becomes an object here.

`pages/c/links.c` joins plain links to the address of their page, which are most; the others it asks for.
What it packs is what `follow.links_of` says.
"""

import ctypes
from collections.abc import Callable

from msgspec import Raw

from sanderling.html.links import PageMetadata
from sanderling.html.native import NATIVE, NativeLibrary
from sanderling.html.scanned_page import FIELD_END, ScanResult
from sanderling.urls.normalize import get_request_url, resolve_urls, truncate_long_url

LinkPacker = Callable[[PageMetadata, bytes, str, bool], Raw | None]

STATUS_PACKED, STATUS_UNRESOLVED = 1, 2  # what the library gives


class _PackedLinks(ctypes.Structure):
    """What the library gives: bytes, to be given back."""

    _fields_ = (("room", ctypes.c_void_p), ("said", ctypes.c_void_p), ("size", ctypes.c_uint64))


def pack_scanned_links(head: PageMetadata, page: ScanResult, url: str, nofollow: bool) -> Raw | None:
    """Pack all links of a page whose head was read, which was asked for at `url`; None for one that takes more."""
    if _packer is None or head.refresh_target:
        return None
    return _packer(head, build_link_table(head, page, url), url, nofollow)


def build_link_table(head: PageMetadata, page: ScanResult, url: str) -> bytes:
    """Write all links of a page as those in its text are written: target, rel, words."""
    rows = "".join([_build_row(link.href, "nofollow" if link.nofollow else "", link.anchor) for link in head.links])
    last = _build_row("", *page.same_page_link) if page.same_page_link is not None and head.base_url != url else ""
    return b"".join((rows.encode(), page.link_table, last.encode()))


def _build_row(*fields: str) -> str:
    return FIELD_END.join((*fields, ""))


def build_packer(native: NativeLibrary) -> LinkPacker:
    """Call the library."""
    call, give_back = native.library.sanderling_links, native.library.sanderling_give_back
    text = (ctypes.c_char_p, ctypes.c_size_t)
    call.argtypes = (*text, *text, *text, ctypes.c_int, ctypes.POINTER(_PackedLinks))
    give_back.argtypes = (ctypes.c_void_p,)

    def said(table: bytes, base: bytes, answers: bytes, nofollow: bool) -> tuple[int, bytes]:
        found = _PackedLinks()
        how = call(table, len(table), base, len(base), answers, len(answers), nofollow, found)
        if not how:
            return how, b""
        try:
            return how, ctypes.string_at(found.said, found.size)
        finally:
            give_back(found.room)

    def pack(head: PageMetadata, table: bytes, url: str, nofollow: bool) -> Raw | None:
        base = url if head.base_url == url else get_request_url(head.base_url)
        if base is None:
            return None
        how, found = said(table, base.encode(), b"", nofollow)
        if how == STATUS_UNRESOLVED and (answers := _resolve_complex_links(head, found)) is not None:
            how, found = said(table, base.encode(), answers, nofollow)
        return Raw(found) if how == STATUS_PACKED else None

    return pack


def _resolve_complex_links(head: PageMetadata, unresolved: bytes) -> bytes | None:
    """Spell the links that are not plain; None where one is too long, of which more is told."""
    raws = unresolved.decode().split(FIELD_END)[:-1]
    spellings = resolve_urls(head.base_url, raws, head.encoding)
    if any(
        spelling is None and truncate_long_url(head.base_url, raw)
        for raw, spelling in zip(raws, spellings, strict=True)
    ):
        return None
    return "".join(
        [_build_row(one.url, one.distinct_request_url) if one else _build_row("", "") for one in spellings]
    ).encode()


_packer = build_packer(NATIVE) if NATIVE is not None else None
