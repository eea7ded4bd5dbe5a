"""Does it pay to send the crawler to the pages? The same sites over a slow link, fetched from afar and through a host.

python -m benchmarks.migrant.transfer [--sites a,b] [--data DIR] [--write]

Two network namespaces, a link of 50 ms and 10 Mbit/s, nginx at the far end. Bytes are those the kernel counted on the
link, everything included: handshakes, acknowledgements, headers. Needs root; without it, it says so and ends.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.lib.doc_sites import SITES, options_of
from benchmarks.lib.doc_tables import put
from benchmarks.lib.nginx import CONFIG
from benchmarks.lib.slow_link import FAR, Link, is_possible, round_trip, slow_link
from msgspec import Struct

SOURCE = str(Path(__file__).parents[2] / "src")
CHART = Path("docs/images/migration.svg")
DEFAULT = ("junit4-doc", "postgresql-doc-15", "python-django-doc", "sqlite3-doc")
WEB, HOST = 8080, 8443
CHANGED = 0.05
MB = 1_000_000
GZIP = "gzip on; gzip_types text/css text/javascript; gzip_min_length 256; gzip_comp_level 6;"
SITE = f"http://{FAR}:{WEB}"


class Crawl(Struct, frozen=True):
    """One crawl over the link."""

    site: str
    gzip: bool  # did the web server compress?
    way: str  # stationary or host
    visit: str  # first or revisit
    pages: int
    fetched: int
    bytes: int
    seconds: float


def main() -> int:
    """Measure, print, and write the report if asked."""
    options = options_of(__doc__, DEFAULT)
    why_not = is_possible()
    if why_not:
        print(f"skipped: {why_not}")
        return 0
    crawls: list[Crawl] = []
    with slow_link() as link:
        print(f"a link by {link.kind}; a round trip takes {round_trip(link) * 1000:.0f} ms")
        for site in options.sites.split(","):
            for gzip in (False, True):
                crawls += measure(link, options.data / site / SITES[site], site, gzip)
    text = table(crawls)
    print(text, targets(crawls), sep="\n\n")
    if options.write:
        draw(crawls)
        how = (
            "Round trip 50 ms, 10 Mbit/s each way, two network namespaces; bytes by the kernel's counters on the link."
        )
        picture = f"![bytes on the link]({CHART.relative_to('docs')})"
        put("migration", "\n\n".join([how, text, targets(crawls), picture]))
    return 0


def measure(link: Link, source: Path, site: str, gzip: bool) -> Iterator[Crawl]:
    """Crawl one site both ways, change some pages, and crawl it both ways again."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(source, folder / "www", symlinks=False, ignore_dangling_symlinks=True)
        key = new_key(folder)
        with serving(link, folder, GZIP if gzip else ""):
            for visit in ("first", "revisit"):
                for way in ("stationary", "host"):
                    yield one(link, folder, Crawl(site, gzip, way, visit, 0, 0, 0, 0.0), key)
                change(folder / "www")


def sanderling(*arguments: str) -> list[str]:
    """Our command, from the source tree."""
    return [sys.executable, "-c", "import sys; from sanderling.cli import main; sys.exit(main())", *arguments]


def new_key(folder: Path) -> Path:
    """A key that the host will know."""
    key = folder / "crawler.key"
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    for command in (
        sanderling("migrant", "keygen", str(key)),
        sanderling("migrant", "allow", f"{key}.pub", "--senders", str(folder / "senders")),
    ):
        subprocess.run(command, check=True, env=environment, capture_output=True)
    return key


@contextmanager
def serving(link: Link, folder: Path, extra: str) -> Iterator[None]:
    """nginx and a host at the far end."""
    config = folder / "nginx.conf"
    config.write_text(
        CONFIG.format(address=FAR, folder=folder, port=WEB, root=folder / "www", user="user root;", extra=extra)
    )
    (folder / "host.toml").write_text(
        f'name = "{FAR}:{HOST}"\nlisten = "{FAR}:{HOST}"\n[[site]]\nsite = "{SITE}"\naddress = "{FAR}"\n'
    )
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    nginx = link.inside(link.far, ["nginx", "-p", str(folder), "-c", str(config), "-e", str(folder / "error.log")])
    host = link.inside(link.far, sanderling("migrant", "run", str(folder / "host.toml"), "--quiet"))
    with (
        (folder / "host.log").open("w") as log,
        subprocess.Popen(nginx) as web,
        subprocess.Popen(host, env=environment, stderr=log) as service,
    ):
        try:
            wait_for(link)
            yield
        finally:
            web.terminate()
            service.terminate()


def wait_for(link: Link) -> None:
    """Wait until both listen."""
    script = (
        "import socket, sys, time\n"
        f"for port in ({WEB}, {HOST}):\n"
        f"    while socket.socket().connect_ex(('{FAR}', port)): time.sleep(0.05)\n"
    )
    subprocess.run(link.inside(link.far, [sys.executable, "-c", script]), check=True, timeout=30)


