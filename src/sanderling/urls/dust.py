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

from msgspec import Struct, field, msgpack
from msgspec.structs import replace
from xxhash import xxh32_intdigest

from sanderling.db.connection import Connection
from sanderling.fingerprint.minhash import estimate_similarity

MIN_SUPPORT = 3  # groups of spellings that must agree in each half of the evidence
MAX_ERROR_RATE = 0.02  # versions that may be lost, to a group of spellings
MIN_VERSION_SIMILARITY = 0.8  # similarity from which two texts may be versions of one page
MAX_ROUNDS = 3
MAX_PARAMETERS = 100  # parameters of a site that are looked at, the usual ones
RULE_FORMS = ("slash", "case", "www", "scheme", "order", "index", "index=NAME", "parameter=NAME")
INDEX_NAMES = ("index.html", "index.htm", "index.php", "default.asp", "default.aspx", "default.html", "index.jsp")


class DustRuleKind(StrEnum):
    """What makes no difference."""

    PARAMETER = "parameter"  # `name` may be left out of the query
    PARAMETER_ORDER = "order"  # ?b=2&a=1 is ?a=1&b=2
    WWW = "www"  # www.example.org is example.org
    INDEX = "index"  # /a/index.html is /a/
    SLASH = "slash"  # /a/ is /a
    CASE = "case"  # /A is /a
    SCHEME = "scheme"  # http is https


class DustRule(Struct, frozen=True):
    """One thing that makes no difference on one site, with its evidence."""

    site: str  # host without www.
    kind: DustRuleKind
    name: str = ""  # of the parameter or the index page
    prefers_longer: bool = field(default=False, name="keep")  # the longer spelling is the usual one: www., /a/, http
    support_count: int = field(default=0, name="agreed")  # held-out URL groups that agree; 0: set by a user
    conflict_count: int = field(default=0, name="disagreed")


class DustSample(Struct, frozen=True):
    """A fetched page: where, and what (any digest of its body or text)."""

    url: str
    content: bytes
    sketch: bytes = b""  # of its text (fingerprint/minhash.py); empty if unknown


def get_site_name(url: str) -> str:
    """Name the site of a URL: its host without `www.`, with its port."""
    return urlsplit(url).netloc.lower().removeprefix("www.")


def parse_rules(site: str, text: str) -> list[DustRule]:
    """Read a rule as a person writes it (`NAMES`); `index` stands for every usual name of an index page."""
    kind, mark, name = text.partition("=")
    if kind == DustRuleKind.INDEX and not mark:
        return [DustRule(site, DustRuleKind.INDEX, name) for name in INDEX_NAMES]
    if kind not in list(DustRuleKind) or bool(name) != (kind in (DustRuleKind.PARAMETER, DustRuleKind.INDEX)):
        raise ValueError(f"{text!r} is no rule; there are {', '.join(RULE_FORMS)}")
    return [DustRule(site, DustRuleKind(kind), name)]


def learn_rules(
    pages: Iterable[DustSample], min_support: int = MIN_SUPPORT, max_error_rate: float = MAX_ERROR_RATE
) -> list[DustRule]:
    """Propose rules on one half of the evidence, and keep those that the other half confirms."""
    sites: dict[str, list[DustSample]] = {}
    for page in pages:
        sites.setdefault(get_site_name(page.url), []).append(page)
    return [
        rule
        for site, found in sorted(sites.items())
        for rule in _learn_site_rules(site, found, min_support, max_error_rate)
    ]


def _learn_site_rules(
    site: str, pages: Sequence[DustSample], min_support: int, max_error_rate: float
) -> list[DustRule]:
    """Learn in rounds: what differs in two ways is evidence for the second once the first is known."""
    rules: list[DustRule] = []
    for _ in range(MAX_ROUNDS):
        spelled = [replace(page, url=rewrite_url(page.url, rules)) for page in pages]
        found = [
            rule for rule in _learn_round(site, spelled, min_support, max_error_rate) if not _has_rule(rules, rule)
        ]
        if not found:
            break
        rules += found
    return rules


def _learn_round(site: str, pages: Sequence[DustSample], min_support: int, max_error_rate: float) -> list[DustRule]:
    rules = []
    for rule in _propose_rules(site, pages):
        proposed, confirmed = _count_evidence(rule, pages)
        if all(half[0] >= min_support and half[1] <= max_error_rate * sum(half) for half in (proposed, confirmed)):
            rules.append(DustRule(site, rule.kind, rule.name, _is_longer_preferred(rule, pages), *confirmed))
    return rules


def _has_rule(rules: Sequence[DustRule], rule: DustRule) -> bool:
    return any((known.kind, known.name) == (rule.kind, rule.name) for known in rules)


def _propose_rules(site: str, pages: Sequence[DustSample]) -> list[DustRule]:
    names: Counter[str] = Counter()
    for page in pages:
        query = page.url.partition("#")[0].partition("?")[2]
        names.update({part.partition("=")[0] for part in query.split("&") if part})
    paths = {urlsplit(page.url).path.rpartition("/")[2].lower() for page in pages}
    return [
        *(
            DustRule(site, DustRuleKind.PARAMETER, name)
            for name, count in names.most_common(MAX_PARAMETERS)
            if count >= MIN_SUPPORT
        ),
        *(DustRule(site, DustRuleKind.INDEX, name) for name in INDEX_NAMES if name in paths),
        *(
            DustRule(site, kind)
            for kind in (
                DustRuleKind.PARAMETER_ORDER,
                DustRuleKind.WWW,
                DustRuleKind.SLASH,
                DustRuleKind.CASE,
                DustRuleKind.SCHEME,
            )
        ),
    ]


