"""Compare monitors on several sites: changes found and missed, false alarms, requests, bytes.

Each tool watches the same pages, as its documentation shows, and checks all of them in every round. Tools other than
Sanderling are started from their own virtual environments: those without one are left out. `newspaper` and `theme` are
held out; the causes of false alarms were looked at on the others. Runs are kept in a file, and added up over seeds.

python -m benchmarks.monitor.monitor_comparison [--webchanges VENV] [--urlwatch VENV] [--changedetection VENV]
    [--seeds 1,2,3] [--sites newspaper,theme] [--keep FILE] [--kept] [--write]
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any, Protocol
from urllib.request import Request, urlopen

import msgspec
import turbohtml
from benchmarks.lib.doc_tables import put
from benchmarks.monitor.changing_site import BANNER_ROUND, ROUNDS, ChangingSite
from benchmarks.monitor.forum_site import ForumSite
from benchmarks.monitor.newspaper_site import NewspaperSite
from benchmarks.monitor.theme_site import ThemeSite
from benchmarks.monitor.variant_site import VariantSite
from msgspec import Struct

PAGE = re.compile(r"/page-(\d+)\.html")
START_SECONDS = 120.0
CHECK_SECONDS = 120.0


class Monitor(Protocol):
    """A tool that watches pages."""

    def check(self) -> set[int]:
        """Check all pages. Returns the pages reported as changed."""


class Sanderling:
    """`sanderling watch`, one watch for all pages."""

    def __init__(self, urls: list[str], folder: Path, _venv: Path) -> None:
        self.folder = folder / "collection"
        self._run(*urls, "--name", "site", "--every", "10ms")

    def _run(self, *arguments: str) -> str:
        command = [sys.executable, "-m", "sanderling", "watch", *arguments, "-C", str(self.folder), "--quiet", "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stderr)
        return done.stdout

    def check(self) -> set[int]:
        """Run the service once; a change that pages share names them all."""
        found: set[int] = set()
        for line in self._run("--once", "--allow-private", "--delay", "0", "--backoff", "0.01").splitlines():
            event = json.loads(line)
            found |= {int(PAGE.search(url)[1]) for url in [event["url"], *event.get("urls", [])]}  # type: ignore[index]
        return found


class TextDiff:
    """Fetch every page and compare its text."""

    def __init__(self, urls: list[str], _folder: Path, _venv: Path) -> None:
        self.urls = urls
        self.texts: dict[str, str] = {}

    def check(self) -> set[int]:
        """Return the pages whose text differs. Error pages are ignored."""
        found = set()
        for number, url in enumerate(self.urls):
            with suppress(OSError), urlopen(url) as response:
                text = turbohtml.parse(response.read().decode()).to_text()
                if self.texts.setdefault(url, text) != text:
                    found.add(number)
                self.texts[url] = text
        return found


class JobRunner:
    """webchanges and urlwatch: a list of jobs with the filter html2text, run once per round."""

    command, filter_key = "webchanges", "filters"

    def __init__(self, urls: list[str], folder: Path, venv: Path) -> None:
        jobs = "---\n".join(f"name: job {url}\nurl: {url}\n{self.filter_key}:\n  - html2text\n" for url in urls)
        (folder / "jobs.yaml").write_text(jobs)
        (folder / "hooks.py").write_text("")
        self.folder, self.program = folder, venv / "bin" / self.command

    def list_arguments(self) -> list[str]:
        """Return the files of this tool as arguments."""
        return ["--jobs", "jobs.yaml", "--config", "config.yaml", "--hooks", "hooks.py", "--database", "state.db"]

    def check(self) -> set[int]:
        """Run all jobs, and read the report."""
        environment = {**os.environ, "HOME": str(self.folder), "PYTHONWARNINGS": "ignore"}
        command = [str(self.program), *self.list_arguments()]
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
        (self.folder / "last.txt").write_text(done.stdout + done.stderr)
        found = re.findall(r"CHANGED:.*?/page-(\d+)\.html", done.stdout)
        return set(map(int, found))


class Urlwatch(JobRunner):
    """urlwatch."""

    command, filter_key = "urlwatch", "filter"

    def list_arguments(self) -> list[str]:
        """Return the files of this tool as arguments."""
        return ["--urls", "jobs.yaml", "--config", "config.yaml", "--hooks", "hooks.py", "--cache", "state.db"]


class Changedetection:
    """changedetection.io: its server, with watches added and checked through its API."""

    def __init__(self, urls: list[str], folder: Path, venv: Path) -> None:
        port = 15_000 + os.getpid() % 1000
        self.base = f"http://127.0.0.1:{port}/api/v1"
        data = folder / "datastore"
        data.mkdir()
        environment = {**os.environ, "ALLOW_IANA_RESTRICTED_ADDRESSES": "true", "MINIMUM_SECONDS_RECHECK_TIME": "0"}
        command = [str(venv / "bin" / "changedetection.io"), "-d", str(data), "-p", str(port), "-h", "127.0.0.1"]
        with (folder / "server.log").open("w") as log:
            self.server = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        self.key = _wait(lambda: _read_api_key(data), START_SECONDS)
        _wait(lambda: self._call("GET", "/systeminfo") is not None, START_SECONDS)
        for url in self._call("GET", "/watch") or {}:
            self._call("DELETE", f"/watch/{url}")
        self.ids = {self._call("POST", "/watch", {"url": url})["uuid"]: number for number, url in enumerate(urls)}

    def _call(self, method: str, path: str, body: object = None) -> Any:
        data = json.dumps(body).encode() if body is not None else None
        headers = {"x-api-key": self.key, "Content-Type": "application/json"}
        with suppress(OSError), urlopen(Request(self.base + path, data, headers, method=method), timeout=20) as answer:
            text = answer.read()
            try:
                return json.loads(text)
            except ValueError:
                return text.decode()
        return None

    def check(self) -> set[int]:
        """Check all pages, and wait until that is done."""
        before = self._call("GET", "/watch")
        started = int(time.time())
        time.sleep(1.1)
        self._call("GET", "/watch?recheck_all=1")

        def is_done() -> bool:
            now = self._call("GET", "/watch") or {}
            return len(now) == len(self.ids) and all(one["last_checked"] > started for one in now.values())

        _wait(is_done, CHECK_SECONDS)
        after = self._call("GET", "/watch")
        return {
            number for id_, number in self.ids.items()
            if id_ in before and after[id_]["last_changed"] != before[id_]["last_changed"]
        }  # fmt: skip

    def close(self) -> None:
        """End the server."""
        self.server.terminate()
        self.server.wait()


def _read_api_key(data: Path) -> str:
    for file in data.glob("*.json"):
        with suppress(ValueError, OSError, KeyError, TypeError):
            return str(json.loads(file.read_text())["settings"]["application"]["api_access_token"])
    return ""


def _wait(condition: Callable[[], Any], seconds: float) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise SystemExit("a tool did not answer in time")
        time.sleep(0.3)
    return found


class Score(Struct):
    """Result of a tool."""

    found: int = 0
    missed: int = 0
    false: int = 0
    banner: int = 0  # pages reported for the banner
    requests: int = 0
    bytes: int = 0
    seconds: float = 0.0


TOOLS: dict[str, Callable[[list[str], Path, Path], Monitor]] = {
    "sanderling": Sanderling,
    "text diff": TextDiff,
    "webchanges": JobRunner,
    "urlwatch": Urlwatch,
    "changedetection": Changedetection,
}


SITES: dict[str, type[ChangingSite]] = {  # the first two are held out
    "newspaper": NewspaperSite,
    "theme": ThemeSite,
    "variants": VariantSite,
    "forum": ForumSite,
    "shop": ChangingSite,
}
CHART = Path("docs/images/monitors.svg")


def run_tool(name: str, venv: Path, build_site: type[ChangingSite], seed: int) -> Score:
    """Let a tool watch a site for all rounds."""
    score, started = Score(), time.monotonic()
    with build_site(seed) as site, tempfile.TemporaryDirectory() as folder:
        tool = TOOLS[name](site.urls, Path(folder), venv)
        try:
            tool.check()
            for number in range(1, ROUNDS + 1):
                changed, reported = site.advance(), tool.check()
                if number == BANNER_ROUND:
                    score.banner = len(reported)
                    continue
                score.found += len(reported & changed)
                score.missed += len(changed - reported)
                score.false += len(reported - changed)
        finally:
            if isinstance(tool, Changedetection):
                tool.close()
        score.requests, score.bytes = site.requests.total(), site.bytes
    score.seconds = time.monotonic() - started
    return score


def add_scores(scores: Sequence[Score]) -> Score:
    """Add up the runs of several seeds."""
    return Score(*(sum(getattr(score, field) for score in scores) for field in Score.__struct_fields__))


def format_table(runs: Mapping[str, Score]) -> str:
    """Format a row for each site and tool."""
    lines = [
        "| site | tool | seeds | changes found | missed | false alarms | pages with the banner | requests | MB |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for site, name in dict.fromkeys(tuple(key.split(" / ")[:2]) for key in runs):
        found = [score for key, score in runs.items() if key.startswith(f"{site} / {name} / ")]
        s = add_scores(found)
        lines.append(
            f"| {site} | {name} | {len(found)} | {s.found} | {s.missed} | {s.false} | {s.banner} | {s.requests:,} |"
            f" {s.bytes / 1e6:.2f} |"
        )
    return "\n".join(lines)


def draw(runs: Mapping[str, Score]) -> None:
    """Draw the false alarms per true change."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "sanderling"
    from matplotlib import pyplot

    pairs = list(dict.fromkeys(tuple(key.split(" / ")[:2]) for key in runs))
    values = []
    for site, name in pairs:
        total = add_scores([score for key, score in runs.items() if key.startswith(f"{site} / {name} / ")])
        values.append(total.false / max(total.found, 1))
    colors = ["#d1495b" if name == "sanderling" else "#8d99ae" for _, name in pairs]
    figure, axes = pyplot.subplots(figsize=(7, 0.4 * len(pairs) + 0.9))
    axes.barh([f"{name}, {site} site" for site, name in pairs], values, color=colors)
    for place, value in enumerate(values):
        axes.text(value, place, f" {value:.1f}", va="center", fontsize=9)
    axes.invert_yaxis()
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("false alarms per true change")
    figure.tight_layout()
    figure.savefig(CHART, metadata={"Date": None})


