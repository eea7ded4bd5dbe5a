"""Pages against the suite of html5lib: encodings that pages declare, and the trees that browsers build."""

import json
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct
from turbohtml import CData, Comment, Doctype, DocumentFragment, ProcessingInstruction, Text

from sanderling.html.parser import Document, Element, Namespace, parse_html


class Case(Struct, frozen=True):
    """One page and the tree it must give."""

    page: str
    tree: str


def _cases(file: Path) -> Iterator[Case]:
    """Read the whole pages of a file; parts of pages, and what scripts would change, are left out."""
    for text in ("\n" + file.read_bytes().decode()).split("\n#data\n")[1:]:
        page, _, rest = ("\n" + text).partition("\n#errors")
        head, _, tree = rest.partition("\n#document\n")
        if "#document-fragment" not in head and "#script-on" not in head:
            yield Case(page[1:], tree.rstrip("\n"))


def _lines(node: object, depth: int) -> Iterator[str]:
    margin = "| " + "  " * depth
    match node:
        case Doctype():
            ids = f' "{node.public_id or ""}" "{node.system_id or ""}"' if node.public_id or node.system_id else ""
            yield f"{margin}<!DOCTYPE {node.name}{ids}>"
        case Comment():
            yield f"{margin}<!-- {node.data} -->"
        case ProcessingInstruction():  # which were comments when the suite was written
            yield f"{margin}<!-- ?{node.target}{f' {node.data}' if node.data else ''} -->"
        case Text() | CData():
            yield f'{margin}"{node.data}"'
        case DocumentFragment():
            yield f"{margin}content"
            yield from (line for child in node.children for line in _lines(child, depth + 1))
        case Element():
            prefix = {Namespace.SVG: "svg ", Namespace.MATHML: "math "}.get(node.namespace, "")
            yield f"{margin}<{prefix}{node.tag}>"
            yield from sorted(f'{margin}  {_name(name, prefix)}="{_value(node, name)}"' for name in node.attrs)
            yield from (line for child in node.children for line in _lines(child, depth + 1))


def _name(name: str, prefix: str) -> str:
    spaced = prefix and (name.startswith("xlink:") or name in ("xml:lang", "xml:space", "xmlns:xlink"))
    return name.replace(":", " ", 1) if spaced else name


def _value(element: Element, name: str) -> str:
    return element.attr(name) or ""


def _tree(page: Document) -> str:
    return "\n".join(line for child in page.children for line in _lines(child, 0))


def test_every_declared_encoding_is_found(suites: Path) -> None:
    cases = json.loads((suites / "html5lib/encoding/cases.json").read_text())
    wrong = [
        (b64decode(case["data_base64"])[:90], case["encoding"], found)
        for case in cases
        if (found := parse_html(b64decode(case["data_base64"])).encoding or "").lower() != case["encoding"].lower()
    ]
    assert wrong == []
    assert len(cases) == 82


INSTRUCTIONS = {"<?", "<?COMMENT?>", "<?COM--MENT?>"}  # comments when the suite was written, nodes of their own since


def test_every_page_gives_the_tree_that_browsers_build(suites: Path) -> None:
    files = sorted((suites / "html5lib/tree-construction").rglob("*.dat"))
    cases = [case for file in files for case in _cases(file)]
    wrong = {case.page for case in cases if _tree(parse_html(case.page.encode(), "utf-8")) != case.tree}
    assert wrong == INSTRUCTIONS
    assert len(cases) == 1592
