"""Test HTML parsing with the html5lib suite: declared encodings, and the trees that browsers build."""

import json
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct
from turbohtml import CData, Comment, Doctype, DocumentFragment, ProcessingInstruction, Text

from sanderling.html.parser import Document, Element, Namespace, parse_html


class Case(Struct, frozen=True):
    """A page and its expected tree."""

    page: str
    tree: str


def _read_cases(file: Path) -> Iterator[Case]:
    """Read the complete pages of a file. Fragments and pages with scripts are skipped."""
    for text in ("\n" + file.read_bytes().decode()).split("\n#data\n")[1:]:
        page, _, rest = ("\n" + text).partition("\n#errors")
        head, _, tree = rest.partition("\n#document\n")
        if "#document-fragment" not in head and "#script-on" not in head:
            yield Case(page[1:], tree.rstrip("\n"))


def _format_node(node: object, depth: int) -> Iterator[str]:
    margin = "| " + "  " * depth
    match node:
        case Doctype():
            ids = f' "{node.public_id or ""}" "{node.system_id or ""}"' if node.public_id or node.system_id else ""
            yield f"{margin}<!DOCTYPE {node.name}{ids}>"
        case Comment():
            yield f"{margin}<!-- {node.data} -->"
        case ProcessingInstruction():  # comments when the suite was written
            yield f"{margin}<!-- ?{node.target}{f' {node.data}' if node.data else ''} -->"
        case Text() | CData():
            yield f'{margin}"{node.data}"'
        case DocumentFragment():
            yield f"{margin}content"
            yield from (line for child in node.children for line in _format_node(child, depth + 1))
        case Element():
            prefix = {Namespace.SVG: "svg ", Namespace.MATHML: "math "}.get(node.namespace, "")
            yield f"{margin}<{prefix}{node.tag}>"
            yield from sorted(
                f'{margin}  {_format_attribute_name(name, prefix)}="{_get_attribute(node, name)}"'
                for name in node.attrs
            )
            yield from (line for child in node.children for line in _format_node(child, depth + 1))


def _format_attribute_name(name: str, prefix: str) -> str:
    spaced = prefix and (name.startswith("xlink:") or name in ("xml:lang", "xml:space", "xmlns:xlink"))
    return name.replace(":", " ", 1) if spaced else name


def _get_attribute(element: Element, name: str) -> str:
    return element.attr(name) or ""


def _format_tree(page: Document) -> str:
    return "\n".join(line for child in page.children for line in _format_node(child, 0))


def test_every_declared_encoding_is_found(suites: Path) -> None:
    cases = json.loads((suites / "html5lib/encoding/cases.json").read_text())
    wrong = [
        (b64decode(case["data_base64"])[:90], case["encoding"], found)
        for case in cases
        if (found := parse_html(b64decode(case["data_base64"])).encoding or "").lower() != case["encoding"].lower()
    ]
    assert wrong == []
    assert len(cases) == 82


PROCESSING_INSTRUCTION_CASES = {"<?", "<?COMMENT?>", "<?COM--MENT?>"}  # comments when the suite was written, now nodes


def test_every_page_has_the_tree_that_browsers_build(suites: Path) -> None:
    files = sorted((suites / "html5lib/tree-construction").rglob("*.dat"))
    cases = [case for file in files for case in _read_cases(file)]
    wrong = {case.page for case in cases if _format_tree(parse_html(case.page.encode(), "utf-8")) != case.tree}
    assert wrong == PROCESSING_INSTRUCTION_CASES
    assert len(cases) == 1592
