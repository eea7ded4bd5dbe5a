"""The tree of errors: what *we* (or the person at the keyboard) did wrong.

    SanderlingError            exit 1   anything of ours
    ├── UsageError             exit 4   a flag, a setting, a pattern or a name that cannot be
    ├── CollectionError        exit 4   no collection there, one of another version, one in use or damaged
    ├── DiskFull               exit 3   no room left; what was committed stays readable
    ├── MissingExtra           exit 4   a feature whose optional dependency is not installed
    ├── StoreUnavailable       exit 17  the database went away and did not come back
    └── EngineUnavailable      exit 17  the cluster is not there, or went away and did not come back

What the *web* does wrong is never an exception: it is an `Outcome` with a `Reason` (models.py).
"""

import errno
import json
import sys
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote

DISK_FULL_ERRNOS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class SanderlingError(Exception):
    """Something of ours went wrong; the message says what, to what, and the next thing to do."""

    exit_code = 1


class UsageError(SanderlingError):
    """The person asked for something that cannot be."""

    exit_code = 4


class CollectionError(SanderlingError):
    """The collection is missing, in use, damaged, or of a version this program does not know."""

    exit_code = 4


class DiskFull(SanderlingError):
    """No space left on the disk of the collection."""

    exit_code = 3


def build_write_error(target: object, error: OSError) -> SanderlingError:
    """Make the error that says why something could not be written: for want of room, or what else it was."""
    kind = DiskFull if error.errno in DISK_FULL_ERRNOS else UsageError
    return kind(f"cannot write {target}: {error.strerror or error}")


class MissingExtra(SanderlingError):
    """An optional dependency is not installed."""

    exit_code = 4

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an optional part: {build_install_command(extra)}")


def read_install_source() -> str | None:
    """Where pip took the program from, as JSON; None if nobody noted it."""
    from importlib.metadata import PackageNotFoundError, distribution  # slow to wake up, and seldom asked

    try:
        return distribution("sanderling").read_text("direct_url.json")
    except PackageNotFoundError:
        return None


def build_install_command(extra: str) -> str:
    """Return the command that installs an optional part with the installer that made this environment."""
    source = json.loads(read_install_source() or "{}")
    place = unquote(source.get("url", "").partition("file://")[2])
    editable = "-e " if place and source.get("dir_info", {}).get("editable") else ""
    wanted = f"{editable}'{place or 'sanderling'}[{extra}]'"
    environment = Path(sys.prefix)
    if (environment / "uv-receipt.toml").is_file():  # `uv tool install` replaces the parts that were asked for before
        parts = ",".join(sorted({*_read_uv_tool_extras(environment / "uv-receipt.toml"), extra}))
        return f"uv tool install {wanted.replace(f'[{extra}]', f'[{parts}]')}"
    if (environment / "pipx_metadata.json").is_file():
        return f"pipx runpip {environment.name} install {wanted}"
    if find_spec("pip") is None:  # an environment of uv
        return f"uv pip install --python {sys.executable} {wanted}"
    return f"{sys.executable} -m pip install {wanted}" if place else f"pip install {wanted}"


def _read_uv_tool_extras(receipt: Path) -> list[str]:
    """Return the optional parts with which `uv tool` installed the program."""
    import tomllib

    tool = tomllib.loads(receipt.read_text()).get("tool", {})
    return [
        extra
        for one in tool.get("requirements", [])
        if one.get("name") == "sanderling"
        for extra in one.get("extras", [])
    ]


class DatabaseUnavailable(SanderlingError):
    """The shared database cannot be reached."""

    exit_code = 17


class ClusterUnavailable(SanderlingError):
    """The cluster where migrants live cannot be reached."""

    exit_code = 17
