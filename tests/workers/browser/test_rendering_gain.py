"""What rendering adds to a page."""

from sanderling.html.parser import parse_html
from sanderling.workers.browser.rendering_gain import Gain, HostAdditions

URL = "http://a.test/"
TEXT = "<p>The tide comes in twice a day and leaves shells, wood, and weed on the long flat beach.</p>"
BANNER = "<div><p>We use cookies to make this site work and to count how many people come to see the pages.</p></div>"


def compare(additions: HostAdditions, sent: str, rendered: str, path: str = "", is_shell: bool = True) -> Gain:
    sent_tree, rendered_tree = (parse_html(f"<title>t</title><body>{part}".encode()) for part in (sent, rendered))
    return additions.compare(URL + path, sent_tree, rendered_tree, is_shell)


def test_added_text_is_a_gain() -> None:
    gain = compare(HostAdditions(), "<div id=root></div>", f"<main><h1>Tides</h1>{TEXT}</main>")
    assert gain.is_relevant
    assert gain.words > 15


def test_added_links_of_the_site_are_a_gain() -> None:
    links = "".join(f"<li><a href=/p{n}>p</a></li>" for n in range(5))
    assert compare(HostAdditions(), TEXT, f"{TEXT}<ul>{links}</ul>").links == 5
    foreign = links.replace("/p", "https://share.test/p")
    assert not compare(HostAdditions(), TEXT, f"{TEXT}<ul>{foreign}</ul>").is_relevant


def test_same_text_in_another_order_is_no_gain() -> None:
    assert not compare(HostAdditions(), TEXT + BANNER, BANNER + TEXT).is_relevant


def test_text_added_to_all_pages_counts_once() -> None:
    additions = HostAdditions()
    gains = [
        compare(additions, f"<main>{TEXT}<p>page {n}</p></main>", f"<main>{TEXT}<p>page {n}</p>{BANNER}</main>", str(n))
        for n in range(6)
    ]
    assert [gain.is_relevant for gain in gains] == [True, *[False] * 5]


def test_text_of_its_own_on_every_page_is_a_gain_every_time() -> None:
    additions = HostAdditions()
    for n in range(6):
        own = f"<main><h1>Item {n}</h1>{TEXT.replace('tide', f'tide number {n}')}</main>"
        assert compare(additions, "<div id=root></div>", own, str(n)).is_relevant


def test_a_page_that_is_compared_again_does_not_hide_its_own_text() -> None:
    additions = HostAdditions()
    for _ in range(4):
        assert compare(additions, "<div></div>", f"<main>{TEXT}</main>").is_relevant


def test_menu_that_scripts_add_to_a_complete_page_is_no_gain() -> None:
    article = f"<div><h1>Tides</h1>{TEXT * 6}</div>"
    entries = "".join(f"<li><span>►</span><a href=/p{n}>Part {n}</a></li>" for n in range(60))
    menu = f"<div id=side-nav class=sidebar><ul>{entries}</ul></div>"
    assert not compare(HostAdditions(), article, menu + article, is_shell=False).is_relevant


def test_links_that_another_page_had_are_no_gain() -> None:
    links = "".join(f"<li><a href=/p{n}>p{n}</a></li>" for n in range(9))
    additions = HostAdditions()
    assert compare(additions, "<div></div>", f"<ul>{links}</ul>", "1").is_relevant
    compare(additions, "<div></div>", f"<main>{TEXT}</main>", "2")
    compare(additions, "<div></div>", f"<main>{TEXT}</main>", "3")
    assert not compare(additions, "<div></div>", f"<ul>{links}</ul>", "4").is_relevant
