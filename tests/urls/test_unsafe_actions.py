"""URLs and labels that change something are recognized; pages about it are not."""

import pytest

from sanderling.urls.unsafe_actions import find_unsafe_action, is_action_label, is_post_url, split_post_url


@pytest.mark.parametrize(
    "path",
    [
        "logout", "user/log-out", "account/signout.php", "item/5/delete", "delete/5", "cart/add/7", "?add-to-cart=17",
        "index.php?action=delete&id=4", "?do=logout", "wp-login.php?action=logout", "unsubscribe?u=1", "x?op=remove",
        "warenkorb?action=löschen", "Account/LogOff", "checkout", "like.php?upvote=1", "list?delete=3",
    ],
)  # fmt: skip
def test_actions(path: str) -> None:
    assert find_unsafe_action(f"https://a.test/{path}")


@pytest.mark.parametrize(
    "path",
    [
        "", "docs/delete-statement.html", "blog/how-to-delete-a-branch", "delete.html", "news?page=2", "?q=delete",
        "search?order=price", "list?sort=date&order=asc", "start", "archive/2020", "report/2021", "?start=20",
        "film/kill-bill", "updates", "?title=Delete", "a/star/wars", "watch/like-a-rolling-stone",
    ],
)  # fmt: skip
def test_pages(path: str) -> None:
    assert not find_unsafe_action(f"https://a.test/{path}")


def test_labels() -> None:
    assert is_action_label("Log out")
    assert is_action_label(" Add to Cart ")
    assert not is_action_label("How to delete a file")
    assert not is_action_label("Order")


def test_keys_of_post_requests() -> None:
    key = "https://a.test/s?x=1&__wb_method=POST&q=a+b"
    assert is_post_url(key)
    assert split_post_url(key) == ("https://a.test/s?x=1", b"q=a+b")
