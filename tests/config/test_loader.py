"""Settings from flags, environment variables and a TOML file."""

from pathlib import Path

import pytest

from sanderling.config.loader import build_group, load_all_settings, parse_duration, parse_size, read_settings
from sanderling.config.settings import LimitSettings, PolitenessSettings, ScopeSettings
from sanderling.errors import UsageError


def test_flag_beats_environment_beats_file_beats_default(tmp_path: Path) -> None:
    file = tmp_path / "sanderling.toml"
    file.write_text('limit = 1\ndepth = 2\ntime-limit = "2h"\n')
    values = read_settings({"limit": "3"}, {"SANDERLING_LIMIT": "2", "SANDERLING_DEPTH": "4"}, file)
    limits = build_group(LimitSettings, values)
    assert (limits.limit, limits.depth, limits.time_limit, limits.size_limit) == (3, "4", 7200.0, 0)


def test_unknown_setting_suggests_the_closest_name(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text("time_limt = 3\n")
    with pytest.raises(UsageError, match=r"no setting 'time_limt'; did you mean time_limit\?"):
        read_settings({}, {}, file)
    with pytest.raises(UsageError, match=r"SANDERLING_DEPHT: .*did you mean depth\?"):
        read_settings({}, {"SANDERLING_DEPHT": "1"})


def test_invalid_value_is_rejected_with_the_reason() -> None:
    with pytest.raises(UsageError, match="--scope: scope must be one of page, prefix, host, domain, any, not 'galaxy'"):
        read_settings({"scope": "galaxy"}, {})
    with pytest.raises(UsageError, match="--limit: '-5' is not a whole number"):
        read_settings({"limit": "-5"}, {})
    with pytest.raises(UsageError, match="--workers: '-1' is not a whole number"):
        read_settings({"workers": "-1"}, {})
    with pytest.raises(UsageError, match="'soon' is not a duration"):
        read_settings({"delay": "soon"}, {})


@pytest.mark.parametrize("flags", [{"contact": "m\udcff"}, {"header": ["A: b", "C: \udcff"]}, {"collection": "\udcff"}])
def test_values_that_are_not_utf8_are_rejected(flags: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=r"--(contact|header|collection): .* not valid UTF-8"):
        read_settings(flags, {})


@pytest.mark.parametrize("flags", [{"max_body": "9" * 20}, {"concurrency": "9" * 20}, {"timeout": "9" * 20 + "d"}])
def test_number_above_the_maximum_is_rejected(flags: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="is too large; the maximum is 9007199254740991"):
        read_settings(flags, {})


def test_empty_pattern_is_ignored() -> None:
    assert read_settings({"exclude": ["", "a"]}, {"SANDERLING_INCLUDE": ""}) == {"exclude": ("a",), "include": ()}


def test_broken_or_missing_settings_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read the settings file"):
        read_settings({}, {}, tmp_path / "none.toml")
    broken = tmp_path / "broken.toml"
    broken.write_text("= 3")
    with pytest.raises(UsageError, match="not valid TOML"):
        read_settings({}, {}, broken)


def test_byte_order_mark_and_crlf_are_accepted(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_bytes(b"\xef\xbb\xbflimit = 5\r\n")
    assert read_settings({}, {}, file) == {"limit": 5}


def test_durations_and_sizes_accept_units() -> None:
    assert (parse_duration("90"), parse_duration("1.5h"), parse_duration("2d")) == (90, 5400, 172800)
    assert (parse_duration("250ms"), parse_duration("1h30m"), parse_duration("1d2h")) == (0.25, 5400, 93600)
    for invalid in ("1h30", "1h30x", "h", "1.2.3s4m", ""):
        with pytest.raises(ValueError, match="not a duration"):
            parse_duration(invalid)
    assert (parse_size("500MB"), parse_size("2GiB"), parse_size("10")) == (500_000_000, 2**31, 10)


def test_every_setting_has_a_help_text() -> None:
    settings = load_all_settings()
    assert all(setting.help for setting in settings.values())
    assert {"scope", "delay", "limit", "allow_private", "workers"} <= set(settings)


def test_list_settings_come_from_flags_and_environment() -> None:
    assert build_group(ScopeSettings, read_settings({"include": ["a", "b"]}, {})).include == ("a", "b")
    assert build_group(ScopeSettings, read_settings({}, {"SANDERLING_EXCLUDE": "x\ny"})).exclude == ("x", "y")
    assert build_group(PolitenessSettings, read_settings({}, {})).delay == 1.0
