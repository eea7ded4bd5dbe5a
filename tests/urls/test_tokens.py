"""What URLs and titles say."""

from hypothesis import given
from hypothesis import strategies as st

from sanderling.urls.tokens import count_common_folders, split_path, tokenize_page


def test_directories_common_to_the_whole_site_say_nothing() -> None:
    urls = ["http://h/usr/doc/index.html", "http://h/usr/doc/api/a.html"]
    assert count_common_folders(urls) == 2
    assert "depth:0" in tokenize_page(urls[0], "", skip=2)
    assert "folder:doc" not in tokenize_page(urls[0], "", skip=2)


def test_tokens_are_what_a_url_and_a_title_say() -> None:
    said = tokenize_page("http://h/api/class-use/lang_12.html?page=3", "Uses of Class", 0)
    assert {"top:api", "folder:class-use", "begins:lang", "ends:#", "ending:html", "query:page", "title:Uses"} <= set(
        said
    )


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_url_and_title_say_something_of_bounded_length(path: str, title: str) -> None:
    assert 0 < len(tokenize_page("http://h/" + path, title)) <= 64


def test_a_url_that_cannot_be_taken_apart_says_nothing() -> None:
    assert split_path("http://[bad/x") == ([], "", "")
