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

from sanderling.fetch.fetch_loop import Trip
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.process import Marks
from sanderling.models import Host, Itinerary, Outcome, Reason, Stop, Visit
from sanderling.workers.migrant.address import Address

FILE = "distrusted"  # in the folder of what we remember of hosts; delete a line to trust again
SHORT = 4096  # bytes of a packed page; those below are alike
TELLING = (Outcome.FETCHED, Outcome.GONE, Outcome.REDIRECT)


def drawn(claims: Sequence[Stop], count: int, draw: Random) -> list[Stop]:
    """Draw pages by lot, each by as much less likely as it is longer than a short one."""
    return nsmallest(
        count, claims, key=lambda stop: draw.expovariate(1.0) * max(SHORT, stop.last.length if stop.last else 0)
    )


class Doubt(Struct):
    """Pages of one letter that are said to be unchanged; they wait until the samples among them are back."""

    host: Host
    claims: list[Stop]
    samples: dict[int, Stop]
    proven: list[Stop] = []  # samples that are as the host says


class Checks:
    """Fetches samples by itself, and everything of a site whose host lied."""

    def __init__(self, address: Address, settings: FetchSettings, marks: Marks, draw: Random | None = None) -> None:
        self._address, self._settings, self._marks = address, settings, marks
        self._draw = draw or Random()
        self._trip: Trip | None = None
        self._known: dict[Host, Itinerary] = {}  # addresses, rules and pace of each site
        self._doubts: list[Doubt] = []
        self._proven: list[Stop] = []  # what was true of what a liar said
        self._trials: dict[int, Visit] = {}  # what we saw of pages that the host is asked about again
        self._file = Path(address.memory) / FILE if address.memory else None
        self._liars = self._read()

    def meet(self, itinerary: Itinerary) -> None:
        """Learn how a site is to be asked."""
        self._known[itinerary.host] = replace(itinerary, stops=())

    def distrusts(self, host: Host) -> bool:
        """Has this host lied about this site?"""
        return host in self._liars

    def fetch(self, host: Host, stops: Iterable[Stop]) -> None:
        """Fetch pages from here, with the pauses and rules of the site."""
        if self._trip is None:
            self._trip = Trip(self._settings, self._marks)
        wanted = tuple(stops)
        if wanted:
            self._trip.accept(replace(self._known[host], stops=wanted))

    def doubt(self, host: Host, claims: Sequence[Stop]) -> list[Stop]:
        """Keep claims until their samples are back; those that need no check are believed at once."""
        if self.distrusts(host):
            self.fetch(host, claims)
            return []
        if not claims or not self._address.check:
            return list(claims)
        count = max(1, len(claims) // self._address.check)
        samples = {stop.id: stop for stop in drawn(claims, count, self._draw)}
        self._doubts.append(Doubt(host, [stop for stop in claims if stop.id not in samples], samples))
        self.fetch(host, [replace(stop, etag="", last_modified="") for stop in samples.values()])
        return []

    def work(self) -> tuple[list[Visit], list[Stop], list[tuple[Host, Stop]]]:
        """Visits to hand over, claims that are believed now, and pages to ask the host about once more."""
        visits, again = list[Visit](), list[tuple[Host, Stop]]()
        for visit in self._trip.work(0.0).visits if self._trip is not None and self._trip.load else ():
            doubt = next((doubt for doubt in self._doubts if visit.id in doubt.samples), None)
            if doubt is None:
                visits.append(visit)
            elif visit.outcome in TELLING and visit.digest != doubt.samples[visit.id].digest:
                self._trials[visit.id] = visit
                again.append((doubt.host, doubt.samples[visit.id]))
            else:
                doubt.proven.append(doubt.samples.pop(visit.id))
        return visits, self._believed(), again

    def _believed(self) -> list[Stop]:
        over = [doubt for doubt in self._doubts if not doubt.samples]
        self._doubts = [doubt for doubt in self._doubts if doubt.samples]
        proven, self._proven = self._proven, []
        return proven + [stop for doubt in over for stop in (*doubt.claims, *doubt.proven)]

    def acquit(self, stop: int) -> None:
        """The host was asked again and brought something new: the page had changed in between."""
        if self._trials.pop(stop, None) is not None:
            for doubt in self._doubts:
                doubt.samples.pop(stop, None)

    def convict(self, host: Host, stop: int) -> Visit | None:
        """The host was asked again and lied again; None if this page is on no trial.

        Its claims are fetched from here. Samples are under way already, or on trial, and come home by themselves.
        """
        seen = self._trials.pop(stop, None)
        if seen is None:
            return None
        self._distrust(host)
        for doubt in [doubt for doubt in self._doubts if doubt.host == host]:
            self._doubts.remove(doubt)
            self._proven += doubt.proven
            self.fetch(host, doubt.claims)
        return replace(
            seen, reason=Reason.HOST_LIED, note=f"{self._address.url} called it unchanged; it is not believed"
        )

    def abandon(self) -> tuple[list[Visit], list[Stop]]:
        """Give back what is being fetched from here, and what is not decided; what is on trial is in a letter."""
        samples = {id_: stop for doubt in self._doubts for id_, stop in doubt.samples.items()}
        stops = [stop for doubt in self._doubts for stop in (*doubt.claims, *doubt.proven)] + self._proven
        stops += [stop for id_, stop in samples.items() if id_ not in self._trials]
        visits = self._trip.abandon() if self._trip is not None else []
        self._doubts.clear()
        self._proven.clear()
        self._trials.clear()
        self.close()
        return [visit for visit in visits if visit.id not in samples], stops

    def close(self) -> None:
        """Close the connections."""
        if self._trip is not None:
            self._trip.close()
            self._trip = None

    def _distrust(self, host: Host) -> None:
        self._liars.add(host)
        if self._file is not None:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._file.open("a") as out:
                out.write(f"{self._address.receiver} {host}\n")

    def _read(self) -> set[Host]:
        try:
            lines = self._file.read_text().splitlines() if self._file is not None else []
        except (OSError, UnicodeDecodeError):
            return set()
        pairs = (line.split(" ", 1) for line in lines)
        return {Host(pair[1]) for pair in pairs if len(pair) == 2 and pair[0] == self._address.receiver}
