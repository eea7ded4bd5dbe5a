"""Compare `--render never`, `auto`, and `always` on sites built with React, Vue, jQuery, htmx, and without a library.

One host has sections of several kinds: clients that build the page, web components, infinite scrolling, hydrated pages,
and, as controls, pages that are complete without their scripts. The libraries are the builds of the npm registry. Every
item has words of its own, so the share of the words and pages that a crawl found is exact.

With `--builds`, the pages built by scripts are those of `framework_builds` instead: held out, because no threshold was
chosen on them. `--repeats` renders each kind of page so many times, and counts the versions that differ.

python -m benchmarks.rendering.script_sites [--items 12] [--controls 60] [--libraries FOLDER] [--builds FOLDER]
"""

import argparse
import io
import json
import re
import tarfile
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.rendering.framework_builds import CLIENT_NAMES, ROOTS, FrameworkBuilds, build_frameworks
from msgspec import Struct
from tests.support.site import Page, Site

from sanderling.config.settings import HttpSettings, PolitenessSettings, RenderSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.refresh import RefreshMode, refresh
from sanderling.crawl.session import CrawlRequest, crawl
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.models import FetchBatch, FetchTask, Host, Url
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import load_stored_record, resolve_known_url
from sanderling.workers.browser.rendering_loop import RenderingLoop
from sanderling.workers.worker import compute_fingerprints

REGISTRY = "https://registry.npmjs.org"
LIBRARIES = {
    "react.js": ("react", "18.3.1", "umd/react.production.min.js"),
    "react-dom.js": ("react-dom", "18.3.1", "umd/react-dom.production.min.js"),
    "vue.js": ("vue", "3.5.13", "dist/vue.global.prod.js"),
    "jquery.js": ("jquery", "3.7.1", "dist/jquery.min.js"),
    "htmx.js": ("htmx.org", "2.0.4", "dist/htmx.min.js"),
}
WORDS_PER_ITEM = 60
SCRIPT = re.compile("<script.*?</script>", re.DOTALL)
CLIENTS = {
    "react": (
        ("react.js", "react-dom.js"),
        """const e = React.createElement;
        const go = url => event => { event.preventDefault(); history.pushState({}, "", url); location.reload(); };
        function App() {
          const [data, set] = React.useState(null);
          React.useEffect(() => { fetch(API).then(r => r.json()).then(set); }, []);
          if (!data) return e("p", null, "Loading");
          if (data.items) return e("main", null, e("h1", null, "List"), e("ul", null, data.items.map(i =>
            e("li", { key: i }, e("a", { href: BASE + i, onClick: go(BASE + i) }, "Item " + i)))));
          return e("main", null, e("h1", null, data.title), e("p", null, data.text));
        }
        ReactDOM.createRoot(document.getElementById("app")).render(e(App));""",
    ),
    "vue": (
        ("vue.js",),
        """Vue.createApp({
          data: () => ({ data: {}, base: BASE }),
          async mounted() { this.data = await (await fetch(API)).json(); },
          template: `<main><template v-if="data.items"><h1>List</h1><p v-for="i in data.items"><a :href="base + i">
            Item {{ i }}</a></p></template><template v-else><h1>{{ data.title }}</h1><p>{{ data.text }}</p></template>
            </main>`,
        }).mount("#app");""",
    ),
    "jquery": (
        ("jquery.js",),
        """$.getJSON(API, data => {
          if (data.items) $("#app").append($("<ul>").append(data.items.map(i =>
            $("<li>").append($("<a>").attr("href", BASE + i).text("Item " + i)))));
          else $("#app").append($("<h1>").text(data.title), $("<p>").text(data.text));
        });""",
    ),
    "components": (
        (),
        """customElements.define("item-view", class extends HTMLElement {
          async connectedCallback() {
            const data = await (await fetch(API)).json(), root = this.attachShadow({ mode: "open" });
            root.innerHTML = data.items
              ? data.items.map(i => `<li><a href="${BASE + i}">Item ${i}</a></li>`).join("")
              : `<article><h1>${data.title}</h1><p>${data.text}</p></article>`;
          }
        });
        document.getElementById("app").append(document.createElement("item-view"));""",
    ),
}
SCROLL = """let next = 0;
async function more() {
  const part = await (await fetch(API + "?from=" + next)).json();
  next += part.items.length;
  for (const i of part.items) list.insertAdjacentHTML("beforeend",
    `<li style="height:300px"><a href="${BASE + i}">Item ${i}</a></li>`);
}
more().then(() => new IntersectionObserver(seen => seen[0].isIntersecting && more()).observe(end));"""
ENHANCE = """document.body.insertAdjacentHTML("beforeend", "<div><p>We use cookies to count how many people read the"
  + " pages of this site, and to show them what they like best.</p></div>");"""


