"""An urgent job: the migrants of other crawls rest on the disk while it runs, and wake when it is done."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sanderling.errors import CollectionError, UsageError
from sanderling.workers.control import is_crawl_running, send_command


@contextmanager
def park_workers(folders: Sequence[str], own_folder: Path) -> Iterator[list[str]]:
    """Park the crews of these crawls; whom it concerned is woken at the end. A crawl that is not running is passed."""
    asleep: list[tuple[Path, list[str]]] = []
    try:
        for folder in map(Path, folders):
            if folder.resolve() == own_folder.resolve():
                raise UsageError(f"--park {folder}: a crawl cannot park itself")
            if is_crawl_running(folder):
                asleep.append((folder, _send_action(folder, "pause", "all")))
        yield [migrant for _, migrants in asleep for migrant in migrants]
    finally:
        for folder, migrants in asleep:
            if migrants and is_crawl_running(folder):
                _send_action(folder, "resume", migrants)


def _send_action(folder: Path, action: str, workers: str | list[str]) -> list[str]:
    try:
        answer = send_command(folder, {"do": action, "workers": workers})
    except CollectionError:  # it ended meanwhile: nobody is left to park or to wake
        return []
    if "error" in answer:
        raise UsageError(f"{folder}: {answer['error']}")
    return [str(row["id"]) for row in answer["workers"]]
