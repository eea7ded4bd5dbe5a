"""Measure the watch service with many watches: time from a visit to its alert, memory, disk, and processes.

The service is a process of its own and watches pages of 100 loopback hosts; a page changes after twenty intervals, and
a webhook receives the alerts until the service is stopped. A change that was fetched a minute before the stop, or
earlier, and has no alert is missing. With `--speed`, libfaketime makes the clock of the service run faster: 1440 is a
day per minute.

python -m benchmarks.monitor.watch_scale [--watches 10000] [--every 600] [--minutes 12] [--speed 1] [--write]
"""

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from datetime import datetime
from pathlib import Path
from statistics import median

from benchmarks.lib.doc_tables import written

from sanderling.monitor.watch import Watch
from sanderling.monitor.watch_store import WatchStore

HOSTS = 100
VISITS_PER_CHANGE = 20
SAMPLES = 8
WORDS = "harbor river lantern market winter garden bridge copper signal meadow timber window island report".split()  # noqa: SIM905


def get_host_address(number: int) -> str:
    return f"127.0.1.{1 + number % HOSTS}"


class LoopbackSite:
    """Pages on the addresses of `HOSTS` hosts, and a webhook on 127.0.0.1; answers from a thread."""

    def __init__(self, seconds_per_change: float) -> None:
        self.seconds_per_change = seconds_per_change
        self.started_at = time.time()
        self.stopped_at = 0.0  # later alerts are not counted
        self.versions: dict[int, int] = {}
        self.alerted: Counter[int] = Counter()
        self.changed_at: list[tuple[float, int]] = []
        self.hits: Counter[str] = Counter()
        self.alerts: list[tuple[float, str]] = []  # time of arrival, time of the visit
        self.port = 0
        self.ready = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True).start()
        self.ready.wait()

    async def _serve(self) -> None:
        first = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        self.port = first.sockets[0].getsockname()[1]
        others = [await asyncio.start_server(self._answer, get_host_address(n), self.port) for n in range(HOSTS)]
        self.ready.set()
        await asyncio.gather(*(server.serve_forever() for server in (first, *others)))

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := (await reader.readuntil(b"\r\n\r\n")).decode("latin-1"):
                body = await self._respond(head, reader)
                status = "200 OK" if body else "404 Not Found"
                head = f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
                writer.write(head.encode() + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _respond(self, head: str, reader: asyncio.StreamReader) -> bytes:
        method, path = head.split(" ", 2)[:2]
        if method == "POST":
            fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
            payload = json.loads(await reader.readexactly(int(fields["content-length"])))
            if not self.stopped_at:
                self.alerts += [(time.time(), change["seen_at"]) for change in payload["changes"]]
                self.alerted.update(int(change["url"].rpartition("/p")[2]) for change in payload["changes"])
            return b"ok"
        if not path.startswith("/p"):
            return b""
        number = int(path[2:])
        self.hits[path] += 1
        phase = number % VISITS_PER_CHANGE / VISITS_PER_CHANGE
        version = int((time.time() - self.started_at) / self.seconds_per_change + phase)
        if self.versions.setdefault(number, version) != version:
            self.changed_at.append((time.time(), number))
        self.versions[number] = version
        text = " ".join(WORDS[(number * k + version * k * k) % len(WORDS)] for k in range(1, 60))
        return f"<!doctype html><title>Page {number}</title><main><h1>Page {number}</h1><p>{text}</p></main>".encode()

    def count_missing(self) -> int:
        """Count the changes that were fetched a minute before the stop or earlier and have no alert."""
        wanted = Counter(number for at, number in self.changed_at if at < self.stopped_at - 60)
        return sum((wanted - self.alerted).values())


def add_watches(folder: Path, site: LoopbackSite, count: int, every: float) -> None:
    """Add a watch for each page."""
    store = WatchStore(folder)
    store.db.execute("BEGIN")
    for number in range(count):
        url = f"http://{get_host_address(number)}:{site.port}/p{number}"
        watch = Watch(
            name=url, urls=(url,), every=every, notify=(f"http://127.0.0.1:{site.port}/hook",), added_at=time.time()
        )
        store.db.execute("INSERT INTO watches (name, definition) VALUES (?, ?)", (url, json.dumps(_encode(watch))))
    store.db.execute("COMMIT")
    store.close()


def _encode(watch: Watch) -> dict[str, object]:
    return {"name": watch.name, "urls": watch.urls, "every": watch.every, "notify": watch.notify, "added_at": 1.0}


def measure_processes(root: int) -> tuple[int, int]:
    """Return the number of processes of the service, and their resident bytes."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found, size = {root}, -1
    while size != len(found):
        size = len(found)
        found |= {pid for pid, parent in parents.items() if parent in found}
    resident = 0
    for pid in found:
        try:
            resident += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096
        except OSError:
            continue
    return len(found), resident


def measure_disk(folder: Path) -> int:
    """Return the bytes of all files."""
    return sum(file.stat().st_blocks * 512 for file in folder.rglob("*") if file.is_file())


def main() -> None:
    """Run the service, and print samples and delays."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--watches", type=int, default=10_000)
    parser.add_argument("--every", type=float, default=600.0, help="seconds between checks of a page")
    parser.add_argument("--minutes", type=float, default=12.0, help="duration, by the clock on the wall")
    parser.add_argument("--speed", type=int, default=1, help="of the clock of the service")
    parser.add_argument("--write", action="store_true", help="write docs/measurements/benchmarks.md")
    options = parser.parse_args()
    folder, site = Path(tempfile.mkdtemp()) / "c", LoopbackSite(VISITS_PER_CHANGE * options.every / options.speed)
    add_watches(folder, site, options.watches, options.every)
    command = [sys.executable, "-m", "sanderling", "watch", "-C", str(folder), "--allow-private", "--delay", "0"]
    if options.speed > 1:
        command = ["faketime", "-f", f"+0 x{options.speed}", *command]
    environment = {**os.environ, "DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    with (folder.parent / "output").open("w") as output:
        service = subprocess.Popen([*command, "--quiet"], stdout=output, stderr=output, env=environment)
    lines = ["| time of the service, hours | visits | alerts | processes | memory, MB | disk, MB |", "|" + "---:|" * 6]
    started = time.monotonic()
    try:
        for sample in range(1, SAMPLES + 1):
            time.sleep(max(started + 60 * options.minutes * sample / SAMPLES - time.monotonic(), 0))
            processes, resident = measure_processes(service.pid)
            hours = (time.monotonic() - started) * options.speed / 3600
            lines.append(
                f"| {hours:.1f} | {site.hits.total():,} | {len(site.alerts):,} | {processes} | {resident / 1e6:.0f} |"
                f" {measure_disk(folder) / 1e6:.0f} |"
            )
            print(lines[-1], file=sys.stderr, flush=True)
    finally:
        site.stopped_at = time.time()
        service.terminate()
        service.wait(60)
    if options.speed == 1:
        delays = sorted(arrival - datetime.fromisoformat(seen).timestamp() for arrival, seen in site.alerts) or [0.0]
        lines += ["", (
            f"From a visit to its alert: median {median(delays):.1f} s, 99 % {delays[len(delays) * 99 // 100]:.1f} s,"
            f" longest {delays[-1]:.1f} s (aim 60). {site.count_missing()} of {len(site.changed_at)} changes without an"
            " alert."
        )]  # fmt: skip
    title = f"{options.watches:,} watches, checked every {options.every:g} s, load average {os.getloadavg()[1]:.0f}."
    with written("watch scale" if options.speed == 1 else "watch month", options.write):
        print("\n".join([title, "", *lines]))
    shutil.rmtree(folder.parent)


if __name__ == "__main__":
    main()
