"""Group URLs of a host that one program probably answers: `/calendar?d=1`, `/calendar?d=2`; `/r/8f7ad6c2`, `/r/b1e07`.

Unlike the patterns of `pattern_budget.py`, these cover plain paths too: they are only used to compare pages.
"""

import re
from functools import lru_cache

from xxhash import xxh3_64_intdigest

from sanderling.urls.normalize import split_url

MAX_PARAMETERS = 16
MAX_SEGMENTS = 20
MAX_CACHED_FOLDERS, MAX_CACHED_LENGTH = 4_096, 500  # pages of a site share few folders
MIN_TOKEN_CHANGES = 3  # between letters and digits: 8f7ad6c2 is a token, python3 is a name

_DIGITS = re.compile(r"\d+")
_NUMERIC = re.compile(r"[._:,-]*+\d[\d._:,-]*+").fullmatch
_CHANGES = re.compile(r"(?<=[a-z])(?=\d)|(?<=\d)(?=[a-z])", re.IGNORECASE)
_SUFFIX = re.compile(r"\.[a-z]{1,5}$", re.IGNORECASE)


def find_content_pattern(url: str) -> str:
    """Return the pattern of a normalized URL: numbers are 0, tokens and the name of a plain page are `*`."""
    path, question_mark, query = url.partition("?")
    name_start = path.rfind("/") + 1
    if not question_mark and name_start < len(path) and name_start <= MAX_CACHED_LENGTH:
        folders, is_cut = _generalize_folder(path[:name_start])
        return folders if is_cut else folders + _generalize_name(path[name_start:])
    host, path = split_url(path)
    segments = path.split("/")[: MAX_SEGMENTS + 1]
    patterns = [_generalize_segment(segment) for segment in segments]
    if question_mark:
        names = sorted({_DIGITS.sub("0", pair.partition("=")[0]) for pair in query.split("&")[:MAX_PARAMETERS]})
        return f"{host}{'/'.join(patterns)}?{'&'.join(names)}"
    last = max((place for place, segment in enumerate(segments) if segment), default=0)
    patterns[last] = _generalize_name(segments[last])
    return host + "/".join(patterns)


@lru_cache(maxsize=MAX_CACHED_FOLDERS)
def _generalize_folder(url: str) -> tuple[str, bool]:
    """Return the pattern of a folder with its last slash, and whether it is so deep that names are left out."""
    host, path = split_url(url)
    segments = path.split("/")
    if len(segments) <= MAX_SEGMENTS + 1:
        return host + "/".join(map(_generalize_segment, segments)), False
    return find_content_pattern(url), True


def _generalize_name(name: str) -> str:
    if not name or _NUMERIC(name):
        return _generalize_segment(name)
    suffix = _SUFFIX.search(name)
    return "*" + (suffix[0] if suffix else "")


def hash_content_pattern(url: str) -> int:
    """Return the pattern of a URL as a number that fits into a column."""
    return xxh3_64_intdigest(find_content_pattern(url).encode("utf-8", "surrogatepass")) >> 1


def has_variable_part(url: str) -> bool:
    """Return whether a URL has a query or a number, so that a program may answer any number of such URLs."""
    path = split_url(url)[1]
    return "?" in path or _DIGITS.search(path) is not None


def is_random_token(word: str) -> bool:
    """Return whether letters and digits alternate as in an identifier."""
    return len(word) >= 6 and len(_CHANGES.findall(word[:64])) >= MIN_TOKEN_CHANGES


def _generalize_segment(segment: str) -> str:
    return "*" if is_random_token(segment) else _DIGITS.sub("0", segment)
