"""What a page brings along, spelled as it is compared."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.content.rules.share_links import find_share_links, is_share_link
from sanderling.fingerprint.assets import hash_main_links, normalize_image_source
from sanderling.html.parser import parse_html

BUILT = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,}|\d{9,}", re.IGNORECASE)  # what is meant; slow on long runs


@given(st.text("ABCdef019/-z", max_size=60))
def test_tokens_leave_the_name_of_a_picture(name: str) -> None:
    assert normalize_image_source(f"/x/{name}/a.png") == BUILT.sub("", f"/x/{name}/a").rpartition("//")[2]


def test_a_long_run_of_letters_is_read_once() -> None:
    run = "A" * 2_000_000
    assert normalize_image_source(run) == run  # in no time: what looked ahead from each letter took hours


def test_a_picture_is_the_same_on_each_of_many_hosts() -> None:
    assert normalize_image_source("https://i0.wp.example/a/gull.png?w=3") == normalize_image_source(
        "//i2.wp.example/a/gull.png?w=6"
    )
    assert normalize_image_source("https://a.example/gull.png") != normalize_image_source("https://b.example/gull.png")
    assert normalize_image_source("https://site2024.example/gull.png") != normalize_image_source(
        "https://site2025.example/gull.png"
    )
    assert normalize_image_source("https://i0.wp2.example/gull.png") != normalize_image_source(
        "https://i0.wp3.example/gull.png"
    )
    assert normalize_image_source("http://10.0.0.1:80/gull.png") != normalize_image_source(
        "http://10.0.0.2:80/gull.png"
    )
    assert normalize_image_source("http://10.0.0.1/gull.png") != normalize_image_source("http://11.0.0.1/gull.png")
    assert normalize_image_source("/12/gull.png") != normalize_image_source("/13/gull.png")
    assert normalize_image_source("https://img-a.site.example/gull.png") == normalize_image_source(
        "https://img-c.site.example/gull.png"
    )
    assert normalize_image_source("https://a.tiles.site.example/gull.png") == normalize_image_source(
        "https://b.tiles.site.example/gull.png"
    )


@pytest.mark.parametrize(
    "other",
    [
        *("/x/gull-1024x683.jpg", "/x/gull_600x.jpg", "/x/gull@2x.jpg", "/x/gull.webp", "/x/gull.jpg.avif"),
        *("/x/w_600,h_400,c_fill/gull.jpg", "/x/width=600,format=auto/gull.jpg"),
    ],
)
def test_a_picture_in_another_size_or_format_is_the_same(other: str) -> None:
    assert normalize_image_source(other) == normalize_image_source("/x/gull.jpg")
    assert normalize_image_source(other.replace("gull", "tern")) != normalize_image_source("/x/gull.jpg")


def test_numbers_of_pictures_are_their_names() -> None:
    assert normalize_image_source("/x/map-1.jpg") != normalize_image_source("/x/map-2.jpg")
    assert normalize_image_source("/x/my_photos/gull.jpg") != normalize_image_source("/x/gull.jpg")


def test_a_link_leads_elsewhere_if_its_folder_or_number_is_another() -> None:
    assert leads("/2025/form.pdf") != leads("/2026/form.pdf")
    assert leads("/get?id=12&t=a") != leads("/get?id=13&t=a")
    assert leads("/get?id=12&t=a") == leads("/get?id=12&t=b")
    assert leads("../2025/form.pdf") == leads("form.pdf")
    assert leads("//a.example/doc/1.95.0/src/clone.html#1") == leads("//a.example/doc/1.96.1/src/clone.html#2")
    assert leads("//a.example/doc/1.95.0/src/clone.html") != leads("//a.example/doc/1.96.1/src/any.html")
    assert leads("//a.example/java/17/api/clone.html") == leads("//a.example/java/v21/api/clone.html")
    assert leads("//a.example/3/any.html") == leads("//a.example/any.html")
    assert leads("//a.example/2026/05/any.html") != leads("//a.example/2026/06/any.html")
    assert leads("//a.example/5/01/any.html") != leads("//a.example/6/01/any.html")
    assert leads("//a.example/law/117/any.html") != leads("//a.example/law/118/any.html")
    assert leads("//a.example/b/2026.05.01/any.html") != leads("//a.example/b/2026.05.02/any.html")
    assert leads("//127.0.0.1/any.html") != leads("//127.0.0.2/any.html")
    assert leads("//a.example/get/1.95.0/app.zip") != leads("//a.example/get/1.96.1/app.zip")


def leads(*hrefs: str) -> set[int]:
    return hash_main_links(parse_html("".join(f"<a href='{href}'>x</a>" for href in hrefs).encode()).find_all("a"))


def test_a_number_that_links_of_a_page_do_not_share_is_none_of_an_edition() -> None:
    assert leads("/news/5/index.html", "/news/8/index.html") != leads("/news/6/index.html", "/news/8/index.html")
    assert leads("/b/1.2/c.html", "/b/1.3/c.html", "/d") != leads("/b/1.2/c.html", "/b/1.4/c.html", "/d")
    assert leads("/doc/17/a.html", "/doc/17/b.html") == leads("/doc/18/a.html", "/doc/18/b.html")
    assert leads("/doc/17/a.html", "/doc/17/b.html", "/doc/9/a.html") == leads(
        "/doc/18/a.html", "/doc/18/b.html", "/doc/9/a.html"
    ), "what most have is their edition"
    assert leads("/doc/17/a.html", "/news/5/a.html") == leads("/doc/18/a.html", "/news/6/a.html"), "neither has another"


def test_an_address_to_write_to_is_a_place_and_a_mail_to_nobody_is_none() -> None:
    tree = parse_html(b"<a href='mailto:a@b.example?subject=x'>a</a><a href='mailto:?body=y'>b</a>")
    assert (
        hash_main_links(tree.find_all("a"))
        == hash_main_links(parse_html(b"<a href='mailto:a@b.example'>c</a>").find_all("a"))
        != set()
    )


def test_a_page_is_shared_at_known_addresses() -> None:
    tree = parse_html(
        b"<a href='https://www.facebook.com/sharer/sharer.php?u=x'><a href='//twitter.com/intent/tweet'>"
        b"<a href='mailto:?x'><a href='https://www.facebook.com/policy'><a href='/share'><a>"
    )
    assert find_share_links(tree.find_all("a")) == tree.find_all("a")[:3]
    assert hash_main_links(tree.find_all("a")[:3]) == set()
    assert not is_share_link("mailto:harbour@company.example")


@pytest.mark.parametrize("hostile", ["a_a_a_a_a," * 400, "w_1," * 5_000, "w_1" + "_a" * 5_000, "a=" * 5_000])
def test_the_size_of_a_picture_is_read_in_one_go(hostile: str) -> None:
    assert normalize_image_source(f"https://example.org/{hostile}x.jpg")  # in the time that a test may take
    assert normalize_image_source("https://example.org/f_auto,w_300,h_200/gull.jpg") == normalize_image_source(
        "https://example.org/gull.jpg"
    )


DOCUMENTED = [
    "https://www.facebook.com/sharer/sharer.php?u=U", "https://www.facebook.com/sharer.php?u=U",
    "https://m.facebook.com/sharer.php?u=U", "https://www.facebook.com/share.php?u=U",
    "https://www.facebook.com/dialog/share?app_id=1&href=U", "https://www.facebook.com/v19.0/dialog/share?href=U",
    "https://www.facebook.com/dialog/send?link=U", "https://www.facebook.com/dialog/feed?link=U",
    "fb-messenger://share?link=U", "fb-messenger://share/?link=U",
    "https://twitter.com/intent/tweet?url=U", "https://x.com/intent/post?url=U", "https://twitter.com/share?url=U",
    "http://twitter.com/home?status=U", "https://twitter.com/home/?status=U",
    "https://www.linkedin.com/sharing/share-offsite/?url=U", "https://www.linkedin.com/shareArticle?mini=true&url=U",
    "https://www.linkedin.com/cws/share?url=U", "https://www.linkedin.com/feed/?shareActive=true&text=U",
    "https://pinterest.com/pin/create/button/?url=U", "https://www.pinterest.com/pin/create/link/?url=U",
    "https://www.pinterest.co.uk/pin/create/button/?url=U", "//pinterest.de/pin/create/button/",
    "https://www.pinterest.com/pin-builder/?url=U",
    "https://www.reddit.com/submit?url=U", "https://reddit.com/submit?url=U", "//www.reddit.com/submit",
    "https://old.reddit.com/r/birds/submit?url=U",
    "https://wa.me/?text=U", "https://api.whatsapp.com/send?text=U", "https://web.whatsapp.com/send/?text=U",
    "whatsapp://send?text=U", "https://api.whatsapp.com/send?phone=&text=U",
    "https://t.me/share/url?url=U", "https://telegram.me/share/url?url=U", "tg://msg_url?url=U", "tg://msg?text=U",
    "mailto:?subject=S&body=U", "sms:?body=U", "sms:?&body=U", "sms:;body=U",
    "https://www.tumblr.com/widgets/share/tool?canonicalUrl=U", "https://www.tumblr.com/share/link?url=U",
    "https://bsky.app/intent/compose?text=U", "https://www.threads.net/intent/post?text=U",
    "https://www.threads.com/intent/post?text=U",
    "https://mastodon.social/share?text=U", "https://birds.example/share?title=S&url=U",
    "https://getpocket.com/save?url=U", "https://getpocket.com/edit?url=U",
    "https://news.ycombinator.com/submitlink?u=U&t=S",
    "https://vk.com/share.php?url=U", "http://vkontakte.ru/share.php?url=U",
    "https://connect.ok.ru/offer?url=U", "https://connect.ok.ru/dk?st.cmd=WidgetSharePreview&st.shareUrl=U",
    "https://social-plugins.line.me/lineit/share?url=U", "https://line.me/R/msg/text/?U",
    "https://line.me/R/share?text=U", "https://timeline.line.me/social-plugin/share?url=U",
    "https://service.weibo.com/share/share.php?url=U",
    "https://www.xing.com/spi/shares/new?url=U", "https://www.xing.com/social/share/spi?url=U",
    "https://www.xing.com/app/user?op=share&url=U",
    "https://share.flipboard.com/bookmarklet/popout?v=2&url=U",
    "https://b.hatena.ne.jp/entry/U", "https://b.hatena.ne.jp/add?mode=confirm&url=U",
    "https://web.skype.com/share?url=U", "viber://forward?text=U", "https://buffer.com/add?url=U",
    "https://bufferapp.com/add?url=U", "https://digg.com/submit?url=U", "https://www.instapaper.com/edit?url=U",
    "http://www.instapaper.com/hello2?url=U", "https://www.evernote.com/clip.action?url=U",
    "https://www.blogger.com/blog-this.g?u=U", "https://teams.microsoft.com/share?href=U",
    "https://www.addtoany.com/share#url=U", "https://www.addtoany.com/add_to/reddit?linkurl=U",
    "HTTPS://WWW.REDDIT.COM/submit?url=U",
]  # fmt: skip


@pytest.mark.parametrize("href", DOCUMENTED)
def test_a_page_that_is_shared_at_one_address_alone_is_shared(href: str) -> None:
    tree = parse_html(f"<a href='/about'>about</a><a href='{href}'>share</a>".encode())
    assert find_share_links(tree.find_all("a")) == tree.find_all("a")[1:]


@pytest.mark.parametrize(
    "href",
    [
        "https://www.reddit.com/r/birds/", "https://www.reddit.com/user/gull/submitted/", "https://www.pinterest.com/gull/",
        "https://wa.me/31612345678", "https://api.whatsapp.com/send?phone=31612345678",
        "https://api.whatsapp.com/send?text=hello&phone=+31612345678", "whatsapp://send?phone=31612345678",
        "https://t.me/gull", "https://line.me/ti/p/gull", "https://ok.ru/gull", "https://vk.com/gull",
        "mailto:a@b.example?subject=S", "sms:+31612345678", "sms:+31612345678?body=S", "https://buffer.com/resources/",
        "https://www.blogger.com/profile/1", "https://shares.example/share?isin=1", "/share?url=U",
        "https://www.linkedin.com/company/gull", "https://twitter.com/home", "https://digg.com/birds",
    ],
)  # fmt: skip
def test_networks_that_are_named_are_places(href: str) -> None:
    tree = parse_html(f"<a href='{href}'>there</a><a href='//t.me/share/url?url=U'>share</a>".encode())
    assert find_share_links(tree.find_all("a")) == tree.find_all("a")[1:]


def test_a_page_is_shared_where_it_is_whatever_else_it_links_to() -> None:
    for beside in ("/x#/share", "/x#gull"):
        tree = parse_html(f"<a href='//reddit.com/submit'>tell</a><a href='{beside}'>here</a>".encode())
        assert find_share_links(tree.find_all("a")) == tree.find_all("a")[:1]
