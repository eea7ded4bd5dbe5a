"""An urgent job: the migrants of other crawls rest on the disk while it runs, and wake when it is done."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sanderling.errors import CollectionError, UsageError
from sanderling.workers.control import ask, is_running


@contextmanager
def parked(folders: Sequence[str], own: Path) -> Iterator[list[str]]:
    """Park the crews of these crawls; whom it concerned is woken at the end. A crawl that is not running is passed."""
    asleep: list[tuple[Path, list[str]]] = []
    try:
        for folder in map(Path, folders):
            if folder.resolve() == own.resolve():
                raise UsageError(f"--park {folder}: a crawl cannot park itself")
            if is_running(folder):
                asleep.append((folder, _order(folder, "pause", "all")))
        yield [migrant for _, migrants in asleep for migrant in migrants]
    finally:
        for folder, migrants in asleep:
            if migrants and is_running(folder):
                _order(folder, "resume", migrants)


def _order(folder: Path, do: str, migrants: str | list[str]) -> list[str]:
    try:
        answer = ask(folder, {"do": do, "migrants": migrants})
    except CollectionError:  # it ended meanwhile: nobody is left to park or to wake
        return []
    if "error" in answer:
        raise UsageError(f"{folder}: {answer['error']}")
    return [str(row["id"]) for row in answer["migrants"]]
