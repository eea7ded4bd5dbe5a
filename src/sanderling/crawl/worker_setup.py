"""Where the migrants of a crawl live, and who is in charge of them."""

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import msgspec

from sanderling.clock import Clock
from sanderling.config.settings import AUTO_WORKERS, WorkerSettings
from sanderling.crawl.context import CrawlContext
from sanderling.crawl.coordinator import Coordinator, WorkerEngine
from sanderling.crawl.request import AUTO_MAX_WORKERS, CrawlRequest, build_fetch_settings, count_workers
from sanderling.crawl.stop import CrawlLimits
from sanderling.errors import UsageError
from sanderling.fetch.dns import DnsResolver
from sanderling.fetch.template_filter import has_parked_pages
from sanderling.workers.assignment.strategies import HOST_BOUND_STRATEGIES
from sanderling.workers.assignment.strategy_registry import build_worker_assignment
from sanderling.workers.assignment.worker_assignment import WorkerAssignment
from sanderling.workers.local import LocalEngine
from sanderling.workers.migrant.address import MigrantAddress
from sanderling.workers.spawn import SpawnedProcess, spawn_workers

PARKED_FOLDER = "migrants"  # folder in a collection: what specialised migrants keep
MIGRANT_PENDING_TASKS = 4000  # stops a migrant at a host holds: pages come in a stream, not one by one


def prespawn_workers(
    request: CrawlRequest, engine: WorkerEngine | None = None
) -> AbstractContextManager[list[SpawnedProcess]]:
    """Start what takes long to wake up, before it is known what it will be told; nothing if there is an engine."""
    if engine is not None:
        return nullcontext([])
    count = count_workers(request.workers) + len(request.workers.migrant)  # one goes to every host
    return spawn_workers(count if request.workers.engine != "ray" else 0)


def open_engine(
    request: CrawlRequest, folder: Path, spawned: list[SpawnedProcess] | None = None, *, is_new: bool = False
) -> WorkerEngine:
    """Where the migrants of this crawl live; in a collection that begins anew nothing is kept yet."""
    settings = msgspec.structs.replace(
        build_fetch_settings(request), archive_folder=str((folder / "archive").resolve())
    )
    if request.uses_template_filter or (has_parked_pages(folder / PARKED_FOLDER) and not is_new):
        settings = msgspec.structs.replace(settings, parking_folder=str(folder / PARKED_FOLDER))
    if request.workers.engine == "ray":
        from sanderling.workers.ray.ray_engine import RayEngine

        cluster = RayEngine(settings, request.workers.address or "local", request.workers.place)
        cluster.open()
        return cluster
    hosts = build_migrant_addresses(request.workers, folder)
    engine = LocalEngine(settings, hosts, spawned)
    for place, address in hosts.items():
        engine.migrant_sites |= dict.fromkeys(address.fetch_sites(), place)
    return engine


def build_migrant_addresses(workers: WorkerSettings, folder: Path) -> dict[str, MigrantAddress]:
    """The hosts beside web servers that we may send letters to."""
    if workers.migrant and not workers.key:
        raise UsageError("--migrant needs our key: --key FILE (sanderling migrant keygen FILE writes one)")
    urls = [url.rstrip("/") for url in workers.migrant]
    memory, check = str(folder / "hosts"), workers.migrant_check
    return {
        url: MigrantAddress(url, workers.key, workers.migrant_ca, dictionary_folder=memory, check_interval=check)
        for url in urls
    }


def build_assignment(request: CrawlRequest, engine: WorkerEngine) -> WorkerAssignment:
    """Who is there and who goes, as the settings say; migrants at hosts go to their own sites only.

    With cookies a host belongs to one migrant, or it would see several visitors.
    """
    scheduling = request.scheduling
    if request.fetching.cookies and scheduling.schedule not in HOST_BOUND_STRATEGIES:
        scheduling = msgspec.structs.replace(scheduling, schedule="consistent-hash")
    return build_worker_assignment(scheduling, engine.can_reach if isinstance(engine, LocalEngine) else None)


def build_coordinator(
    context: CrawlContext,
    engine: WorkerEngine,
    request: CrawlRequest,
    folder: Path,
    limits: CrawlLimits,
    resolver: DnsResolver,
    clock: Clock,
) -> Coordinator:
    """Make the coordinator of migrants who live there."""
    coordinator = Coordinator(
        context,
        engine,
        resolver,
        limits,
        worker_count=count_workers(request.workers),
        allow_private=request.fetching.allow_private,
        folder=folder,
        assignment=build_assignment(request, engine),
        clock=clock,
    )
    configure_workers(coordinator, engine, request)
    return coordinator


def configure_workers(coordinator: Coordinator, engine: WorkerEngine, request: CrawlRequest) -> None:
    """Let the crew grow if it may. One migrant goes to every host: the owner sets the pace, letters may be long."""
    coordinator.worker_pool.max_workers = AUTO_MAX_WORKERS if request.workers.workers == AUTO_WORKERS else 0
    if isinstance(engine, LocalEngine) and engine.migrant_addresses:
        coordinator.dispatcher.list_migrant_sites = engine.list_migrant_sites
        coordinator.worker_pool.capacity_by_place = dict.fromkeys(engine.migrant_addresses, MIGRANT_PENDING_TASKS)
        coordinator.migrant_places = tuple(engine.migrant_addresses)
