import pytest

from sanderling.changes.changed_text import format_plain_text
from sanderling.monitor.watch import Watch
from sanderling.monitor.watched_version import compare_versions, read_watched_version
from sanderling.warc.records import RecordLocation
from sanderling.warc.warc_reader import StoredRecord

FEED = '<?xml version="1.0"?><rss version="2.0"><channel><title>News</title>{}</channel></rss>'
ITEM = "<item><title>{0}</title><link>https://example.org/{0}</link></item>"
SITEMAP = '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{}</urlset>'


def build_record(body: str, content_type: str) -> StoredRecord:
    fields = (("WARC-Target-URI", "https://example.org/"),)
    headers = (("Content-Type", content_type),)
    return StoredRecord("response", RecordLocation("x", 0, 0), fields, 200, headers, body.encode())


def compare(old: str, new: str, content_type: str = "text/html", **settings: tuple[str, ...]) -> list[str]:
    watch = Watch(name="x", urls=("https://example.org/",), **settings)  # type: ignore[arg-type]
    versions = [read_watched_version(build_record(body, content_type), watch) for body in (old, new)]
    assert versions[0] is not None
    assert versions[1] is not None
    _, texts = compare_versions(versions[0], versions[1], None, 1)
    return [format_plain_text(text) for text in texts]


PAGE = "<h1>Lamp</h1><p id=price>129 EUR</p><p class=ad>Buy a chair</p><p>A lamp for your desk.</p>"


@pytest.mark.parametrize(
    "selector", ["#price", "//p[@id='price']", "re:[0-9]+ EUR", "css:#price", "xpath://p[@id='price']/text()"]
)
def test_only_the_selected_part_counts(selector: str) -> None:
    new = PAGE.replace("129", "119")
    assert compare(PAGE, new.replace("chair", "table"), selector=(selector,)) == ["~ [-129-]{+119+} EUR"]
    assert compare(PAGE, PAGE.replace("chair", "table"), selector=(selector,)) == []


def test_ignored_part_does_not_count() -> None:
    new = PAGE.replace("chair", "table")
    assert compare(PAGE, new) != []
    assert compare(PAGE, new, ignore=(".ad",)) == []
    assert compare(PAGE, new, ignore=("re:Buy a .*",)) == []


def test_json_endpoint_is_compared_by_path() -> None:
    old = '{"at": 1, "items": [{"id": 1, "price": 5}]}'
    new = '{"at": 2, "items": [{"id": 1, "price": 6}]}'
    json_type = "application/json"
    assert compare(old, new, json_type) == ["~ $.at [-1-]{+2+}", "~ $.items[id=1].price [-5-]{+6+}"]
    assert compare(old, new, json_type, ignore=("$.at",)) == ["~ $.items[id=1].price [-5-]{+6+}"]
    assert compare(old, new, json_type, selector=("$.items[*].price",)) == ["~ $ [-5-]{+6+}"]


def test_feed_and_sitemap_are_compared_by_entry() -> None:
    old, new = (FEED.format("".join(map(ITEM.format, names))) for names in (["one"], ["two", "one"]))
    assert compare(old, new, "application/rss+xml") == ["+ two – https://example.org/two"]
    old, new = (SITEMAP.format("".join(f"<url><loc>{u}</loc></url>" for u in urls)) for urls in (["a"], ["a", "b"]))
    assert compare(old, new, "application/xml") == ["+ b"]


def test_missing_part_is_noticed() -> None:
    watch = Watch(name="x", urls=("https://example.org/",), selector=("#price",))
    version = read_watched_version(build_record("<p>Redesigned</p>", "text/html"), watch)
    assert version is not None
    assert version.is_missing
