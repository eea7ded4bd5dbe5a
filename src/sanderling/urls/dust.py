"""Different URLs, same text (DUST): rewrite rules learned from the crawl itself, site by site (SPEC 2.3, 12.5).

A rule says that something in a URL makes no difference on a site: a parameter, the order of parameters, `www.`, an
index page, a trailing slash, case, the scheme. Evidence are pages that were fetched under both spellings. Half of it,
chosen by hash, proposes a rule; the other half, never looked at before, has to confirm it. Two spellings that lead to
pages of their own speak against a rule for good, for it would lose one of them: what may disagree, on a few pages, are
versions of one page. A person may know better and name a rule (`said`); so are the lossy rules of normalisation (N8)
switched on. A rule only ever changes which spelling is asked for, so it is taken back by leaving it out.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from urllib.parse import urlsplit, urlunsplit

from msgspec import Struct, msgpack
from msgspec.structs import replace
from xxhash import xxh32_intdigest

from sanderling.db.connection import Connection
from sanderling.fingerprint.minhash import similarity

SUPPORT = 3  # groups of spellings that must agree in each half of the evidence
ERRORS = 0.02  # versions that may be lost, to a group of spellings
VERSIONS = 0.8  # similarity from which two texts may be versions of one page
ROUNDS = 3
MAX_NAMES = 100  # parameters of a site that are looked at, the usual ones
NAMES = ("slash", "case", "www", "scheme", "order", "index", "index=NAME", "parameter=NAME")
INDEX_NAMES = ("index.html", "index.htm", "index.php", "default.asp", "default.aspx", "default.html", "index.jsp")


class Kind(StrEnum):
    """What makes no difference."""

    PARAMETER = "parameter"  # `name` may be left out of the query
    ORDER = "order"  # ?b=2&a=1 is ?a=1&b=2
    WWW = "www"  # www.example.org is example.org
    INDEX = "index"  # /a/index.html is /a/
    SLASH = "slash"  # /a/ is /a
    CASE = "case"  # /A is /a
    SCHEME = "scheme"  # http is https


class Rule(Struct, frozen=True):
    """One thing that makes no difference on one site, with its evidence."""

    site: str  # host without www.
    kind: Kind
    name: str = ""  # of the parameter or the index page
    keep: bool = False  # the longer spelling is the usual one: www., /a/, http
    agreed: int = 0  # groups of spellings with one content, among those held out; 0: a person said so
    disagreed: int = 0


class Page(Struct, frozen=True):
    """A fetched page: where, and what (any digest of its body or text)."""

    url: str
    content: bytes
    sketch: bytes = b""  # of its text (fingerprint/minhash.py); empty if unknown


def site_of(url: str) -> str:
    """Name the site of a URL: its host without `www.`, with its port."""
    return urlsplit(url).netloc.lower().removeprefix("www.")


def said(site: str, text: str) -> list[Rule]:
    """Read a rule as a person writes it (`NAMES`); `index` stands for every usual name of an index page."""
    kind, mark, name = text.partition("=")
    if kind == Kind.INDEX and not mark:
        return [Rule(site, Kind.INDEX, name) for name in INDEX_NAMES]
    if kind not in list(Kind) or bool(name) != (kind in (Kind.PARAMETER, Kind.INDEX)):
        raise ValueError(f"{text!r} is no rule; there are {', '.join(NAMES)}")
    return [Rule(site, Kind(kind), name)]


def learn(pages: Iterable[Page], support: int = SUPPORT, errors: float = ERRORS) -> list[Rule]:
    """Propose rules on one half of the evidence, and keep those that the other half confirms."""
    sites: dict[str, list[Page]] = {}
    for page in pages:
        sites.setdefault(site_of(page.url), []).append(page)
    return [rule for site, found in sorted(sites.items()) for rule in _learn_site(site, found, support, errors)]


def _learn_site(site: str, pages: Sequence[Page], support: int, errors: float) -> list[Rule]:
    """Learn in rounds: what differs in two ways is evidence for the second once the first is known."""
    rules: list[Rule] = []
    for _ in range(ROUNDS):
        spelled = [replace(page, url=rewrite(page.url, rules)) for page in pages]
        found = [rule for rule in _round(site, spelled, support, errors) if not _has(rules, rule)]
        if not found:
            break
        rules += found
    return rules


def _round(site: str, pages: Sequence[Page], support: int, errors: float) -> list[Rule]:
    rules = []
    for rule in _candidates(site, pages):
        proposed, confirmed = _evidence(rule, pages)
        if all(half[0] >= support and half[1] <= errors * sum(half) for half in (proposed, confirmed)):
            rules.append(Rule(site, rule.kind, rule.name, _is_longer_usual(rule, pages), *confirmed))
    return rules


def _has(rules: Sequence[Rule], rule: Rule) -> bool:
    return any((known.kind, known.name) == (rule.kind, rule.name) for known in rules)


def _candidates(site: str, pages: Sequence[Page]) -> list[Rule]:
    names: Counter[str] = Counter()
    for page in pages:
        query = page.url.partition("#")[0].partition("?")[2]
        names.update({part.partition("=")[0] for part in query.split("&") if part})
    paths = {urlsplit(page.url).path.rpartition("/")[2].lower() for page in pages}
    return [
        *(Rule(site, Kind.PARAMETER, name) for name, count in names.most_common(MAX_NAMES) if count >= SUPPORT),
        *(Rule(site, Kind.INDEX, name) for name in INDEX_NAMES if name in paths),
        *(Rule(site, kind) for kind in (Kind.ORDER, Kind.WWW, Kind.SLASH, Kind.CASE, Kind.SCHEME)),
    ]


def _evidence(rule: Rule, pages: Sequence[Page]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Count in each half the groups of spellings that the rule makes one with one content, and what else it loses."""
    groups: dict[str, list[Page]] = {}
    for page in pages:
        groups.setdefault(rewrite(page.url, [rule]), []).append(page)
    agreed, lost = (set[bytes](), set[bytes]()), [0, 0]
    telling = sorted((key for key, group in groups.items() if _is_telling(rule, group)), key=_chance)
    for place, key in enumerate(telling):
        if losing := _lost(groups[key], len(pages)):
            lost[place & 1] += losing
        else:
            agreed[place & 1].add(groups[key][0].content)  # pages that all say the same, as that there is none, are one
    return (len(agreed[0]), lost[0]), (len(agreed[1]), lost[1])


