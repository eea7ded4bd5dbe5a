from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from sanderling.errors import UsageError
from sanderling.monitor.watch import Watch, find_next_active_time
from sanderling.monitor.watch_file import build_watch, load_watch_file

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("selector", "p[", "CSS selector"),
        ("selector", "//p[", "XPath"),
        ("selector", "$.items[", "JSON path"),
        ("selector", "re:(", "regular expression"),
        ("condition", "cheap", "not a condition"),
        ("every", "soon", "not a duration"),
        ("hours", "8 to 5", "active hours"),
        ("timezone", "Mars/Base", "time zone"),
        ("notify", "nonsense", "not a notification URL"),
        ("kind", "everything", "unknown kind"),
        ("template", "{price}", "template"),
        ("urls", "ftp://example.org/", "cannot be watched"),
        ("shade", "red", "no setting"),
    ],
)
def test_bad_input_is_one_clear_sentence(setting: str, value: str, message: str) -> None:
    pytest.importorskip("apprise")
    with pytest.raises(UsageError, match=message) as error:
        build_watch({"urls": ["https://example.org/"]} | {setting: value}, 0.0)
    assert "\n" not in str(error.value)


def test_settings_file_lists_watches(tmp_path: Path) -> None:
    file = tmp_path / "sanderling.toml"
    file.write_text(
        '[[watch]]\nname = "lamp"\nurls = ["https://example.org/lamp"]\nevery = "30m"\nxpath = "//b"\n'
        'condition = "below 100"\nactive_hours = "08:00-18:00"\ntime_zone = "Europe/Berlin"\ndigest = "1d"\n'
        '[[watch]]\nsite = "https://example.com/"\n'
    )
    lamp, site = load_watch_file(file, 5.0)
    assert (lamp.every, lamp.selector, lamp.conditions, lamp.digest) == (1800.0, ("xpath://b",), ("below 100",), 86_400)
    assert site.matches("https://example.com/any/page")
    assert not site.matches("https://example.org/lamp")


def test_error_in_the_settings_file_names_the_watch(tmp_path: Path) -> None:
    file = tmp_path / "sanderling.toml"
    file.write_text('[[watch]]\nname = "lamp"\nurls = ["https://example.org/"]\nevery = "often"\n')
    with pytest.raises(UsageError, match=r"'lamp'.*often"):
        load_watch_file(file, 0.0)


@pytest.mark.parametrize(
    ("hours", "now", "expected"),
    [
        ("08:00-18:00", (2026, 11, 18, 9, 0), (2026, 11, 18, 9, 0)),
        ("08:00-18:00", (2026, 11, 18, 7, 0), (2026, 11, 18, 8, 0)),
        ("08:00-18:00", (2026, 11, 18, 18, 30), (2026, 11, 19, 8, 0)),
        ("22:00-06:00", (2026, 11, 18, 23, 0), (2026, 11, 18, 23, 0)),
        ("22:00-06:00", (2026, 11, 18, 12, 0), (2026, 11, 18, 22, 0)),
    ],
)
def test_next_active_time(hours: str, now: tuple[int, ...], expected: tuple[int, ...]) -> None:
    watch = Watch(name="x", urls=("https://example.org/",), hours=hours, timezone="Europe/Berlin")
    at, opening = (datetime(*parts, tzinfo=BERLIN).timestamp() for parts in (now, expected))  # type: ignore[arg-type, misc]
    assert find_next_active_time(watch, at) == opening
