"""The behavior of users of the search page: shown rankings, actions, and queries without satisfying results."""

import secrets
from pathlib import Path

from sanderling.api.types import SearchResults, UnmetQuery
from sanderling.search.feedback.event_log import EventLog, build_query_key, open_event_log
from sanderling.search.feedback.events import ACTION_NUMBERS, ShownRanking, UserAction, UserEvent
from sanderling.search.feedback.learn import learn_weights, list_top_weights
from sanderling.search.feedback.unmet_queries import (
    OPEN,
    add_unmet_query,
    count_open_queries,
    list_unmet_queries,
)

__all__ = ["ACTION_NUMBERS", "UserAction", "UserEvent", "UserFeedback", "open_user_feedback"]
MAX_UNMET_QUERIES = 20
MAX_UNMET_PER_CLIENT = 5  # per day
DAY_SECONDS = 86_400.0
REPHRASE_SECONDS = 120.0


class UserFeedback(EventLog):
    """The event log of a collection, with what is learned from it."""

    def log_ranking(self, client: str, text: str, results: SearchResults, now: float) -> str:
        """Log a ranking that a client saw, and return its query id."""
        query_id = secrets.token_hex(12)
        first = results.hits[0].position if results.hits else 1
        self.record_ranking(ShownRanking(query_id, client, text, now, tuple(hit.url for hit in results.hits), first))
        return query_id

    def find_abandoned_query(self, client: str, query: str, now: float) -> str:
        """Return the id of the client's last search if this query rephrases it and nothing was clicked."""
        last = self.find_last_query(client, now - REPHRASE_SECONDS) if client else None
        if last is None:
            return ""
        (query_id, key), new_key = last, build_query_key(query)
        is_rephrased = key != new_key and bool({*key.split()} & {*new_key.split()})
        return query_id if is_rephrased and not self.has_response(query_id) else ""

    def report_unmet_query(self, query_id: str, client: str, now: float) -> int | None:
        """Store an unmet query and return its id.

        None if the limit is reached: visitors must not steer a crawl.
        """
        query, urls = self.load_ranking(query_id)
        bad_ratings = self.count_bad_ratings(client, now - DAY_SECONDS)
        if not query or count_open_queries(self) >= MAX_UNMET_QUERIES or bad_ratings > MAX_UNMET_PER_CLIENT:
            return None
        return add_unmet_query(self, query, urls, len(urls), now).id

    def list_unmet_queries(self, limit: int = 50) -> list[UnmetQuery]:
        """Return queries without satisfying results, newest first."""
        return list_unmet_queries(self, limit=limit)

    def find_unmet_query(self, text: str) -> UnmetQuery | None:
        """Return the newest equivalent unmet query, or None."""
        found = list_unmet_queries(self, build_query_key(text), 1)
        return found[0] if found else None

    def has_open_queries(self) -> bool:
        """Return whether unmet queries wait for a crawl."""
        return any(unmet.state == OPEN for unmet in list_unmet_queries(self))

    def learn_weights(self, now: float) -> None:
        """Learn click weights from the recorded events."""
        learn_weights(self, now)

    def list_top_weights(self) -> list[tuple[object, ...]]:
        """Return the highest learned weights."""
        return list_top_weights(self)


def open_user_feedback(folder: Path) -> UserFeedback:
    """Open the event log of a collection, or create it."""
    log = open_event_log(folder)
    return UserFeedback(log.db, log.signal_folder)
