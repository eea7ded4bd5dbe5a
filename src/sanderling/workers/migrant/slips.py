"""Messages without their pages, and without what a page or the message before it says anyway."""

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from sanderling.workers.migrant.messages import MigrantMessage, PageMessage

NUMBERS = ((b"\x01", b"%d"), (b"\x02", b"%x"))  # how the length of a page is written in its head
MOST_HEAD = 2**18
MOST_MOMENTS = 2**40
LISTS: msgspec.msgpack.Decoder[list[MigrantMessage]] = msgspec.msgpack.Decoder(list[MigrantMessage])


def is_plain(head: bytes) -> bool:
    """Can this head be a slip's?"""
    return len(head) <= MOST_HEAD and not any(mark in head for mark, _ in NUMBERS)


class Slips:
    """One side of a stream of messages; the other side's state is the same."""

    def __init__(self) -> None:
        self.at = 0  # when the last page was seen

    def write(self, message: MigrantMessage) -> bytes:
        """A message without its page."""
        if isinstance(message, PageMessage):
            head = message.head
            for mark, form in NUMBERS:  # Content-Length, and in the ETag of many servers
                head = head.replace(form % len(message.body), mark)
            message, self.at = (
                replace(message, issue_offset=message.issue_offset - self.at, head=head, body=b""),
                message.issue_offset,
            )
        return msgspec.msgpack.encode(message)

    def read(self, listed: bytes, texts: list[bytes]) -> list[MigrantMessage]:
        """The messages of a list with their pages; ValueError if they do not fit."""
        messages, pages = list[MigrantMessage](), iter(texts)
        for message in LISTS.decode(listed):
            messages.append(self._with(message, next(pages, None)) if isinstance(message, PageMessage) else message)
        if next(pages, None) is not None:
            raise ValueError("a page without a message")
        return messages

    def _with(self, slip: PageMessage, body: bytes | None) -> PageMessage:
        if body is None or len(slip.head) > MOST_HEAD:
            raise ValueError("a message without its page")
        head = slip.head
        for mark, form in NUMBERS:
            head = head.replace(mark, form % len(body))
        self.at += slip.issue_offset
        if abs(self.at) > MOST_MOMENTS:
            raise ValueError("a page from another age")
        return replace(slip, issue_offset=self.at, head=head, body=body)


def as_list(slips: list[bytes]) -> bytes:
    """Many as one."""
    return msgspec.msgpack.encode([Raw(slip) for slip in slips])