def _count_evidence(rule: DustRule, pages: Sequence[DustSample]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Count in each half the groups of spellings that the rule makes one with one content, and what else it loses."""
    groups: dict[str, list[DustSample]] = {}
    for page in pages:
        groups.setdefault(rewrite_url(page.url, [rule]), []).append(page)
    agreed, lost = (set[bytes](), set[bytes]()), [0, 0]
    telling = sorted((key for key, group in groups.items() if _is_evidence(rule, group)), key=_hash_url)
    for place, key in enumerate(telling):
        if losing := _count_lost_versions(groups[key], len(pages)):
            lost[place & 1] += losing
        else:
            agreed[place & 1].add(groups[key][0].content)  # pages that all say the same, as that there is none, are one
    return (len(agreed[0]), lost[0]), (len(agreed[1]), lost[1])


def _is_evidence(rule: DustRule, group: Sequence[DustSample]) -> bool:
    """Say whether pages are spelled in two ways as the rule has it: by another value, not by its place alone."""
    if rule.kind is DustRuleKind.PARAMETER:
        return len({_get_parameter_values(page.url, rule.name) for page in group}) > 1
    return len({page.url for page in group}) > 1


def _get_parameter_values(url: str, name: str) -> tuple[str, ...]:
    """Name the values of a parameter."""
    return tuple(part for part in url.partition("?")[2].split("&") if part.partition("=")[0] == name)


def _count_lost_versions(group: Sequence[DustSample], max_count: int) -> int:
    """Count the versions of a page that would be asked for no more; as many as can be, if one is a page of its own."""
    contents = {page.content: page.sketch for page in group}
    first, *others = contents.values()
    return max_count if any(_is_different_page(first, other) for other in others) else len(others)


def _is_different_page(one: bytes, other: bytes) -> bool:
    """Return whether two texts are different pages; False if a sketch is missing or of an earlier version."""
    return 0 < len(one) == len(other) and estimate_similarity(one, other) < MIN_VERSION_SIMILARITY


def _hash_url(key: str) -> int:
    """An order that has nothing to do with what a URL says: in it, every other group is held out."""
    return xxh32_intdigest(key.encode("utf-8", "surrogatepass"))


def _is_longer_preferred(rule: DustRule, pages: Sequence[DustSample]) -> bool:
    """Say which spelling the site itself uses more."""
    if rule.kind not in (DustRuleKind.WWW, DustRuleKind.SLASH):
        return False
    touched = sum(rewrite_url(page.url, [rule]) != page.url for page in pages)
    return touched * 2 > len(pages)


def rewrite_url(url: str, rules: Iterable[DustRule]) -> str:
    """Spell a URL as the rules of its site have it; the last rules see what the first ones made of it."""
    for rule in rules:
        if get_site_name(url) == rule.site:
            url = REWRITERS[rule.kind](url, rule)
    return url


def _drop_parameter(url: str, rule: DustRule) -> str:
    head, mark, query = url.partition("?")
    kept = "&".join(part for part in query.split("&") if part.partition("=")[0] != rule.name)
    return f"{head}?{kept}" if mark and kept else head


def _sort_parameters(url: str, _: DustRule) -> str:
    head, mark, query = url.partition("?")
    parts = sorted(query.split("&"), key=lambda part: part.partition("=")[0])  # those of one name stay as they stand
    return f"{head}{mark}{'&'.join(parts)}"


def _normalize_www(url: str, rule: DustRule) -> str:
    parts = urlsplit(url)
    bare = parts.netloc.removeprefix("www.")
    return urlunsplit(parts._replace(netloc=f"www.{bare}" if rule.prefers_longer else bare))


def _drop_index_name(url: str, rule: DustRule) -> str:
    parts = urlsplit(url)
    folder, _, name = parts.path.rpartition("/")
    return urlunsplit(parts._replace(path=f"{folder}/")) if name.lower() == rule.name else url


def _normalize_slash(url: str, rule: DustRule) -> str:
    parts = urlsplit(url)
    bare = parts.path.rstrip("/")
    if not bare or (rule.prefers_longer and "." in bare.rpartition("/")[2]):
        return url
    return urlunsplit(parts._replace(path=f"{bare}/" if rule.prefers_longer else bare))


def _lowercase_path(url: str, _: DustRule) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=parts.path.lower()))


def _upgrade_scheme(url: str, _: DustRule) -> str:
    return "https" + url.removeprefix("http") if url.startswith("http://") else url


REWRITERS: dict[DustRuleKind, Callable[[str, DustRule], str]] = {
    DustRuleKind.PARAMETER: _drop_parameter,
    DustRuleKind.PARAMETER_ORDER: _sort_parameters,
    DustRuleKind.WWW: _normalize_www,
    DustRuleKind.INDEX: _drop_index_name,
    DustRuleKind.SLASH: _normalize_slash,
    DustRuleKind.CASE: _lowercase_path,
    DustRuleKind.SCHEME: _upgrade_scheme,
}


def load_rules(db: Connection) -> list[DustRule]:
    """Read the rules in use."""
    row = db.execute("SELECT value FROM blobs WHERE name = 'dust'").fetchone()
    return msgpack.decode(row[0], type=list[DustRule]) if row else []


def save_rules(db: Connection, rules: Sequence[DustRule]) -> None:
    """Write down the rules to use from now on, all of them."""
    db.execute(
        "INSERT INTO blobs VALUES ('dust', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (msgpack.encode(list(rules)),),
    )
