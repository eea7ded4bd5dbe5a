"""Folders of browser processes."""

import os
from pathlib import Path

from sanderling.workers.browser.renderer import FOLDER_PREFIX, lock_folder, remove_abandoned_folders


def test_folders_of_killed_browsers_are_removed(tmp_path: Path) -> None:
    used, abandoned, other = (tmp_path / f"{name}x" for name in (FOLDER_PREFIX, f"{FOLDER_PREFIX}a", "other-"))
    for folder in (used, abandoned, other):
        folder.mkdir()
    os.close(lock_folder(abandoned))
    descriptor = lock_folder(used)
    remove_abandoned_folders(tmp_path)
    assert (used.exists(), abandoned.exists(), other.exists()) == (True, False, True)
    os.close(descriptor)
