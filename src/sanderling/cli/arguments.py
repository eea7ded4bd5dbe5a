"""Argument parser, call record, exit codes, and output of all commands."""

import argparse
import importlib
import json
import keyword
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from shutil import get_terminal_size
from typing import Any, NoReturn, TextIO, TypeVar

from msgspec import Struct

import sanderling
from sanderling.cli.commands import COMMAND_GROUPS
from sanderling.cli.table_layout import format_row, plan_layout
from sanderling.config.loader import (
    ENVIRONMENT_PREFIX,
    Setting,
    build_group,
    get_group_settings,
    read_settings,
    suggest_name,
    suggest_or_list_names,
)
from sanderling.config.redact import redact_flag_value
from sanderling.config.settings import CollectionSettings
from sanderling.errors import UsageError
from sanderling.terminal import strip_control_characters

EXIT_OK = 0
EXIT_DISK_FULL = 3
EXIT_USAGE = 4
EXIT_FAILED = 9  # nothing could be fetched at all
EXIT_INTERRUPTED = 11  # Ctrl-C once: what was in flight is stored
EXIT_FORCED = 13  # Ctrl-C twice
EXIT_SIZE_LIMIT = 14
EXIT_TIME_LIMIT = 15
EXIT_BACKED_OFF = 18  # hosts asked us to come back much later

MEASURED_ROWS = 1000  # rows of a table that are looked at before the first is printed
ANSI_COLOR = re.compile("\033\\[[0-9;]*m")  # takes no room
MIN_FOLD_WIDTH = 20  # letters of a line that is broken at all
MAX_COLUMN_WIDTH = 60  # letters of a column: one long cell does not push what follows out of sight for all others
FLAGS_WITH_VALUE = ("-C", "--collection", "--settings")  # flags of every command that a word follows
match_flag_with_equals = re.compile(r"(--[a-z][a-z-]*)=").match
EXAMPLE_REMARK = re.compile(r"^(  \S.*?\S {3,})(?=[^#\s])", re.MULTILINE)  # behind an example: a shell must not obey it
SETTINGS_FILE_HELP = f"TOML file of settings (default: what {ENVIRONMENT_PREFIX}SETTINGS names, else ./sanderling.toml)"

COMMAND_SYNONYMS = {
    "bench": "experiment", "clean": "crawl --clean", "config": "settings",
    "configcheck": "settings", "dedup": "pages --duplicates", "fetch": "check parse", "inject": "crawl",
    "mirror": "crawl", "normalize": "check url", "parsechecker": "check parse", "purge": "delete --not-seen",
    "queue": "pages --skipped", "resume": "crawl", "robots": "check robots",
    "robotsparser": "check robots", "start": "crawl", "stats": "status", "version": "--version", "view": "show",
    "monitor": "watch", "worker": "workers",
    "dust": "url-rules", "forget": "delete", "host": "migrant", "like": "similar", "migrants": "workers",
}  # fmt: skip
"""Former command names and names used by other crawlers, with their equivalent."""

G = TypeVar("G", bound=Struct)
CommandGroups = Mapping[str, Mapping[str, str]]  # title of a group -> command -> help

INTRODUCTION = """\
Sanderling keeps a searchable, always fresh copy of web sites.

  sanderling crawl https://example.org/    # crawl a site into ./collection; run again to continue or update
  sanderling watch https://example.org/p   # watch a page; without a URL: check, print changes, notify
  sanderling changes                       # what changed, down to the word
  sanderling search "tide tables"          # search the stored pages
  sanderling serve                         # the same in the browser
"""

EXIT_CODES_HELP = """\
exit codes: 0 success; 1 internal error; 3 disk full; 4 wrong usage or settings; 9 nothing could be fetched;
            11 interrupted, everything saved; 13 forced stop, committed data is safe; 14 page limit; 15 time limit;
            17 database unavailable; 18 remaining hosts asked to retry later
"""


class CommandCall(Struct, frozen=True):
    """A parsed command line: arguments, merged settings, common flags."""

    args: argparse.Namespace
    setting_values: dict[str, object]
    collection: Path
    json: bool = False
    quiet: bool = False
    verbose: int = 0

    def get_settings(self, group: type[G]) -> G:
        """Merge defaults, file, environment, and flags."""
        return build_group(group, self.setting_values)


