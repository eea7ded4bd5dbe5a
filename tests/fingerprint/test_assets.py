import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.content.rules.share_links import find_share_links
from sanderling.fingerprint.assets import normalize_image_source
from sanderling.html.parser import parse_html

BUILD_ID = re.compile(
    r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,}|\d{9,}", re.IGNORECASE
)  # reference implementation, quadratic on long runs


@given(st.text("ABCdef019/-z", max_size=60))
def test_tokens_are_stripped_from_image_names(name: str) -> None:
    assert normalize_image_source(f"/x/{name}/a.png") == BUILD_ID.sub("", f"/x/{name}/a").rpartition("//")[2]


def test_long_image_name_is_read_in_linear_time() -> None:
    run = "A" * 2_000_000
    assert normalize_image_source(run) == run  # linear: a lookahead at each letter took hours


def test_numbered_image_hosts_are_equal() -> None:
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
def test_image_size_and_format_are_ignored(other: str) -> None:
    assert normalize_image_source(other) == normalize_image_source("/x/gull.jpg")
    assert normalize_image_source(other.replace("gull", "tern")) != normalize_image_source("/x/gull.jpg")


def test_short_numbers_identify_images() -> None:
    assert normalize_image_source("/x/map-1.jpg") != normalize_image_source("/x/map-2.jpg")
    assert normalize_image_source("/x/my_photos/gull.jpg") != normalize_image_source("/x/gull.jpg")


@pytest.mark.parametrize("hostile", ["a_a_a_a_a," * 400, "w_1," * 5_000, "w_1" + "_a" * 5_000, "a=" * 5_000])
def test_image_size_is_read_in_linear_time(hostile: str) -> None:
    assert normalize_image_source(f"https://example.org/{hostile}x.jpg")  # linear time
    assert normalize_image_source("https://example.org/f_auto,w_300,h_200/gull.jpg") == normalize_image_source(
        "https://example.org/gull.jpg"
    )


DOCUMENTED_SHARE_URLS = [
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


@pytest.mark.parametrize("href", DOCUMENTED_SHARE_URLS)
def test_documented_share_url_is_a_share_link(href: str) -> None:
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
def test_profile_urls_are_no_share_links(href: str) -> None:
    tree = parse_html(f"<a href='{href}'>there</a><a href='//t.me/share/url?url=U'>share</a>".encode())
    assert find_share_links(tree.find_all("a")) == tree.find_all("a")[1:]


def test_share_link_is_found_next_to_fragment_links() -> None:
    for link in ("/x#/share", "/x#gull"):
        tree = parse_html(f"<a href='//reddit.com/submit'>tell</a><a href='{link}'>here</a>".encode())
        assert find_share_links(tree.find_all("a")) == tree.find_all("a")[:1]
