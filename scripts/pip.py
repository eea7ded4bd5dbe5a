"""pip.py PYTHON: install pip into a virtual environment that was made without it, where Debian's ensurepip is missing.

Takes a wheel of pip from the system, else from the package index that PIP_INDEX_URL names (its SHA-256 must be the one
the index lists), else from Debian's package python3-pip-whl, which apt-get downloads without installing it. Needs the
standard library only, and no root.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin

FOLDERS = os.environ.get("PIP_WHEELS", "/usr/share/python-wheels").split(os.pathsep)  # Debian: python3-pip-whl
DEBIAN = "python3-pip-whl"
SECONDS = 60


def main(python: str) -> int:
    """Install pip for this interpreter. Returns 1, with the reason on stderr, if no wheel can be had."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            wheel = find_wheel(FOLDERS) or download(Path(folder))
        except (OSError, ValueError, LookupError) as error:
            print(f"pip could not be downloaded: {error}", file=sys.stderr)
            return 1
        return install(python, wheel)


def download(folder: Path) -> Path:
    """Download a wheel of pip from the package index of the user, else from Debian."""
    index = os.environ.get("PIP_INDEX_URL")
    return download_wheel(index, folder) if index else download_debian(folder)


def download_debian(folder: Path) -> Path:
    """Download Debian's package of pip and unpack its wheel. Raises LookupError where apt-get cannot."""
    try:
        subprocess.run(["apt-get", "download", "--quiet=2", DEBIAN], cwd=folder, check=True, timeout=SECONDS)
        for package in folder.glob("*.deb"):
            subprocess.run(["dpkg-deb", "--extract", str(package), str(folder)], check=True, timeout=SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        raise LookupError(f"apt-get could not download {DEBIAN} ({error})") from error
    wheel = find_wheel([str(path) for path in folder.glob("usr/share/*wheels")])
    if wheel is None:
        raise LookupError(f"{DEBIAN} has no wheel of pip")
    return wheel


def find_wheel(folders: Sequence[str]) -> Path | None:
    """Return the newest wheel of pip in these folders, or None."""
    found = [wheel for folder in folders for wheel in Path(folder).glob("pip-*-py3-none-any.whl")]
    return max(found, key=lambda wheel: version_of(wheel.name), default=None)


def version_of(wheel: str) -> tuple[int, ...]:
    """Return the version in the file name of a wheel; () for a pre-release, which sorts first."""
    parts = wheel.split("-")[1].split(".")
    return tuple(map(int, parts)) if all(map(str.isdigit, parts)) else ()


class Listing(HTMLParser):
    """Collects the links of a project page of a package index (PEP 503)."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the attributes of a link."""
        if tag == "a":
            self.links.append(dict(attrs))


def download_wheel(index: str, folder: Path) -> Path:
    """Download the newest wheel of pip from a package index. Raises ValueError where its hash is another one."""
    page = f"{index.rstrip('/')}/pip/"
    listing = Listing()
    listing.feed(fetch(page).decode())
    url, _, digest = newest_wheel(listing.links, sys.version_info[:2]).partition("#sha256=")
    body = fetch(urljoin(page, url))
    if hashlib.sha256(body).hexdigest() != digest:
        raise ValueError(f"{name_of(url)} has another SHA-256 than the index lists")
    wheel = folder / name_of(url)
    wheel.write_bytes(body)
    return wheel


def fetch(url: str) -> bytes:
    """Return the body of a URL."""
    with urllib.request.urlopen(
        urllib.request.Request(url, headers={"Accept": "text/html"}), timeout=SECONDS
    ) as answer:
        body: bytes = answer.read()
    return body


def name_of(url: str) -> str:
    """Return the file name in a URL."""
    return url.partition("#")[0].rpartition("/")[2]


def newest_wheel(links: Sequence[dict[str, str | None]], python: tuple[int, int]) -> str:
    """Return the URL of the newest release that is a wheel, not withdrawn, and made for this version of Python."""
    fit = [
        link["href"] or ""
        for link in links
        if name_of(link.get("href") or "").endswith("-py3-none-any.whl")
        and "data-yanked" not in link
        and is_allowed(link.get("data-requires-python") or "", python)
    ]
    if not fit:
        raise LookupError("the package index lists no wheel of pip")
    return max(fit, key=lambda url: version_of(name_of(url)))


def is_allowed(rule: str, python: tuple[int, int]) -> bool:
    """Return whether a lower bound (`>=3.9`) admits this version; other rules admit every version."""
    if not rule.startswith(">=") or "," in rule:
        return True
    return tuple(int(part) for part in rule[2:].split(".")[:2]) <= python


def install(python: str, wheel: Path) -> int:
    """Let the wheel install itself; nothing is asked of the network."""
    command = [python, str(wheel / "pip"), "install", "--quiet", "--no-index", "--no-deps", str(wheel)]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
