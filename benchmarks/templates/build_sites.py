"""Build sites of other kinds, with a page type for every page: blogs, a shop, and a wiki.

    python -m benchmarks.templates.build_sites [--data DIR]

The generators come from the package registries: Pelican, Nikola, MkDocs Material, and django-oscar from PyPI, Hexo with
two themes from npm, Jekyll with Minima (jekyll-theme-minima, ruby-jekyll-paginate), ikiwiki, and DokuWiki from Debian
(with php-cli, php-xml, php-phpseclib, php-geshi and libphp-simplepie). The text is random and
the same in every run. Sites are written to DIR/built/NAME, and their labels to DIR/built/NAME.json. The types follow
from what the generators write where.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from urllib.request import urlopen

WORDS = re.findall(
    r"\S+",
    """
    amber anchor apple basin beacon birch bridge canal cedar chalk cliff cloud copper coral cotton crane dune
    ember fern field flint forest gable garden glacier granite grove harbor hazel heron island ivory jade kelp
    lake lantern larch linen maple marsh meadow mill mint moss oak ochre olive orchard otter pearl pebble pine
    plum quartz quill rain reed ridge river rope rose rust saddle sage salt sand shell silk slate sparrow spruce
    stone straw tar thistle tide timber torch trail valley velvet walnut wharf willow wool yarrow
    """,
)
TOPICS = ("travel", "cooking", "garden", "music", "books", "history")
TAGS = WORDS[::6]
POSTS, PAGES, PRODUCTS, ARTICLES, NAMESPACES = 120, 12, 150, 120, 12
WIKI_PORT = 8917
NPM_PACKAGES = re.findall(
    r"\S+",
    """
    hexo hexo-theme-landscape hexo-theme-next hexo-renderer-marked hexo-renderer-ejs hexo-renderer-stylus
    hexo-renderer-nunjucks hexo-generator-archive hexo-generator-category hexo-generator-tag
    hexo-generator-index
    """,
)
PYPI_PACKAGES = ("pelican", "nikola", "django-oscar", "markdown", "sorl-thumbnail", "mkdocs-material")


def write_text(rng: random.Random, paragraphs: int) -> str:
    lines = (" ".join(rng.choices(WORDS, k=rng.randint(20, 70))).capitalize() + "." for _ in range(paragraphs))
    return "\n\n".join(lines)


def title(rng: random.Random) -> str:
    return " ".join(rng.sample(WORDS, rng.randint(2, 5))).capitalize()


def write_posts(folder: Path, header: Callable[[int, str, str, Sequence[str]], str], suffix: str) -> None:
    """Write posts with the front matter of a generator."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(5)
    for n in range(POSTS):
        date = f"20{22 + n % 3}-{n % 12 + 1:02}-{n % 27 + 1:02} 10:00:00"
        head = header(n, date, rng.choice(TOPICS), rng.sample(TAGS, rng.randint(1, 3)))
        lists = "".join(f"- {word}\n" for word in rng.sample(WORDS, 4)) if n % 3 == 0 else ""
        heading = f"## {title(rng)}\n\n{write_text(rng, 2)}\n" if n % 2 else ""
        body = f"{write_text(rng, rng.randint(1, 5))}\n\n{heading}\n{lists}"
        (folder / f"{'-'.join(rng.sample(WORDS, 3))}-{n}{suffix}").write_text(f"{head}\n\n{body}\n")


def run(command: Sequence[str | Path], folder: Path, **env: str) -> None:
    subprocess.run([str(part) for part in command], cwd=folder, check=True, env={"PATH": "/usr/bin:/bin", **env})


def build_hexo(theme: str, tools: Path, out: Path) -> None:
    source = tools / f"hexo-{theme}"
    source.mkdir(parents=True, exist_ok=True)
    (source / "package.json").write_text('{"name": "blog", "private": true, "hexo": {}, "dependencies": {}}')
    run(["npm", "install", "--no-audit", "--no-fund", "--silent", *NPM_PACKAGES], source)
    (source / "_config.yml").write_text(
        f"title: Blog\nurl: http://site\ntheme: {theme}\npermalink: :year/:month/:title/\nper_page: 10\n"
        f"index_generator: {{per_page: 10}}\narchive_generator: {{per_page: 20}}\npublic_dir: {out}\n"
    )
    write_posts(
        source / "source/_posts",
        lambda n, date, topic, tags: (
            f"---\ntitle: {title(random.Random(n))}\ndate: {date}\n"
            f"categories: [{topic}]\ntags: [{', '.join(tags)}]\n---"
        ),
        ".md",
    )
    for n in range(PAGES):
        page = source / f"source/about-{WORDS[n]}/index.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(f"---\ntitle: About {WORDS[n]}\n---\n\n{write_text(random.Random(n), 3)}\n")
    run(["npx", "hexo", "generate", "--force"], source)


