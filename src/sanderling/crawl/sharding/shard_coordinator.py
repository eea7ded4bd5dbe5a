"""Coordinator of a shard."""

from functools import partial
from math import inf

from msgspec.structs import replace

from sanderling.crawl.context import CrawlContext
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.session import ShardMembership
from sanderling.crawl.sharding.shard_member import ShardMember
from sanderling.crawl.stop import FinishReason
from sanderling.crawl.worker_setup import RunSetup
from sanderling.fetch.dns import DnsResolver
from sanderling.frontier.shard_links import ShardIdentity
from sanderling.workers.assignment.worker_assignment import WorkerAssignment
from sanderling.workers.worker_engine import WorkerEngine

WAITING_REASONS = (FinishReason.DONE, FinishReason.PAGE_LIMIT, FinishReason.BACKED_OFF)
NO_PAGES = -1  # a page limit that is reached already; 0 would be no limit
BLOCKED_WAIT_SECONDS = 0.02  # while hosts are ready whose address another shard holds


class ShardCoordinator(Coordinator):
    """Crawls a shard until all shards have nothing left to do."""

    def __init__(
        self,
        context: CrawlContext,
        engine: WorkerEngine,
        resolver: DnsResolver,
        assignment: WorkerAssignment,
        setup: RunSetup,
        *,
        member: ShardMember,
    ) -> None:
        super().__init__(context, engine, resolver, assignment, setup)
        self.member = member
        self.waiting_reason = ""  # why this shard waits for the others; empty: it is busy
        self.has_exchanged = False
        context.frontier.queue.can_request = member.can_request
        if self.limits.page_limit:
            self.limits = replace(self.limits, page_limit=NO_PAGES)  # until the first exchange

    def _supervise_workers(self) -> None:
        super()._supervise_workers()
        if self.member.is_due():
            self._exchange()

    def _exchange(self) -> None:
        self.member.check_lease()
        self.result_batcher.commit()  # the outbox must not hold links that may be rolled back
        pending = self.result_batcher.visit_count + self.assignment.outstanding_tasks
        reason = "" if pending else self.waiting_reason
        orders = self.member.exchange(self.context, self.get_progress(), pending, reason, self.clock())
        self.has_exchanged = True
        if orders.granted >= 0 and orders.granted != self.limits.page_limit:
            self.limits = replace(self.limits, page_limit=orders.granted or NO_PAGES)
            self.context.frontier.queue.min_rank = -inf  # not only page requisites any more
            self.dispatcher.count_remaining_pages = self._count_remaining_pages
        if orders.stop_reason and self.stop_reason is None:
            self.stop(FinishReason(orders.stop_reason))
        if self.limits.size_limit and orders.byte_count >= self.limits.size_limit and self.stop_reason is None:
            self.stop(FinishReason.SIZE_LIMIT)
            self.member.control.stop(FinishReason.SIZE_LIMIT)

    def _store_if_due(self) -> None:
        self.member.check_lease()
        super()._store_if_due()

    def _count_remaining_pages(self) -> int:
        return 0 if self.member.is_outbox_full or not self.has_exchanged else super()._count_remaining_pages()

    def _compute_wait_seconds(self) -> float:
        return max(BLOCKED_WAIT_SECONDS, super()._compute_wait_seconds())

    def _find_finish_reason(self) -> FinishReason | None:
        finish = super()._find_finish_reason()
        if finish not in WAITING_REASONS or self.stop_reason is not None:
            self.waiting_reason = ""
            return finish
        if self.member.orders.finish_reason and self.waiting_reason:
            return FinishReason(self.member.orders.finish_reason)
        self.waiting_reason = finish
        return None


def build_membership(member: ShardMember, identity: ShardIdentity, may_open_session: bool) -> ShardMembership:
    return ShardMembership(identity, partial(ShardCoordinator, member=member), may_open_session)
