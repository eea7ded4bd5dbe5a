"""Tokens of URLs and titles."""

from hypothesis import given
from hypothesis import strategies as st

from sanderling.urls.tokens import count_common_folders, split_path, tokenize_page


def test_common_folders_are_skipped() -> None:
    urls = ["http://h/usr/doc/index.html", "http://h/usr/doc/api/a.html"]
    assert count_common_folders(urls) == 2
    assert "depth:0" in tokenize_page(urls[0], "", skip=2)
    assert "folder:doc" not in tokenize_page(urls[0], "", skip=2)


def test_url_and_title_are_tokenized() -> None:
    tokens = tokenize_page("http://h/api/class-use/lang_12.html?page=3", "Uses of Class", 0)
    assert {"top:api", "folder:class-use", "begins:lang", "ends:#", "ending:html", "query:page", "title:Uses"} <= set(
        tokens
    )


@given(st.text(max_size=300), st.text(max_size=300))
def test_number_of_tokens_is_bounded(path: str, title: str) -> None:
    assert 0 < len(tokenize_page("http://h/" + path, title)) <= 64


def test_invalid_url_has_no_parts() -> None:
    assert split_path("http://[bad/x") == ([], "", "")
