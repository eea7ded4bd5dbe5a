"""Bytes and time of crawls over a slow link, direct and through a migrant.

python -m benchmarks.migrant.transfer [--sites a,b] [--data DIR] [--write]

Two network namespaces are joined by a link of 50 ms and 10 Mbit/s, with nginx at the far end. Bytes are counted by the
kernel on the link, including handshakes, acknowledgements and headers. Needs root; without it nothing is measured.
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

import msgspec
from benchmarks.lib.doc_sites import SITES, options_of
from benchmarks.lib.doc_tables import put
from benchmarks.lib.nginx import CONFIG
from benchmarks.lib.slow_link import FAR, Link, is_possible, round_trip, slow_link
from msgspec import Struct

SOURCE = str(Path(__file__).parents[2] / "src")
CHART = Path("docs/images/migration.svg")
DEFAULT = ("junit4-doc", "postgresql-doc-15", "python-django-doc", "sqlite3-doc")
WEB_PORT, MIGRANT_PORT = 8080, 8443
CHANGED_SHARE = 0.05
MAX_RATIO = {"first": 0.5, "revisit": 0.02}  # targets, relative to the first direct crawl
MB = 1_000_000
GZIP = "gzip on; gzip_types text/css text/javascript; gzip_min_length 256; gzip_comp_level 6;"
SITE = f"http://{FAR}:{WEB_PORT}"
MIGRANT = f"{FAR}:{MIGRANT_PORT}"


class Crawl(Struct, frozen=True):
    """A crawl over the link."""

    site: str
    gzip: bool  # the web server compresses
    method: str  # direct or migrant
    visit: str  # first or revisit
    pages: int
    fetched: int
    bytes: int
    seconds: float


def main() -> int:
    """Measure, print, and write the tables into the documentation if requested."""
    options = options_of(__doc__, DEFAULT)
    obstacle = is_possible()
    if obstacle:
        print(f"skipped: {obstacle}")
        return 0
    crawls: list[Crawl] = []
    with slow_link() as link:
        print(f"link: {link.kind}, round trip {round_trip(link) * 1000:.0f} ms")
        for site in options.sites.split(","):
            for gzip in (False, True):
                crawls += measure(link, options.data / site / SITES[site], site, gzip)
    table, targets = build_table(crawls), list_targets(crawls)
    print(table, targets, sep="\n\n")
    if options.write:
        draw_chart(crawls)
        setup = "Round trip 50 ms, 10 Mbit/s each way, two network namespaces; bytes counted by the kernel on the link."
        image = f"![bytes on the link](../{CHART.relative_to('docs')})"
        put("migration", "\n\n".join([setup, table, targets, image]))
    return 0


def measure(link: Link, source: Path, site: str, gzip: bool) -> Iterator[Crawl]:
    """Crawl a site directly and through a migrant, change some pages, and crawl it again."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(source, folder / "www", symlinks=False, ignore_dangling_symlinks=True)
        key = create_keys(folder)
        with serving(link, folder, GZIP if gzip else ""):
            for visit in ("first", "revisit"):
                for method in ("direct", "migrant"):
                    yield run_crawl(link, folder, Crawl(site, gzip, method, visit, 0, 0, 0, 0.0), key)
                change_pages(folder / "www")


def build_command(*arguments: str) -> list[str]:
    """Build a sanderling command that runs from the source tree."""
    return [sys.executable, "-c", "import sys; from sanderling.cli import main; sys.exit(main())", *arguments]


def create_keys(folder: Path) -> Path:
    """Create a key of a crawler that the migrant allows. Returns its file."""
    key = folder / "crawler.key"
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    for command in (
        build_command("migrant", "keygen", str(key)),
        build_command("migrant", "allow", f"{key}.pub", "--senders", str(folder / "senders")),
    ):
        subprocess.run(command, check=True, env=environment, capture_output=True)
    return key


@contextmanager
def serving(link: Link, folder: Path, extra: str) -> Iterator[None]:
    """Run nginx and a migrant at the far end."""
    config = folder / "nginx.conf"
    config.write_text(
        CONFIG.format(address=FAR, folder=folder, port=WEB_PORT, root=folder / "www", user="user root;", extra=extra)
    )
    (folder / "migrant.toml").write_text(
        f'name = "{MIGRANT}"\nlisten = "{MIGRANT}"\n[[site]]\nsite = "{SITE}"\naddress = "{FAR}"\n'
    )
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    nginx = link.inside(link.far, ["nginx", "-p", str(folder), "-c", str(config), "-e", str(folder / "error.log")])
    migrant = link.inside(link.far, build_command("migrant", "run", str(folder / "migrant.toml"), "--quiet"))
    with (
        (folder / "migrant.log").open("w") as log,
        subprocess.Popen(nginx) as nginx_process,
        subprocess.Popen(migrant, env=environment, stderr=log) as migrant_process,
    ):
        try:
            wait_for_servers(link)
            yield
        finally:
            nginx_process.terminate()
            migrant_process.terminate()


