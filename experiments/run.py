"""Run experiments by name, print their tables, say which do not hold; write them into docs/papers.md."""

import importlib
import pkgutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import experiments
from experiments.frame import Table, lines, markdown
from sanderling.config.loader import suggest_or_list_names
from sanderling.errors import UsageError

FRAME = {  # modules that are no experiment
    "frame",
    "run",
    "draw",
    "web",
    "crawls",
    "paper_methods",
    "tree_measures",
    "__main__",
}
ROOT = Path(__file__).parent.parent
DOCUMENT = ROOT / "docs" / "papers.md"


def names() -> list[str]:
    """Name all experiments."""
    return sorted(m.name for m in pkgutil.iter_modules(experiments.__path__) if m.name not in FRAME and not m.ispkg)


def title(name: str) -> str:
    """Say what an experiment is about."""
    return str(importlib.import_module(f"experiments.{name}").TITLE)


def run(name: str) -> Table:
    """Run one experiment."""
    table: Table = importlib.import_module(f"experiments.{name}").table()
    return table


def chosen(words: Sequence[str]) -> list[str]:
    """Read which experiments are meant."""
    known = names()
    if not words or words[0].lower() == "all":
        return known
    for word in words:
        if word not in known:
            raise UsageError(
                f"unknown experiment {word!r}{suggest_or_list_names(word, known)}; see sanderling experiment list"
            )
    return list(words)


def main(argv: Sequence[str]) -> int:
    """List, or run and judge; 1 if a number left its tolerance."""
    words = [word for word in argv if not word.startswith("--")]
    try:
        if not words or words[0].lower() == "list":
            for name in names():
                print(f"{name:24} {title(name)}")
            return 0
        return check_tables(chosen(words), write="--write" in argv)
    except UsageError as wrong:
        print(wrong, file=sys.stderr)
        return wrong.exit_code


def check_tables(names: list[str], write: bool) -> int:
    """Run experiments and print their tables; say at the end which do not hold."""
    failed = []
    for name in names:
        start = time.perf_counter()
        table = run(name)
        print(f"[{name}] {'' if table.holds else 'DOES NOT HOLD '}{time.perf_counter() - start:.1f} s")
        print(*lines(table), "", sep="\n", flush=True)
        if not table.holds:
            failed.append(name)
        if write:
            put(name, table)
    print(f"{len(names) - len(failed)} of {len(names)} tables hold" + (f"; not: {', '.join(failed)}" if failed else ""))
    return 1 if failed else 0


def put(name: str, table: Table) -> None:
    """Write a table, and its figure, into the documentation, between its marks."""
    from experiments.draw import draw

    text = markdown(table)
    if table.figure:
        picture = DOCUMENT.parent / "figures" / f"{name}.svg"
        draw(table.figure, picture)
        text += f"\n\n![{table.figure.title}]({picture.relative_to(DOCUMENT.parent)})"
    begin, end = f"<!-- {name} -->", f"<!-- end {name} -->"
    page = DOCUMENT.read_text(encoding="utf-8")
    if begin not in page or end not in page:
        raise UsageError(f"{DOCUMENT} has no place for {name}: write {begin} and {end} where its table belongs")
    before, _, rest = page.partition(begin)
    DOCUMENT.write_text(f"{before}{begin}\n{text}\n{end}{rest.partition(end)[2]}", encoding="utf-8")
