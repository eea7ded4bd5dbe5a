"""A shard's side of the exchange with the other shards: lease, mail, page quota, and addresses."""

import time

import msgspec

from sanderling.crawl.context import CrawlContext
from sanderling.crawl.stages.foreign_links import apply_batch
from sanderling.crawl.stop import CrawlProgress
from sanderling.db.connection import transaction
from sanderling.errors import DatabaseUnavailable, ShardLeaseLost
from sanderling.frontier.shard_links import MAX_UNAPPLIED_BATCHES, ShardLinks
from sanderling.frontier.shared_addresses import delay_hosts_at, find_idle_addresses, has_queued_at
from sanderling.storage.shard_control import MAX_MAIL_BATCHES, ShardControl, ShardOrders, ShardReport

EXCHANGE_SECONDS = 0.2
FAST_EXCHANGE_SECONDS = 0.03  # after mail, and for hosts whose address is new
TURN_SECONDS = 2.0  # in which a shard may send batches to an address that others wait for
MAX_HANDOVER_DELAY = 60.0  # the back-off of one host does not hold up those of other shards at its address
LEASE_SAFETY = 0.8  # a shard stops at this part of its lease, before another process takes over


class ShardMember:
    """Exchanges with the control database. Owns the shard until the lease ends."""

    def __init__(self, control: ShardControl, shard: int, token: int, lease_seconds: float) -> None:
        self.control = control
        self.shard = shard
        self.token = token
        self.lease_seconds = lease_seconds
        self.orders = ShardOrders(-1, 0, "", "", (), {}, {}, ())
        self.held_addresses = set(control.load_held_addresses(shard))
        self.recalled_addresses: set[str] = set()  # another shard waits for them
        self.turn_ends: dict[str, float] = {}  # of addresses that this shard had to wait for
        self.new_addresses: set[str] = set()
        self.wanted_addresses: set[str] = set()
        self.applied: dict[int, int] = {}  # by sender: last batch applied and not confirmed yet
        self.mailed: dict[int, int] = {}  # by receiver: last batch sent
        self.applied_by: dict[int, int] = control.load_positions(shard)
        self.unapplied_count = 0  # batches of the outbox
        self.exchange_at = 0.0
        self.lease_end = time.monotonic() + LEASE_SAFETY * lease_seconds
        self.exchange_count = 0
        self.has_confirmed_inbox = False

    def check_lease(self) -> None:
        """Raise ShardLeaseLost after a pause in which another process may have taken over."""
        if time.monotonic() > self.lease_end:
            raise ShardLeaseLost(f"shard {self.shard} could not renew its lease in time; this process stops")

    def can_request(self, address: str) -> bool:
        """Return whether requests may be sent to an address; asks for it if another shard holds it."""
        if address in self.held_addresses:
            return address not in self.recalled_addresses or self._has_turn(address)
        self.new_addresses.add(address)
        return False

    def _has_turn(self, address: str) -> bool:
        """Whether a newly held address is kept for a while, so that waiting shards do not only pass it around."""
        return time.monotonic() < self.turn_ends.get(address, 0.0)

    @property
    def is_outbox_full(self) -> bool:
        return self.unapplied_count > MAX_UNAPPLIED_BATCHES

    def is_due(self) -> bool:
        is_urgent = bool(self.new_addresses or self.applied)
        return time.monotonic() >= self.exchange_at - (EXCHANGE_SECONDS - FAST_EXCHANGE_SECONDS) * is_urgent

    def exchange(
        self, context: CrawlContext, progress: CrawlProgress, pending: int, finish_reason: str, now: float
    ) -> ShardOrders:
        """Report the state of the shard, send and receive links. No transaction may be open."""
        shard_links = context.frontier.shard_links
        assert shard_links is not None
        if not self.has_confirmed_inbox:
            self.applied = shard_links.load_applied()
            self.has_confirmed_inbox = True
        report = self._build_report(context, shard_links, progress, pending, finish_reason, now)
        renewed_at = time.monotonic()
        try:
            self.orders = orders = self.control.exchange(self.shard, self.token, report, now, self.lease_seconds)
        except DatabaseUnavailable as error:
            raise ShardLeaseLost(f"the control database is away ({error}); this process stops") from error
        self.lease_end = renewed_at + LEASE_SAFETY * self.lease_seconds
        self.exchange_at = renewed_at + EXCHANGE_SECONDS
        self.exchange_count += 1
        self.applied = {}
        self._accept_addresses(context, report, orders, now)
        self._accept_positions(shard_links, orders, now)
        self._apply_mail(context, orders, now)
        return orders

    def _build_report(
        self,
        context: CrawlContext,
        shard_links: ShardLinks,
        progress: CrawlProgress,
        pending: int,
        finish_reason: str,
        now: float,
    ) -> ShardReport:
        outgoing, self.unapplied_count = {}, 0
        for receiver, last in shard_links.load_last_sequences().items():
            applied = self.applied_by.get(receiver, 0)
            self.unapplied_count += max(0, last - applied)
            sent = max(applied, self.mailed.get(receiver, 0))
            if last > sent and (size := MAX_MAIL_BATCHES - (sent - applied)) > 0:
                outgoing[receiver] = shard_links.load_batches(receiver, sent, size)
                self.mailed[receiver] = outgoing[receiver][-1][0]
        return ShardReport(
            progress.pages,
            pending,
            progress.bytes,
            progress.waiting,
            "" if self.unapplied_count else finish_reason,
            msgspec.msgpack.encode(progress),
            outgoing,
            self.applied,
            sorted(self.new_addresses),
            sorted(self.wanted_addresses),
            self._find_released(context, now),
        )

    def _find_released(self, context: CrawlContext, now: float) -> dict[str, float]:
        """Return recalled addresses without leased URLs, with the end of their crawl delay."""
        found = find_idle_addresses(
            context.db,
            [
                address
                for address in sorted(self.recalled_addresses)
                if not self._has_turn(address) or not has_queued_at(context.db, address)
            ],
        )
        return {address: min(ready_at, now + MAX_HANDOVER_DELAY) for address, ready_at in found.items()}

    def _accept_addresses(self, context: CrawlContext, report: ShardReport, orders: ShardOrders, now: float) -> None:
        self.held_addresses -= report.released_addresses.keys()
        for address in report.released_addresses:
            self.turn_ends.pop(address, None)
        self.wanted_addresses |= self.new_addresses
        self.new_addresses.clear()
        self.wanted_addresses -= orders.held_addresses.keys()
        with transaction(context.db):
            for address, ready_at in orders.held_addresses.items():
                self.turn_ends[address] = time.monotonic() + max(0.0, ready_at - now) + TURN_SECONDS
                if ready_at:
                    delay_hosts_at(context.db, address, ready_at)
        self.held_addresses |= orders.held_addresses.keys()
        self.recalled_addresses = set(orders.recalled_addresses) & self.held_addresses

    def _accept_positions(self, shard_links: ShardLinks, orders: ShardOrders, now: float) -> None:
        """Note which batches were applied; send those again that a receiver has lost with its last commit."""
        for receiver, sequence in orders.applied_by.items():
            if sequence < self.applied_by.get(receiver, 0):
                self.mailed[receiver] = sequence
        if orders.applied_by != self.applied_by:
            self.applied_by = dict(orders.applied_by)
            with transaction(shard_links.db):
                shard_links.prune_outbox(self.applied_by, now)

    def _apply_mail(self, context: CrawlContext, orders: ShardOrders, now: float) -> None:
        for sender, sequence, payload in orders.incoming:
            apply_batch(sender, sequence, payload, context, now)
            self.applied[sender] = sequence
