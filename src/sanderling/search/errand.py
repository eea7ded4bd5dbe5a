"""Starting and stopping a crawl from the app: the crawl stays a process of its own, with its own command line."""

import fcntl
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

RUN = "import sys; from sanderling.cli import main; sys.exit(main())"


class Errand:
    """Knows whether somebody crawls into a folder, and can send for it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.child: subprocess.Popen[bytes] | None = None
        self.lock = threading.Lock()
        self.options: tuple[str, ...] = ()

    def holder(self) -> int:
        """The process that crawls into the folder; 0 if none does."""
        try:
            lock = os.open(self.folder / "lock", os.O_RDWR)
        except OSError:
            return 0
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            said = os.read(lock, 32).strip()
            return int(said) if said.isdigit() else -1
        finally:
            os.close(lock)
        return 0

    def running(self) -> bool:
        """Is anybody crawling?"""
        return self.holder() != 0

    def start(self, seeds: tuple[str, ...]) -> str:
        """Begin, or go on with what is left; says what happened."""
        with self.lock:
            if self.running():
                return "a crawl is running already"
            command = [
                sys.executable,
                "-c",
                RUN,
                "crawl",
                "-C",
                str(self.folder),
                "--quiet",
                *self.options,
                "--",
                *seeds,
            ]
            if self.child is not None:
                self.child.poll()
            log = self.folder / "logs"
            log.mkdir(exist_ok=True)
            with (log / "serve-crawl.log").open("ab") as out:
                self.child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
            return "the crawl was started"

    def stop(self) -> str:
        """Ask the crawl to finish what is in flight; says what happened."""
        holder = self.holder()
        if holder <= 0:
            return "no crawl is running"
        try:
            os.kill(holder, signal.SIGINT)
        except (ProcessLookupError, PermissionError):
            return "the crawl cannot be reached from here"
        return "the crawl finishes what is in flight and stops"
