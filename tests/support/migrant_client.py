"""A migrant server for test sites, and a key that may send it requests."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.site import free_port

from sanderling.clock import Clock, system_clock
from sanderling.workers.migrant.client import MigrantAddress
from sanderling.workers.migrant.keys import add_sender, create_key
from sanderling.workers.migrant.migrant_server import MigrantServer
from sanderling.workers.migrant.owner_rules import OwnerRules, SiteRules


@contextmanager
def serving(folder: Path, *sites: SiteRules, clock: Clock = system_clock, **more: int) -> Iterator[MigrantAddress]:
    """Serve these sites with a migrant that accepts a single sender."""
    folder.mkdir(exist_ok=True)
    name = f"127.0.0.1:{free_port()}"
    add_sender(folder / "senders", create_key(folder / "guest.key"), "guest")
    service = MigrantServer(OwnerRules(name, sites, name, **more), folder, clock)  # type: ignore[arg-type]
    thread = threading.Thread(target=service.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield MigrantAddress(f"http://{name}", str(folder / "guest.key"))
    finally:
        service.shutdown()
        service.server_close()
