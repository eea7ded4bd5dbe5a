"""Which pages are to be forgotten, and which patterns of URLs stay out."""

import json
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.json import decode, encode

from sanderling.crawl.open_context import FORGOTTEN
from sanderling.crawl.reevaluate import RULES
from sanderling.crawl.stages.discovered_urls import ARRIVALS
from sanderling.db.connection import Connection
from sanderling.deletion.rows import known
from sanderling.storage.collection import get_meta, open_collection, read_collection, set_meta
from sanderling.storage.page_history import gone_since, unseen_since
from sanderling.storage.queries import urls_of
from sanderling.urls.blocklist import matcher

OTHERS = "others"  # rules that no run has: what was skipped is judged again
UNFINISHED = "forgetting"  # in the meta table, while it goes on
BY_AGE = "forgetting_by_age"  # what was chosen so, with its times, while it goes on
SHOWN = 5


class Choice(Struct, frozen=True):
    """What is to be forgotten: what is like patterns, which stays out from then on; or pages of some age."""

    patterns: Sequence[str] = ()  # with an age: of those pages only these
    gone: float | None = None  # pages that have been gone since this time
    unseen: float | None = None  # pages that were not there at any visit since this time

    @property
    def is_by_age(self) -> bool:
        """Is it by when a page was last there?"""
        return self.gone is not None or self.unseen is not None

    @property
    def is_named(self) -> bool:
        """Does it say what? If not, it means what an earlier call left."""
        return bool(self.patterns) or self.is_by_age


class Meant(Struct, frozen=True):
    """What would be forgotten."""

    urls: int
    pages: int
    some: list[str]


def meant(folder: Path, choice: Choice) -> Meant:
    """Say what would be forgotten, and change nothing."""
    with read_collection(folder) as collection:
        choices = [choice] if choice.is_named else [Choice(_kept_out(collection.db)), *_left(collection.db)]
        ids = list(dict.fromkeys(url for one in choices for url in chosen(collection.db, one)))
        wanted = set(ids)
        pages = sum(url in wanted for (url,) in collection.db.execute("SELECT url FROM pages"))
        return Meant(len(ids), pages, list(urls_of(collection.db, ids[:SHOWN]).values()))


def chosen(db: Connection, choice: Choice) -> list[int]:
    """The ids of what is meant."""
    expression = matcher(choice.patterns)
    if not choice.is_by_age:
        return known(db, expression.fullmatch) if expression else []
    aged = set(gone_since(db, choice.gone)) if choice.gone is not None else set()
    aged.update(unseen_since(db, choice.unseen) if choice.unseen is not None else ())
    names = urls_of(db, sorted(aged))
    return [url for url, name in names.items() if expression is None or expression.fullmatch(name)]


def banned(folder: Path) -> list[str]:
    """The patterns of what is forgotten, and stays out."""
    with read_collection(folder) as collection:
        return _kept_out(collection.db)


def is_unfinished(folder: Path) -> bool:
    """Was a forgetting cut short?"""
    with read_collection(folder) as collection:
        return get_meta(collection.db, UNFINISHED) == "1" or bool(_left(collection.db))


def has_ages_left(folder: Path) -> bool:
    """Was a forgetting of pages by age cut short?"""
    with read_collection(folder) as collection:
        return bool(_left(collection.db))


def leave_ages(folder: Path) -> None:
    """Keep the pages that were chosen by age in a call that was cut short."""
    with open_collection(folder) as collection:
        set_meta(collection.db, BY_AGE, "[]")


def allow(folder: Path, patterns: Sequence[str]) -> list[str]:
    """Let the next crawl fetch again what these patterns kept out; say which of them did."""
    with open_collection(folder) as collection:
        known_ones = _kept_out(collection.db)
        set_meta(collection.db, FORGOTTEN, json.dumps([one for one in known_ones if one not in patterns]))
        set_meta(collection.db, RULES, OTHERS)
        return [one for one in known_ones if one in patterns]


def begin(db: Connection, choice: Choice) -> list[Choice]:
    """Note that a forgetting begins; give all that is to be forgotten.

    Names that an earlier call left stay out anyway, and go with any call. Ages that it left go only if nothing else is
    said: a new age takes their place, and beside names they wait.
    """
    by_age = [choice] if choice.is_by_age else _left(db)
    kept_out = keep_out(db, () if choice.is_by_age else choice.patterns)
    with_names = not choice.is_by_age or get_meta(db, UNFINISHED) == "1"
    set_meta(db, UNFINISHED, "1")
    set_meta(db, BY_AGE, encode(by_age).decode())
    return [kept_out] * with_names + by_age * (choice.is_by_age or not choice.is_named)


def end(db: Connection, choice: Choice) -> None:
    """Note that all of it is forgotten."""
    set_meta(db, UNFINISHED, "0")
    if choice.is_by_age or not choice.is_named:
        set_meta(db, BY_AGE, "[]")


def _left(db: Connection) -> list[Choice]:
    """What was chosen by age in a call that was cut short."""
    return decode(get_meta(db, BY_AGE, "[]"), type=list[Choice])


def _kept_out(db: Connection) -> list[str]:
    """The patterns of what stays out."""
    found: list[str] = json.loads(get_meta(db, FORGOTTEN, "[]"))
    return found


def keep_out(db: Connection, patterns: Sequence[str]) -> Choice:
    """From now on, nothing like these patterns is fetched; what all patterns mean is to be forgotten."""
    every = list(dict.fromkeys([*_kept_out(db), *patterns]))
    set_meta(db, FORGOTTEN, json.dumps(every))
    _drop_seeds(db, every)
    return Choice(every)


def _drop_seeds(db: Connection, patterns: Sequence[str]) -> None:
    """What is forgotten is no place to begin at."""
    expression = matcher(patterns)
    if expression is None:
        return
    for name in ("seeds", ARRIVALS):
        kept = [url for url in json.loads(get_meta(db, name, "[]")) if not expression.fullmatch(url)]
        set_meta(db, name, json.dumps(kept))
