"""Read archives of other programs in, as history."""

from collections.abc import Callable, Sequence
from pathlib import Path

from sanderling.crawl.imports.import_archives import ImportProgress, ImportSummary, import_archives
from sanderling.crawl.request import CrawlRequest
from sanderling.search.background_indexer import index_in_background

__all__ = ["CrawlRequest", "ImportProgress", "ImportSummary", "import_files"]


def import_files(
    folder: Path,
    files: Sequence[Path],
    request: CrawlRequest,
    *,
    on_progress: Callable[[ImportProgress], None],
    report: Callable[[str], None],
    keep_index: bool = True,
) -> ImportSummary:
    """Read WARC and WACZ files in as history, and index the last versions."""
    with index_in_background(folder, report, keep_index):
        return import_archives(folder, files, request, on_progress=on_progress)
