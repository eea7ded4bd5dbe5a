"""Draw docs/images/terminal.svg from a recorded terminal session: python scripts/picture.py URL."""

import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

TARGET = Path(__file__).parent.parent / "docs" / "images" / "terminal.svg"
WIDTH = 104


def main(url: str) -> None:
    """Run the commands, print what they print, save it as a picture."""
    console = Console(record=True, width=WIDTH, file=sys.stderr, force_terminal=True)
    with tempfile.TemporaryDirectory() as folder:
        common = ["-C", f"{folder}/collection"]
        for shown, command in (
            (f"sanderling crawl {url} --delay 0 --allow-private", ["crawl", url, "--delay", "0", "--allow-private"]),
            ("sanderling pages --first 4", ["pages", "--first", "4"]),
            ("sanderling refresh --all", ["refresh", "--all"]),
        ):
            console.print(Text.assemble(("$ ", "bold green"), (shown, "bold")))
            run = [sys.executable, "-m", "sanderling", *command, *common]
            done = subprocess.run(run, capture_output=True, text=True, check=True)
            console.print(Text(done.stdout.replace(folder + "/", "").rstrip()))
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    console.save_svg(str(TARGET), title="sanderling")


if __name__ == "__main__":
    main(sys.argv[1])
