"""Where a page that was seen at a glance leads, packed as it goes home: no link of it becomes an object here.

`pages/c/links.c` joins plain links to the address of their page, which are most; the others it asks for.
What it packs is what `follow.links_of` says.
"""

import ctypes
from collections.abc import Callable

from msgspec import Raw

from sanderling.html.links import Extract
from sanderling.html.native import NATIVE, Native
from sanderling.html.scanned_page import END, Glance
from sanderling.urls.normalize import beginning, resolve_all, wire_of

Packer = Callable[[Extract, bytes, str, bool], Raw | None]

PACKED, ASKED = 1, 2  # what the library gives


class _Packed(ctypes.Structure):
    """What the library gives: bytes, to be given back."""

    _fields_ = (("room", ctypes.c_void_p), ("said", ctypes.c_void_p), ("size", ctypes.c_uint64))


def pack_links(head: Extract, page: Glance, url: str, nofollow: bool) -> Raw | None:
    """Pack all links of a page whose head was read, which was asked for at `url`; None for one that takes more."""
    if _packer is None or head.refresh:
        return None
    return _packer(head, table_of(head, page, url), url, nofollow)


def table_of(head: Extract, page: Glance, url: str) -> bytes:
    """Write all links of a page as those in its text are written: target, rel, words."""
    rows = "".join([_row(link.href, "nofollow" if link.nofollow else "", link.anchor) for link in head.links])
    last = _row("", *page.bare) if page.bare is not None and head.base != url else ""
    return b"".join((rows.encode(), page.table, last.encode()))


def _row(*fields: str) -> str:
    return END.join((*fields, ""))


def packer(native: Native) -> Packer:
    """Call the library."""
    call, give_back = native.library.sanderling_links, native.library.sanderling_give_back
    text = (ctypes.c_char_p, ctypes.c_size_t)
    call.argtypes = (*text, *text, *text, ctypes.c_int, ctypes.POINTER(_Packed))
    give_back.argtypes = (ctypes.c_void_p,)

    def said(table: bytes, base: bytes, answers: bytes, nofollow: bool) -> tuple[int, bytes]:
        found = _Packed()
        how = call(table, len(table), base, len(base), answers, len(answers), nofollow, found)
        if not how:
            return how, b""
        try:
            return how, ctypes.string_at(found.said, found.size)
        finally:
            give_back(found.room)

    def pack(head: Extract, table: bytes, url: str, nofollow: bool) -> Raw | None:
        base = url if head.base == url else wire_of(head.base)
        if base is None:
            return None
        how, found = said(table, base.encode(), b"", nofollow)
        if how == ASKED and (answers := _answers(head, found)) is not None:
            how, found = said(table, base.encode(), answers, nofollow)
        return Raw(found) if how == PACKED else None

    return pack


def _answers(head: Extract, asked: bytes) -> bytes | None:
    """Spell the links that are not plain; None where one is too long, of which more is told."""
    raws = asked.decode().split(END)[:-1]
    spellings = resolve_all(head.base, raws, head.encoding)
    if any(spelling is None and beginning(head.base, raw) for raw, spelling in zip(raws, spellings, strict=True)):
        return None
    return "".join([_row(one.url, one.wire_if_different) if one else _row("", "") for one in spellings]).encode()


_packer = packer(NATIVE) if NATIVE is not None else None