def wait_for_servers(link: Link) -> None:
    """Wait until nginx and the migrant accept connections."""
    script = (
        "import socket, sys, time\n"
        f"for port in ({WEB_PORT}, {MIGRANT_PORT}):\n"
        f"    while socket.socket().connect_ex(('{FAR}', port)): time.sleep(0.05)\n"
    )
    subprocess.run(link.inside(link.far, [sys.executable, "-c", script]), check=True, timeout=30)


def run_crawl(link: Link, folder: Path, plan: Crawl, key: Path) -> Crawl:
    """Run a crawl. Returns the plan with its measured values."""
    migrant = ["--migrant", f"http://{MIGRANT}", "--key", str(key)] if plan.method == "migrant" else []
    command = build_command(
        "crawl", f"{SITE}/", "-C", str(folder / f"collection-{plan.method}"), "--json", "--quiet", "--allow-private",
        "--delay", "0", "--workers", "1", "--no-sitemaps", "--no-index", *migrant,
    )  # fmt: skip
    bytes_before, started = link.bytes(), time.monotonic()
    process = subprocess.run(
        link.inside(link.near, command), env={**os.environ, "PYTHONPATH": SOURCE}, capture_output=True, text=True
    )
    seconds, transferred = time.monotonic() - started, link.bytes() - bytes_before
    if process.returncode:
        raise RuntimeError(f"{plan}: {process.stderr[-2000:]}")
    summary = json.loads(process.stdout.strip().splitlines()[-1])
    measured = msgspec.structs.replace(
        plan, pages=summary["pages"], fetched=summary["fetched"], bytes=transferred, seconds=seconds
    )
    print(measured, flush=True)
    return measured


def change_pages(root: Path, share: float = CHANGED_SHARE) -> None:
    """Insert a new paragraph into some of the pages."""
    rng = random.Random(5)
    for page in sorted(root.rglob("*.html")):
        if rng.random() < share:
            text = page.read_bytes()
            cut = max(text.rfind(b"</p>"), 0) + 4
            words = b" ".join(b"%x" % rng.getrandbits(24) for _ in range(40))
            page.write_bytes(text[:cut] + b"<p>" + words + b"</p>" + text[cut:])


def group_crawls(crawls: Sequence[Crawl]) -> list[tuple[Crawl, Crawl, Crawl]]:
    """Return (direct, migrant, first direct) crawls for each site, server and visit."""
    by_key = {(c.site, c.gzip, c.visit, c.method): c for c in crawls}
    keys = dict.fromkeys((c.site, c.gzip, c.visit) for c in crawls)
    return [
        (by_key[*key, "direct"], by_key[*key, "migrant"], by_key[key[0], key[1], "first", "direct"])
        for key in keys
    ]  # fmt: skip


def build_table(crawls: Sequence[Crawl]) -> str:
    """Format crawls as a Markdown table."""
    lines = [
        "| site | pages | gzip | visit | direct | migrant | ratio | of the first direct crawl |"
        " seconds, direct | seconds, migrant |",
        "|---|---:|---|---|---:|---:|---:|---:|---:|---:|",
    ]  # fmt: skip
    for direct, migrant, first in group_crawls(crawls):
        cells = (
            direct.site, f"{direct.pages:,}", "yes" if direct.gzip else "no", direct.visit,
            f"{direct.bytes / MB:.2f} MB", f"{migrant.bytes / MB:.3f} MB",
            f"{migrant.bytes / direct.bytes:.1%}", f"{migrant.bytes / first.bytes:.1%}",
            f"{direct.seconds:.1f}", f"{migrant.seconds:.1f}",
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def list_targets(crawls: Sequence[Crawl]) -> str:
    """List the targets and whether they were met."""
    lines = []
    for direct, migrant, first in group_crawls(crawls):
        ratio, limit = migrant.bytes / first.bytes, MAX_RATIO[migrant.visit]
        server = "gzip" if direct.gzip else "no gzip"
        size = f"{ratio:.1%} of at most {limit:.0%} ({'met' if ratio <= limit else 'NOT met'})"
        speed = "faster" if migrant.seconds < direct.seconds else "SLOWER"
        pages = "" if direct.pages == migrant.pages else f"; {migrant.pages} pages instead of {direct.pages}"
        lines.append(f"- {direct.site}, {server}, {migrant.visit}: {size}, {speed}{pages}")
    return "\n".join(lines)


def draw_chart(crawls: Sequence[Crawl]) -> None:
    """Draw a bar chart of the bytes of direct crawls and crawls through a migrant."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "sanderling"
    from matplotlib import pyplot

    rows = group_crawls(crawls)
    names = [f"{direct.site}, {direct.visit}{', gzip' if direct.gzip else ''}" for direct, _, _ in rows]
    figure, axes = pyplot.subplots(figsize=(10, 0.45 * len(rows) + 1))
    positions = range(len(rows))
    axes.barh(
        [p - 0.2 for p in positions], [direct.bytes / MB for direct, _, _ in rows], 0.4, color="#8d99ae", label="direct"
    )
    bars = axes.barh(
        [p + 0.2 for p in positions],
        [migrant.bytes / MB for _, migrant, _ in rows],
        0.4,
        color="#d1495b",
        label="migrant",
    )
    axes.bar_label(bars, fmt="%.2g", padding=3)
    axes.set_yticks(list(positions), names)
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
