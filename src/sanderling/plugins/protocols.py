"""Interfaces of plugins that no other package defines."""

from typing import Any, Protocol


class UrlRule(Protocol):
    """Decides whether a new URL may be crawled. It is called once for each new URL, so it should be fast."""

    def __call__(self, url: str, depth: int) -> str:
        """Return why the URL is not crawled, or an empty string. `depth`: links from a seed."""
        ...


class PageSource(Protocol):
    """The stored response that an extractor reads. Its content was written by strangers."""

    url: str
    body: bytes
    mime: str
    is_html: bool

    @property
    def text(self) -> str:
        """The visible text of a page, or a textual document as it is."""
        ...

    @property
    def tree(self) -> Any:
        """The HTML tree (turbohtml), with `select(css)`; None for other documents."""
        ...

    @property
    def data(self) -> object:
        """The JSON document, or the structured data of an HTML page by format."""
        ...


class Extractor(Protocol):
    """Computes a value of a page: text, a number, a list, or an object of JSON; None: not found."""

    def __call__(self, source: PageSource) -> object: ...


class DocumentReader(Protocol):
    """Returns the text of a document of its media type. It runs in a child process with limits of time and memory."""

    def __call__(self, body: bytes) -> str:
        """Return the text, a paragraph per line. An exception: the document has no text."""
        ...


class ContentRule(Protocol):
    """Removes text whose changes do not matter from a line of a page, before versions are compared."""

    def __call__(self, line: str) -> str:
        """Return the line without that text, or an empty string. An exception: the line stays as it is."""
        ...


class Notifier(Protocol):
    """Sends a notification to an address of its scheme. An exception is an error: the message is sent again."""

    def __call__(self, target: str, title: str, body: str) -> None: ...
