from pathlib import Path

import pytest

from sanderling.config.loader import build_group, load_all_settings, parse_duration, parse_size, read_settings
from sanderling.config.settings import LimitSettings, PolitenessSettings, ScopeSettings
from sanderling.errors import UsageError


def test_flag_beats_environment_beats_file_beats_default(tmp_path: Path) -> None:
    file = tmp_path / "sanderling.toml"
    file.write_text('limit = 1\ndepth = 2\ntime-limit = "2h"\n')
    found = read_settings({"limit": "3"}, {"SANDERLING_LIMIT": "2", "SANDERLING_DEPTH": "4"}, file)
    limits = build_group(LimitSettings, found)
    assert (limits.limit, limits.depth, limits.time_limit, limits.size_limit) == (3, "4", 7200.0, 0)


def test_an_unknown_key_names_the_nearest_known_one(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text("time_limt = 3\n")
    with pytest.raises(UsageError, match=r"no setting 'time_limt'; did you mean time_limit\?"):
        read_settings({}, {}, file)
    with pytest.raises(UsageError, match=r"SANDERLING_DEPHT: .*did you mean depth\?"):
        read_settings({}, {"SANDERLING_DEPHT": "1"})


def test_a_wrong_value_gets_one_clear_sentence() -> None:
    with pytest.raises(UsageError, match="--scope: scope is one of page, prefix, host, domain, any, not 'galaxy'"):
        read_settings({"scope": "galaxy"}, {})
    with pytest.raises(UsageError, match="--limit: '-5' is no whole number"):
        read_settings({"limit": "-5"}, {})
    with pytest.raises(UsageError, match="--workers: '-1' is no whole number"):
        read_settings({"workers": "-1"}, {})
    with pytest.raises(UsageError, match="'soon' is no duration"):
        read_settings({"delay": "soon"}, {})


@pytest.mark.parametrize("flags", [{"contact": "m\udcff"}, {"header": ["A: b", "C: \udcff"]}, {"collection": "\udcff"}])
def test_bytes_that_are_no_text_are_refused_before_they_travel(flags: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=r"--(contact|header|collection): .* no text in UTF-8"):
        read_settings(flags, {})


@pytest.mark.parametrize("flags", [{"max_body": "9" * 20}, {"concurrency": "9" * 20}, {"timeout": "9" * 20 + "d"}])
def test_a_number_beyond_all_measure_is_refused(flags: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="more than can be counted"):
        read_settings(flags, {})


def test_an_empty_pattern_is_none() -> None:
    assert read_settings({"exclude": ["", "a"]}, {"SANDERLING_INCLUDE": ""}) == {"exclude": ("a",), "include": ()}


def test_broken_and_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read the settings file"):
        read_settings({}, {}, tmp_path / "none.toml")
    broken = tmp_path / "broken.toml"
    broken.write_text("= 3")
    with pytest.raises(UsageError, match="no valid TOML"):
        read_settings({}, {}, broken)


def test_a_file_may_come_from_any_editor(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_bytes(b"\xef\xbb\xbflimit = 5\r\n")
    assert read_settings({}, {}, file) == {"limit": 5}


def test_units_are_what_people_write() -> None:
    assert (parse_duration("90"), parse_duration("1.5h"), parse_duration("2d")) == (90, 5400, 172800)
    assert (parse_duration("250ms"), parse_duration("1h30m"), parse_duration("1d2h")) == (0.25, 5400, 93600)
    for wrong in ("1h30", "1h30x", "h", "1.2.3s4m", ""):
        with pytest.raises(ValueError, match="no duration"):
            parse_duration(wrong)
    assert (parse_size("500MB"), parse_size("2GiB"), parse_size("10")) == (500_000_000, 2**31, 10)


def test_every_setting_has_a_help_text_and_a_name_of_its_own() -> None:
    settings = load_all_settings()
    assert all(setting.help for setting in settings.values())
    assert {"scope", "delay", "limit", "allow_private", "workers"} <= set(settings)


def test_lists_come_from_flags_files_and_environment() -> None:
    assert build_group(ScopeSettings, read_settings({"include": ["a", "b"]}, {})).include == ("a", "b")
    assert build_group(ScopeSettings, read_settings({}, {"SANDERLING_EXCLUDE": "x\ny"})).exclude == ("x", "y")
    assert build_group(PolitenessSettings, read_settings({}, {})).delay == 1.0
