"""Real web sites to crawl: documentation packages of Debian below a common start page."""

import argparse
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

SITES = {
    "postgresql-doc-15": "usr/share/doc/postgresql-doc-15/html",
    "python-django-doc": "usr/share/doc/python-django-doc/html",
    "sqlite3-doc": "usr/share/doc/sqlite3",
    "libstdc++-12-doc": "usr/share/doc/gcc-12-base/libstdc++",
    "openjdk-17-doc": "usr/share/doc/openjdk-17-jre-headless",
    "junit4-doc": "usr/share/doc/junit4/api",
}
DEFAULT = ("postgresql-doc-15", "python-django-doc", "sqlite3-doc", "libstdc++-12-doc")


def options_of(about: str | None, sites: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--sites", default=",".join(sites))
    parser.add_argument("--data", type=Path, default=Path(".bench"), help="folder with unpacked Debian packages")
    parser.add_argument("--write", action="store_true")
    return parser.parse_args()


class Web(Struct, frozen=True):
    root: Path
    names: tuple[str, ...]


def build(folder: Path, names: tuple[str, ...]) -> Web:
    """Download missing packages and link the sites below a root."""
    root = folder / "www" / "+".join(names)
    if not (root / "index.html").exists():
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(parents=True)
        for name in names:
            (root / name).symlink_to(unpacked(folder / "sites", name) / SITES[name])
        links = "".join(f'<li><a href="{name}/index.html">{name}</a></li>' for name in names)
        (root / "index.html").write_text(f"<!doctype html><title>Documentation</title><ul>{links}</ul>")
    return Web(root, names)


def unpacked(folder: Path, name: str) -> Path:
    """The files of a package, without installing it."""
    target = (folder / name).absolute()
    if not target.exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "download", name], cwd=folder, check=True)
        [package] = folder.glob(f"{name}_*.deb")
        subprocess.run(["dpkg-deb", "-x", str(package), str(target)], check=True)
    return target
