from pathlib import Path

import pytest
from tests.support.output import read_json_lines

from sanderling.cli import main
from sanderling.config.loader import load_all_settings


def test_source_of_settings_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["settings", "--help"])
    assert "SANDERLING_SETTINGS=" in capsys.readouterr().out
    assert "SANDERLING_SETTINGS" in (Path(__file__).parents[4] / "docs" / "reference" / "settings.md").read_text()


def test_every_setting_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    main(["settings", "--json"])
    assert {row["name"] for row in read_json_lines(capsys)} == set(load_all_settings())


def test_settings_are_printed_as_in_the_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('exclude = ["/a/", "/b/"]\n')
    main(["settings", "--settings", str(file)])
    shown = {
        line.split()[0]: line.split("  --")[0].split(maxsplit=1)[1] for line in capsys.readouterr().out.splitlines()
    }
    assert [shown[name].strip() for name in ("cookies", "sitemaps", "include", "exclude", "query", "delay")] == [
        "false", "true", "-", "/a/, /b/", "-", "1.0"
    ]  # fmt: skip