def one(link: Link, folder: Path, plan: Crawl, key: Path) -> Crawl:
    """Run one crawl and read the counters."""
    more = ["--migrant", f"http://{FAR}:{HOST}", "--key", str(key)] if plan.way == "host" else []
    command = sanderling(
        "crawl", f"{SITE}/", "-C", str(folder / f"collection-{plan.way}"), "--json", "--quiet", "--allow-private",
        "--delay", "0", "--workers", "1", "--no-sitemaps", "--no-index", *more,
    )  # fmt: skip
    before, began = link.bytes(), time.monotonic()
    done = subprocess.run(
        link.inside(link.near, command), env={**os.environ, "PYTHONPATH": SOURCE}, capture_output=True, text=True
    )
    seconds, moved = time.monotonic() - began, link.bytes() - before
    if done.returncode:
        raise RuntimeError(f"{plan}: {done.stderr[-2000:]}")
    summary = json.loads(done.stdout.strip().splitlines()[-1])
    found = Crawl(plan.site, plan.gzip, plan.way, plan.visit, summary["pages"], summary["fetched"], moved, seconds)
    print(found, flush=True)
    return found


def change(root: Path, share: float = CHANGED) -> None:
    """Write a new paragraph into some of the pages."""
    draw = random.Random(5)
    for page in sorted(root.rglob("*.html")):
        if draw.random() < share:
            text = page.read_bytes()
            cut = max(text.rfind(b"</p>"), 0) + 4
            words = b" ".join(b"%x" % draw.getrandbits(24) for _ in range(40))
            page.write_bytes(text[:cut] + b"<p>" + words + b"</p>" + text[cut:])


def pairs(crawls: Sequence[Crawl]) -> list[tuple[Crawl, Crawl, Crawl]]:
    """From afar, through the host, and the first crawl from afar, for each site, server and visit."""
    by_key = {(c.site, c.gzip, c.visit, c.way): c for c in crawls}
    keys = dict.fromkeys((c.site, c.gzip, c.visit) for c in crawls)
    return [
        (by_key[*key, "stationary"], by_key[*key, "host"], by_key[key[0], key[1], "first", "stationary"])
        for key in keys
    ]  # fmt: skip


def table(crawls: Sequence[Crawl]) -> str:
    """A Markdown table."""
    lines = [
        "| site | pages | server gzips | visit | from afar | through the host | ratio | of the first from afar |"
        " seconds from afar | through the host |",
        "|---|---:|---|---|---:|---:|---:|---:|---:|---:|",
    ]  # fmt: skip
    for far, near, first in pairs(crawls):
        cells = (
            far.site, f"{far.pages:,}", "yes" if far.gzip else "no", far.visit, f"{far.bytes / MB:.2f} MB",
            f"{near.bytes / MB:.3f} MB", f"{near.bytes / far.bytes:.1%}", f"{near.bytes / first.bytes:.1%}",
            f"{far.seconds:.1f}", f"{near.seconds:.1f}",
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def targets(crawls: Sequence[Crawl]) -> str:
    """Our aims, and whether each site met them."""
    lines = []
    for far, near, first in pairs(crawls):
        aim = 0.30 if near.visit == "first" else 0.02
        ratio = near.bytes / first.bytes
        server = "a server that gzips" if far.gzip else "a plain server"
        verdict = "met" if ratio <= aim else "NOT met"
        same = "" if far.pages == near.pages else f"; but {near.pages} pages instead of {far.pages}"
        sooner = "met" if near.seconds < far.seconds else "NOT met"
        time = f"{near.seconds:.1f} s against {far.seconds:.1f} s ({sooner})"
        lines.append(
            f"- {far.site}, {server}, {near.visit}: {ratio:.1%} of at most {aim:.0%} ({verdict}), {time}{same}"
        )
    return "\n".join(lines)


def draw(crawls: Sequence[Crawl]) -> None:
    """Bars: bytes from afar and through the host."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "sanderling"
    from matplotlib import pyplot

    rows = pairs(crawls)
    names = [f"{far.site}, {far.visit}{', gzip' if far.gzip else ''}" for far, _, _ in rows]
    figure, axes = pyplot.subplots(figsize=(10, 0.45 * len(rows) + 1))
    places = range(len(rows))
    axes.barh(
        [p - 0.2 for p in places], [far.bytes / MB for far, _, _ in rows], 0.4, color="#8d99ae", label="from afar"
    )
    bars = axes.barh(
        [p + 0.2 for p in places], [near.bytes / MB for _, near, _ in rows], 0.4, color="#d1495b", label="host"
    )
    axes.bar_label(bars, fmt="%.2g", padding=3)
    axes.set_yticks(list(places), names)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_title("MB on the link", fontsize=11)
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    CHART.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(CHART, metadata={"Date": None})


if __name__ == "__main__":
    sys.exit(main())
