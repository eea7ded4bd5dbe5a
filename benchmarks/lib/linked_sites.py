"""Documentation sites served on loopback, each by its own host; links between them work."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.lib.doc_sites import SITES, unpacked
from benchmarks.lib.link_graphs import HOMES
from benchmarks.lib.nginx import free_port, serve
from msgspec import Struct

FIRST = 21  # 127.0.0.21 and so on
SERVER = """
  server {{ listen {address}:{port} backlog=2048; root {root}; index index.html; sub_filter_once off;
    location {path} {{ alias {files}/; {filters} }}
    location = {path}index.html {{ alias {files}/index.html; {filters} }}
    location = /sitemap.xml {{ alias {root}/{name}.xml; }} }}
"""


class Served(Struct, frozen=True):
    """Where a crawl begins, and the hosts it may visit."""

    seed: str
    hosts: tuple[str, ...]
    homes: dict[str, str] = {}  # the host of each site
    maps: str = ""  # a folder for sitemaps, one NAME.xml for each site

    @property
    def include(self) -> str:
        """The same as a regular expression."""
        return "^(" + "|".join(map(re.escape, self.hosts)) + ")"


@contextmanager
def served(data: Path, names: Sequence[str], folder: Path) -> Iterator[Served]:
    """Serve these sites until the block ends; several get a page that links to all of them."""
    port = free_port()
    homes = {name: f"http://127.0.0.{FIRST + n}:{port}{path_of(name)}" for n, name in enumerate(names)}
    root = folder / "hub"
    root.mkdir(parents=True, exist_ok=True)
    links = "".join(f'<li><a href="{home}index.html">{name}</a></li>' for name, home in homes.items())
    (root / "index.html").write_text(f"<!doctype html><title>Documentation</title><ul>{links}</ul>")
    with serve(
        root, folder / "nginx", "".join(_server(data, name, home, homes, root) for name, home in homes.items())
    ) as hub:
        hosts = [home.removesuffix(path_of(name)) for name, home in homes.items()]
        by_name = dict(zip(homes, hosts, strict=True))
        if len(names) == 1:
            yield Served(homes[names[0]] + "index.html", tuple(hosts), by_name, str(root / "maps"))
        else:
            yield Served(hub.url, (hub.url.rstrip("/"), *hosts), by_name, str(root / "maps"))


def path_of(name: str) -> str:
    return "/" + HOMES[name][0].split("/", 3)[3]


def _server(data: Path, name: str, home: str, homes: dict[str, str], root: Path) -> str:
    files = unpacked(data / "sites", name) / SITES[name]
    host = home.removesuffix(path_of(name)).removeprefix("http://")
    address, port = host.split(":")
    rules = [f"sub_filter '{alias}' '{target}';" for other, target in homes.items() for alias in HOMES[other]]
    return SERVER.format(
        address=address, port=port, root=root / "maps", name=name, path=path_of(name), files=files.resolve(),
        filters=" ".join(rules),
    )  # fmt: skip
