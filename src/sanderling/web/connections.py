"""HTTP connections with request deadlines and fair limits.

When too many connections are open, the client with the most loses one; uvicorn alone would return 503 to all.
"""

import asyncio
from collections import Counter
from itertools import count

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from sanderling.web.middleware import get_client_key

REQUEST_SECONDS = 15.0  # to receive a complete request
MAX_CONNECTIONS = 600  # below the usual limit of 1,024 open files, which databases need too
INCOMPLETE_STATES = (h11.IDLE, h11.SEND_BODY)
_connection_numbers = count()


class BoundedProtocol(H11Protocol):
    """A connection with a request deadline."""

    request_seconds = REQUEST_SECONDS
    max_connections = MAX_CONNECTIONS

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection; if there are too many, evict another."""
        self.number = next(_connection_numbers)
        self.deadline: asyncio.TimerHandle | None = None
        super().connection_made(transport)
        self.client_key = get_client_key(self.client[0] if self.client else "")
        if len(self.connections) > self.max_connections:
            self._evict_connection()
        self._update_deadline()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._update_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_deadline()
        super().connection_lost(exc)

    @property
    def is_incomplete(self) -> bool:
        """Whether a complete request has not been received."""
        return self.conn.their_state in INCOMPLETE_STATES

    def _update_deadline(self) -> None:
        if not self.is_incomplete:
            self._cancel_deadline()
        elif self.deadline is None:
            self.deadline = self.loop.call_later(self.request_seconds, self._on_deadline)

    def _cancel_deadline(self) -> None:
        if self.deadline is not None:
            self.deadline.cancel()
            self.deadline = None

    def _on_deadline(self) -> None:
        self.deadline = None
        if self.is_incomplete:
            self.close_now()

    def close_now(self) -> None:
        self.connections.discard(self)
        self.transport.abort()

    def _evict_connection(self) -> None:
        """Close an incomplete, else the oldest connection of the largest client."""
        connections = [c for c in self.connections if isinstance(c, BoundedProtocol)]
        (largest_client, _), *_ = Counter(c.client_key for c in connections).most_common(1)
        candidates = [c for c in connections if c.client_key == largest_client and c is not self]
        if candidates:
            min(candidates, key=lambda c: (not c.is_incomplete, c.number)).close_now()
        else:
            self.close_now()
