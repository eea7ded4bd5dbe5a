"""sanderling completion: print a completion script for the shell."""

import argparse

import shtab

from sanderling.cli.arguments import CommandCall, build_parser, fill_parser, import_command, print_json
from sanderling.cli.commands import COMMANDS
from sanderling.config.loader import load_all_settings

HELP = "Print a completion script for your shell."
EXAMPLES = """\
examples:
  source <(sanderling completion bash)                                   # for this shell; add it to ~/.bashrc
  mkdir -p ~/.zfunc && sanderling completion zsh > ~/.zfunc/_sanderling  # fpath has to name ~/.zfunc
  sanderling completion fish > ~/.config/fish/completions/sanderling.fish
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish", "tcsh"), help="your shell")


def set_choices(parser: argparse.ArgumentParser) -> None:
    """Set the choices of settings for completion; commands validate values themselves."""
    settings = {setting.flag: setting for setting in load_all_settings().values() if setting.choices}
    for action in parser._actions:
        for flag in action.option_strings:
            if flag in settings:
                action.choices = settings[flag].choices


def run(call: CommandCall) -> int:
    """Print the completion script."""
    whole = build_parser("sanderling")
    subparsers = whole.add_subparsers(dest="command")
    for name, text in COMMANDS.items():
        parser = subparsers.add_parser(name, help=text)
        fill_parser(parser, import_command(name))
        set_choices(parser)
    script = shtab.complete(whole, shell=call.args.shell)
    if call.json:
        print_json({"shell": call.args.shell, "script": script})
    else:
        print(script)
    return 0
