"""A notifier: send a message to an address of its scheme. An exception means that it is sent again."""

from pathlib import Path


def append_to_file(target: str, title: str, body: str) -> None:
    """Append a message to the file of `logfile:///path`."""
    with Path(target.removeprefix("logfile://")).open("a", encoding="utf-8") as file:
        file.write(f"{title}\n{body}\n\n")
