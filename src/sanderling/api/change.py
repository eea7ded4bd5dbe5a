"""Changes of stored pages, and word diffs between two versions."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING

from msgspec.structs import replace

from sanderling.api.page import PageVersion, to_datetime
from sanderling.changes.change_json import build_change_object
from sanderling.changes.classify import LIFECYCLE_KINDS
from sanderling.changes.feed import ReportedChange, summarize_change
from sanderling.changes.render import extract_excerpt, render_lines, render_markdown_diff
from sanderling.changes.word_diff import DiffOperation, DiffPiece
from sanderling.changes.word_report import DiffReport, ParagraphDiff
from sanderling.errors import SanderlingError

if TYPE_CHECKING:
    from sanderling.api.collection_reader import CollectionReader

HTML_TAGS = {DiffOperation.ADDED: "ins", DiffOperation.REMOVED: "del"}


class Diff:
    """The differences between two versions of a page."""

    def __init__(self, report: DiffReport, old: PageVersion, new: PageVersion) -> None:
        self.report: DiffReport = report
        self.old: PageVersion = old
        self.new: PageVersion = new

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of the change, such as content or links; empty if nothing significant differs."""
        return tuple(map(str, self.report.change.kinds))

    @property
    def added(self) -> list[str]:
        """Text added to the main content, a string per run of words."""
        return list(self._iterate_texts(DiffOperation.ADDED))

    @property
    def removed(self) -> list[str]:
        """Text removed from the main content, a string per run of words."""
        return list(self._iterate_texts(DiffOperation.REMOVED))

    def _iterate_texts(self, operation: DiffOperation) -> Iterator[str]:
        for row in self._main_rows:
            yield from (
                piece.text.strip() for piece in row.pieces if piece.operation is operation and piece.text.strip()
            )

    @property
    def _main_rows(self) -> Sequence[ParagraphDiff]:
        return [row for row in self.report.rows if row.main]

    def as_text(self) -> str:
        """Return the changed paragraphs; removed words as [-word-], added words as {+word+}."""
        return "\n".join(line.plain for line in render_lines(self.report))

    def as_markdown(self) -> str:
        """Return the changed paragraphs as a list; removed words struck through, added words bold."""
        return render_markdown_diff(self.report)

    def as_html(self) -> str:
        """Return the changed paragraphs as HTML with <ins> and <del>; page content is escaped."""
        return "\n".join(f"<p>{''.join(map(_render_piece, row.pieces))}</p>" for row in self._main_rows)

    def __str__(self) -> str:
        return self.as_text()


def _render_piece(piece: DiffPiece) -> str:
    operation, text = piece.operation, escape(piece.text)
    tag = HTML_TAGS.get(operation)
    return f"<{tag}>{text}</{tag}>" if tag else text


class Change:
    """A change of a page between two visits."""

    def __init__(self, collection: "CollectionReader", reported: ReportedChange) -> None:
        self._collection, self._reported = collection, reported

    @property
    def url(self) -> str:
        return self._reported.url

    @property
    def title(self) -> str:
        return self._reported.title

    @property
    def seen_at(self) -> datetime | None:
        """Time of the visit that found the change."""
        return to_datetime(self._reported.seen_at)

    @property
    def previous_at(self) -> datetime | None:
        """Time of the visit before."""
        return to_datetime(self._reported.previous_at)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds: content, structure, presentation, behavior, media, links, new, gone, moved, returned."""
        return tuple(map(str, self._reported.change.kinds))

    @property
    def significance(self) -> float:
        """Significance from 0 (noise) to 1."""
        return self._reported.change.significance

    @property
    def summary(self) -> str:
        """The change in a line."""
        return summarize_change(self._reported.change)

    @cached_property
    def diff(self) -> Diff:
        """The words that differ. Raises UsageError for a new or gone page, which has no two versions."""
        return self._collection._diff_until(self.url, self._reported.seen_at)

    def as_dict(self) -> dict[str, object]:
        """Return the change with the keys of `sanderling changes --json`."""
        reported = self._reported
        has_texts = not set(reported.change.kinds) & set(LIFECYCLE_KINDS) and not reported.change.resources
        with suppress(SanderlingError):  # a version is damaged in the archive
            if has_texts and not reported.texts:
                reported = replace(reported, texts=extract_excerpt(self.diff.report, reported.change))
        return build_change_object(reported)

    def __repr__(self) -> str:
        return f"<Change {','.join(self.kinds)} {self.url}>"
