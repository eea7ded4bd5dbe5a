"""What pages use and do not contain: images, scripts and style sheets are visited too, where a crawl is asked to.

A page may be the same to the byte while its picture or its script is another one. The resources are queued behind all
pages and visited with their validators; where one was replaced, the pages that use it changed. One that many pages use
belongs to the template: then the change is that of the resource itself, told once.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from sanderling.changes.change_store import Ledger
from sanderling.changes.resource_changes import Swap, sort_of
from sanderling.db.connection import Connection
from sanderling.fingerprint.image_hash import unlike
from sanderling.frontier.url_filter import Judge
from sanderling.frontier.url_store import Book
from sanderling.models import Candidate, Outcome, Pointer, Source, Url, Visit
from sanderling.storage.archive_batch import Shelved
from sanderling.storage.catalog import Catalogue, Latest
from sanderling.storage.queries import urls_of
from sanderling.urls.scope import site_of

BEHIND = 1e9  # rank: after the pages of their host
FEW = 20  # pages for which a resource is their own


class Uses(Struct, frozen=True):
    """The rooms that are asked."""

    db: Connection
    book: Book
    judge: Judge
    ledger: Ledger
    catalogue: Catalogue

    def follow(self, visits: Sequence[Visit], levels: Mapping[int, int], now: float) -> None:
        """Queue the resources of these pages, and remember who uses them."""
        pages = [visit for visit in visits if visit.uses]
        if not pages:
            return
        wanted = {pointer.url: (pointer, visit) for visit in pages for pointer in visit.uses}
        known = self.book.find(wanted)
        ids = {url: found.id for url, found in known.items()}
        fresh = [_candidate(*wanted[url], levels) for url in wanted if url not in known]
        entries = [entry for new in fresh if (entry := self.judge.judge(new, False, now)) is not None]
        ids |= self.book.add(entries, now)
        self.db.executemany("DELETE FROM uses WHERE page = ?", [(visit.id,) for visit in pages])
        self.db.executemany(
            "INSERT INTO uses VALUES (?, ?) ON CONFLICT (page, resource) DO NOTHING",
            [(visit.id, ids[pointer.url]) for visit in pages for pointer in visit.uses if pointer.url in ids],
        )

    def known(self) -> list[int]:
        """All resources that were seen: a refresh asks whether they are still the same."""
        return [id_ for (id_,) in self.db.execute("SELECT id FROM urls WHERE role = 'resource' AND state = 'visited'")]

    def replaced(self, shelved: Sequence[Shelved], latest: Mapping[int, Latest]) -> int:
        """Note what was replaced since the last visit; say how many changes that made."""
        noted = 0
        for item in shelved:
            old = latest.get(item.visit.id)
            if item.changed and item.visit.outcome is Outcome.FETCHED and old is not None and old.is_there:
                noted += self._note(item.visit, old)
        return noted

    def _note(self, visit: Visit, old: Latest) -> int:
        sort = sort_of(visit.mime)
        users = self._users(visit.id) if sort else []
        if not sort or not users:
            return 0
        amount = unlike(self.catalogue.mark(visit.id, "look"), visit.marks.get("look", b""))
        swap = Swap(visit.url, sort, amount)
        changed = urls_of(self.db, users) if len(users) <= FEW else {visit.id: visit.url}
        for page, url in changed.items():
            self.ledger.note_replaced(page, site_of(Url(url)), visit.at, old.last_visit, swap)
        return len(changed)

    def _users(self, resource: int) -> list[int]:
        rows = self.db.execute("SELECT page FROM uses WHERE resource = ? LIMIT ?", (resource, FEW + 1))
        return [page for (page,) in rows]


def _candidate(pointer: Pointer, page: Visit, levels: Mapping[int, int]) -> Candidate:
    """A resource stands on the level of its page: it is part of it."""
    return Candidate(pointer.url, pointer.wire, levels[page.id], Source.LINK, page.id, rank=BEHIND, role=pointer.role)
