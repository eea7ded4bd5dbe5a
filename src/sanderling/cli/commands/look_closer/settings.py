"""sanderling settings: list all settings."""

import argparse

from sanderling.cli.arguments import CommandCall, print_json, print_rows
from sanderling.config.loader import ENVIRONMENT_PREFIX, load_all_settings
from sanderling.config.redact import redact_setting

HELP = "List all settings: current value (without secrets), flag, key in sanderling.toml, environment variable."
EXAMPLES = """\
examples:
  sanderling settings
  SANDERLING_DELAY=2 sanderling settings --json
  SANDERLING_SETTINGS=~/mine.toml sanderling settings     # same as --settings
"""


def arguments(parser: argparse.ArgumentParser) -> None: ...


def run(call: CommandCall) -> int:
    """Print the table of settings."""
    rows = []
    for name, setting in load_all_settings().items():
        value = redact_setting(name, call.setting_values.get(name, setting.default))
        rows.append(
            {
                "name": name,
                "value": list(value) if isinstance(value, tuple) else value,
                "set": name in call.setting_values,
                "flag": setting.flag,
                "environment": ENVIRONMENT_PREFIX + name.upper(),
                "help": setting.help,
            }
        )
    if call.json:
        for row in rows:
            print_json(row)
    else:
        print_rows(
            [
                (row["name"], _format_setting(row["value"]), row["flag"], row["environment"], row["help"])
                for row in rows
            ],
            ("toml key", "value", "flag", "environment", "meaning"),
        )
    return 0


def _format_setting(value: object) -> str:
    """Format a value as in a settings file; `-` if empty."""
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(value) or "-" if isinstance(value, list) else str(value) or "-"