class CommandParser(argparse.ArgumentParser):
    """Raises UsageError instead of exiting with code 2."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")


def import_command(name: str) -> Any:
    """Import the module of a command from the package of its group."""
    package = next(title for title, commands in COMMAND_GROUPS.items() if name in commands).replace(" ", "_")
    module = name.replace("-", "_") + "_" * keyword.iskeyword(name)
    return importlib.import_module(f"sanderling.cli.commands.{package}.{module}")


def add_common_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that every command accepts."""
    common = parser.add_argument_group("every command")
    common.add_argument("-C", "--collection", metavar="DIR", help="where the collection is (default: collection)")
    common.add_argument("--json", action="store_true", help="print JSON for scripts")
    common.add_argument("--quiet", action="store_true", help="print results only")
    common.add_argument(
        "-v", "--verbose", action="count", default=0, help="print a line per failed request (-vv: per request)"
    )
    common.add_argument("--settings", metavar="FILE", help=SETTINGS_FILE_HELP)


def add_setting(group: argparse._ArgumentGroup, setting: Setting) -> None:
    """Add a setting as a flag, parsed later together with file and environment."""
    if setting.kind == "switch":
        group.add_argument(setting.flag, action=argparse.BooleanOptionalAction, default=None, help=setting.help)
    elif setting.kind == "texts":
        group.add_argument(setting.flag, action="append", metavar="X", help=setting.help)
    else:
        metavar = "|".join(setting.choices) or {"count": "N", "duration": "TIME", "size": "SIZE"}.get(setting.kind, "X")
        group.add_argument(setting.flag, metavar=metavar, help=setting.help)


def fill_parser(parser: argparse.ArgumentParser, module: Any) -> None:
    """Add the arguments, examples, and settings of a command to its parser."""
    parser.description = module.HELP
    parser.epilog = EXAMPLE_REMARK.sub(r"\1# ", module.EXAMPLES)
    module.arguments(parser)
    for group in getattr(module, "GROUPS", ()):
        section = parser.add_argument_group((group.__doc__ or "").strip().rstrip(".").lower())
        for setting in get_group_settings(group):
            if setting.name in getattr(module, "ONLY", (setting.name,)):  # the command accepts a part of the group
                add_setting(section, setting)
    add_common_flags(parser)


def build_parser(name: str) -> CommandParser:
    """Build a parser that keeps the formatting of the examples."""
    return CommandParser(prog=name, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)


def parse_call(argv: Sequence[str], groups: CommandGroups) -> tuple[CommandCall, Any]:
    """Find the command, import only its module, and parse its arguments."""
    commands = {name: text for group in groups.values() for name, text in group.items()}
    if not argv or argv[0] in ("-h", "--help", "help"):
        print(format_overview(groups))
        raise SystemExit(EXIT_OK if argv else EXIT_USAGE)
    if argv[0] in ("-V", "--version"):
        print(f"sanderling {sanderling.__version__}")
        raise SystemExit(EXIT_OK)
    argv = _move_command_first(argv, commands)
    if argv[0] not in commands:
        known = COMMAND_SYNONYMS.get(argv[0])
        hint = f"; did you mean sanderling {known}?" if known else suggest_or_list_names(argv[0], list(commands))
        raise UsageError(f"there is no command {argv[0]!r}{hint}")
    module = import_command(argv[0])
    parser = build_parser(f"sanderling {argv[0]}")
    fill_parser(parser, module)
    args, unknown = parser.parse_known_intermixed_args(argv[1:])  # flags may appear between positional arguments
    flags = [flag for action in parser._actions for flag in action.option_strings]
    unknown = _find_mistyped_flags(argv[1:], flags) or unknown
    if unknown:
        close = suggest_name(unknown[0].partition("=")[0], flags) if unknown[0].startswith("-") else ""
        if not unknown[0].startswith("--"):
            close = getattr(module, "DASHED", close)  # commands whose positional arguments may start with a dash
        raise UsageError(f"{redact_flag_value(unknown[0])!r} is not a known argument{close} (see {parser.prog} --help)")
    return build_call(args, getattr(module, "GROUPS", ())), module


def _find_mistyped_flags(words: Sequence[str], flags: Sequence[str]) -> list[str]:
    """Return unknown `--flag=value` words with a space, which argparse takes for positionals."""
    typed = words[: words.index("--")] if "--" in words else words
    return [word for word in typed if (flag := match_flag_with_equals(word)) and flag[1] not in flags]


