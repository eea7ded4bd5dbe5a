"""Views of a page: its structure, its URL and its title, as features that pages of one type share.

A feature is a number: the lowest two bits name the view, the rest the block, the pair of adjacent blocks or the token.
The structure comes from the fingerprint that is stored with each page, so nothing is computed while crawling.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from urllib.parse import unquote

from msgspec import Struct
from xxhash import xxh64_intdigest

from sanderling.fingerprint.structure import build_pair_feature, decode_features, encode_blocks
from sanderling.html.native_tables import BLOCK_TAGS
from sanderling.html.parser import Document
from sanderling.urls.tokens import WORD, split_path

VIEWS = ("structure", "url", "title")
STRUCTURE, URL, TITLE = range(3)
VIEW_BITS = 2
TOKEN_BITS = 48
DIRECTORY = 1 << TOKEN_BITS + VIEW_BITS  # bit of the feature that names the directory of a page
MAX_FOLDERS = 8
MAX_NAME_WORDS = 12
MAX_TITLE_WORDS = 20
EDGE_WORDS = 3  # words at the start and the end of a title that are also features with their position
MAX_COUNTED_WORDS = 4
MAX_TEXT_LENGTH = 500
NAME_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+|[^\W\d_]+")
LETTERS, DIGITS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+"), re.compile(r"[0-9]+")


class PageView(Struct, frozen=True):
    """A page as its type is recognized: URL id (0: not stored), URL, title and structure fingerprint."""

    id: int
    url: str
    title: str
    fingerprint: bytes


def extract_features(page: PageView) -> frozenset[int]:
    """Return the features of a page in all views."""
    structure = [feature << VIEW_BITS | STRUCTURE for feature in decode_features(page.fingerprint)]
    return frozenset(
        [
            *structure,
            *(hash_token(token, URL) for token in tokenize_location(page.url)),
            hash_directory(page.url),
            *(hash_token(token, TITLE) for token in tokenize_title(page.title)),
        ]
    )


def hash_token(token: str, view: int) -> int:
    digest = xxh64_intdigest(token.encode("utf-8", "surrogatepass"))
    return (digest & ((1 << TOKEN_BITS) - 1)) << VIEW_BITS | view


def hash_directory(url: str) -> int:
    return hash_token(name_directory(url), URL) | DIRECTORY


def name_directory(url: str) -> str:
    return "directory /" + "/".join(split_path(unquote(url[:MAX_TEXT_LENGTH]))[0])


def get_view(feature: int) -> int:
    return feature & ((1 << VIEW_BITS) - 1)


def tokenize_location(url: str) -> list[str]:
    """Tokenize a URL: folders with their position, words and form of the file name, names of parameters."""
    folders, name, query = split_path(unquote(url[:MAX_TEXT_LENGTH]))
    folders = folders[:MAX_FOLDERS]
    tokens = [f"depth {len(folders)}"]
    for position, folder in enumerate(folders):
        tokens += [f"folder {folder}", f"folder {position + 1} {folder}", f"folder -{len(folders) - position} {folder}"]
        tokens.append("below /" + "/".join(folders[: position + 1]))
    stem, _, extension = name.rpartition(".")
    if not stem:
        stem, extension = name, ""
    words = ["#" if word.isdigit() else word for word in NAME_WORD.findall(stem)][:MAX_NAME_WORDS]
    tokens += [f"name {stem}", f"extension {extension}", "form " + LETTERS.sub("w", DIGITS.sub("#", stem))]
    tokens += [f"name word {word}" for word in words]
    if words:
        tokens += [f"name starts {words[0]}", f"name ends {words[-1]}"]
        tokens.append(f"name words {min(len(words), MAX_COUNTED_WORDS)}")
    for part in query.split("&")[:MAX_FOLDERS]:
        tokens += [f"parameter {part.partition('=')[0]}", f"parameter {part}"] if part else []
    return tokens


def tokenize_title(title: str) -> list[str]:
    """Tokenize a title: its words, and the first and last ones with their position."""
    words = WORD.findall(title[:MAX_TEXT_LENGTH])
    tokens = [f"title word {word}" for word in words[:MAX_TITLE_WORDS]]
    tokens += [f"title {position + 1} {word}" for position, word in enumerate(words[:EDGE_WORDS])]
    return tokens + [f"title -{position + 1} {word}" for position, word in enumerate(words[::-1][:EDGE_WORDS])]


def name_features(pages: Iterable[PageView], documents: Iterable[Document] = ()) -> dict[int, str]:
    """Name the features of pages; structural ones from parsed pages, as the fingerprint only has hashes."""
    names: dict[int, str] = {}
    for page in pages:
        names |= {hash_token(token, URL): token for token in tokenize_location(page.url)}
        names[hash_directory(page.url)] = name_directory(page.url)
        names |= {hash_token(token, TITLE): token for token in tokenize_title(page.title)}
    for document in documents:
        names |= _name_blocks([block.attr("class") or block.tag for block in document.iter_elements(BLOCK_TAGS)])
    return names


def _name_blocks(blocks: Sequence[str]) -> Mapping[int, str]:
    codes = [int.from_bytes(encode_blocks([block], 1), "big") for block in blocks]
    names = {code << VIEW_BITS | STRUCTURE: f"block {block}" for code, block in zip(codes, blocks, strict=True)}
    for (left, first), (right, second) in pairwise(zip(codes, blocks, strict=True)):
        names[build_pair_feature(left, right) << VIEW_BITS | STRUCTURE] = f"blocks {first} {second}"
    return names