def build_pelican(tools: Path, out: Path) -> None:
    source = tools / "pelican"
    write_posts(
        source / "content",
        lambda n, date, topic, tags: (
            f"Title: {title(random.Random(n))}\nDate: {date[:16]}\nCategory: {topic}\nTags: {', '.join(tags)}\n"
            f"Author: {WORDS[n % 9].capitalize()}"
        ),
        ".md",
    )
    (source / "content/pages").mkdir(exist_ok=True)
    for n in range(PAGES):
        text = f"Title: About {WORDS[n]}\n\n{write_text(random.Random(n), 3)}\n"
        (source / f"content/pages/about-{WORDS[n]}.md").write_text(text)
    (source / "pelicanconf.py").write_text(
        "SITENAME = 'Blog'\nSITEURL = ''\nPATH = 'content'\nTIMEZONE = 'UTC'\nRELATIVE_URLS = True\n"
        "DEFAULT_PAGINATION = 10\nMONTH_ARCHIVE_SAVE_AS = 'posts/{date:%Y}/{date:%m}/index.html'\n"
    )
    run([tools / "venv/bin/pelican", "content", "-o", out, "-s", "pelicanconf.py", "-q"], source)


def build_nikola(tools: Path, out: Path) -> None:
    source = tools / "nikola"
    if not (source / "conf.py").exists():
        run([tools / "venv/bin/nikola", "init", "-q", source], tools)
    conf = (source / "conf.py").read_text()
    if "OUTPUT_FOLDER = " not in conf.replace("# OUTPUT_FOLDER", ""):
        (source / "conf.py").write_text(f"{conf}\nOUTPUT_FOLDER = {str(out)!r}\nCREATE_MONTHLY_ARCHIVE = True\n")
    write_posts(
        source / "posts",
        lambda n, date, topic, tags: (
            f".. title: {title(random.Random(n))}\n.. slug: {WORDS[n % len(WORDS)]}-{n}\n.. date: {date} UTC\n"
            f".. category: {topic}\n.. tags: {', '.join(tags)}"
        ),
        ".rst",
    )
    for path in (source / "posts").glob("*.rst"):
        path.write_text(path.read_text().replace("## ", "").replace("\n- ", "\n* "))
    (source / "pages").mkdir(exist_ok=True)
    for n in range(PAGES):
        text = f".. title: About {WORDS[n]}\n.. slug: about-{WORDS[n]}\n.. date: 2024-01-01 10:00:00 UTC\n\n"
        (source / f"pages/about-{WORDS[n]}.rst").write_text(text + write_text(random.Random(n), 3))
    run([tools / "venv/bin/nikola", "build", "-q"], source, LANG="C.UTF-8")


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def build_jekyll(tools: Path, out: Path) -> None:
    rng, source = random.Random(11), tools / "jekyll"
    files = {
        "_config.yml": "title: Blog\ntheme: minima\nplugins: [jekyll-paginate]\npaginate: 8\n"
        "permalink: /:categories/:year/:month/:title.html\ncollections: {docs: {output: true}}\n",
        "index.html": "---\nlayout: home\n---\n{% for post in paginator.posts %}<h2>{{post.title}}</h2>{% endfor %}",
    }
    for n in range(POSTS):
        head = f"---\nlayout: post\ntitle: {title(rng)}\ncategories: {rng.choice(TOPICS)}\n---\n"
        name = f"_posts/202{2 + n % 3}-{n % 12 + 1:02}-{n % 27 + 1:02}-{'-'.join(rng.sample(WORDS, 3))}.md"
        files[name] = head + write_text(rng, rng.randint(1, 5))
    for word in WORDS[:PAGES]:
        head = f"---\nlayout: page\ntitle: About {word}\npermalink: /about-{word}/\n---\n"
        files[f"about-{word}.md"] = head + write_text(rng, 3)
    for word in WORDS[:40]:
        files[f"_docs/{word}.md"] = (
            f"---\nlayout: default\n---\n# {title(rng)}\n\n{write_text(rng, 3)}\n\n```\nx\n```\n"
        )
    write_files(source, files)
    run(["jekyll", "build", "-q", "-d", out], source)


