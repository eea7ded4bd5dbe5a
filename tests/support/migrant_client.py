"""A host beside a little site, and a key to be its guest."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.site import free_port

from sanderling.clock import Clock, real
from sanderling.workers.migrant.client import Address
from sanderling.workers.migrant.keys import allow, new_key
from sanderling.workers.migrant.migrant_server import Service
from sanderling.workers.migrant.owner_rules import Owner, Site


@contextmanager
def serving(folder: Path, *sites: Site, clock: Clock = real, **more: int) -> Iterator[Address]:
    """A host for these sites that admits one guest."""
    folder.mkdir(exist_ok=True)
    name = f"127.0.0.1:{free_port()}"
    allow(folder / "senders", new_key(folder / "guest.key"), "guest")
    service = Service(Owner(name, sites, name, **more), folder, clock)  # type: ignore[arg-type]
    thread = threading.Thread(target=service.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield Address(f"http://{name}", str(folder / "guest.key"))
    finally:
        service.shutdown()
        service.server_close()
