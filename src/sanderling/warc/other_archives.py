"""Archives of other collections that revisit records refer to, by name.

The names are in a file of the archive folder. Records can only name an archive that is listed there: those of an
imported archive must not lead to any other file.
"""

import json
import os
from pathlib import Path

from sanderling.errors import CollectionError

OTHER_ARCHIVES_FILE = "other-archives.json"
OTHER_ARCHIVE_FIELD = "WARC-Refers-To-Archive"  # an extension, like the name and the offset of the file


def load_other_archives(folder: Path) -> dict[str, Path]:
    """Return the folders of other archives by name."""
    try:
        listed = json.loads((folder / OTHER_ARCHIVES_FILE).read_bytes())
        return {str(name): (folder / path).resolve() for name, path in listed.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError):
        raise CollectionError(f"{folder / OTHER_ARCHIVES_FILE} cannot be read") from None


def add_other_archive(folder: Path, other: Path, *, is_sibling: bool = False) -> str:
    """List an archive, unless it is listed. Returns its name. `is_sibling`: it moves together with this one."""
    listed, other = load_other_archives(folder), other.resolve()
    for name, path in listed.items():
        if path == other:
            return name
    stem = other.parent.name or "other"
    name = next(name for name in (stem, *(f"{stem}-{n}" for n in range(2, 10_000))) if name not in listed)
    paths = json.loads((folder / OTHER_ARCHIVES_FILE).read_bytes()) if listed else {}
    paths[name] = os.path.relpath(other, folder.resolve()) if is_sibling else str(other)
    draft = folder / f"{OTHER_ARCHIVES_FILE}.draft"
    draft.write_text(json.dumps(paths, indent=2))
    draft.replace(folder / OTHER_ARCHIVES_FILE)
    return name


def find_other_archive(folder: Path, name: str) -> Path:
    """Return the folder of an archive. Raises CollectionError if it is not listed or missing."""
    path = load_other_archives(folder).get(name)
    if path is None or not path.is_dir():
        place = path or "not listed"
        raise CollectionError(f"the archive {name[:80]} that a revisit record refers to is missing: {place}")
    return path
