"""Pause the workers of other crawls while an urgent crawl runs (`--pause-crawl`)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sanderling.errors import CollectionError, UsageError
from sanderling.workers.control import is_crawl_running, send_command


@contextmanager
def pause_other_crawls(folders: Sequence[str], own_folder: Path) -> Iterator[list[str]]:
    """Pause the workers of running crawls, and resume them at the end."""
    paused: list[tuple[Path, list[str]]] = []
    try:
        for folder in map(Path, folders):
            if folder.resolve() == own_folder.resolve():
                raise UsageError(f"--pause-crawl {folder}: a crawl cannot pause itself")
            if is_crawl_running(folder):
                paused.append((folder, _send_action(folder, "pause", "all")))
        yield [worker for _, workers in paused for worker in workers]
    finally:
        for folder, workers in paused:
            if workers and is_crawl_running(folder):
                _send_action(folder, "resume", workers)


def _send_action(folder: Path, action: str, workers: str | list[str]) -> list[str]:
    try:
        reply = send_command(folder, {"do": action, "workers": workers})
    except CollectionError:  # the crawl ended meanwhile
        return []
    if "error" in reply:
        raise UsageError(f"{folder}: {reply['error']}")
    return [str(row["id"]) for row in reply["workers"]]
