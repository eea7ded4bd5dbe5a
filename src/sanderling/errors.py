"""Exception hierarchy and exit codes for errors of the program or its user.

    SanderlingError            exit 1   base class
    ├── UsageError             exit 4   invalid flag, setting, pattern or name
    ├── CollectionError        exit 4   collection missing, in use, damaged, or of an unsupported version
    │   ├── CollectionInUse    exit 4   another process writes to it
    │   └── IndexDamaged       exit 4   search index damaged; the archive it is built from is intact
    ├── DiskFull               exit 3   no space left; committed data stays readable
    ├── MissingExtra           exit 4   optional dependency not installed
    ├── SinkUnavailable        exit 17  target of a sink unreachable
    ├── DatabaseUnavailable    exit 17  connection to the shared database lost and not restored
    ├── ShardLeaseLost         exit 17  shard taken over by another process
    └── ClusterUnavailable     exit 17  cluster unreachable

Errors of web servers are never exceptions: they are an `Outcome` with a `Reason` (models.py).
"""

import errno
import json
import sys
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote

DISK_FULL_ERRNOS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class SanderlingError(Exception):
    """The message names the failed operation and the next step."""

    exit_code = 1


class UsageError(SanderlingError):
    """Invalid flag, setting, pattern or name."""

    exit_code = 4


class CollectionError(SanderlingError):
    """Collection missing, in use, damaged, or of an unsupported version."""

    exit_code = 4


class CollectionInUse(CollectionError):
    """Another process writes to the collection."""


class IndexDamaged(CollectionError):
    """Search index damaged; the archive it is built from is intact."""


class DiskFull(SanderlingError):
    """No space left on the disk."""

    exit_code = 3


def build_write_error(target: object, error: OSError) -> SanderlingError:
    """Return `DiskFull` or `UsageError` for a failed write."""
    error_class = DiskFull if error.errno in DISK_FULL_ERRNOS else UsageError
    return error_class(f"cannot write {target}: {error.strerror or error}")


class MissingExtra(SanderlingError):
    """Optional dependency not installed."""

    exit_code = 4

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an optional part: {build_install_command(extra)}")


def read_install_source() -> str | None:
    """Return the direct_url.json of pip (PEP 610). None: not recorded."""
    from importlib.metadata import PackageNotFoundError, distribution  # slow import, rarely needed

    try:
        return distribution("sanderling").read_text("direct_url.json")
    except PackageNotFoundError:
        return None


def build_install_command(extra: str) -> str:
    source = json.loads(read_install_source() or "{}")
    path = unquote(source.get("url", "").partition("file://")[2])
    editable = "-e " if path and source.get("dir_info", {}).get("editable") else ""
    requirement = f"{editable}'{path or 'sanderling'}[{extra}]'"
    environment = Path(sys.prefix)
    if (environment / "uv-receipt.toml").is_file():  # `uv tool install` drops extras that are not listed again
        extras = ",".join(sorted({*_read_uv_tool_extras(environment / "uv-receipt.toml"), extra}))
        return f"uv tool install {requirement.replace(f'[{extra}]', f'[{extras}]')}"
    if (environment / "pipx_metadata.json").is_file():
        return f"pipx runpip {environment.name} install {requirement}"
    if find_spec("pip") is None:  # created by uv
        return f"uv pip install --python {sys.executable} {requirement}"
    return f"{sys.executable} -m pip install {requirement}" if path else f"pip install {requirement}"


def _read_uv_tool_extras(receipt: Path) -> list[str]:
    import tomllib

    tool = tomllib.loads(receipt.read_text()).get("tool", {})
    return [
        extra
        for requirement in tool.get("requirements", [])
        if requirement.get("name") == "sanderling"
        for extra in requirement.get("extras", [])
    ]


class DatabaseUnavailable(SanderlingError):
    """Shared database unreachable."""

    exit_code = 17


class ShardLeaseLost(SanderlingError):
    """Another process owns the shard now. Uncommitted pages are fetched again."""

    exit_code = 17


class SinkUnavailable(SanderlingError):
    """Target of a sink unreachable, or it refused rows. What it did not confirm is sent again."""

    exit_code = 17


class ClusterUnavailable(SanderlingError):
    """Cluster of the workers unreachable."""

    exit_code = 17
