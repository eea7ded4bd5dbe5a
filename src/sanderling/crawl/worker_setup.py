"""Start worker engines, and derive the setup of a run."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import msgspec
from msgspec import Struct

from sanderling.clock import Clock, MonotonicClock, system_clock
from sanderling.config.settings import AUTO_WORKERS, WorkerSettings
from sanderling.crawl.dispatch import TemplateFilterBuilder
from sanderling.crawl.request import AUTO_MAX_WORKERS, CrawlRequest, build_fetch_settings, count_workers, uses_cookies
from sanderling.crawl.stop import CrawlLimits
from sanderling.errors import UsageError
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.template_filter import has_parked_pages
from sanderling.forms.form_recipes import load_recipes
from sanderling.http.cookie_jar import read_cookie_file, update_jar
from sanderling.models import Host
from sanderling.workers.assignment.strategies import HOST_BOUND_STRATEGIES
from sanderling.workers.assignment.strategy_registry import build_worker_assignment
from sanderling.workers.assignment.worker_assignment import WorkerAssignment
from sanderling.workers.local import LocalEngine
from sanderling.workers.manager import WORKER_FOLDER
from sanderling.workers.migrant.address import MigrantAddress
from sanderling.workers.spawn import SpawnedProcess, spawn_workers
from sanderling.workers.worker_engine import WorkerEngine

COOKIE_JAR = "cookies.txt"  # in the folder of a collection, readable by its owner only
MIGRANT_PENDING_TASKS = 4000  # tasks of one migrant: it streams pages


class RunSetup(Struct, frozen=True):
    """How a coordinator runs: its limits and workers, and where due pages come from."""

    folder: Path
    limits: CrawlLimits = CrawlLimits()
    worker_count: int = 1
    max_workers: int = 0  # 0: the number of workers does not follow the load
    capacity_by_migrant: Mapping[str, int] = {}  # tasks of each migrant next to a web server; each gets a worker
    list_migrant_sites: Callable[[], frozenset[Host]] = frozenset  # sites that migrants fetch now
    allow_private: bool = False
    earlier_page_count: int = 0  # pages fetched in this session by earlier runs
    queue_due_pages: Callable[[float], int] | None = None  # returns their number; None: not a refresh
    is_continuous: bool = False  # wait for pages to become due instead of finishing
    clock: Clock = system_clock
    build_template_filter: TemplateFilterBuilder | None = None  # of a batch; None: workers return every page


def prespawn_workers(
    request: CrawlRequest, engine: WorkerEngine | None = None
) -> AbstractContextManager[list[SpawnedProcess]]:
    """Start worker processes early, because they start slowly. Does nothing with an engine."""
    if engine is not None:
        return nullcontext([])
    count = count_workers(request.workers) + len(request.workers.migrant)  # one worker per migrant
    return spawn_workers(count if request.workers.engine != "ray" else 0)


def open_engine(
    request: CrawlRequest, folder: Path, spawned: list[SpawnedProcess] | None = None, *, is_new: bool = False
) -> WorkerEngine:
    """Open the worker engine of a crawl. `is_new`: there are no parked pages."""
    settings = msgspec.structs.replace(
        build_fetch_settings(request), archive_folder=str((folder / "archive").resolve())
    )
    if settings.cookies:
        settings = msgspec.structs.replace(settings, cookie_jar=str((folder / COOKIE_JAR).resolve()))
        if not is_new:
            prepare_cookies(request, settings)
    if request.uses_template_filter or (has_parked_pages(folder / WORKER_FOLDER) and not is_new):
        settings = msgspec.structs.replace(settings, parking_folder=str(folder / WORKER_FOLDER))
    if request.workers.engine == "ray":
        from sanderling.workers.ray.ray_engine import RayEngine

        ray_engine = RayEngine(settings, request.workers.address or "local", request.workers.place)
        ray_engine.open()
        return ray_engine
    addresses = build_migrant_addresses(request.workers, folder)
    engine = LocalEngine(settings, addresses, spawned)
    for place, address in addresses.items():
        engine.migrant_sites |= dict.fromkeys(address.fetch_sites(), place)
    return engine


def prepare_cookies(request: CrawlRequest, settings: FetchSettings) -> None:
    """Add the cookies of the user to those of earlier runs, and log in by the recipes."""
    if request.fetching.cookie_file:
        update_jar(Path(settings.cookie_jar), read_cookie_file(request.fetching.cookie_file).values())
    if request.scope.recipe and (logins := load_recipes(request.scope.recipe).logins):
        from sanderling.forms.login import log_in  # rarely needed

        log_in(logins, settings)


def build_migrant_addresses(workers: WorkerSettings, folder: Path) -> dict[str, MigrantAddress]:
    if workers.migrant and not workers.key:
        raise UsageError("--migrant needs a key: --key FILE (create one with: sanderling migrant keygen FILE)")
    urls = [url.rstrip("/") for url in workers.migrant]
    return {
        url: MigrantAddress(
            url,
            workers.key,
            workers.migrant_ca,
            dictionary_folder=str(folder / "hosts"),
            check_interval=workers.migrant_check,
        )
        for url in urls
    }


def build_assignment(request: CrawlRequest, engine: WorkerEngine, clock: Clock) -> WorkerAssignment:
    """Build the worker assignment; migrants get only their own sites.

    With cookies each host is bound to a worker, or it would see several clients.
    """
    scheduling = request.scheduling
    if uses_cookies(request) and scheduling.schedule not in HOST_BOUND_STRATEGIES:
        scheduling = msgspec.structs.replace(scheduling, schedule="consistent-hash")
    can_reach = engine.can_reach if isinstance(engine, LocalEngine) else None
    # A clock that is set back would make workers look silent.
    return build_worker_assignment(scheduling, can_reach, MonotonicClock(clock))


def build_run_setup(request: CrawlRequest, engine: WorkerEngine, folder: Path, clock: Clock) -> RunSetup:
    """Derive limits and workers of a run.

    The owner of a server sets the rate of its migrant, so fetch batches may be long.
    """
    limits = request.limits
    migrants = engine if isinstance(engine, LocalEngine) and engine.migrant_addresses else None
    return RunSetup(
        folder,
        CrawlLimits(limits.limit, limits.time_limit, limits.size_limit),
        worker_count=count_workers(request.workers),
        max_workers=AUTO_MAX_WORKERS if request.workers.workers == AUTO_WORKERS else 0,
        capacity_by_migrant=dict.fromkeys(migrants.migrant_addresses, MIGRANT_PENDING_TASKS) if migrants else {},
        list_migrant_sites=migrants.list_migrant_sites if migrants else frozenset,
        allow_private=request.fetching.allow_private,
        clock=clock,
    )
