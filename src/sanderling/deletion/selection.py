"""Which pages are to be forgotten, and which patterns of URLs stay out."""

import json
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.json import decode, encode

from sanderling.crawl.open_context import BLOCKLIST_META_KEY
from sanderling.crawl.reevaluate import RULES_META_KEY
from sanderling.crawl.stages.discovered_urls import SEED_REDIRECTS_META_KEY
from sanderling.db.connection import Connection
from sanderling.deletion.page_deleter import find_known_urls
from sanderling.storage.collection import get_meta, open_collection, open_collection_read_only, set_meta
from sanderling.storage.page_history import find_pages_gone_since, find_pages_unseen_since
from sanderling.storage.queries import load_urls
from sanderling.urls.blocklist import compile_patterns

OUTDATED_RULES = "others"  # rules that no run has: what was skipped is judged again
UNFINISHED_KEY = "forgetting"  # in the meta table, while it goes on
AGE_SELECTIONS_KEY = "forgetting_by_age"  # what was chosen so, with its times, while it goes on
MAX_EXAMPLES = 5


class DeletionSelection(Struct, frozen=True):
    """What is to be forgotten: what is like patterns, which stays out from then on; or pages of some age."""

    patterns: Sequence[str] = ()  # with an age: of those pages only these
    gone_since: float | None = None  # pages that have been gone since this time
    unseen_since: float | None = None  # pages that were not there at any visit since this time

    @property
    def is_by_age(self) -> bool:
        """Is it by when a page was last there?"""
        return self.gone_since is not None or self.unseen_since is not None

    @property
    def has_criteria(self) -> bool:
        """Does it say what? If not, it means what an earlier call left."""
        return bool(self.patterns) or self.is_by_age


class DeletionPreview(Struct, frozen=True):
    """What would be forgotten."""

    urls: int
    pages: int
    examples: list[str]


def preview_deletion(folder: Path, selection: DeletionSelection) -> DeletionPreview:
    """Say what would be forgotten, and change nothing."""
    with open_collection_read_only(folder) as collection:
        choices = (
            [selection]
            if selection.has_criteria
            else [DeletionSelection(_load_blocked_patterns(collection.db)), *_load_age_selections(collection.db)]
        )
        ids = list(dict.fromkeys(url for one in choices for url in select_url_ids(collection.db, one)))
        wanted = set(ids)
        pages = sum(url in wanted for (url,) in collection.db.execute("SELECT url FROM pages"))
        return DeletionPreview(len(ids), pages, list(load_urls(collection.db, ids[:MAX_EXAMPLES]).values()))


def select_url_ids(db: Connection, selection: DeletionSelection) -> list[int]:
    """The ids of what is meant."""
    expression = compile_patterns(selection.patterns)
    if not selection.is_by_age:
        return find_known_urls(db, expression.fullmatch) if expression else []
    aged = set(find_pages_gone_since(db, selection.gone_since)) if selection.gone_since is not None else set()
    aged.update(find_pages_unseen_since(db, selection.unseen_since) if selection.unseen_since is not None else ())
    names = load_urls(db, sorted(aged))
    return [url for url, name in names.items() if expression is None or expression.fullmatch(name)]


def list_blocked_patterns(folder: Path) -> list[str]:
    """The patterns of what is forgotten, and stays out."""
    with open_collection_read_only(folder) as collection:
        return _load_blocked_patterns(collection.db)


def is_unfinished(folder: Path) -> bool:
    """Was a forgetting cut short?"""
    with open_collection_read_only(folder) as collection:
        return get_meta(collection.db, UNFINISHED_KEY) == "1" or bool(_load_age_selections(collection.db))


def has_unfinished_age_selection(folder: Path) -> bool:
    """Was a forgetting of pages by age cut short?"""
    with open_collection_read_only(folder) as collection:
        return bool(_load_age_selections(collection.db))


def cancel_age_selections(folder: Path) -> None:
    """Keep the pages that were chosen by age in a call that was cut short."""
    with open_collection(folder) as collection:
        set_meta(collection.db, AGE_SELECTIONS_KEY, "[]")


def unblock_patterns(folder: Path, patterns: Sequence[str]) -> list[str]:
    """Let the next crawl fetch again what these patterns kept out; say which of them did."""
    with open_collection(folder) as collection:
        known_ones = _load_blocked_patterns(collection.db)
        set_meta(collection.db, BLOCKLIST_META_KEY, json.dumps([one for one in known_ones if one not in patterns]))
        set_meta(collection.db, RULES_META_KEY, OUTDATED_RULES)
        return [one for one in known_ones if one in patterns]


def begin_deletion(db: Connection, selection: DeletionSelection) -> list[DeletionSelection]:
    """Note that a forgetting begins; give all that is to be forgotten.

    Names that an earlier call left stay out anyway, and go with any call. Ages that it left go only if nothing else is
    said: a new age takes their place, and beside names they wait.
    """
    by_age = [selection] if selection.is_by_age else _load_age_selections(db)
    kept_out = block_patterns(db, () if selection.is_by_age else selection.patterns)
    with_names = not selection.is_by_age or get_meta(db, UNFINISHED_KEY) == "1"
    set_meta(db, UNFINISHED_KEY, "1")
    set_meta(db, AGE_SELECTIONS_KEY, encode(by_age).decode())
    return [kept_out] * with_names + by_age * (selection.is_by_age or not selection.has_criteria)


def end_deletion(db: Connection, selection: DeletionSelection) -> None:
    """Note that all of it is forgotten."""
    set_meta(db, UNFINISHED_KEY, "0")
    if selection.is_by_age or not selection.has_criteria:
        set_meta(db, AGE_SELECTIONS_KEY, "[]")


def _load_age_selections(db: Connection) -> list[DeletionSelection]:
    """What was chosen by age in a call that was cut short."""
    return decode(get_meta(db, AGE_SELECTIONS_KEY, "[]"), type=list[DeletionSelection])


def _load_blocked_patterns(db: Connection) -> list[str]:
    """The patterns of what stays out."""
    found: list[str] = json.loads(get_meta(db, BLOCKLIST_META_KEY, "[]"))
    return found


def block_patterns(db: Connection, patterns: Sequence[str]) -> DeletionSelection:
    """From now on, nothing like these patterns is fetched; what all patterns mean is to be forgotten."""
    every = list(dict.fromkeys([*_load_blocked_patterns(db), *patterns]))
    set_meta(db, BLOCKLIST_META_KEY, json.dumps(every))
    _remove_seeds(db, every)
    return DeletionSelection(every)


def _remove_seeds(db: Connection, patterns: Sequence[str]) -> None:
    """What is forgotten is no place to begin at."""
    expression = compile_patterns(patterns)
    if expression is None:
        return
    for name in ("seeds", SEED_REDIRECTS_META_KEY):
        kept = [url for url in json.loads(get_meta(db, name, "[]")) if not expression.fullmatch(url)]
        set_meta(db, name, json.dumps(kept))
