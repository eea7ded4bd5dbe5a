from sanderling.content.rules.share_links import find_share_links, is_share_link
from sanderling.fingerprint.link_targets import hash_main_links
from sanderling.html.parser import parse_html


def test_target_is_identified_by_path_and_page_id() -> None:
    assert hash_hrefs("/2025/form.pdf") != hash_hrefs("/2026/form.pdf")
    assert hash_hrefs("/get?id=12&t=a") != hash_hrefs("/get?id=13&t=a")
    assert hash_hrefs("/get?id=12&t=a") == hash_hrefs("/get?id=12&t=b")
    assert hash_hrefs("../2025/form.pdf") == hash_hrefs("form.pdf")
    assert hash_hrefs("//a.example/doc/1.95.0/src/clone.html#1") == hash_hrefs(
        "//a.example/doc/1.96.1/src/clone.html#2"
    )
    assert hash_hrefs("//a.example/doc/1.95.0/src/clone.html") != hash_hrefs("//a.example/doc/1.96.1/src/any.html")
    assert hash_hrefs("//a.example/java/17/api/clone.html") == hash_hrefs("//a.example/java/v21/api/clone.html")
    assert hash_hrefs("//a.example/3/any.html") == hash_hrefs("//a.example/any.html")
    assert hash_hrefs("//a.example/2026/05/any.html") != hash_hrefs("//a.example/2026/06/any.html")
    assert hash_hrefs("//a.example/5/01/any.html") != hash_hrefs("//a.example/6/01/any.html")
    assert hash_hrefs("//a.example/law/117/any.html") != hash_hrefs("//a.example/law/118/any.html")
    assert hash_hrefs("//a.example/b/2026.05.01/any.html") != hash_hrefs("//a.example/b/2026.05.02/any.html")
    assert hash_hrefs("//127.0.0.1/any.html") != hash_hrefs("//127.0.0.2/any.html")
    assert hash_hrefs("//a.example/get/1.95.0/app.zip") != hash_hrefs("//a.example/get/1.96.1/app.zip")


def hash_hrefs(*hrefs: str) -> set[int]:
    return hash_main_links(parse_html("".join(f"<a href='{href}'>x</a>" for href in hrefs).encode()).find_all("a"))


def test_number_is_a_release_only_if_most_links_share_it() -> None:
    assert hash_hrefs("/news/5/index.html", "/news/8/index.html") != hash_hrefs(
        "/news/6/index.html", "/news/8/index.html"
    )
    assert hash_hrefs("/b/1.2/c.html", "/b/1.3/c.html", "/d") != hash_hrefs("/b/1.2/c.html", "/b/1.4/c.html", "/d")
    assert hash_hrefs("/doc/17/a.html", "/doc/17/b.html") == hash_hrefs("/doc/18/a.html", "/doc/18/b.html")
    assert hash_hrefs("/doc/17/a.html", "/doc/17/b.html", "/doc/9/a.html") == hash_hrefs(
        "/doc/18/a.html", "/doc/18/b.html", "/doc/9/a.html"
    ), "most links share the release"
    assert hash_hrefs("/doc/17/a.html", "/news/5/a.html") == hash_hrefs("/doc/18/a.html", "/news/6/a.html"), (
        "numbers that occur once"
    )


def test_mail_address_is_a_target_and_mail_without_recipient_is_not() -> None:
    tree = parse_html(b"<a href='mailto:a@b.example?subject=x'>a</a><a href='mailto:?body=y'>b</a>")
    assert (
        hash_main_links(tree.find_all("a"))
        == hash_main_links(parse_html(b"<a href='mailto:a@b.example'>c</a>").find_all("a"))
        != set()
    )


def test_share_links_are_no_targets() -> None:
    tree = parse_html(
        b"<a href='https://www.facebook.com/sharer/sharer.php?u=x'><a href='//twitter.com/intent/tweet'>"
        b"<a href='mailto:?x'><a href='https://www.facebook.com/policy'><a href='/share'><a>"
    )
    assert find_share_links(tree.find_all("a")) == tree.find_all("a")[:3]
    assert hash_main_links(tree.find_all("a")[:3]) == set()
    assert not is_share_link("mailto:harbour@company.example")
