"""Install plugins for a test: a folder with a module and the metadata of a package."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sanderling.content import plugin_rules
from sanderling.plugins.plugin_registry import list_plugin_names, load_plugin

Install = Callable[[str, str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Return a function that installs `entry_points.txt` and a module `example_plugin_module`."""
    packages = tmp_path / "packages"

    def install_plugin(entry_points: str, source: str) -> None:
        folder = packages / "test_plugin-1.2.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: test-plugin\nVersion: 1.2\n")
        (folder / "entry_points.txt").write_text(entry_points)
        (packages / "example_plugin_module.py").write_text(source)
        monkeypatch.syspath_prepend(str(packages))
        clear_caches()

    yield install_plugin
    monkeypatch.undo()
    clear_caches()
    sys.modules.pop("example_plugin_module", None)


def clear_caches() -> None:
    list_plugin_names.cache_clear()
    load_plugin.cache_clear()
    plugin_rules.clear_caches()
