"""Find known URLs that DUST rules rewrite to a stored URL."""

from collections.abc import Iterable, Sequence

from sanderling.db.connection import Connection
from sanderling.models import UrlSource
from sanderling.urls.dust import DustRule, rewrite_url
from sanderling.urls.normalize import normalize_url, split_url

SELECT_STORED_ID = (
    "SELECT u.id FROM urls AS u JOIN hosts AS h ON h.id = u.host JOIN pages AS p ON p.url = u.id"
    " WHERE h.name = ? AND u.path = ? AND p.status BETWEEN 200 AND 299"
)
SELECT_SOURCE = "SELECT source FROM urls WHERE id = ?"


def find_redundant_ids(db: Connection, rules: Sequence[DustRule], urls: Iterable[tuple[int, str]]) -> set[int]:
    """Return the URLs whose rewritten form is stored; never seeds.

    If it is not stored, the first known variant represents all.
    """
    if not rules:
        return set()
    redundant, represented = set[int](), set[str]()
    for id_, url in sorted(urls):
        rewritten = rewrite_url(url, rules)
        if rewritten == url or db.execute(SELECT_SOURCE, (id_,)).fetchone() == (UrlSource.SEED,):
            continue
        if rewritten in represented or _is_variant_stored(db, id_, rewritten):
            redundant.add(id_)
        else:
            represented.add(rewritten)
    return redundant


def _is_variant_stored(db: Connection, id_: int, variant: str) -> bool:
    normalized = normalize_url(variant)
    if normalized is None:
        return False
    row = db.execute(SELECT_STORED_ID, split_url(normalized.url)).fetchone()
    return row is not None and row[0] != id_
