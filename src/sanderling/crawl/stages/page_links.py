"""Links of stored pages go to the graph and to the ordering, which moves what waits."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

from msgspec import Struct

from sanderling.crawl.context import House, UrlRow
from sanderling.crawl.stages.discovered_urls import relevance_of
from sanderling.frontier.eviction import Keeper
from sanderling.frontier.leases import Lease
from sanderling.frontier.ordering.protocol import LEARN_LEAST, LEARN_PAGES, LEARN_SHARE, Lesson
from sanderling.models import Link, Outcome, Role, Url, Visit
from sanderling.storage.archive_batch import Shelved
from sanderling.storage.catalog import Filed, Latest
from sanderling.storage.link_graph import Forward, pack_links, unpack_links
from sanderling.urls.normalize import resolve


class Followed(Struct, frozen=True, gc=False):
    """The links of a page whose targets are known, and the ids of these, in the same order."""

    targets: list[int]
    links: Sequence[Link]

    def __iter__(self) -> Iterator[tuple[int, Link]]:
        return zip(self.targets, self.links, strict=True)


def follow(links: Sequence[Link], ids: Mapping[Url, int]) -> Followed:
    """Pair links with the ids of their targets; a link that was not written down has none."""
    targets = list(map(ids.get, [link.url for link in links]))
    if all(targets):
        return Followed(cast(list[int], targets), links)
    return Followed([id_ for id_ in targets if id_], [link for link in links if link.url in ids])


def file_page(item: Shelved, files: Mapping[str, int], kept: Followed, old: Latest | None, house: House) -> Filed:
    """Pack the links of a page that is new or changed, and tell the graph of those it did not have before."""
    visit, place = item.visit, item.place
    links, count = b"", 0
    if item.changed and visit.links:
        targets = kept.targets
        count = len(targets)
        nofollow = [n for n, link in enumerate(kept.links) if link.nofollow]
        links = pack_links(Forward(targets, [link.anchor for link in kept.links], nofollow))
        known = set(unpack_links(old.links).targets) if old else ()
        house.graph.add(visit.id, [id_ for id_ in targets if id_ not in known] if known else targets)
    if place is None:
        return Filed(visit, item.changed, twin=item.twin, links=links, link_count=count)
    where = files[place.file], place.offset, place.length
    return Filed(visit, item.changed, *where, item.record, item.payload, item.twin, links, count)


def pair(filed: Sequence[Filed], latest: Mapping[int, Latest], house: House) -> None:
    """Look pages up that nobody knew, whether they read like another."""
    if latest or house.keeper is not None:
        house.pairing.give_up()
    plain = [item.visit for item in filed if 200 <= item.visit.status < 300 and item.twin is None]
    house.pairing.take([(visit.id, visit.marks["minhash"]) for visit in plain if "minhash" in visit.marks])


def learn(
    shelved: Iterable[tuple[Shelved, Followed]], rows: Mapping[int, UrlRow], leases: Mapping[int, Lease],
    ids: Mapping[Url, int], house: House,
) -> None:  # fmt: skip
    """Tell the ordering of pages that are new or changed, and of hops."""
    focused = house.order.is_focused
    for item, followed in shelved:
        visit, row = item.visit, rows[item.visit.id]
        if not item.changed or visit.role is not Role.PAGE:
            continue
        targets = followed.targets
        if visit.outcome is Outcome.REDIRECT and (target := resolve(row.wire or visit.url, visit.location)):
            targets = [ids[target.url]] if target.url in ids else []
        promises = [link.promise for link in followed.links] if focused else ()
        rank, relevance = leases[visit.id].rank, relevance_of(visit)
        said = visit.title, visit.marks.get("structure", b""), followed
        house.order.learn(Lesson(visit.id, visit.url, targets, rank, row.is_seed, relevance, promises, *said))


def learn_kept(kept: Sequence[Visit], leases: Mapping[int, Lease], ids: Mapping[Url, int], house: House) -> None:
    """Tell the ordering of pages that specialised migrants keep: where they lead counts as if they had come home."""
    house.catalogue.mark_all([(visit.id, kind, mark) for visit in kept for kind, mark in visit.marks.items()])
    for visit in kept:
        followed = follow(visit.links, ids)
        said = visit.title, visit.marks.get("structure", b""), followed, True
        house.order.learn(Lesson(visit.id, visit.url, followed.targets, leases[visit.id].rank, False, 0.0, (), *said))


def promote(stored: int, house: House) -> None:
    """Now and then, move waiting URLs by what was learned: often at first, then each time the crawl grew by a tenth."""
    house.learned += stored
    if house.order.is_eager or house.learned >= min(
        LEARN_PAGES, max(LEARN_LEAST, house.counts[Outcome.FETCHED] // LEARN_SHARE)
    ):
        house.queue.promote(house.order.gains())
        house.learned = 0


def keep_best(house: House, keeper: Keeper, now: float) -> None:
    """Let the worst pages leave a collection that is full, and give up what waits and is no better."""
    evicted = keeper.worst(house.order)
    keeper.note(evicted)
    gone = [page.url for page in evicted]
    house.catalogue.remove(gone, house.session, now)
    house.diary.drop(gone)
    house.lists.leave(gone)
    house.counts["evicted"] += len(gone)
    if house.order.compares:
        house.counts["passed_over"] += keeper.drop_waiting()