def main() -> None:
    """Run all tools, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("webchanges", "urlwatch", "changedetection"):
        parser.add_argument(f"--{name}", type=Path, metavar="VENV")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--sites", default=",".join(SITES))
    parser.add_argument("--tools", default=",".join(TOOLS))
    parser.add_argument("--keep", type=Path, help="file of finished runs, to resume from")
    parser.add_argument("--kept", action="store_true", help="run nothing: show the runs of that file")
    parser.add_argument("--write", action="store_true", help="write docs/measurements/benchmarks.md and its chart")
    options = parser.parse_args()
    has_kept = options.keep and options.keep.exists()
    runs = msgspec.json.decode(options.keep.read_bytes(), type=dict[str, Score]) if has_kept else {}
    for site, seed, name in product(options.sites.split(","), options.seeds.split(","), options.tools.split(",")):
        venv, key = getattr(options, name, None), f"{site} / {name} / {seed}"
        if options.kept or key in runs or (venv is None and name not in ("sanderling", "text diff")):
            continue
        runs[key] = run_tool(name, venv or Path(), SITES[site], int(seed))
        print(key, runs[key], file=sys.stderr, flush=True)
        if options.keep:
            options.keep.write_bytes(msgspec.json.encode(runs))
    runs = dict(sorted(runs.items(), key=lambda item: ([*SITES].index(item[0].split(" / ")[0]), item[1].false)))
    text = format_table(runs)
    print(text)
    if options.write:
        draw(runs)
        put("monitors", text)


if __name__ == "__main__":
    main()