def build_mkdocs(tools: Path, out: Path) -> None:
    rng, source = random.Random(12), tools / "mkdocs"
    files = {
        "mkdocs.yml": "site_name: Wiki\ntheme: {name: material}\nplugins: [blog, tags]\n",
        "docs/index.md": "# Home\n",
    }
    files["docs/blog/index.md"] = "# Blog\n"
    for n in range(POSTS):
        date = f"202{2 + n % 3}-{n % 12 + 1:02}-{n % 27 + 1:02}"
        head = f"---\ndate: {date}\ncategories: [{rng.choice(TOPICS)}]\n---\n# {title(rng)}\n\n"
        text = f"{write_text(rng, 2)}\n<!-- more -->\n{write_text(rng, 3)}\n"
        files[f"docs/blog/posts/{'-'.join(rng.sample(WORDS, 2))}-{n}.md"] = head + text
    for n, word in enumerate(WORDS[:45]):
        files[f"docs/guide/{word}-{n}.md"] = f"# {title(rng)}\n\n{write_text(rng, 3)}\n\n!!! note\n    {word}\n"
        table = f"## `{word}()`\n\n| Name | Type |\n|---|---|\n| a | int |\n\n```python\nx = 1\n```\n"
        files[f"docs/reference/{word}-{n}.md"] = f"# {title(rng)}\n\n{write_text(rng, 1)}\n\n{table}"
    write_files(source, files)
    run([tools / "venv/bin/mkdocs", "build", "-q", "-d", out], source)


def build_ikiwiki(tools: Path, out: Path) -> None:
    rng, source = random.Random(13), tools / "ikiwiki"
    files = {"index.mdwn": " ".join(f"[[wiki/{word}]]" for word in WORDS[:60])}
    for n, word in enumerate(WORDS[:60]):
        lists, other, tag = "## x\n\n* a\n* b\n\n" * (n % 2), WORDS[n * 7 % 60], f"[[!tag {rng.choice(TAGS)}]]\n"
        files[f"wiki/{word}.mdwn"] = f"{write_text(rng, rng.randint(1, 4))}\n\nSee [[{other}]]\n\n{lists}{tag}"
        files[f"blog/{word}-{n}.mdwn"] = f'[[!meta title="{title(rng)}"]]\n{write_text(rng, 3)}\n\n{tag}'
    for tag in TAGS:
        files[f"tags/{tag}.mdwn"] = f'[[!inline pages="link(tags/{tag})" archive=yes]]\n'
    write_files(source, files)
    run(["ikiwiki", source, out, "--url", "http://site/", "--plugin=tag", "--set", "tagbase=tags"], tools)


def build_shop(tools: Path, out: Path) -> None:
    words = tools / "words.txt"
    words.write_text(" ".join(WORDS))
    script = Path(__file__).with_name("build_shop.py")
    run([tools / "venv/bin/python", script, out, str(PRODUCTS), words], tools)


def build_wiki(tools: Path, out: Path) -> None:
    """Serve DokuWiki with the web server of PHP, and fetch its pages."""
    root = tools / "dokuwiki"
    if not root.exists():
        root.mkdir()
        run(["apt-get", "download", "dokuwiki"], root)
        run(["dpkg-deb", "-x", *root.glob("*.deb"), root], root)
    web, data = root / "usr/share/dokuwiki", root / "data"
    for name in ("tpl", "plugins"):
        (web / "lib" / name).unlink(missing_ok=True)
        (web / "lib" / name).symlink_to(root / "var/lib/dokuwiki/lib" / name)
    (web / "inc/preload.php").write_text(f"<?php define('DOKU_CONF','{root}/etc/dokuwiki/');")
    (root / "etc/dokuwiki/local.php").write_text(f"<?php $conf['savedir']='{data}'; $conf['useacl']=0;")
    for name in ["attic", "cache", "index", "locks", "media", "media_attic", "media_meta", "meta", "pages", "tmp"]:
        (data / name).mkdir(parents=True, exist_ok=True)
    rng, pages = random.Random(9), {"doku.php?do=recent": "recent"}
    for n in range(ARTICLES):
        space, name = WORDS[n % NAMESPACES], f"{WORDS[n * 7 % len(WORDS)]}_{n}"
        link = f"[[{WORDS[n % NAMESPACES]}:{WORDS[n * 7 % len(WORDS)]}_{n - NAMESPACES}]]"
        table = "^ Name ^ Value ^\n| a | 1 |\n" if n % 3 == 0 else ""
        sections = "".join(f"===== {title(rng)} =====\n{write_text(rng, 1)}\n" for _ in range(rng.randint(0, 4)))
        page = data / "pages" / space / f"{name}.txt"
        page.parent.mkdir(exist_ok=True)
        page.write_text(f"====== {title(rng)} ======\n{write_text(rng, 2)} {link}\n\n{sections}{table}")
        id_ = f"{space}:{name}"
        pages[f"doku.php?id={id_}"] = "article"
        for action in ("revisions", "edit", "backlink") if n % 3 == 0 else ():
            pages[f"doku.php?id={id_}&do={action}"] = action
        pages[f"doku.php?id={space}&do=index"] = "index"
    server = subprocess.Popen(["php", "-S", f"127.0.0.1:{WIKI_PORT}", "-t", web], stderr=subprocess.DEVNULL)
    try:
        time.sleep(3)
        out.mkdir(parents=True, exist_ok=True)
        for name in pages:
            with urlopen(f"http://127.0.0.1:{WIKI_PORT}/{name}") as answer:
                (out / name).write_bytes(answer.read())
    finally:
        server.terminate()
    out.with_suffix(".json").write_text(json.dumps({"package": "dokuwiki", "pages": pages}, indent=0))


