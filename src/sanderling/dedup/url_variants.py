"""Pages that are known under two spellings, where a rule in use says that these make no difference: one is visited."""

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
    """Say which of these URLs need no visit: the rules spell them otherwise, and that page is held too; no seeds.

    Where it is not, as no link leads to it, the first that is known of those that are one page stands for all.
    """
    if not rules:
        return set()
    found, first = set[int](), set[str]()
    for id_, url in sorted(urls):
        usual = rewrite_url(url, rules)
        if usual == url or db.execute(SELECT_SOURCE, (id_,)).fetchone() == (UrlSource.SEED,):
            continue
        if usual in first or _is_variant_stored(db, id_, usual):
            found.add(id_)
        else:
            first.add(usual)
    return found


def _is_variant_stored(db: Connection, id_: int, variant: str) -> bool:
    spelling = normalize_url(variant)
    if spelling is None:
        return False
    row = db.execute(SELECT_STORED_ID, split_url(spelling.url)).fetchone()
    return row is not None and row[0] != id_