class Section(Struct, frozen=True):
    """Pages of one kind, with the words of each."""

    pages: dict[str, Page]
    words: dict[str, list[str]]  # by path
    needs_browser: bool


def load_libraries(folder: Path) -> dict[str, bytes]:
    """Return the builds of the libraries, downloaded once."""
    found = {}
    for name, (package, version, member) in LIBRARIES.items():
        path = folder / f"{package}-{version}.tgz"
        if not path.exists():
            url = f"{REGISTRY}/{package}/-/{package}-{version}.tgz"
            path.write_bytes(urllib.request.urlopen(url, timeout=60).read())
        with tarfile.open(fileobj=io.BytesIO(path.read_bytes())) as archive:
            file = archive.extractfile(f"package/{member}")
            assert file is not None
            found[name] = file.read()
    return found


def build_words(section: str, number: int) -> list[str]:
    return [f"{section}{number}word{n}" for n in range(WORDS_PER_ITEM)]


def build_json(value: object) -> Page:
    return Page(json.dumps(value).encode(), headers={"Content-Type": "application/json"})


def build_document(body: str, scripts: tuple[str, ...] = (), script: str = "") -> Page:
    sources = "".join(f'<script src="/lib/{name}"></script>' for name in scripts)
    end = f"<script>{script}</script>" if script else ""
    return Page(f"<!doctype html><html lang=en><title>Page</title><body>{body}{sources}{end}</body></html>".encode())


def build_client_section(name: str, items: int) -> Section:
    """Return pages that are built in the browser: a list, and an item per page."""
    scripts, program = CLIENTS[name]
    base, pages, words = f"/{name}/", {}, {}
    pages[f"/api/{name}"] = build_json({"items": list(range(items))})
    for number in (None, *range(items)):
        path, api = (base, f"/api/{name}") if number is None else (f"{base}{number}", f"/api/{name}/{number}")
        start = f"const BASE = {base!r}, API = {api!r};"
        pages[path] = build_document('<div id="app"></div>', scripts, start + program)
        if number is not None:
            words[path] = build_words(name, number)
            pages[api] = build_json({"title": f"Item {number}", "text": " ".join(words[path])})
    return Section(pages, words, True)


def build_text_section(name: str, items: int, scripts: tuple[str, ...], script: str) -> Section:
    """Return pages that are complete when they are sent."""
    links = "".join(f'<li><a href="/{name}/{n}">Item {n}</a></li>' for n in range(items))
    pages = {f"/{name}/": build_document(f"<main><h1>List</h1><ul>{links}</ul></main>", scripts, script)}
    words = {f"/{name}/{n}": build_words(name, n) for n in range(items)}
    for path, text in words.items():
        content = f"<main><h1>Item</h1><p>{' '.join(text)}</p><img loading=lazy src=/a.png></main>"
        pages[path] = build_document(content, scripts, script)
    return Section(pages, words, False)


def build_scroll_section(items: int) -> Section:
    """Return a list that grows when it is scrolled, and pages that are complete when they are sent."""
    section = build_text_section("scroll", items, (), "")
    start = "const BASE = '/scroll/', API = '/api/scroll';"
    markup = '<main><ul id="list"></ul><p id="end">End</p></main>'
    pages = {**section.pages, "/scroll/": build_document(markup, (), start + SCROLL)}
    for first in range(0, items + 4, 4):
        pages[f"/api/scroll?from={first}"] = build_json({"items": list(range(first, min(first + 4, items)))})
    pages[f"/api/scroll?from={items}"] = build_json({"items": []})
    return Section(pages, section.words, True)


