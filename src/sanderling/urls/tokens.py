"""Tokens of URLs and titles (`folder:class-use`, `title:Chapter`), which predict the template of a page."""

import re
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

WORD = re.compile(r"[^\W\d_]+")
NAME_PART = re.compile(r"[A-Za-z]+|[0-9]+")
MAX_DEPTH_TOKEN = 3  # deeper URLs get the same token
MAX_TOKENS = 64  # per page; very long titles do not predict a template
MAX_TEXT_LENGTH = 2_000


def split_path(url: str) -> tuple[list[str], str, str]:
    """Split a URL into folders, file name, and query."""
    try:
        parts = urlsplit(url[:MAX_TEXT_LENGTH])
    except ValueError:  # invalid IPv6 address
        return [], "", ""
    *folders, name = parts.path.lstrip("/").split("/")
    return folders, name, parts.query


def count_common_folders(urls: Iterable[str]) -> int:
    """Count leading folders shared by all URLs of a site."""
    common: list[str] | None = None
    for url in urls:
        folders = split_path(url)[0]
        if common is None:
            common = folders
        count = 0
        while count < min(len(common), len(folders)) and common[count] == folders[count]:
            count += 1
        common = common[:count]
    return len(common or ())


def tokenize_url(url: str, skip: int = 0) -> list[str]:
    """Tokenize a URL without its first `skip` folders, shared by the site."""
    folders, name, query = split_path(url)
    folders = folders[skip:]
    tokens = [f"depth:{min(len(folders), MAX_DEPTH_TOKEN)}"]
    if folders:
        tokens += [f"folder:{folders[-1]}", f"top:{folders[0]}"]
        tokens += [f"within:{folder}" for folder in folders]
    tokens += _tokenize_file_name(name)
    tokens += [f"query:{pair.partition('=')[0]}" for pair in query.split("&") if pair]
    return tokens


def tokenize_page(url: str, title: str, skip: int = 0) -> list[str]:
    """Return up to `MAX_TOKENS` tokens of URL and title."""
    tokens = tokenize_url(url, skip) + [f"title:{word}" for word in WORD.findall(title[:MAX_TEXT_LENGTH])]
    return list(dict.fromkeys(tokens))[:MAX_TOKENS]


def _tokenize_file_name(name: str) -> Sequence[str]:
    stem, _, extension = name.rpartition(".")
    if not stem:
        stem, extension = name, ""
    parts = ["#" if part.isdigit() else part for part in NAME_PART.findall(stem)]
    tokens = [f"name:{stem}", f"ending:{extension}"]
    return [*tokens, f"begins:{parts[0]}", f"ends:{parts[-1]}"] if len(parts) > 1 else tokens
