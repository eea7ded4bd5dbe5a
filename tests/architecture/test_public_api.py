"""The command line and the web app use the public API; the list of exceptions does not grow."""

import tomllib
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[2]
NAME = "The command line and the web app use the public API"
MAX_EXCEPTIONS = 5


def test_modules_that_use_the_api_alone_are_no_exceptions() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    contract = next(contract for contract in contracts if contract["name"] == NAME)
    listed = {line.partition(" -> ")[0] for line in contract["ignore_imports"]}
    graph = grimp.build_graph("sanderling", exclude_type_checking_imports=True)
    forbidden = tuple(contract["forbidden_modules"])
    needed = {
        module
        for module in graph.modules
        if module.startswith(tuple(contract["source_modules"]))
        and any(
            f"{target}.".startswith(tuple(f"{name}." for name in forbidden)) for target in imports_of(graph, module)
        )
    }
    assert listed - needed == set(), "remove them from ignore_imports"
    assert len(listed) <= MAX_EXCEPTIONS


def imports_of(graph: grimp.ImportGraph, module: str) -> set[str]:
    return set(graph.find_modules_directly_imported_by(module))
