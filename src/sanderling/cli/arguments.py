"""What all commands share: the argument parser, the call record, exit codes, printing."""

import argparse
import importlib
import json
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
    "archive": "export", "bench": "experiment", "clean": "crawl --clean", "config": "settings",
    "configcheck": "settings", "dedup": "pages --duplicates", "fetch": "check parse", "inject": "crawl",
    "mirror": "crawl", "normalize": "check url", "parsechecker": "check parse", "purge": "delete --not-seen",
    "queue": "pages --skipped", "resume": "crawl", "robots": "check robots",
    "robotsparser": "check robots", "start": "crawl", "stats": "status", "version": "--version", "view": "show",
    "watch": "refresh --watch", "worker": "workers",
    "dust": "url-rules", "forget": "delete", "host": "migrant", "like": "similar", "migrants": "workers",
}  # fmt: skip
"""What other crawlers call a command, and what does it here."""

G = TypeVar("G", bound=Struct)

INTRODUCTION = """\
Sanderling keeps a searchable, always fresh copy of web sites.

  sanderling crawl https://example.org/            # crawl a site into ./collection
  sanderling crawl https://example.org/            # again: go on, or visit again what may have changed
  sanderling pages --json                          # what is stored, one object per line
  sanderling pages --skipped                       # what was not fetched, and why
  sanderling show https://example.org/             # the stored page
  sanderling check url "https://example.org/?a=1"  # what would happen with this URL
"""

EXIT_CODES_HELP = """\
exit codes: 0 done; 1 something of ours failed; 3 disk full; 4 wrong usage or settings; 9 nothing could be fetched;
            11 interrupted, all saved; 13 forced to stop, nothing committed is lost; 14 size limit; 15 time limit;
            17 the store went away; 18 what is left asked us to come back later
"""


class CommandCall(Struct, frozen=True):
    """One command as it was typed."""

    args: argparse.Namespace
    setting_values: dict[str, object]
    collection: Path
    json: bool = False
    quiet: bool = False
    verbose: int = 0

    def get_settings(self, group: type[G]) -> G:
        """The settings of one room: defaults, file, environment and flags already merged."""
        return build_group(group, self.setting_values)


class CommandParser(argparse.ArgumentParser):
    """argparse that answers with one sentence and our exit code."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")


def import_command(name: str) -> Any:
    """Import the module of a command."""
    return importlib.import_module(f"sanderling.cli.commands.{name.replace('-', '_')}")


def add_common_flags(parser: argparse.ArgumentParser) -> None:
    """The flags every command takes."""
    common = parser.add_argument_group("every command")
    common.add_argument("-C", "--collection", metavar="DIR", help="where the collection is (default: collection)")
    common.add_argument("--json", action="store_true", help="print JSON for scripts")
    common.add_argument("--quiet", action="store_true", help="print results only")
    common.add_argument(
        "-v", "--verbose", action="count", default=0, help="say more: a line per failed visit (-vv: per visit)"
    )
    common.add_argument("--settings", metavar="FILE", help=SETTINGS_FILE_HELP)


def add_setting(group: argparse._ArgumentGroup, setting: Setting) -> None:
    """One setting as a flag; the value stays as typed and is read together with file and environment."""
    if setting.kind == "switch":
        group.add_argument(setting.flag, action=argparse.BooleanOptionalAction, default=None, help=setting.help)
    elif setting.kind == "texts":
        group.add_argument(setting.flag, action="append", metavar="X", help=setting.help)
    else:
        metavar = "|".join(setting.choices) or {"count": "N", "duration": "TIME", "size": "SIZE"}.get(setting.kind, "X")
        group.add_argument(setting.flag, metavar=metavar, help=setting.help)


def fill_parser(parser: argparse.ArgumentParser, module: Any) -> None:
    """Give a parser the arguments of its command."""
    parser.description = module.HELP
    parser.epilog = EXAMPLE_REMARK.sub(r"\1# ", module.EXAMPLES)
    module.arguments(parser)
    for group in getattr(module, "GROUPS", ()):
        section = parser.add_argument_group((group.__doc__ or "").strip().rstrip(".").lower())
        for setting in get_group_settings(group):
            if setting.name in getattr(module, "ONLY", (setting.name,)):  # what else is in the group is not for it
                add_setting(section, setting)
    add_common_flags(parser)


def build_parser(name: str) -> CommandParser:
    """A parser that prints examples as they are written."""
    return CommandParser(prog=name, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)


def parse_call(argv: Sequence[str], commands: Mapping[str, str]) -> tuple[CommandCall, Any]:
    """Find the command, import its module alone, and read its arguments."""
    if not argv or argv[0] in ("-h", "--help", "help"):
        print(format_overview(commands))
        raise SystemExit(EXIT_OK if argv else EXIT_USAGE)
    if argv[0] in ("-V", "--version"):
        print(f"sanderling {sanderling.__version__}")
        raise SystemExit(EXIT_OK)
    argv = _move_command_first(argv, commands)
    if argv[0] not in commands:
        meant = COMMAND_SYNONYMS.get(argv[0])
        hint = f"; did you mean sanderling {meant}?" if meant else suggest_or_list_names(argv[0], list(commands))
        raise UsageError(f"there is no command {argv[0]!r}{hint}")
    module = import_command(argv[0])
    parser = build_parser(f"sanderling {argv[0]}")
    fill_parser(parser, module)
    args, unknown = parser.parse_known_intermixed_args(argv[1:])  # flags may stand between what else is given
    flags = [flag for action in parser._actions for flag in action.option_strings]
    unknown = _find_mistyped_flags(argv[1:], flags) or unknown
    if unknown:
        close = suggest_name(unknown[0].partition("=")[0], flags) if unknown[0].startswith("-") else ""
        if not unknown[0].startswith("--"):
            close = getattr(module, "DASHED", close)  # where a dash may begin something else than a flag
        raise UsageError(f"{redact_flag_value(unknown[0])!r} is not understood{close} (see {parser.prog} --help)")
    return build_call(args, getattr(module, "GROUPS", ())), module


def _find_mistyped_flags(words: Sequence[str], flags: Sequence[str]) -> list[str]:
    """Flags with a value that there are not: with a space in it, argparse would take one for a URL or the like."""
    typed = words[: words.index("--")] if "--" in words else words
    return [word for word in typed if (flag := match_flag_with_equals(word)) and flag[1] not in flags]


def _move_command_first(argv: Sequence[str], commands: Mapping[str, str]) -> Sequence[str]:
    """Take flags that were written before the command (`-C DIR status`) as if they came after it."""
    place = 0
    while place < len(argv) and argv[place].startswith("-"):
        place += 2 if argv[place] in FLAGS_WITH_VALUE else 1
    if not 0 < place < len(argv) or argv[place] not in commands:
        return argv
    return [argv[place], *argv[:place], *argv[place + 1 :]]


def build_call(args: argparse.Namespace, groups: Sequence[type[Struct]] = ()) -> CommandCall:
    """Merge flags, environment and file into one call; a flag is a setting only where its group is the command's."""
    every: list[type[Struct]] = [*groups, CollectionSettings]
    own = {setting.name for group in every for setting in get_group_settings(group)}
    flags = {name: value for name, value in vars(args).items() if name in own}
    named = args.settings or os.environ.get(f"{ENVIRONMENT_PREFIX}SETTINGS", "")
    file = Path(named or "sanderling.toml")
    found = read_settings(flags, file=file if named or file.is_file() else None)
    collection = Path(build_group(CollectionSettings, found).collection or "collection")
    return CommandCall(args, found, collection, args.json, args.quiet, args.verbose)


