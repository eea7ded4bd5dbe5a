"""Generate docs/reference/commands.md and docs/reference/settings.md from the program."""

import os
from pathlib import Path

from sanderling.cli.arguments import EXIT_CODES_HELP, build_parser, fill_parser, import_command
from sanderling.cli.commands import COMMANDS
from sanderling.config.loader import ENVIRONMENT_PREFIX, get_group_settings
from sanderling.config.settings import SETTING_GROUPS

DOCS = Path(__file__).parent.parent / "docs"


EXAMPLE = """\
# sanderling.toml
scope = "prefix"
delay = 2                             # seconds; also "500ms", "1h30m"
max_body = "5MB"                      # bytes; also 5000000, "5MiB"
exclude = ["/print/", "/calendar/"]   # what is repeatable as a flag is a list here
cookies = true
"""


def commands() -> str:
    """Every command as its --help prints it."""
    os.environ["COLUMNS"] = "100"
    parts = [
        "# Commands\n\nWritten by `make docs` from the program itself.\n",
        "| command | what for |\n|---|---|",
        *(f"| [{name}](#{name}) | {text} |" for name, text in COMMANDS.items()),
        "\nEvery command takes `-C DIR`, `--json`, `--quiet`, `-v` and `--settings FILE`.\n",
        f"```\n{EXIT_CODES_HELP}```\n",
    ]
    for name, text in COMMANDS.items():
        parser = build_parser(f"sanderling {name}")
        fill_parser(parser, import_command(name))
        parts.append(f"## {name}\n\n{text[0].upper()}{text[1:]}.\n\n```\n{parser.format_help().rstrip()}\n```\n")
    return "\n".join(parts)


def settings() -> str:
    """Every setting, by group."""
    parts = [
        "# Settings\n\nWritten by `make docs` from the program itself. A flag beats the environment, the environment"
        " beats `sanderling.toml`, that beats the default. `sanderling settings` shows what holds now.\n\n"
        "The file is `./sanderling.toml`, or the one that `--settings FILE` names,"
        f" or else the one that `{ENVIRONMENT_PREFIX}SETTINGS` names in the environment.\n",
        f"```toml\n{EXAMPLE}```\n",
        f"In the environment a list has one entry per line: `{ENVIRONMENT_PREFIX}EXCLUDE=$'/print/\\n/calendar/'`.\n",
    ]
    for group in SETTING_GROUPS:
        parts.append(f"## {(group.__doc__ or '').strip().splitlines()[0].rstrip('.')}\n")
        parts.append("| TOML key | flag | environment | default | meaning |\n|---|---|---|---|---|")
        for setting in get_group_settings(group):
            default = str(setting.default).lower() if setting.kind == "switch" else str(setting.default)
            default = "none" if setting.default in ((), "") else f"`{default}`"
            row = (f"`{setting.name}`", f"`{setting.flag}`", f"`{ENVIRONMENT_PREFIX}{setting.name.upper()}`", default)
            parts.append(f"| {' | '.join(row)} | {setting.help.replace('|', '/')} |")
        parts.append("")
    return "\n".join(parts)


def main() -> None:
    """Write both files."""
    (DOCS / "reference" / "commands.md").write_text(commands())
    (DOCS / "reference" / "settings.md").write_text(settings())


if __name__ == "__main__":
    main()
