"""Find the WebSub hubs of watched pages and of feeds in what is stored."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from sanderling.errors import SanderlingError
from sanderling.monitor.websub import Subscriber
from sanderling.monitor.websub_hubs import find_topic
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import load_stored_record
from sanderling.storage.reports import find_topic_candidates

MAX_EXAMINED = 1_000  # pages, and as many feeds


class HubTopics:
    """Reads each stored version once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.examined_at: dict[str, float] = {}  # time of the last examined visit, by URL

    def subscribe(self, subscriber: Subscriber, watched: Sequence[str]) -> None:
        """Subscribe to the topics of new versions of these pages and of the feeds."""
        with open_collection_read_only(self.folder) as collection:
            for url_id, url, visited_at in find_topic_candidates(collection.db, watched, MAX_EXAMINED):
                if self.examined_at.get(url, 0.0) < visited_at:
                    self.examined_at[url] = visited_at
                    with suppress(SanderlingError):  # nothing is stored, or it is damaged
                        topic = find_topic(url, load_stored_record(collection, url_id, url))
                        if topic is not None:
                            subscriber.add_topic(topic)
