"""Rules that may merge different pages."""

import pytest

from sanderling.organise.lossy import Lossy, loosen, without_final_slash
from sanderling.records import Url


def test_all_rules_are_off_by_default() -> None:
    url = Url("http://x.org/A/Index.html")
    assert loosen(url, Lossy()) == url


@pytest.mark.parametrize(
    ("url", "looser"),
    [
        ("http://x.org/A/Index.HTML", "http://x.org/a"),
        ("http://x.org/A/?Q=B/", "http://x.org/a?Q=B/"),
        ("http://x.org/index.php?p=1", "http://x.org/?p=1"),
        ("http://x.org/", "http://x.org/"),
        ("http://x.org/my-index.html", "http://x.org/my-index.html"),
    ],
)
def test_all_rules_together(url: str, looser: str) -> None:
    assert loosen(Url(url), Lossy(lower_path=True, drop_final_slash=True, drop_default_page=True)) == looser


def test_a_final_slash_goes_only_where_both_forms_are_one_page() -> None:
    url = Url("http://x.org/a/")
    assert without_final_slash(url, lambda a, b: True) == "http://x.org/a"
    assert without_final_slash(url, lambda a, b: False) == url
