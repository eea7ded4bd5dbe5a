"""Learn DUST rules (different URLs with similar text) per site and rewrite URLs.

A rule states that a part of a URL is irrelevant: a parameter, `www.`, a trailing slash. Of the pages fetched under
several variants, half proposes a rule, the held-out half confirms it. A single pair with different pages rejects a
rule. Rules of users may be lossy (N8); a rule only selects the variant to request.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from urllib.parse import urlsplit, urlunsplit

from msgspec import Struct, msgpack
from msgspec.structs import replace
from xxhash import xxh32_intdigest

from sanderling.db.connection import Connection
from sanderling.fingerprint.minhash import estimate_similarity

MIN_SUPPORT = 3  # groups of variants with the same content, in each half of the evidence
MAX_ERROR_RATE = 0.02  # lost versions per group of variants
MIN_VERSION_SIMILARITY = 0.8  # above it, two texts may be versions of the same page
MAX_ROUNDS = 3
MAX_PARAMETERS = 100  # most frequent parameters of a site that are tested
RULE_FORMS = ("slash", "case", "www", "scheme", "order", "index", "index=NAME", "parameter=NAME")
INDEX_NAMES = ("index.html", "index.htm", "index.php", "default.asp", "default.aspx", "default.html", "index.jsp")


class DustRuleKind(StrEnum):
    """Part of a URL that is irrelevant."""

    PARAMETER = "parameter"  # `name` can be removed from the query
    PARAMETER_ORDER = "order"  # ?b=2&a=1 -> ?a=1&b=2
    WWW = "www"  # www.example.org -> example.org
    INDEX = "index"  # /a/index.html -> /a/
    SLASH = "slash"  # /a/ -> /a
    CASE = "case"  # /A -> /a
    SCHEME = "scheme"  # http -> https


class DustRule(Struct, frozen=True):
    """Rewrite rule of a site, with its evidence."""

    site: str  # host without www.
    kind: DustRuleKind
    name: str = ""  # parameter or index page
    prefers_longer: bool = False  # rewrite to the longer variant: www., /a/
    support_count: int = 0  # held-out groups with the same content; 0: added by the user
    conflict_count: int = 0


class DustSample(Struct, frozen=True):
    """URL and content digest of a fetched page."""

    url: str
    content: bytes
    sketch: bytes = b""  # of the text (fingerprint/minhash.py); empty: unknown


def get_site_name(url: str) -> str:
    """Return host and port without `www.`."""
    return urlsplit(url).netloc.lower().removeprefix("www.")


def parse_rules(site: str, text: str) -> list[DustRule]:
    """Parse a user rule (`RULE_FORMS`); `index` means all common index pages."""
    kind, equals, name = text.partition("=")
    if kind == DustRuleKind.INDEX and not equals:
        return [DustRule(site, DustRuleKind.INDEX, name) for name in INDEX_NAMES]
    if kind not in list(DustRuleKind) or bool(name) != (kind in (DustRuleKind.PARAMETER, DustRuleKind.INDEX)):
        raise ValueError(f"{text!r} is not a URL rule; use one of {', '.join(RULE_FORMS)}")
    return [DustRule(site, DustRuleKind(kind), name)]


def learn_rules(
    pages: Iterable[DustSample], min_support: int = MIN_SUPPORT, max_error_rate: float = MAX_ERROR_RATE
) -> list[DustRule]:
    sites: dict[str, list[DustSample]] = {}
    for page in pages:
        sites.setdefault(get_site_name(page.url), []).append(page)
    return [
        rule
        for site, samples in sorted(sites.items())
        for rule in _learn_site_rules(site, samples, min_support, max_error_rate)
    ]


def _learn_site_rules(
    site: str, pages: Sequence[DustSample], min_support: int, max_error_rate: float
) -> list[DustRule]:
    """Learn in rounds, as URLs that differ in two ways are evidence after the first rule."""
    rules: list[DustRule] = []
    for _ in range(MAX_ROUNDS):
        rewritten = [replace(page, url=rewrite_url(page.url, rules)) for page in pages]
        new_rules = [
            rule for rule in _learn_round(site, rewritten, min_support, max_error_rate) if not _has_rule(rules, rule)
        ]
        if not new_rules:
            break
        rules += new_rules
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
    """Return confirming groups and lost versions for each half of the evidence."""
    groups: dict[str, list[DustSample]] = {}
    for page in pages:
        groups.setdefault(rewrite_url(page.url, [rule]), []).append(page)
    confirmed, lost = (set[bytes](), set[bytes]()), [0, 0]
    evidence = sorted((key for key, group in groups.items() if _is_evidence(rule, group)), key=_hash_url)
    for position, key in enumerate(evidence):
        if lost_versions := _count_lost_versions(groups[key], len(pages)):
            lost[position & 1] += lost_versions
        else:  # a set, because pages with the same content ("No results") are only one piece of evidence
            confirmed[position & 1].add(groups[key][0].content)
    return (len(confirmed[0]), lost[0]), (len(confirmed[1]), lost[1])


def _is_evidence(rule: DustRule, group: Sequence[DustSample]) -> bool:
    """Return whether variants differ; parameters in value, not only in position."""
    if rule.kind is DustRuleKind.PARAMETER:
        return len({_get_parameter_values(page.url, rule.name) for page in group}) > 1
    return len({page.url for page in group}) > 1


def _get_parameter_values(url: str, name: str) -> tuple[str, ...]:
    return tuple(part for part in url.partition("?")[2].split("&") if part.partition("=")[0] == name)


def _count_lost_versions(group: Sequence[DustSample], max_count: int) -> int:
    """Return how many versions a rule loses; `max_count` for a different page."""
    contents = {page.content: page.sketch for page in group}
    first, *rest = contents.values()
    return max_count if any(_is_different_page(first, sketch) for sketch in rest) else len(rest)


def _is_different_page(sketch: bytes, other: bytes) -> bool:
    """Return whether sketches differ; False if missing or of an older format."""
    return 0 < len(sketch) == len(other) and estimate_similarity(sketch, other) < MIN_VERSION_SIMILARITY


def _hash_url(key: str) -> int:
    """Return a random but stable sort key."""
    return xxh32_intdigest(key.encode("utf-8", "surrogatepass"))


def _is_longer_preferred(rule: DustRule, pages: Sequence[DustSample]) -> bool:
    """Return whether the site mostly uses the longer variant."""
    if rule.kind not in (DustRuleKind.WWW, DustRuleKind.SLASH):
        return False
    rewritten_count = sum(rewrite_url(page.url, [rule]) != page.url for page in pages)
    return rewritten_count * 2 > len(pages)


def rewrite_url(url: str, rules: Iterable[DustRule]) -> str:
    """Apply the rules of its site to a URL, in order."""
    for rule in rules:
        if get_site_name(url) == rule.site:
            url = REWRITERS[rule.kind](url, rule)
    return url


def _drop_parameter(url: str, rule: DustRule) -> str:
    head, question_mark, query = url.partition("?")
    remaining = "&".join(part for part in query.split("&") if part.partition("=")[0] != rule.name)
    return f"{head}?{remaining}" if question_mark and remaining else head


def _sort_parameters(url: str, _: DustRule) -> str:
    head, question_mark, query = url.partition("?")
    parts = sorted(query.split("&"), key=lambda part: part.partition("=")[0])  # stable for repeated names
    return f"{head}{question_mark}{'&'.join(parts)}"


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
    row = db.execute("SELECT value FROM blobs WHERE name = 'dust'").fetchone()
    return msgpack.decode(row[0], type=list[DustRule]) if row else []


def save_rules(db: Connection, rules: Sequence[DustRule]) -> None:
    """Replace all stored rules."""
    db.execute(
        "INSERT INTO blobs VALUES ('dust', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (msgpack.encode(list(rules)),),
    )
