"""Alternative names of a term in the stored pages or other texts."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from sanderling.errors import MissingExtra, UsageError, build_write_error
from sanderling.search.aliases.anchors import find_anchor_mentions, find_redirect_mentions
from sanderling.search.aliases.cues import CUES, parse_pattern
from sanderling.search.aliases.finder import Alias, SourceText, add_mentions, find_evidence, rank_by_name
from sanderling.search.aliases.mentions import NameMatcher
from sanderling.search.aliases.sources import (
    join_lines,
    list_stored_pages,
    load_anchors,
    load_redirects,
    read_page_text,
)
from sanderling.search.background_indexer import can_index
from sanderling.storage.collection import open_collection_read_only

__all__ = ["Alias", "find_aliases", "find_aliases_in_files", "save_query_expansion"]


def find_aliases(
    folder: Path, names: list[str], *, patterns: Sequence[str] = (), workers: int = 1, links: bool = False
) -> dict[str, list[Alias]]:
    """Find aliases of names in the stored pages, and with `links` in link texts and redirects; best first."""
    cues = tuple(map(parse_pattern, patterns)) or CUES
    matcher = NameMatcher(names, cues)
    with open_collection_read_only(folder) as collection:
        pages = list_stored_pages(collection.db, collection.archive_folder)
        found = find_evidence(pages, names, cues, workers, read_page_text)
        if links:
            add_mentions(found, find_anchor_mentions(lambda: load_anchors(collection.db), matcher))
            add_mentions(found, find_redirect_mentions(load_redirects(collection.db), matcher))
    return rank_by_name(names, matcher, found)


def find_aliases_in_files(
    paths: Sequence[str], names: list[str], *, patterns: Sequence[str] = (), workers: int = 1
) -> dict[str, list[Alias]]:
    """Find aliases of names in text files and folders of them."""
    cues = tuple(map(parse_pattern, patterns)) or CUES
    found = find_evidence(_list_text_files(paths), names, cues, workers, load_text_file)
    return rank_by_name(names, NameMatcher(names, cues), found)


def save_query_expansion(folder: Path, aliases_by_name: Mapping[str, Sequence[str]]) -> None:
    """Expand searches for these names with their aliases; without aliases, stop that."""
    if not can_index():
        raise MissingExtra("expanding queries", "search")
    from sanderling.search.query_expansion import save_aliases

    try:
        save_aliases(folder / "index", {name: list(found) for name, found in aliases_by_name.items()})
    except OSError as error:
        raise build_write_error(f"these names with the index of {folder}", error) from None


def _list_text_files(paths: Sequence[str]) -> Iterator[Path]:
    for path in map(Path, paths):
        if path.is_dir():
            yield from sorted(entry for entry in path.rglob("*") if entry.is_file() and not entry.is_symlink())
        elif path.is_file():
            yield path
        else:
            raise UsageError(f"there is no file or folder {path} to read")


def load_text_file(path: Path) -> Iterator[SourceText]:
    """Yield name and text of a file; nothing if it cannot be read."""
    try:
        yield str(path), join_lines(path.read_bytes())
    except OSError:
        return
