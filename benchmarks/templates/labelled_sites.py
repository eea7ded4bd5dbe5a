"""Labelled sites: Debian's documentation packages and built sites, with a page type for every page."""

import json
import os
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from sanderling.fingerprint.structure import fingerprint_structure
from sanderling.html.parser import Document, parse_html
from sanderling.templates.page_features import PageView

ROOT = "http://site"


class Site(Struct, frozen=True):
    """A labelled site: its files and the type of every page."""

    name: str
    root: Path
    types: Mapping[str, str]

    def read(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def group_by_type(self) -> dict[str, list[str]]:
        found: defaultdict[str, list[str]] = defaultdict(list)
        for path, kind in sorted(self.types.items()):
            found[kind].append(path)
        return dict(found)


def load_labelled_sites(data: Path) -> list[Site]:
    """Return the labelled sites whose package is unpacked below `data`/sites."""
    suites = os.environ.get("SANDERLING_SUITES")
    if not suites:
        raise SystemExit("SANDERLING_SUITES is not set: the labels are not available")
    sites = []
    for file in sorted(Path(suites, "structure-debian", "labels").glob("*.json")):
        label = json.loads(file.read_text())
        root = data / "sites" / label["package"] / label["site_dir"]
        if root.is_dir():
            types = {path: kind for path, kind in label["pages"].items() if (root / path).is_file()}
            sites.append(Site(label["package"], root, types))
    return sites


def load_built_sites(data: Path, folder: str = "built") -> list[Site]:
    """Return the sites that `build_sites` or `package_sites` made."""
    labels = [(file, json.loads(file.read_text())) for file in sorted((data / folder).glob("*.json"))]
    return [Site(label["package"], file.with_suffix(""), label["pages"]) for file, label in labels]


def get_title(tree: Document) -> str:
    title = tree.find("title")
    return " ".join(title.text.split()) if title is not None else ""


def load_views(site: Site) -> dict[str, PageView]:
    """Return every page of a site as the index sees it."""
    found = {}
    for number, path in enumerate(sorted(site.types), 1):
        tree = parse_html(site.read(path))
        found[path] = PageView(number, f"{ROOT}/{path}", get_title(tree), fingerprint_structure(tree))
    return found
