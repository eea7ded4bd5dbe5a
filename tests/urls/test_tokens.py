"""Parts of URLs."""

from sanderling.urls.tokens import split_path


def test_url_is_split_into_folders_file_name_and_query() -> None:
    assert split_path("http://h/api/class-use/lang_12.html?page=3") == (["api", "class-use"], "lang_12.html", "page=3")


def test_invalid_url_has_no_parts() -> None:
    assert split_path("http://[bad/x") == ([], "", "")
