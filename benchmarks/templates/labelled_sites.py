"""The labelled sites: Debian's documentation packages with a page type for every page."""

import json
import os
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from sanderling.fingerprint.structure import decode_features, fingerprint_structure
from sanderling.html.parser import Document, parse_html
from sanderling.templates.template_views import PageView

ROOT = "http://site"


class Site(Struct, frozen=True):
    """A labelled site: its files and the type of every page."""

    name: str
    root: Path
    types: Mapping[str, str]

    def read(self, path: str) -> bytes:
        """The bytes of a page."""
        return (self.root / path).read_bytes()

    def of_type(self) -> dict[str, list[str]]:
        """Pages by type."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for path, kind in sorted(self.types.items()):
            found[kind].append(path)
        return dict(found)


def labelled(data: Path) -> list[Site]:
    """The labelled sites that are unpacked."""
    suites = os.environ.get("SANDERLING_SUITES")
    if not suites:
        raise SystemExit("SANDERLING_SUITES names no folder: the labels are not at hand")
    sites = []
    for file in sorted(Path(suites, "structure-debian", "labels").glob("*.json")):
        label = json.loads(file.read_text())
        root = data / "sites" / label["package"] / label["site_dir"]
        if root.is_dir():
            sites.append(Site(label["package"], root, label["pages"]))
    return sites


def title_of(tree: Document) -> str:
    """The words of a page's title."""
    title = tree.find("title")
    return " ".join(title.text.split()) if title is not None else ""


def looks(site: Site) -> dict[str, PageView]:
    """Every page of a site as the index sees it."""
    found = {}
    for number, path in enumerate(site.types, 1):
        tree = parse_html(site.read(path))
        found[path] = PageView(number, f"{ROOT}/{path}", title_of(tree), decode_features(fingerprint_structure(tree)))
    return found
