"""Whether a host tells the truth: some of the pages it calls unchanged are fetched from here and compared.

Any page may be drawn; a long one more seldom, for the link is what a host is to spare. A page that looks different is
asked for once more: it may have changed in between. A host that calls it unchanged again has lied. From then on its
word counts for nothing: the pages of the site are fetched from here, now and in later runs.
"""

from collections.abc import Iterable, Sequence
from heapq import nsmallest
from pathlib import Path
from random import Random

from msgspec import Struct
from msgspec.structs import replace

from sanderling.fetch.fetch_loop import FetchLoop
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.process import Fingerprinter
from sanderling.models import FetchBatch, FetchTask, Host, Outcome, Reason, Visit
from sanderling.workers.migrant.address import MigrantAddress

DISTRUSTED_FILE = "distrusted"  # in the folder of what we remember of hosts; delete a line to trust again
MIN_WEIGHT_BYTES = 4096  # bytes of a packed page; those below are alike
CONCLUSIVE_OUTCOMES = (Outcome.FETCHED, Outcome.GONE, Outcome.REDIRECT)


def draw_samples(claims: Sequence[FetchTask], count: int, rng: Random) -> list[FetchTask]:
    """Draw pages by lot, each by as much less likely as it is longer than a short one."""
    return nsmallest(
        count,
        claims,
        key=lambda stop: (
            rng.expovariate(1.0) * max(MIN_WEIGHT_BYTES, stop.last_version.length if stop.last_version else 0)
        ),
    )


class PendingCheck(Struct):
    """Pages of one letter that are said to be unchanged; they wait until the samples among them are back."""

    host: Host
    claims: list[FetchTask]
    samples: dict[int, FetchTask]
    confirmed: list[FetchTask] = []  # samples that are as the host says


class SpotChecks:
    """Fetches samples by itself, and everything of a site whose host lied."""

    def __init__(
        self, address: MigrantAddress, settings: FetchSettings, fingerprinter: Fingerprinter, rng: Random | None = None
    ) -> None:
        self._address, self._settings, self._fingerprinter = address, settings, fingerprinter
        self._rng = rng or Random()
        self._fetch_loop: FetchLoop | None = None
        self._batch_by_host: dict[Host, FetchBatch] = {}  # addresses, rules and pace of each site
        self._pending_checks: list[PendingCheck] = []
        self._confirmed_tasks: list[FetchTask] = []  # what was true of what a liar said
        self._mismatched_visits: dict[int, Visit] = {}  # what we saw of pages that the host is asked about again
        self._file = Path(address.dictionary_folder) / DISTRUSTED_FILE if address.dictionary_folder else None
        self._distrusted_hosts = self._load_distrusted()

    def add_site(self, batch: FetchBatch) -> None:
        """Learn how a site is to be asked."""
        self._batch_by_host[batch.host] = replace(batch, tasks=())

    def is_distrusted(self, host: Host) -> bool:
        """Has this host lied about this site?"""
        return host in self._distrusted_hosts

    def fetch_directly(self, host: Host, tasks: Iterable[FetchTask]) -> None:
        """Fetch pages from here, with the pauses and rules of the site."""
        if self._fetch_loop is None:
            self._fetch_loop = FetchLoop(self._settings, self._fingerprinter)
        wanted = tuple(tasks)
        if wanted:
            self._fetch_loop.submit(replace(self._batch_by_host[host], tasks=wanted))

    def hold_claims(self, host: Host, claims: Sequence[FetchTask]) -> list[FetchTask]:
        """Keep claims until their samples are back; those that need no check are believed at once."""
        if self.is_distrusted(host):
            self.fetch_directly(host, claims)
            return []
        if not claims or not self._address.check_interval:
            return list(claims)
        count = max(1, len(claims) // self._address.check_interval)
        samples = {stop.id: stop for stop in draw_samples(claims, count, self._rng)}
        self._pending_checks.append(PendingCheck(host, [stop for stop in claims if stop.id not in samples], samples))
        self.fetch_directly(host, [replace(stop, etag="", last_modified="") for stop in samples.values()])
        return []

    def collect_results(self) -> tuple[list[Visit], list[FetchTask], list[tuple[Host, FetchTask]]]:
        """Visits to hand over, claims that are believed now, and pages to ask the host about once more."""
        visits, again = list[Visit](), list[tuple[Host, FetchTask]]()
        for visit in (
            self._fetch_loop.run_for(0.0).visits if self._fetch_loop is not None and self._fetch_loop.load else ()
        ):
            doubt = next((doubt for doubt in self._pending_checks if visit.id in doubt.samples), None)
            if doubt is None:
                visits.append(visit)
            elif visit.outcome in CONCLUSIVE_OUTCOMES and visit.digest != doubt.samples[visit.id].digest:
                self._mismatched_visits[visit.id] = visit
                again.append((doubt.host, doubt.samples[visit.id]))
            else:
                doubt.confirmed.append(doubt.samples.pop(visit.id))
        return visits, self._pop_confirmed(), again

    def _pop_confirmed(self) -> list[FetchTask]:
        over = [doubt for doubt in self._pending_checks if not doubt.samples]
        self._pending_checks = [doubt for doubt in self._pending_checks if doubt.samples]
        proven, self._confirmed_tasks = self._confirmed_tasks, []
        return proven + [stop for doubt in over for stop in (*doubt.claims, *doubt.confirmed)]

    def clear_mismatch(self, task_id: int) -> None:
        """The host was asked again and brought something new: the page had changed in between."""
        if self._mismatched_visits.pop(task_id, None) is not None:
            for doubt in self._pending_checks:
                doubt.samples.pop(task_id, None)

    def confirm_mismatch(self, host: Host, task_id: int) -> Visit | None:
        """The host was asked again and lied again; None if this page is on no trial.

        Its claims are fetched from here. Samples are under way already, or on trial, and come home by themselves.
        """
        seen = self._mismatched_visits.pop(task_id, None)
        if seen is None:
            return None
        self._mark_distrusted(host)
        for doubt in [doubt for doubt in self._pending_checks if doubt.host == host]:
            self._pending_checks.remove(doubt)
            self._confirmed_tasks += doubt.confirmed
            self.fetch_directly(host, doubt.claims)
        return replace(
            seen, reason=Reason.FALSE_UNCHANGED, detail=f"{self._address.url} called it unchanged; it is not believed"
        )

    def cancel(self) -> tuple[list[Visit], list[FetchTask]]:
        """Give back what is being fetched from here, and what is not decided; what is on trial is in a letter."""
        samples = {id_: stop for doubt in self._pending_checks for id_, stop in doubt.samples.items()}
        stops = [
            stop for doubt in self._pending_checks for stop in (*doubt.claims, *doubt.confirmed)
        ] + self._confirmed_tasks
        stops += [stop for id_, stop in samples.items() if id_ not in self._mismatched_visits]
        visits = self._fetch_loop.cancel() if self._fetch_loop is not None else []
        self._pending_checks.clear()
        self._confirmed_tasks.clear()
        self._mismatched_visits.clear()
        self.close()
        return [visit for visit in visits if visit.id not in samples], stops

    def close(self) -> None:
        """Close the connections."""
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
