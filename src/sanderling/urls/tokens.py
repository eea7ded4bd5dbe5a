"""What a URL says about its page, word by word; a title and an anchor say more of it.

A *token* is one such word with where it stands: the directory `class-use`, the first word of a file name, the depth,
the title word `Chapter`. Most tokens are content; which of them foretell how a page is built is learned elsewhere.
"""

import re
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

WORD = re.compile(r"[^\W\d_]+")
NAME_PART = re.compile(r"[A-Za-z]+|[0-9]+")
MAX_DEPTH_TOKEN = 3  # deeper is not told apart
MAX_TOKENS = 64  # of one page; a title that is a novel says nothing about its template
MAX_TEXT_LENGTH = 2_000


def split_path(url: str) -> tuple[list[str], str, str]:
    """Take a URL apart: directories, file name, query."""
    try:
        parts = urlsplit(url[:MAX_TEXT_LENGTH])
    except ValueError:  # brackets that are no address
        return [], "", ""
    *folders, name = parts.path.lstrip("/").split("/")
    return folders, name, parts.query


def count_common_folders(urls: Iterable[str]) -> int:
    """Count the directories every URL of a site begins with."""
    shared: list[str] | None = None
    for url in urls:
        folders = split_path(url)[0]
        if shared is None:
            shared = folders
        same = 0
        while same < min(len(shared), len(folders)) and shared[same] == folders[same]:
            same += 1
        shared = shared[:same]
    return len(shared or ())


def tokenize_url(url: str, skip: int = 0) -> list[str]:
    """Say what a URL says; `skip` directories are common to the whole site and say nothing."""
    folders, name, query = split_path(url)
    folders = folders[skip:]
    said = [f"depth:{min(len(folders), MAX_DEPTH_TOKEN)}"]
    if folders:
        said += [f"folder:{folders[-1]}", f"top:{folders[0]}"]
        said += [f"within:{folder}" for folder in folders]
    said += _tokenize_file_name(name)
    said += [f"query:{pair.partition('=')[0]}" for pair in query.split("&") if pair]
    return said


def tokenize_page(url: str, title: str, skip: int = 0) -> list[str]:
    """Say what a page's URL and title say."""
    said = tokenize_url(url, skip) + [f"title:{word}" for word in WORD.findall(title[:MAX_TEXT_LENGTH])]
    return list(dict.fromkeys(said))[:MAX_TOKENS]


def _tokenize_file_name(name: str) -> Sequence[str]:
    stem, _, ending = name.rpartition(".")
    if not stem:
        stem, ending = name, ""
    parts = ["#" if part.isdigit() else part for part in NAME_PART.findall(stem)]
    said = [f"name:{stem}", f"ending:{ending}"]
    return [*said, f"begins:{parts[0]}", f"ends:{parts[-1]}"] if len(parts) > 1 else said
