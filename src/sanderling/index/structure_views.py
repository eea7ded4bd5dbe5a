"""Two views of a page that its structure must agree with before we believe in a template: its URL and its title.

A *token* is one thing a URL or title says, such as the directory `class-use`, the file name's first word `lang`, or the
title word `Chapter`. Most tokens are content. Those that foretell structure are what `structure_split` looks for.
"""

import re
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from msgspec import Struct

WORD = re.compile(r"[^\W\d_]+")
NAME_PART = re.compile(r"[A-Za-z]+|[0-9]+")
DEEPEST = 3  # deeper is not told apart
MAX_TOKENS = 64  # of one page; a title that is a novel says nothing about its template


class Look(Struct, frozen=True):
    """What is known of how a page is built: the page's id, its URL, title and structural features."""

    id: int
    url: str
    title: str
    features: frozenset[int]


def path_of(url: str) -> tuple[list[str], str, str]:
    """Take a URL apart: directories, file name, query."""
    parts = urlsplit(url)
    *folders, name = parts.path.lstrip("/").split("/")
    return folders, name, parts.query


def common_depth(urls: Iterable[str]) -> int:
    """Count the directories every URL of a site begins with."""
    shared: list[str] | None = None
    for url in urls:
        folders = path_of(url)[0]
        if shared is None:
            shared = folders
        same = 0
        while same < min(len(shared), len(folders)) and shared[same] == folders[same]:
            same += 1
        shared = shared[:same]
    return len(shared or ())


def tokens(url: str, title: str, skip: int = 0) -> list[str]:
    """Say what a page's URL and title say; `skip` directories are common to the whole site and say nothing."""
    folders, name, query = path_of(url)
    folders = folders[skip:]
    said = [f"depth:{min(len(folders), DEEPEST)}"]
    if folders:
        said += [f"folder:{folders[-1]}", f"top:{folders[0]}"]
        said += [f"within:{folder}" for folder in folders]
    said += _name_tokens(name)
    said += [f"query:{pair.partition('=')[0]}" for pair in query.split("&") if pair]
    said += [f"title:{word}" for word in WORD.findall(title)]
    return list(dict.fromkeys(said))[:MAX_TOKENS]


def _name_tokens(name: str) -> Sequence[str]:
    stem, _, ending = name.rpartition(".")
    if not stem:
        stem, ending = name, ""
    parts = ["#" if part.isdigit() else part for part in NAME_PART.findall(stem)]
    said = [f"name:{stem}", f"ending:{ending}"]
    return [*said, f"begins:{parts[0]}", f"ends:{parts[-1]}"] if len(parts) > 1 else said