def _is_telling(rule: Rule, group: Sequence[Page]) -> bool:
    """Say whether pages are spelled in two ways as the rule has it: by another value, not by its place alone."""
    if rule.kind is Kind.PARAMETER:
        return len({_values(page.url, rule.name) for page in group}) > 1
    return len({page.url for page in group}) > 1


def _values(url: str, name: str) -> tuple[str, ...]:
    """Name the values of a parameter."""
    return tuple(part for part in url.partition("?")[2].split("&") if part.partition("=")[0] == name)


def _lost(group: Sequence[Page], most: int) -> int:
    """Count the versions of a page that would be asked for no more; as many as can be, if one is a page of its own."""
    contents = {page.content: page.sketch for page in group}
    first, *others = contents.values()
    return most if any(_is_far(first, other) for other in others) else len(others)


def _is_far(one: bytes, other: bytes) -> bool:
    """Return whether two texts are different pages; False if a sketch is missing or of an earlier version."""
    return 0 < len(one) == len(other) and similarity(one, other) < VERSIONS


def _chance(key: str) -> int:
    """An order that has nothing to do with what a URL says: in it, every other group is held out."""
    return xxh32_intdigest(key.encode("utf-8", "surrogatepass"))


def _is_longer_usual(rule: Rule, pages: Sequence[Page]) -> bool:
    """Say which spelling the site itself uses more."""
    if rule.kind not in (Kind.WWW, Kind.SLASH):
        return False
    touched = sum(rewrite(page.url, [rule]) != page.url for page in pages)
    return touched * 2 > len(pages)


def rewrite(url: str, rules: Iterable[Rule]) -> str:
    """Spell a URL as the rules of its site have it; the last rules see what the first ones made of it."""
    for rule in rules:
        if site_of(url) == rule.site:
            url = REWRITES[rule.kind](url, rule)
    return url


def _parameter(url: str, rule: Rule) -> str:
    head, mark, query = url.partition("?")
    kept = "&".join(part for part in query.split("&") if part.partition("=")[0] != rule.name)
    return f"{head}?{kept}" if mark and kept else head


def _order(url: str, _: Rule) -> str:
    head, mark, query = url.partition("?")
    parts = sorted(query.split("&"), key=lambda part: part.partition("=")[0])  # those of one name stay as they stand
    return f"{head}{mark}{'&'.join(parts)}"


def _www(url: str, rule: Rule) -> str:
    parts = urlsplit(url)
    bare = parts.netloc.removeprefix("www.")
    return urlunsplit(parts._replace(netloc=f"www.{bare}" if rule.keep else bare))


def _index(url: str, rule: Rule) -> str:
    parts = urlsplit(url)
    folder, _, name = parts.path.rpartition("/")
    return urlunsplit(parts._replace(path=f"{folder}/")) if name.lower() == rule.name else url


def _slash(url: str, rule: Rule) -> str:
    parts = urlsplit(url)
    bare = parts.path.rstrip("/")
    if not bare or (rule.keep and "." in bare.rpartition("/")[2]):
        return url
    return urlunsplit(parts._replace(path=f"{bare}/" if rule.keep else bare))


def _case(url: str, _: Rule) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=parts.path.lower()))


def _scheme(url: str, _: Rule) -> str:
    return "https" + url.removeprefix("http") if url.startswith("http://") else url


REWRITES: dict[Kind, Callable[[str, Rule], str]] = {
    Kind.PARAMETER: _parameter,
    Kind.ORDER: _order,
    Kind.WWW: _www,
    Kind.INDEX: _index,
    Kind.SLASH: _slash,
    Kind.CASE: _case,
    Kind.SCHEME: _scheme,
}


def load(db: Connection) -> list[Rule]:
    """Read the rules in use."""
    row = db.execute("SELECT value FROM blobs WHERE name = 'dust'").fetchone()
    return msgpack.decode(row[0], type=list[Rule]) if row else []


def save(db: Connection, rules: Sequence[Rule]) -> None:
    """Write down the rules to use from now on, all of them."""
    db.execute(
        "INSERT INTO blobs VALUES ('dust', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (msgpack.encode(list(rules)),),
    )