def _move_command_first(argv: Sequence[str], commands: Mapping[str, str]) -> Sequence[str]:
    """Accept common flags before the command: `-C DIR status`."""
    place = 0
    while place < len(argv) and argv[place].startswith("-"):
        place += 2 if argv[place] in FLAGS_WITH_VALUE else 1
    if not 0 < place < len(argv) or argv[place] not in commands:
        return argv
    return [argv[place], *argv[:place], *argv[place + 1 :]]


def build_call(args: argparse.Namespace, groups: Sequence[type[Struct]] = ()) -> CommandCall:
    """Merge flags, environment, and settings file into a call."""
    every: list[type[Struct]] = [*groups, CollectionSettings]
    own = {setting.name for group in every for setting in get_group_settings(group)}
    flags = {name: value for name, value in vars(args).items() if name in own}
    named = args.settings or os.environ.get(f"{ENVIRONMENT_PREFIX}SETTINGS", "")
    file = Path(named or "sanderling.toml")
    found = read_settings(flags, file=file if named or file.is_file() else None)
    collection = Path(build_group(CollectionSettings, found).collection or "collection")
    return CommandCall(args, found, collection, args.json, args.quiet, args.verbose)


def format_overview(groups: CommandGroups) -> str:
    """Return the text of `sanderling --help`: examples, commands by group, exit codes."""
    width = max(len(name) for commands in groups.values() for name in commands)
    sections = [
        f"{title}:\n" + "\n".join(f"  {name:<{width}}  {text}" for name, text in commands.items())
        for title, commands in groups.items()
    ]
    footer = f"\nRun sanderling COMMAND --help for details.\n{EXIT_CODES_HELP}"
    return "\n".join([INTRODUCTION, *sections, footer])


def parse_whole_number(text: str) -> int:
    """Parse a non-negative integer argument."""
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a non-negative whole number")
    return int(text)


def parse_share(text: str) -> float:
    """Parse an argument between 0 and 1."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0.0 <= number <= 1.0:  # also rejects NaN
        raise argparse.ArgumentTypeError(f"{text!r} is not a number between 0 and 1")
    return number


def print_json(value: object) -> None:
    """Print JSON on a line, in ASCII if the output is not UTF-8."""
    narrow = (sys.stdout.encoding or "").lower() not in ("utf-8", "utf8")
    print(json.dumps(value, ensure_ascii=narrow, separators=(", ", ": ")))


def format_value(value: object) -> object:
    """Return yes or no for booleans, other values unchanged."""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value


def print_rows(rows: Iterable[Sequence[object]], header: Sequence[str], empty_message: str = "nothing to show") -> None:
    """Print a plain table, or `empty_message` to standard error.

    Column widths come from the first rows, so that long tables stream. In a terminal, long columns go below each row.
    """
    text = (tuple("" if cell is None else strip_control_characters(format_value(cell)) for cell in row) for row in rows)
    seen = [tuple(header), *islice(text, MEASURED_ROWS)]
    room = get_terminal_size().columns if can_draw(sys.stdout) else 0
    layout = plan_layout(seen, MAX_COLUMN_WIDTH, room)
    for row in chain(seen, text):
        print(format_row(row, layout, room))
    if len(seen) == 1:
        print(empty_message, file=sys.stderr)


def print_message(call: CommandCall, text: str) -> None:
    """Print a message to standard error unless --quiet was given."""
    if not call.quiet:
        print(text, file=sys.stderr)


def can_draw(stream: TextIO) -> bool:
    """Return whether the stream is a terminal that understands escape sequences."""
    return stream.isatty() and os.environ.get("TERM", "") not in ("dumb", "unknown")


def fold_line(text: str, indent: int, width: int = 0) -> str:
    """Wrap a line at the terminal width."""
    if not (width or can_draw(sys.stdout)):
        return text
    room = max((width or get_terminal_size().columns) - indent, MIN_FOLD_WIDTH)
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if lines[-1] and len(ANSI_COLOR.sub("", longer)) > room:
            lines.append(word)
        else:
            lines[-1] = longer
    return f"\n{' ' * indent}".join(lines)


def confirm(prompt: str) -> bool:
    """Ask on standard error. Anything but yes is a no."""
    print(f"{prompt} [y/N] ", end="", file=sys.stderr, flush=True)
    try:
        return input().strip().lower() in ("y", "yes")
    except EOFError:
        print(file=sys.stderr)
        return False
