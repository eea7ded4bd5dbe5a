"""Pages that look built by scripts, and pages that are complete."""

import pytest

from sanderling.html.script_built import has_text, looks_built_by_scripts

TEXT = "some words of an article that is long enough " * 10
SCRIPT = '<script src="/app.js"></script>'
NAVIGATION = "<nav>" + '<a href="/a">part of the site</a>' * 20 + "</nav>"
STATE = '<script type="application/json">{"text": "' + TEXT + '"}</script>'
ANALYTICS = "<script>var t=document.createElement('script');t.src='//x.example/t.js';document.body.append(t)</script>"


@pytest.mark.parametrize(
    "markup",
    [
        f'<div id="root"></div>{SCRIPT}',
        f'<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div>{SCRIPT}',
        f"<app-root></app-root>{SCRIPT}",
        f"<body>{SCRIPT}",
        f"<h1>Catalog</h1>{SCRIPT}",
        f'{NAVIGATION}<div id="app"><!-- --></div><footer>{TEXT}</footer>{SCRIPT}',
        f"{NAVIGATION}<main></main><footer>{TEXT}</footer>{SCRIPT}",
        f"{STATE}<div id=__next></div>{SCRIPT}",
        f'<main hx-get="/fragment" hx-trigger="load"></main><p>{TEXT}</p>{SCRIPT}',
        f'<p>{TEXT}</p><turbo-frame id="list" src="/list"></turbo-frame>{SCRIPT}',
        f'<p>Our catalog, newest first.</p><ul id="list"></ul>{SCRIPT}',
        f'<table><thead><tr><th>{TEXT}</th></tr></thead><tbody id="rows"></tbody></table>{SCRIPT}',
        f'<p>Loading the list of all the things that we have.</p><div aria-busy="true"></div>{SCRIPT}',
        "<h1>Item</h1><script>fetch('/item.json').then(show)</script>",
    ],
)
def test_page_without_its_content_looks_built_by_scripts(markup: str) -> None:
    assert looks_built_by_scripts(b"<!doctype html><title>A title of some words</title>" + markup.encode())


@pytest.mark.parametrize(
    "markup",
    [
        f'<div id="root"><p>{TEXT}</p></div>{SCRIPT}',  # sent complete, then hydrated
        f"{NAVIGATION}<main><h1>List</h1>" + '<a href="/i">Item</a>' * 12 + f"</main>{SCRIPT}",
        f"<p>{TEXT}</p>{ANALYTICS}<noscript><img src=/pixel.gif></noscript>",
        f"<p>{TEXT}</p><ul id=search-results></ul>{SCRIPT}",
        f"<p>{TEXT}</p><div id=modal></div><cookie-banner></cookie-banner>{SCRIPT}",
        "<p>It works.</p>",
        '<div id="root"></div>',  # no script could fill it
        f'<meta http-equiv="refresh" content="0; url=/next"><a href="/next">next</a>{SCRIPT}',
    ],
)
def test_complete_page_does_not_look_built_by_scripts(markup: str) -> None:
    assert not looks_built_by_scripts(b"<!doctype html><title>A title of some words</title>" + markup.encode())


def test_text_is_counted_without_scripts() -> None:
    words = b"word " * 40
    assert has_text(b"<p>" + words)
    assert not has_text(b"<script>" + words + b"</script><style>" + words + b"</style><p>few words")
    assert not has_text(b"<SCRIPT src=x>" + words)
    assert has_text(b"<script>x</script><header>" + words)
