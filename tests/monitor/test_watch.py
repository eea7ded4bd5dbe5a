from contextlib import closing
from pathlib import Path

import pytest
from msgspec import json

from sanderling.db.connection import apply_migrations, connect_sqlite
from sanderling.db.schema.monitor import MIGRATIONS
from sanderling.errors import UsageError
from sanderling.monitor.watch import Watch
from sanderling.monitor.watch_file import build_watch, load_watch_digest, load_watch_file
from sanderling.monitor.watch_store import DATABASE, WatchStore


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("selector", "p[", "CSS selector"),
        ("selector", "//p[", "XPath"),
        ("selector", "$.items[", "JSON path"),
        ("selector", "re:(", "regular expression"),
        ("selector", "re:(a+)+$", "too long"),
        ("ignore", "re:^(?:\\w+\\s?)*$", "too long"),
        ("condition", "cheap", "not a condition"),
        ("every", "soon", "not a duration"),
        ("hours", "8 to 5", "active hours"),
        ("hours", "08:00-12:00, later", "'later' are not active hours"),
        ("days", "payday", "not days of the week"),
        ("days", "mon-", "not days of the week"),
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


def test_settings_file_sets_the_digest_of_all_watches(tmp_path: Path) -> None:
    file = tmp_path / "sanderling.toml"
    file.write_text('[watch_digest]\nevery = "12h"\nnotify = "https://hooks.example.org/x"\n')
    assert load_watch_digest(file) == (43_200.0, ("https://hooks.example.org/x",))
    file.write_text('[watch_digest]\nevery = "12h"\n')
    with pytest.raises(UsageError, match="needs notify"):
        load_watch_digest(file)


def test_watches_of_earlier_versions_keep_their_kinds(tmp_path: Path) -> None:
    definition = json.encode(Watch(name="w", urls=("http://a/",), kinds=("behaviour",)))
    with closing(connect_sqlite(tmp_path / DATABASE)) as db:
        apply_migrations(db, {"monitor": MIGRATIONS[:2]})
        db.execute("INSERT INTO watches (name, definition) VALUES ('w', ?)", (definition,))
    with closing(WatchStore(tmp_path)) as store:
        assert [watch.kinds for watch in store.load_watches().values()] == [("behavior",)]
