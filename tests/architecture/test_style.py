"""Test sizes, names, and wording: the rules of CONTRIBUTING.md that a machine can check."""

import ast
import inspect
import io
import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "sanderling"
MODULES = sorted(SOURCE.rglob("*.py"))
TREES = {path: ast.parse(path.read_text()) for path in MODULES}
MAX_MODULE_LINES = 300
MAX_PACKAGE_MODULES = 25
MAX_ROOT_MODULES = 8
MAX_PRONOUN_SHARE = 0.05
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
PRONOUN = re.compile(
    r"\b([Ww]hat|[Ww]ho|[Ww]hom|[Oo]nes?|[Oo]thers|none|[Ss]omebody|[Nn]obody|[Aa]nybody)\b"
)  # not None
RETIRED = frozenset(  # words that docs/reference/glossary.md replaces, where they have no other meaning in the field
    [
        "itinerary",
        "errand",
        "errands",
        "parcel",
        "parcels",
        "vitals",
        "house",
        "judge",
        "judged",
        "verdict",
        "verdicts",
        "door",
        "doors",
        "knock",
        "blame",
        "condemn",
        "condemned",
        "pardon",
        "acquit",
        "furniture",
        "trimmings",
        "told",
        "heard",
        "restless",
        "hushed",
        "sieve",
        "sift",
        "glance",
        "diary",
        "shelf",
        "kin",
        "habits",
        "alike",
        "lookout",
        "leavers",
        "crew",
        "nursery",
        "quarters",
        "twin",
        "twins",
        "beside",
        "doubles",
        "catalogue",
        "normalise",
        "organise",
        "recognise",
        "colour",
        "neighbour",
        "somebody",
        "nobody",
        "anybody",
    ]
)
UNPOLISHED = ("revisit/",)  # their methods are about to be replaced
PROSE = (
    "tests",
    "benchmarks",
    "scripts",
    "docs",
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CHANGELOG.md",
    "Makefile",
)
PROSE_UNPOLISHED = ("tests/revisit/",)
NO_PROSE = (  # words of the papers, texts of test pages, old stored names, this list
    "benchmarks/peers/", "docs/papers.md", "tests/architecture/test_style.py", "tests/changes/test_whole_pages.py",
    "tests/data/", "tests/support/old_tables.py", "tests/support/whole_pages.py",
)  # fmt: skip
OTHER_MEANINGS = {  # page texts, stored names, and other meanings of a retired word
    "catalogue": "django-oscar",  # the name of an app
    "colour": '"--kind", "colour"',  # an invalid value
    "doors": "Doors today",
    "doubles": "doubles",  # the verb
    "heard": "heard_seconds_ago",  # a renamed JSON key
    "house": "House sold",
    "nobody": "nobody@|Nobody is there",
    "restless": "STORED|restless",
    "shelf": "shelf",
    "told": '`told`|told\\.|two told|"told"',
    "twin": '"twin"',
    "verdict": '"verdict"|a7verdict',
}
ACROSS_MODULES = (  # behavior of several modules together
    "api/", "architecture/", "conformance/", "experiments/", "hostile/",
    "changes/test_mutations", "changes/test_stored_formats", "changes/test_whole_pages", "cli/test_changed_counts",
    "cli/test_read_only", "cli/test_streams", "crawl/stages/test_change_lists", "crawl/stages/test_missing_pages",
    "crawl/test_crash_recovery", "crawl/test_politeness", "crawl/test_revisit_days",
    "deletion/test_stored_formats", "fingerprint/test_version",
    "frontier/ordering/test_orderings", "monitor/", "plugins/test_example_plugin",
    "publisher/test_frameworks", "publisher/test_nginx", "quality/",
    "revisit/", "search/test_collections", "search/test_indexer_kill", "storage/test_older_collection", "templates/",
    "web/test_browser", "web/test_search_commands", "workers/assignment/test_simulation",
    "workers/test_link_failures", "workers/test_template_filters",
)  # fmt: skip
SAME_NAME = ("cli/commands", "db/schema")  # a command or schema module is named after its subject


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def split_words(identifier: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", identifier)}


def identifiers_of(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, DOCUMENTED[1:]):
            yield node.name


def docstrings_of(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node)):
            yield text


def comments_of(path: Path) -> Iterator[str]:
    for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


def test_modules_and_packages_are_small() -> None:
    lines = {name_of(path): len(path.read_text().splitlines()) for path in MODULES}
    assert {name: count for name, count in lines.items() if count > MAX_MODULE_LINES} == {}
    packages = Counter(path.parent for path in MODULES)
    assert packages[SOURCE] <= MAX_ROOT_MODULES
    counted = {name_of(folder): count for folder, count in packages.items()}
    assert {name: count for name, count in counted.items() if count > MAX_PACKAGE_MODULES} == {}


