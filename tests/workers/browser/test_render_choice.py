"""Decision by comparison: which pages are rendered."""

from collections.abc import Callable

from sanderling.fingerprint.structure import fingerprint_structure
from sanderling.html.parser import parse_html
from sanderling.models import Host
from sanderling.page_rendering import RenderReason, RenderTemplate
from sanderling.workers.browser.render_choice import (
    MAX_TEMPLATES,
    MIN_PROBES,
    RenderChoices,
    build_sketch,
    merge_templates,
)

HOST = Host("http://a.test")
ARTICLE = (
    b"<main class=article><h1>T</h1>" + b"<p>some words of an article</p>" * 10 + b"</main><script src=/a.1f2e3d.js>"
)
SHELL = b"<div id=root></div><script src=/app.js></script>"


def structure_of(body: bytes) -> bytes:
    return fingerprint_structure(parse_html(body))


def crawl_pages(choices: RenderChoices, body: bytes, count: int, has_gain: Callable[[int], bool]) -> list[bool]:
    """Return for each of so many pages whether it was rendered."""
    rendered = []
    for number in range(count):
        choice = choices.decide(HOST, body, structure_of(body))
        assert choice is not None
        rendered.append(choice.is_rendered)
        if choice.is_rendered:
            choices.record(HOST, choice, has_gain(number))
    return rendered


def test_template_without_gain_is_rendered_ever_more_rarely() -> None:
    rendered = crawl_pages(RenderChoices(), ARTICLE, 1000, lambda _: False)
    assert rendered[:MIN_PROBES] == [True] * MIN_PROBES
    assert sum(rendered) <= MIN_PROBES + 8
    assert any(rendered[500:])  # the site may have changed


def test_template_with_gain_is_always_rendered() -> None:
    assert all(crawl_pages(RenderChoices(), SHELL, 100, lambda _: True))


def test_single_false_gain_is_corrected() -> None:
    rendered = crawl_pages(RenderChoices(), ARTICLE, 100, lambda number: number == 0)
    assert sum(rendered) < 12


def test_rendering_stops_when_a_site_no_longer_needs_it() -> None:
    choices = RenderChoices()
    crawl_pages(choices, SHELL, 100, lambda _: True)
    assert sum(crawl_pages(choices, SHELL, 200, lambda _: False)) < 50


def test_gain_of_a_third_of_the_pages_suffices() -> None:
    assert sum(crawl_pages(RenderChoices(), ARTICLE, 90, lambda number: number % 3 == 0)) > 80


def test_pages_wait_while_probes_of_their_template_run() -> None:
    choices = RenderChoices()
    running = [choices.decide(HOST, SHELL, structure_of(SHELL)) for _ in range(MIN_PROBES)]
    assert choices.decide(HOST, SHELL, structure_of(SHELL)) is None
    other = choices.decide(HOST, ARTICLE, structure_of(ARTICLE))  # another template does not wait
    assert other is not None
    for choice in running:
        assert choice is not None
        choices.record(HOST, choice, True)
    later = choices.decide(HOST, SHELL, structure_of(SHELL))
    assert later is not None
    assert later.reason is RenderReason.GAIN


def test_abandoned_probe_is_repeated() -> None:
    choices = RenderChoices()
    for _ in range(10):
        choice = choices.decide(HOST, SHELL, structure_of(SHELL))
        assert choice is not None
        choices.abandon(HOST, choice)


def test_unanimous_host_needs_a_single_probe_per_template() -> None:
    choices = RenderChoices()
    for tag in (b"article", b"section"):
        crawl_pages(choices, b"<%s class=%s>" % (tag, tag) + b"word " * 50, 5, lambda _: False)
    assert sum(crawl_pages(choices, b"<aside><form><nav>" + b"word " * 50, 5, lambda _: False)) == 1


def test_evidence_of_earlier_runs_is_adopted() -> None:
    choices = RenderChoices()
    sketch = build_sketch(SHELL, structure_of(SHELL))
    choices.adopt(HOST, [RenderTemplate(sketch, False, pages=100, probes=8, gains=0, next_probe=200)])
    assert not any(crawl_pages(choices, SHELL, 50, lambda _: True))


def test_merged_templates_are_bounded_and_prefer_more_pages() -> None:
    old, new = RenderTemplate((1,), True, pages=5, probes=3), RenderTemplate((1,), True, pages=9, probes=4, gains=1)
    assert merge_templates([old], [new]) == [new] == merge_templates([new], [old])
    many = [RenderTemplate((number,), True, pages=number) for number in range(200)]
    assert len(merge_templates([], many)) == MAX_TEMPLATES


def test_script_versions_do_not_make_another_template() -> None:
    other = ARTICLE.replace(b"1f2e3d", b"99aa88")
    assert build_sketch(ARTICLE, structure_of(ARTICLE)) == build_sketch(other, structure_of(other))
    assert build_sketch(ARTICLE, b"") != build_sketch(SHELL, b"")


def test_complete_page_of_a_host_with_gains_is_compared_once() -> None:
    choices = RenderChoices()
    crawl_pages(choices, SHELL, 5, lambda _: True)
    assert choices.has_gains(HOST)
    rendered = []
    for _ in range(5):
        choice = choices.decide(HOST, ARTICLE, structure_of(ARTICLE), is_shell=False)
        assert choice is not None
        rendered.append(choice.is_rendered)
        if choice.is_rendered:
            choices.record(HOST, choice, False)
    assert rendered == [True, False, False, False, False]


def crawl_complete_pages(choices: RenderChoices, bodies: list[bytes], gains: tuple[bool, ...]) -> int:
    """Return how many of the pages, which look complete, were rendered."""
    rendered = 0
    for body in bodies:
        choice = choices.decide(HOST, body, structure_of(body), is_shell=False)
        assert choice is not None
        if choice.is_rendered:
            choices.record(HOST, choice, gains[rendered % len(gains)])
            rendered += 1
    return rendered


def test_complete_pages_of_which_half_gain_are_not_rendered() -> None:
    assert crawl_complete_pages(RenderChoices(), [ARTICLE] * 500, (True, False)) < 16


def test_complete_pages_that_all_gain_are_rendered() -> None:
    assert crawl_complete_pages(RenderChoices(), [ARTICLE] * 100, (True,)) == 100


def test_complete_pages_of_many_templates_are_compared_rarely() -> None:
    bodies = [ARTICLE.replace(b"<p>", b"<p><script src=/s%c.js></script>" % (97 + n % 26)) for n in range(1000)]
    assert crawl_complete_pages(RenderChoices(), bodies, (False,)) <= 8
