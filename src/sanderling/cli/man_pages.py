"""Man pages from the parsers of the commands: one for the program, and one for each command."""

import argparse
import re

from sanderling import __version__
from sanderling.cli.arguments import (
    EXIT_CODES_HELP,
    INTRODUCTION,
    CommandGroups,
    build_parser,
    fill_parser,
    import_command,
)

FILES = (
    ("./collection", "the collection, unless -C names another"),
    ("./sanderling.toml", "settings, unless --settings names another file"),
)


def escape(text: str) -> str:
    """Escape text for roff: backslashes, hyphens, and lines that would be requests."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"(?m)^(?=[.'])", "\\\\&", escaped)


def format_title(name: str) -> str:
    return f'.TH "{escape(name.upper())}" "1" "" "Sanderling {escape(__version__)}" "Sanderling"'


def format_literal(text: str) -> str:
    return f".nf\n{escape(text.strip(chr(10)))}\n.fi"


def format_exit_status() -> str:
    text = " ".join(EXIT_CODES_HELP.partition(":")[2].split())
    items = [item.strip().partition(" ") for item in text.split(";")]
    return "\n".join(f".TP\n.B {code}\n{escape(meaning)}" for code, _, meaning in items)


def format_overview_page(groups: CommandGroups) -> str:
    """Return sanderling(1)."""
    parts = [format_title("sanderling"), ".SH NAME"]
    parts.append(escape("sanderling - incremental web crawler, change detector, and search engine"))
    parts += [".SH SYNOPSIS", ".B sanderling", ".I command", "[options]", ".SH DESCRIPTION"]
    first, _, examples = INTRODUCTION.partition("\n\n")
    parts += [escape(first), ".PP", format_literal(examples), ".SH COMMANDS"]
    for group, commands in groups.items():
        parts.append(f".SS {escape(group[0].upper() + group[1:])}")
        parts += [f".TP\n.BR {escape(f'sanderling-{name}')} (1)\n{escape(text)}" for name, text in commands.items()]
    parts += [".SH EXIT STATUS", format_exit_status(), ".SH FILES"]
    parts += [f".TP\n.I {escape(name)}\n{escape(text)}" for name, text in FILES]
    return "\n".join(parts) + "\n"


def format_command_page(name: str, purpose: str) -> str:
    """Return sanderling-NAME(1)."""
    parser = build_parser(f"sanderling {name}")
    module = import_command(name)
    fill_parser(parser, module)
    usage = " ".join(parser.format_usage().removeprefix("usage: ").split())
    parts = [format_title(f"sanderling-{name}"), ".SH NAME", escape(f"sanderling-{name} - {purpose}")]
    parts += [".SH SYNOPSIS", escape(usage), ".SH DESCRIPTION", escape(module.HELP), ".SH OPTIONS"]
    for group in parser._action_groups:
        actions = [action for action in group._group_actions if action.help is not argparse.SUPPRESS]
        if actions:
            parts.append(f".SS {escape((group.title or 'options').capitalize())}")
            parts += [format_option(action) for action in actions]
    examples = re.sub(r"\A\s*examples:\n", "", parser.epilog or "")
    if examples.strip():
        parts += [".SH EXAMPLES", format_literal(examples)]
    parts += [".SH EXIT STATUS", format_exit_status(), ".SH SEE ALSO", ".BR sanderling (1)"]
    return "\n".join(parts) + "\n"


def format_option(action: argparse.Action) -> str:
    """Return the item of an option or argument."""
    value = action.metavar or ("|".join(map(str, action.choices)) if action.choices else action.dest.upper())
    value = value if isinstance(value, str) else " ".join(value)
    if action.option_strings:
        flags = ", ".join(f"\\fB{escape(flag)}\\fR" for flag in action.option_strings)
        head = flags if action.nargs == 0 else f"{flags} \\fI{escape(value)}\\fR"
    else:
        head = f"\\fI{escape(value)}\\fR"
    text = (action.help or "") % {"default": action.default, "prog": "sanderling"} if action.help else ""
    return f".TP\n{head}\n{escape(text)}" if text else f".TP\n{head}\n\\&"


def build_man_pages(groups: CommandGroups) -> dict[str, str]:
    """Return all pages by file name."""
    pages = {"sanderling.1": format_overview_page(groups)}
    for commands in groups.values():
        pages |= {f"sanderling-{name}.1": format_command_page(name, purpose) for name, purpose in commands.items()}
    return pages
