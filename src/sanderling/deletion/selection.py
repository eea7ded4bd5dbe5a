"""Select the pages to delete, and manage the blocked URL patterns and unfinished selections."""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct, convert, to_builtins

from sanderling.db.connection import Connection
from sanderling.frontier.url_rows import find_urls
from sanderling.storage.catalog import PageCatalog
from sanderling.storage.collection import open_collection, open_collection_read_only
from sanderling.storage.collection_meta import CollectionMeta
from sanderling.storage.page_history import find_pages_gone_since, find_pages_unseen_since
from sanderling.storage.queries import load_urls
from sanderling.urls.blocklist import compile_patterns

OUTDATED_RULES = "others"  # matches no run, so that skipped URLs are evaluated again
MAX_EXAMPLES = 5


class DeletionSelection(Struct, frozen=True):
    """Pages to delete: by URL patterns, which are blocked from then on, or by age."""

    patterns: Sequence[str] = ()  # with an age: restrict it to these URLs
    gone_since: float | None = None  # pages that were gone before this time
    unseen_since: float | None = None  # pages that no visit found since this time

    @property
    def is_by_age(self) -> bool:
        """Whether pages are selected by the time they were last available."""
        return self.gone_since is not None or self.unseen_since is not None

    @property
    def has_criteria(self) -> bool:
        """Whether there is a pattern or an age. If not, an interrupted deletion is meant."""
        return bool(self.patterns) or self.is_by_age


class DeletionPreview(Struct, frozen=True):
    """Counts and example URLs of a selection."""

    urls: int
    pages: int
    examples: list[str]


def preview_deletion(folder: Path, selection: DeletionSelection) -> DeletionPreview:
    """Return the pages that a deletion would remove, without changing anything."""
    with open_collection_read_only(folder) as collection:
        meta = CollectionMeta(collection.db)
        selections = (
            [selection]
            if selection.has_criteria
            else [DeletionSelection(meta.blocked_patterns), *_load_age_selections(collection.db)]
        )
        ids = list(dict.fromkeys(url for part in selections for url in select_url_ids(collection.db, part)))
        pages = len(PageCatalog(collection.db).find_stored(ids))
        return DeletionPreview(len(ids), pages, list(load_urls(collection.db, ids[:MAX_EXAMPLES]).values()))


def select_url_ids(db: Connection, selection: DeletionSelection) -> list[int]:
    expression = compile_patterns(selection.patterns)
    if not selection.is_by_age:
        return find_urls(db, expression.fullmatch) if expression else []
    url_ids = set(find_pages_gone_since(db, selection.gone_since)) if selection.gone_since is not None else set()
    url_ids.update(find_pages_unseen_since(db, selection.unseen_since) if selection.unseen_since is not None else ())
    urls = load_urls(db, sorted(url_ids))
    return [url_id for url_id, url in urls.items() if expression is None or expression.fullmatch(url)]


def list_blocked_patterns(folder: Path) -> list[str]:
    """Return the URL patterns that are blocked by deletions."""
    with open_collection_read_only(folder) as collection:
        return CollectionMeta(collection.db).blocked_patterns


def is_unfinished(folder: Path) -> bool:
    with open_collection_read_only(folder) as collection:
        return CollectionMeta(collection.db).is_deletion_unfinished or bool(_load_age_selections(collection.db))


def has_unfinished_age_selection(folder: Path) -> bool:
    with open_collection_read_only(folder) as collection:
        return bool(_load_age_selections(collection.db))


def cancel_age_selections(folder: Path) -> None:
    """Drop the unfinished selections by age; pages not yet deleted stay."""
    with open_collection(folder) as collection:
        CollectionMeta(collection.db).age_selections = []


def unblock_patterns(folder: Path, patterns: Sequence[str]) -> list[str]:
    """Unblock URL patterns for the next crawl; return those that were blocked."""
    with open_collection(folder) as collection:
        meta = CollectionMeta(collection.db)
        blocked = meta.blocked_patterns
        meta.blocked_patterns = [pattern for pattern in blocked if pattern not in patterns]
        meta.filter_rules = OUTDATED_RULES
        return [pattern for pattern in blocked if pattern in patterns]


def begin_deletion(db: Connection, selection: DeletionSelection) -> list[DeletionSelection]:
    """Mark a deletion as unfinished; return all selections to delete.

    Patterns of an interrupted deletion stay blocked and are always finished. Its selections by age are resumed only
    without new criteria: a new age replaces them, and with new patterns they wait.
    """
    by_age = [selection] if selection.is_by_age else _load_age_selections(db)
    blocked = block_patterns(db, () if selection.is_by_age else selection.patterns)
    meta = CollectionMeta(db)
    with_patterns = not selection.is_by_age or meta.is_deletion_unfinished
    meta.is_deletion_unfinished = True
    meta.age_selections = to_builtins(by_age)
    return [blocked] * with_patterns + by_age * (selection.is_by_age or not selection.has_criteria)


def end_deletion(db: Connection, selection: DeletionSelection) -> None:
    meta = CollectionMeta(db)
    meta.is_deletion_unfinished = False
    if selection.is_by_age or not selection.has_criteria:
        meta.age_selections = []


def _load_age_selections(db: Connection) -> list[DeletionSelection]:
    return convert(CollectionMeta(db).age_selections, list[DeletionSelection])


def block_patterns(db: Connection, patterns: Sequence[str]) -> DeletionSelection:
    """Block URL patterns from future crawls; return a selection of all blocked patterns."""
    meta = CollectionMeta(db)
    meta.blocked_patterns = blocked = list(dict.fromkeys([*meta.blocked_patterns, *patterns]))
    _remove_seeds(db, blocked)
    return DeletionSelection(blocked)


def _remove_seeds(db: Connection, patterns: Sequence[str]) -> None:
    expression = compile_patterns(patterns)
    if expression is None:
        return
    meta = CollectionMeta(db)
    meta.seeds = [url for url in meta.seeds if not expression.fullmatch(url)]
    meta.seed_redirects = [url for url in meta.seed_redirects if not expression.fullmatch(url)]
    meta.watched_pages = [url for url in meta.watched_pages if not expression.fullmatch(url)]
