"""Connections of `serve`: a time limit for each request, and no client that keeps the others out.

uvicorn waits without end for the rest of a request head or body, and answers everybody with 503 once
`limit_concurrency` connections are open, whoever opened them. Here a request has to be complete after
`REQUEST_SECONDS`, and a full table makes room: the client (address, or IPv6 /64) with the most connections loses one.
"""

import asyncio
from collections import Counter
from itertools import count
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from sanderling.web.middleware import get_client_key

REQUEST_SECONDS = 15.0  # from the first byte, or from the connection, to the end of the request
MAX_CONNECTIONS = 600  # below the usual limit of 1,024 open files, with room for databases and those being accepted
INCOMPLETE_STATES = (h11.IDLE, h11.SEND_BODY)
_connection_numbers = count()


class BoundedProtocol(H11Protocol):
    """One connection."""

    request_seconds = REQUEST_SECONDS
    max_connections = MAX_CONNECTIONS

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection; where there are too many, close one of the client that has the most."""
        self.number = next(_connection_numbers)
        self.deadline: asyncio.TimerHandle | None = None
        super().connection_made(transport)
        self.client_key = get_client_key(self.client[0] if self.client else "")
        if len(self.connections) > self.max_connections:
            self._evict_connection()
        self._update_deadline()

    def data_received(self, data: bytes) -> None:
        """Read on; the time limit is for the whole request, however often a few bytes arrive."""
        super().data_received(data)
        self._update_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the time limit with the connection."""
        self._cancel_deadline()
        super().connection_lost(exc)

    @property
    def is_incomplete(self) -> bool:
        """Is the end of a request still to come? Also where none has begun."""
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
        """Close without waiting for the client, and count it no longer."""
        self.connections.discard(self)
        self.transport.abort()

    def _evict_connection(self) -> None:
        """Close a connection of the client with the most: one without a complete request, else the oldest."""
        others: list[Any] = [one for one in self.connections if isinstance(one, BoundedProtocol)]
        (largest, _), *_ = Counter(one.key for one in others).most_common(1)
        mine = [one for one in others if one.key == largest and one is not self]
        if mine:
            min(mine, key=lambda one: (not one.is_incomplete, one.number)).close_now()
        else:
            self.close_now()