def label(path: str, rules: Sequence[tuple[str, str]]) -> str:
    return next((kind for pattern, kind in rules if re.search(pattern, path)), "")


HEXO_TYPES = (
    (r"^archives/\d{4}/\d\d/", "month"), (r"^archives/\d{4}/(index|page)", "year"), (r"^archives/", "archive"),
    (r"^tags/", "tag"), (r"^categories/", "category"), (r"^about-", "page"), (r"^page/|^index", "index"),
    (r"^\d{4}/\d\d/", "post"),
)  # fmt: skip
PELICAN_TYPES = (
    (r"^pages/", "page"), (r"^tag/", "tag"), (r"^category/", "category"), (r"^author/", "author"),
    (r"^posts/\d{4}/\d\d/", "month"), (r"^index\d*\.html", "index"), (r"^(archives|tags|categories|authors)\.", ""),
    (r"\.html$", "post"),
)  # fmt: skip
NIKOLA_TYPES = (
    (r"^posts/", "post"), (r"^pages/", "page"), (r"^categories/cat_", "category"), (r"^categories/[^/]+/", "tag"),
    (r"^categories/[^/]+\.html", "tag"), (r"^\d{4}/\d\d/", "month"), (r"^\d{4}/", "year"), (r"^index", "index"),
)  # fmt: skip


JEKYLL_TYPES = (
    (r"^about-", "page"), (r"^docs/", "doc"), (r"^page\d|^index", "index"), (r"/20\d\d/", "post"),
)  # fmt: skip
MKDOCS_TYPES = (
    (r"^blog/category", "category"), (r"^blog/archive", "archive"), (r"^blog/page", "list"), (r"^blog/\d{4}/", "post"),
    (r"^guide/", "guide"), (r"^reference/", "reference"),
)  # fmt: skip
IKIWIKI_TYPES = ((r"^wiki/", "article"), (r"^blog/.", "post"), (r"^tags/", "tag"))


def write_labels(name: str, out: Path, rules: Sequence[tuple[str, str]]) -> None:
    """Label the pages that were written, by their paths."""
    pages = {path.relative_to(out).as_posix(): path for path in sorted(out.rglob("*.html"))}
    types = {path: kind for path in pages if (kind := label(path, rules))}
    out.with_suffix(".json").write_text(json.dumps({"package": name, "pages": types}, indent=0))
    print(name, {kind: list(types.values()).count(kind) for kind in sorted(set(types.values()))}, flush=True)


def main() -> None:
    """Install the generators, build the sites, and label their pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("bench-data"))
    data = parser.parse_args().data.resolve()
    tools, built = data / "tools", data / "built"
    tools.mkdir(parents=True, exist_ok=True)
    if not (tools / "venv").exists():
        run([sys.executable, "-m", "venv", tools / "venv"], tools)
        run([tools / "venv/bin/pip", "install", "-q", *PYPI_PACKAGES], tools)
    builders: dict[str, tuple[Callable[[Path], None], Sequence[tuple[str, str]]]] = {
        "hexo-landscape": (lambda out: build_hexo("landscape", tools, out), HEXO_TYPES),
        "hexo-next": (lambda out: build_hexo("next", tools, out), HEXO_TYPES),
        "pelican": (lambda out: build_pelican(tools, out), PELICAN_TYPES),
        "nikola": (lambda out: build_nikola(tools, out), NIKOLA_TYPES),
        "jekyll": (lambda out: build_jekyll(tools, out), JEKYLL_TYPES),
        "mkdocs-material": (lambda out: build_mkdocs(tools, out), MKDOCS_TYPES),
        "ikiwiki": (lambda out: build_ikiwiki(tools, out), IKIWIKI_TYPES),
    }
    build_shop(tools, built / "oscar")
    build_wiki(tools, built / "dokuwiki")
    for name, (build, rules) in builders.items():
        build(built / name)
        write_labels(name, built / name, rules)


if __name__ == "__main__":
    main()