def test_only_the_pipeline_sees_all_services() -> None:
    stages = [path for path in MODULES if name_of(path).startswith("crawl/stages/")]
    assert {name_of(path) for path in stages if "CrawlContext" in identifiers_of(TREES[path])} == set()
    assert "CrawlContext" in identifiers_of(TREES[SOURCE / "crawl" / "pipeline.py"])


def test_public_classes_have_unique_names() -> None:
    modules = defaultdict(list)
    for path, tree in TREES.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                modules[node.name].append(name_of(path))
    assert {name: found for name, found in modules.items() if len(found) > 1} == {}


def test_modules_have_unique_names() -> None:
    paths = [path for path in MODULES if not path.stem.startswith("__") and not name_of(path).startswith(SAME_NAME)]
    counts = Counter(path.stem for path in paths)
    assert {name: count for name, count in counts.items() if count > 1} == {}


def test_tests_mirror_modules() -> None:
    modules = {name_of(path).removesuffix(".py") for path in MODULES} | {"cli/init", "main"}
    tests = Path(__file__).parents[1]
    paths = [path.relative_to(tests) for path in tests.rglob("test_*.py")]
    names = {path.as_posix(): path.with_name(path.stem.removeprefix("test_")).as_posix() for path in paths}
    found = {path for path, name in names.items() if name not in modules and not path.startswith(ACROSS_MODULES)}
    assert found == set(), "one test file per module at the mirrored path, or in ACROSS_MODULES"


def test_retired_words_are_in_no_identifier_docstring_or_comment() -> None:
    found = set()
    for path, tree in TREES.items():
        if name_of(path).startswith(UNPOLISHED):
            continue
        found |= {(name_of(path), name) for name in identifiers_of(tree) if RETIRED & split_words(name)}
        for text in (*docstrings_of(tree), *comments_of(path)):
            words = re.findall(r"[a-z]+", text.lower().replace("beside a web server", ""))
            found |= {(name_of(path), word) for word in RETIRED.intersection(words)}
    assert sorted(found) == []


def test_retired_words_are_in_no_test_benchmark_script_or_page_of_the_docs() -> None:
    found: list[str] = []
    for name, line in read_prose():
        text = re.sub(r"([a-z])([A-Z])", r"\1 \2", line).replace("beside a web server", "")
        words = RETIRED.intersection(re.findall(r"[a-z]+", text.lower()))
        wrong = [word for word in words if not re.search(OTHER_MEANINGS.get(word, "(?!)"), line)]
        found.extend(f"{name}: {word}: {line.strip()}" for word in wrong)
    assert found == []


def test_retired_words_are_in_no_message() -> None:
    found: list[str] = []
    for path, tree in TREES.items():
        if name_of(path).startswith(
            ("cli/", "crawl/", "web/", "workers/", "fetch/", "search/", "config/", "errors.py")
        ):
            for text in strings_of(tree):
                words = RETIRED.intersection(re.findall(r"[a-z]+", text.lower().replace("beside a web server", "")))
                found.extend(f"{name_of(path)}: {word}: {text}" for word in words)
    assert found == []


def read_prose() -> Iterator[tuple[str, str]]:
    root = SOURCE.parents[1]
    for part in PROSE:
        files = [root / part] if (root / part).is_file() else sorted((root / part).rglob("*.*"))
        for file in files:
            name = file.relative_to(root).as_posix()
            if file.suffix in (".py", ".md", ".sh", "") and not name.startswith(PROSE_UNPOLISHED + NO_PROSE):
                yield from ((name, line) for line in file.read_text().splitlines())


def strings_of(tree: ast.AST) -> Iterator[str]:
    """Yield string constants except SQL, lists of columns, and docstrings."""
    docstrings = set(docstrings_of(tree))
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and inspect.cleandoc(node.value) not in docstrings
            and not re.search(r"\b(SELECT|INSERT|UPDATE|DELETE|FROM|WHERE)\b|^\w+(, \w+)+$", node.value)
        ):
            yield node.value


def test_first_lines_of_docstrings_name_things() -> None:
    lines = [text.partition("\n")[0] for tree in TREES.values() for text in docstrings_of(tree)]
    vague = [line for line in lines if PRONOUN.search(line)]
    assert len(vague) <= MAX_PRONOUN_SHARE * len(lines), f"{len(vague)} of {len(lines)}: {vague[:20]}"
