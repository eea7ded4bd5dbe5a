import pytest

from sanderling.api.replay.replay_url import ReplayTarget, build_replay_path, join_url, parse_target, parse_timestamp


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/web/20261119080000/http://a.test/x?y=1", ReplayTarget("http://a.test/x?y=1", "20261119080000")),
        ("/web/2026id_/https:/a.test/", ReplayTarget("https://a.test/", "2026", "id_")),
        ("/web/a.test/", ReplayTarget("http://a.test/")),
        ("/web/http://a.test/web/2026/http://b.test/", ReplayTarget("http://a.test/web/2026/http://b.test/")),
        ("/web/", None),
        ("/elsewhere/http://a.test/", None),
    ],
)
def test_addresses_are_parsed(path: str, expected: ReplayTarget | None) -> None:
    assert parse_target(path) == expected


def test_missing_digits_mean_the_end_of_the_period() -> None:
    assert parse_timestamp("2024") > parse_timestamp("20241231235958")
    assert parse_timestamp("202402") > parse_timestamp("20240229") - 1
    assert parse_timestamp("99999999999999") > parse_timestamp("2026")
    assert parse_timestamp("0000") < 0


def test_unsafe_characters_are_escaped() -> None:
    assert build_replay_path('http://a.test/"<é', 0.0, "im_") == "/web/19700101000000im_/http://a.test/%22%3C%C3%A9"
    assert join_url("http://a.test/x/", " ../y ") == "http://a.test/y"
    assert join_url("http://a.test/", "javascript:alert(1)") == ""
    assert join_url("http://a.test/", "http://[") == ""
