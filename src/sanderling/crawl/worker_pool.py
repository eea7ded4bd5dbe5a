"""Where the migrants of a crawl live, and who is in charge of them."""

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import msgspec

from sanderling.clock import Clock
from sanderling.config.settings import AUTO, Workers
from sanderling.crawl.context import House
from sanderling.crawl.coordinator import Coordinator, Engine
from sanderling.crawl.request import AUTO_MOST, Request, count_migrants, fetch_settings
from sanderling.crawl.stop import Bounds
from sanderling.errors import UsageError
from sanderling.fetch.dns import Resolver
from sanderling.fetch.template_filter import is_kept
from sanderling.workers.assignment.roster import Roster
from sanderling.workers.assignment.strategies import OWNING
from sanderling.workers.assignment.strategy_registry import roster
from sanderling.workers.local import Processes
from sanderling.workers.migrant.address import Address
from sanderling.workers.spawn import Newborn, newborns

KEEP = "migrants"  # folder in a collection: what specialised migrants keep
HOST_HANDS = 4000  # stops a migrant at a host holds: pages come in a stream, not one by one


def prepare_engine(request: Request, engine: Engine | None = None) -> AbstractContextManager[list[Newborn]]:
    """Start what takes long to wake up, before it is known what it will be told; nothing if there is an engine."""
    if engine is not None:
        return nullcontext([])
    count = count_migrants(request.workers) + len(request.workers.via)  # one goes to every host
    return newborns(count if request.workers.engine != "ray" else 0)


def open_engine(
    request: Request, folder: Path, waiting: list[Newborn] | None = None, *, is_new: bool = False
) -> Engine:
    """Where the migrants of this crawl live; in a collection that begins anew nothing is kept yet."""
    settings = msgspec.structs.replace(fetch_settings(request), archive=str((folder / "archive").resolve()))
    if request.driven or (is_kept(folder / KEEP) and not is_new):
        settings = msgspec.structs.replace(settings, keep=str(folder / KEEP))
    if request.workers.engine == "ray":
        from sanderling.workers.ray.pool import Cluster

        cluster = Cluster(settings, request.workers.address or "local", request.workers.place)
        cluster.open()
        return cluster
    hosts = addresses_of(request.workers, folder)
    engine = Processes(settings, hosts, waiting)
    for place, address in hosts.items():
        engine.served |= dict.fromkeys(address.sites(), place)
    return engine


def addresses_of(workers: Workers, folder: Path) -> dict[str, Address]:
    """The hosts beside web servers that we may send letters to."""
    if workers.via and not workers.key:
        raise UsageError("--via needs our key: --key FILE (sanderling host keygen FILE writes one)")
    urls = [url.rstrip("/") for url in workers.via]
    memory, check = str(folder / "hosts"), workers.via_check
    return {url: Address(url, workers.key, workers.via_ca, memory=memory, check=check) for url in urls}


def roster_of(request: Request, home: Engine) -> Roster:
    """Who is there and who goes, as the settings say; migrants at hosts go to their own sites only.

    With cookies a host belongs to one migrant, or it would see several visitors.
    """
    scheduling = request.scheduling
    if request.fetching.cookies and scheduling.schedule not in OWNING:
        scheduling = msgspec.structs.replace(scheduling, schedule="consistent-hash")
    return roster(scheduling, home.reaches if isinstance(home, Processes) else None)


def put_in_charge(
    house: House, home: Engine, request: Request, folder: Path, bounds: Bounds, resolver: Resolver, clock: Clock
) -> Coordinator:
    """Make the coordinator of migrants who live there."""
    coordinator = Coordinator(
        house,
        home,
        resolver,
        bounds,
        migrants=count_migrants(request.workers),
        allow_private=request.fetching.allow_private,
        folder=folder,
        roster=roster_of(request, home),
        clock=clock,
    )
    settle(coordinator, home, request)
    return coordinator


def settle(coordinator: Coordinator, home: Engine, request: Request) -> None:
    """Let the crew grow if it may. One migrant goes to every host: the owner sets the pace, letters may be long."""
    coordinator.crew.most = AUTO_MOST if request.workers.migrants == AUTO else 0
    if isinstance(home, Processes) and home.hosts:
        coordinator.errands.near_sites = home.near_sites
        coordinator.crew.hands = dict.fromkeys(home.hosts, HOST_HANDS)
        coordinator.posts = tuple(home.hosts)
