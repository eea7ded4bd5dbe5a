from pathlib import Path

import pytest

from sanderling.config.loader import duration, gather, group_from, known, size
from sanderling.config.settings import Limits, Politeness, Scope
from sanderling.errors import UsageError


def test_flag_beats_environment_beats_file_beats_default(tmp_path: Path) -> None:
    file = tmp_path / "sanderling.toml"
    file.write_text('limit = 1\ndepth = 2\ntime-limit = "2h"\n')
    found = gather({"limit": "3"}, {"SANDERLING_LIMIT": "2", "SANDERLING_DEPTH": "4"}, file)
    limits = group_from(Limits, found)
    assert (limits.limit, limits.depth, limits.time_limit, limits.size_limit) == (3, "4", 7200.0, 0)


def test_an_unknown_key_names_the_nearest_known_one(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text("time_limt = 3\n")
    with pytest.raises(UsageError, match=r"no setting 'time_limt'; did you mean time_limit\?"):
        gather({}, {}, file)
    with pytest.raises(UsageError, match=r"SANDERLING_DEPHT: .*did you mean depth\?"):
        gather({}, {"SANDERLING_DEPHT": "1"})


def test_a_wrong_value_gets_one_clear_sentence() -> None:
    with pytest.raises(UsageError, match="--scope: scope is one of page, prefix, host, domain, any, not 'galaxy'"):
        gather({"scope": "galaxy"}, {})
    with pytest.raises(UsageError, match="--limit: '-5' is no whole number"):
        gather({"limit": "-5"}, {})
    with pytest.raises(UsageError, match="--migrants: '-1' is no whole number"):
        gather({"migrants": "-1"}, {})
    with pytest.raises(UsageError, match="'soon' is no duration"):
        gather({"delay": "soon"}, {})


@pytest.mark.parametrize("flags", [{"contact": "m\udcff"}, {"header": ["A: b", "C: \udcff"]}, {"collection": "\udcff"}])
def test_bytes_that_are_no_text_are_refused_before_they_travel(flags: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=r"--(contact|header|collection): .* no text in UTF-8"):
        gather(flags, {})


@pytest.mark.parametrize("flags", [{"max_body": "9" * 20}, {"concurrency": "9" * 20}, {"timeout": "9" * 20 + "d"}])
def test_a_number_beyond_all_measure_is_refused(flags: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="more than can be counted"):
        gather(flags, {})


def test_an_empty_pattern_is_none() -> None:
    assert gather({"exclude": ["", "a"]}, {"SANDERLING_INCLUDE": ""}) == {"exclude": ("a",), "include": ()}


def test_broken_and_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read the settings file"):
        gather({}, {}, tmp_path / "none.toml")
    broken = tmp_path / "broken.toml"
    broken.write_text("= 3")
    with pytest.raises(UsageError, match="no valid TOML"):
        gather({}, {}, broken)


def test_a_file_may_come_from_any_editor(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_bytes(b"\xef\xbb\xbflimit = 5\r\n")
    assert gather({}, {}, file) == {"limit": 5}


def test_units_are_what_people_write() -> None:
    assert (duration("90"), duration("1.5h"), duration("2d")) == (90, 5400, 172800)
    assert (duration("250ms"), duration("1h30m"), duration("1d2h")) == (0.25, 5400, 93600)
    for wrong in ("1h30", "1h30x", "h", "1.2.3s4m", ""):
        with pytest.raises(ValueError, match="no duration"):
            duration(wrong)
    assert (size("500MB"), size("2GiB"), size("10")) == (500_000_000, 2**31, 10)


def test_every_setting_has_a_help_text_and_a_name_of_its_own() -> None:
    settings = known()
    assert all(setting.help for setting in settings.values())
    assert {"scope", "delay", "limit", "allow_private", "migrants"} <= set(settings)


def test_lists_come_from_flags_files_and_environment() -> None:
    assert group_from(Scope, gather({"include": ["a", "b"]}, {})).include == ("a", "b")
    assert group_from(Scope, gather({}, {"SANDERLING_EXCLUDE": "x\ny"})).exclude == ("x", "y")
    assert group_from(Politeness, gather({}, {})).delay == 1.0