def format_overview(commands: Mapping[str, str]) -> str:
    """What `sanderling --help` prints: examples first."""
    width = max(map(len, commands))
    rows = "\n".join(f"  {name:<{width}}  {text}" for name, text in commands.items())
    return f"{INTRODUCTION}\ncommands:\n{rows}\n\nsanderling COMMAND --help says more.\n{EXIT_CODES_HELP}"


def parse_whole_number(text: str) -> int:
    """A whole number from 0 on, as an argument."""
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0 on")
    return int(text)


def parse_share(text: str) -> float:
    """A number from 0 to 1, as an argument."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0.0 <= number <= 1.0:  # nor is what is no number
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 to 1")
    return number


def print_json(value: object) -> None:
    """One object on one line."""
    narrow = (sys.stdout.encoding or "").lower() not in ("utf-8", "utf8")  # then every letter is spelled in ASCII
    print(json.dumps(value, ensure_ascii=narrow, separators=(", ", ": ")))


def format_value(value: object) -> object:
    """A value as a person says it."""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value


def print_rows(rows: Iterable[Sequence[object]], header: Sequence[str], empty_message: str = "nothing to show") -> None:
    """A plain table whose last column may be as long as it likes; a person is told when it is empty.

    The first rows say how wide the columns are: a long list begins at once, and is not kept in memory.
    """
    text = (tuple("" if cell is None else strip_control_characters(format_value(cell)) for cell in row) for row in rows)
    seen = [tuple(header), *islice(text, MEASURED_ROWS)]
    widths = [min(MAX_COLUMN_WIDTH, max(len(row[column]) for row in seen)) for column in range(len(header) - 1)]
    for row in chain(seen, text):
        print("  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]))
    if len(seen) == 1:
        print(empty_message, file=sys.stderr)


def print_message(call: CommandCall, text: str) -> None:
    """Tell a person something that is not the result; silent with --quiet."""
    if not call.quiet:
        print(text, file=sys.stderr)


def can_draw(stream: TextIO) -> bool:
    """Is somebody looking, at something that obeys more than letters?"""
    return stream.isatty() and os.environ.get("TERM", "") not in ("dumb", "unknown")


def fold_line(text: str, indent: int, width: int = 0) -> str:
    """Break a line between words where a person reads it on a terminal; what follows is indented as its beginning."""
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
    """Ask a person, where no results go; only a yes is one, and no answer at all (Ctrl-D) is a no."""
    print(f"{prompt} [y/N] ", end="", file=sys.stderr, flush=True)
    try:
        return input().strip().lower() in ("y", "yes")
    except EOFError:
        print(file=sys.stderr)
        return False
