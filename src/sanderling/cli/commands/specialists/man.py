"""sanderling man: print a manual page, or write all of them."""

import argparse
import os
from pathlib import Path

from sanderling.cli.arguments import CommandCall, print_json, print_message
from sanderling.cli.commands import COMMAND_GROUPS, COMMANDS
from sanderling.cli.man_pages import build_man_pages
from sanderling.config.loader import suggest_or_list_names
from sanderling.errors import UsageError, build_write_error

HELP = "Print the manual page of a command, or write all pages into a folder of man."
EXAMPLES = """\
examples:
  sanderling man crawl | man -l -
  sanderling man --write ~/.local/share/man/man1    # then: man sanderling, man sanderling-crawl
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("page", nargs="?", default="", metavar="COMMAND", help="a command (default: an overview)")
    parser.add_argument("--write", metavar="DIR", default="", help="write all pages into this folder")


def run(call: CommandCall) -> int:
    """Print or write manual pages."""
    os.environ["COLUMNS"] = "80"  # the same pages in every terminal
    pages = build_man_pages(COMMAND_GROUPS)
    if call.args.write:
        return _write_pages(call, pages)
    name = call.args.page
    if name and name not in COMMANDS:
        raise UsageError(f"there is no command {name!r}{suggest_or_list_names(name, list(COMMANDS))}")
    page = pages[f"sanderling-{name}.1" if name else "sanderling.1"]
    print_json({"page": page}) if call.json else print(page, end="")
    return 0


def _write_pages(call: CommandCall, pages: dict[str, str]) -> int:
    folder = Path(call.args.write).expanduser()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, page in pages.items():
            (folder / name).write_text(page)
    except OSError as error:
        raise build_write_error(folder, error) from None
    if call.json:
        print_json({"folder": str(folder), "pages": sorted(pages)})
    else:
        print_message(call, f"{len(pages)} pages written to {folder}")
    return 0
