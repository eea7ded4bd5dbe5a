"""Fetches a sample of the pages that a migrant reports as unchanged directly and compares them.

A page that differs is requested once more. If it is reported as unchanged again, the site is distrusted: its pages are
fetched directly from then on.
"""

from collections.abc import Iterable, Sequence
from heapq import nsmallest
from pathlib import Path
from random import Random

from msgspec import Struct
from msgspec.structs import replace

from sanderling.fetch.fetch_loop import FetchLoop
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.response_processor import Fingerprinter
from sanderling.models import FetchBatch, FetchTask, Host, Outcome, Reason, Visit
from sanderling.workers.migrant.address import MigrantAddress

DISTRUSTED_FILE = "distrusted"  # in the dictionary folder; delete a line to trust a site again
MIN_WEIGHT_BYTES = 4096  # shorter pages are drawn with the same probability
CONCLUSIVE_OUTCOMES = (Outcome.FETCHED, Outcome.GONE, Outcome.REDIRECT)


def draw_samples(claims: Sequence[FetchTask], count: int, rng: Random) -> list[FetchTask]:
    """Draw random pages with a probability inverse to their length."""
    return nsmallest(
        count,
        claims,
        key=lambda task: (
            rng.expovariate(1.0) * max(MIN_WEIGHT_BYTES, task.last_version.length if task.last_version else 0)
        ),
    )


class PendingCheck(Struct):
    """Pages of a request reported as unchanged, held until their samples are fetched."""

    host: Host
    claims: list[FetchTask]
    samples: dict[int, FetchTask]
    confirmed: list[FetchTask] = []  # samples that are unchanged


class SpotChecks:
    """Fetches samples, and all pages of distrusted sites, directly."""

    def __init__(
        self, address: MigrantAddress, settings: FetchSettings, fingerprinter: Fingerprinter, rng: Random | None = None
    ) -> None:
        self._address, self._settings, self._fingerprinter = address, settings, fingerprinter
        self._rng = rng or Random()
        self._fetch_loop: FetchLoop | None = None
        self._batch_by_host: dict[Host, FetchBatch] = {}  # addresses, robots.txt and crawl delay of each site
        self._pending_checks: list[PendingCheck] = []
        self._confirmed_tasks: list[FetchTask] = []  # confirmed samples of distrusted sites
        self._mismatched_visits: dict[int, Visit] = {}  # direct visits of pages requested again
        self._file = Path(address.dictionary_folder) / DISTRUSTED_FILE if address.dictionary_folder else None
        self._distrusted_hosts = self._load_distrusted()

    def add_site(self, batch: FetchBatch) -> None:
        """Store how to fetch a site directly."""
        self._batch_by_host[batch.host] = replace(batch, tasks=())

    def is_distrusted(self, host: Host) -> bool:
        """Check whether the migrant reported a changed page of this site as unchanged."""
        return host in self._distrusted_hosts

    def fetch_directly(self, host: Host, tasks: Iterable[FetchTask]) -> None:
        """Fetch pages directly, with the crawl delay and robots.txt of the site."""
        if self._fetch_loop is None:
            self._fetch_loop = FetchLoop(self._settings, self._fingerprinter)
        if tasks := tuple(tasks):
            self._fetch_loop.submit(replace(self._batch_by_host[host], tasks=tasks))

    def hold_claims(self, host: Host, claims: Sequence[FetchTask]) -> list[FetchTask]:
        """Hold pages reported as unchanged. Returns those that need no check."""
        if self.is_distrusted(host):
            self.fetch_directly(host, claims)
            return []
        if not claims or not self._address.check_interval:
            return list(claims)
        count = max(1, len(claims) // self._address.check_interval)
        samples = {task.id: task for task in draw_samples(claims, count, self._rng)}
        self._pending_checks.append(PendingCheck(host, [task for task in claims if task.id not in samples], samples))
        self.fetch_directly(host, [replace(task, etag="", last_modified="") for task in samples.values()])
        return []

    def collect_results(self) -> tuple[list[Visit], list[FetchTask], list[tuple[Host, FetchTask]]]:
        """Return direct visits, confirmed tasks, and pages to request again."""
        visits, repeated = list[Visit](), list[tuple[Host, FetchTask]]()
        is_busy = self._fetch_loop is not None and self._fetch_loop.load
        for visit in self._fetch_loop.run_for(0.0).visits if self._fetch_loop is not None and is_busy else ():
            check = next((check for check in self._pending_checks if visit.id in check.samples), None)
            if check is None:
                visits.append(visit)
            elif visit.outcome in CONCLUSIVE_OUTCOMES and visit.digest != check.samples[visit.id].digest:
                self._mismatched_visits[visit.id] = visit
                repeated.append((check.host, check.samples[visit.id]))
            else:
                check.confirmed.append(check.samples.pop(visit.id))
        return visits, self._pop_confirmed(), repeated

    def _pop_confirmed(self) -> list[FetchTask]:
        complete = [check for check in self._pending_checks if not check.samples]
        self._pending_checks = [check for check in self._pending_checks if check.samples]
        confirmed, self._confirmed_tasks = self._confirmed_tasks, []
        return confirmed + [task for check in complete for task in (*check.claims, *check.confirmed)]

    def clear_mismatch(self, task_id: int) -> None:
        """End the check of a page that had changed in between."""
        if self._mismatched_visits.pop(task_id, None) is not None:
            for check in self._pending_checks:
                check.samples.pop(task_id, None)

    def confirm_mismatch(self, host: Host, task_id: int) -> Visit | None:
        """Distrust a site whose changed page was reported as unchanged twice.

        Returns the direct visit of the page, or None if it was not requested again.
        """
        visit = self._mismatched_visits.pop(task_id, None)
        if visit is None:
            return None
        self._mark_distrusted(host)
        for check in [check for check in self._pending_checks if check.host == host]:
            self._pending_checks.remove(check)
            self._confirmed_tasks += check.confirmed
            self.fetch_directly(host, check.claims)
        detail = f"{self._address.url} reported this changed page as unchanged; the site is fetched directly"
        return replace(visit, reason=Reason.FALSE_UNCHANGED, detail=detail)

    def cancel(self) -> tuple[list[Visit], list[FetchTask]]:
        """Return open direct visits and undecided tasks."""
        samples = {id_: task for check in self._pending_checks for id_, task in check.samples.items()}
        tasks = [
            task for check in self._pending_checks for task in (*check.claims, *check.confirmed)
        ] + self._confirmed_tasks
        tasks += [task for id_, task in samples.items() if id_ not in self._mismatched_visits]
        visits = self._fetch_loop.cancel() if self._fetch_loop is not None else []
        self._pending_checks.clear()
        self._confirmed_tasks.clear()
        self._mismatched_visits.clear()
        self.close()
        return [visit for visit in visits if visit.id not in samples], tasks

    def close(self) -> None:
        if self._fetch_loop is not None:
            self._fetch_loop.close()
            self._fetch_loop = None

    def _mark_distrusted(self, host: Host) -> None:
        self._distrusted_hosts.add(host)
        if self._file is not None:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._file.open("a") as out:
                out.write(f"{self._address.receiver} {host}\n")

    def _load_distrusted(self) -> set[Host]:
        try:
            lines = self._file.read_text().splitlines() if self._file is not None else []
        except (OSError, UnicodeDecodeError):
            return set()
        pairs = (line.split(" ", 1) for line in lines)
        return {Host(pair[1]) for pair in pairs if len(pair) == 2 and pair[0] == self._address.receiver}