def build_htmx_section(items: int) -> Section:
    """Return pages that load a fragment of HTML."""
    links = "".join(f'<li><a href="/htmx/{n}">Item {n}</a></li>' for n in range(items))
    pages, words = {"/fragment/htmx/": Page(f"<ul>{links}</ul>".encode())}, {}
    for number in (None, *range(items)):
        end = "" if number is None else f"{number}"
        path, fragment = f"/htmx/{end}", f"/fragment/htmx/{end}"
        pages[path] = build_document(f'<main hx-get="{fragment}" hx-trigger="load"></main>', ("htmx.js",))
        if number is not None:
            words[path] = build_words("htmx", number)
            pages[fragment] = Page(f"<h1>Item</h1><p>{' '.join(words[path])}</p>".encode())
    return Section(pages, words, True)


def build_sections(items: int, controls: int) -> dict[str, Section]:
    hydrate = """const e = React.createElement, main = document.querySelector("main");
      const nodes = [...main.children].map((c, key) => e(c.localName, c.localName === "img"
        ? { key, loading: "lazy", src: "/a.png" } : { key, dangerouslySetInnerHTML: { __html: c.innerHTML } }));
      ReactDOM.hydrateRoot(main, nodes);"""
    return {
        **{name: build_client_section(name, items) for name in CLIENTS},
        "htmx": build_htmx_section(items),
        "scroll": build_scroll_section(items),
        "hydrated": build_text_section("hydrated", controls // 3, ("react.js", "react-dom.js"), hydrate),
        "enhanced": build_text_section("enhanced", controls, ("jquery.js",), ENHANCE),
        "static": build_text_section("static", controls // 3, (), ""),
    }


def build_framework_sections(builds: FrameworkBuilds, items: int, controls: int) -> dict[str, Section]:
    """Return pages built in the browser by each framework, and pages that React streams and hydrates."""
    sections = {}
    for name in CLIENT_NAMES:
        base, pages, words = f"/{name}/", {f"/api/{name}": build_json({"items": list(range(items))})}, {}
        for number in (None, *range(items)):
            path, api = (base, f"/api/{name}") if number is None else (f"{base}{number}", f"/api/{name}/{number}")
            start = f"<script>window.BASE = {base!r}; window.API = {api!r};</script>"
            root = ROOTS.get(name, '<div id="app"></div>')
            pages[path] = build_document(start + root, (f"{name}.js",))
            if number is not None:
                words[path] = build_words(name, number)
                pages[api] = build_json({"title": f"Item {number}", "text": " ".join(words[path])})
        sections[name] = Section(pages, words, True)
    numbers = range(controls // 3)
    found = [{"title": f"Item {n}", "text": " ".join(build_words("streamed", n))} for n in numbers]
    links = "".join(f'<li><a href="/streamed/{n}">Item {n}</a></li>' for n in numbers)
    pages = {"/streamed/": build_document(f"<main><h1>List</h1><ul>{links}</ul></main>")}
    for number, (item, markup) in enumerate(zip(found, builds.stream_pages(found), strict=True)):
        state = f'<div id="app">{markup}</div><script>window.ITEM = {json.dumps(item)}</script>'
        pages[f"/streamed/{number}"] = build_document(state, ("streamed.js",))
    words = {f"/streamed/{n}": build_words("streamed", n) for n in numbers}
    return sections | {"streamed": Section(pages, words, False)}


def count_versions(pages: Mapping[str, Page], sections: Mapping[str, Section], repeats: int) -> dict[str, int]:
    """Render one page of each section several times; return the number of different documents."""
    counts = {}
    with Site(pages) as site:
        settings = FetchSettings(allow_private=True, render="always", archive_folder="")
        for name in sections:
            loop, digests = RenderingLoop(settings, compute_fingerprints), []
            for number in range(repeats):
                task = FetchTask(number + 1, number + 1, Url(f"{site.root}/{name}/1"))
                loop.submit(FetchBatch(Host(site.root), (task,), delay_seconds=0.0))
                while not (visits := loop.run_for(0.5).visits):
                    pass
                digests += [visit.digest for visit in visits]
            loop.close()
            counts[name] = len(set(digests))
    return counts


def build_request(urls: tuple[str, ...], render: str) -> CrawlRequest:
    return CrawlRequest(
        urls,
        scope=ScopeSettings(sitemaps=False),
        politeness=PolitenessSettings(delay=0.0),
        fetching=HttpSettings(allow_private=True),
        rendering=RenderSettings(render=render),  # type: ignore[arg-type]
        workers=WorkerSettings(workers=1),
    )


def measure_recall(folder: Path, root: str, sections: Mapping[str, Section]) -> Iterator[tuple[str, float]]:
    """Return the share of the words of each section that are stored."""
    with open_collection_read_only(folder) as collection:
        for name, section in sections.items():
            found = total = 0
            for path, words in section.words.items():
                total += len(words)
                try:
                    id_, key = resolve_known_url(collection, root + path)
                    text = load_stored_record(collection, id_, key, None).body.decode("utf-8", "replace")
                except Exception:  # noqa: BLE001, S112 - not found by this crawl
                    continue
                body = SCRIPT.sub("", text).replace("<", " ") + " "
                found += sum(f"{word} " in body for word in words)
            yield name, found / total


def build_site(sections: Mapping[str, Section], libraries: Mapping[str, bytes]) -> dict[str, Page]:
    pages = {path: page for section in sections.values() for path, page in section.pages.items()}
    pages |= {
        f"/lib/{name}": Page(body, headers={"Content-Type": "text/javascript"}) for name, body in libraries.items()
    }
    pages["/"] = build_document("".join(f'<a href="/{name}/">{name}</a> ' for name in sections))
    return pages


def run(render: str, sections: Mapping[str, Section], pages: Mapping[str, Page]) -> None:
    """Crawl and revisit all sections, and print a row of the table."""
    with tempfile.TemporaryDirectory() as folder, Site(pages) as site:
        summary = crawl(Path(folder), build_request((site.root + "/",), render))
        recall = dict(measure_recall(Path(folder), site.root, sections))
        sent = sum(site.hits.values())
        site.hits.clear()
        started = time.monotonic()
        again = refresh(Path(folder), build_request((), render), RefreshMode.ALL)
        client = [recall[name] for name, section in sections.items() if section.needs_browser]
        others = [recall[name] for name, section in sections.items() if not section.needs_browser]
        print(
            f"| `{render}` | {summary.pages:,} | {sum(client) / len(client):.3f} | {sum(others) / len(others):.3f} |"
            f" {summary.rendered:,} ({summary.rendered / max(1, summary.pages):.0%}) | {summary.pages_per_second:.1f} |"
            f" {sent:,} | {again.rendered:,} / {again.changed} | {again.bytes:,} |"
            f" {time.monotonic() - started:.0f} s |",
            flush=True,
        )
        print(f"    {render}: " + ", ".join(f"{name} {share:.2f}" for name, share in recall.items()), flush=True)


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=12, help="pages of each section that is built by scripts")
    parser.add_argument("--controls", type=int, default=60, help="pages of the largest section that is not")
    parser.add_argument("--libraries", type=Path, help="folder for the downloads")
    parser.add_argument(
        "--builds", type=Path, help="folder for builds of Svelte, Angular, and others; needs node and npm"
    )
    parser.add_argument(
        "--repeats", type=int, default=0, help="only count the versions of a page in as many renderings"
    )
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        libraries = load_libraries(args.libraries or Path(folder))
    sections = build_sections(args.items, args.controls)
    if args.builds:
        builds = build_frameworks(args.builds)
        controls = {name: section for name, section in sections.items() if not section.needs_browser}
        sections, libraries = (
            build_framework_sections(builds, args.items, args.controls) | controls,
            libraries | builds.scripts,
        )
    pages = build_site(sections, libraries)
    if args.repeats:
        print(count_versions(pages, sections, args.repeats))
        return
    total = 1 + sum(1 + len(section.words) for section in sections.values())
    print(f"{total} pages\n")
    print(
        "| `--render` | pages found | words, built by scripts | words, others | rendered | pages/s | CPU | requests |"
    )
    for render in ("never", "auto", "always"):
        run(render, sections, pages)


if __name__ == "__main__":
    main()
