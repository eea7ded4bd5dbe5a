"""Links of a page of results: the next page, other versions of the same results, and records."""

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from urllib.parse import parse_qsl, urlencode

from msgspec import Struct

from sanderling.forms.form_rules import PRESENTATION
from sanderling.html.form_fields import CHOICE, FLAG, HIDDEN, SUBMIT, PageForm
from sanderling.models import Link
from sanderling.urls.normalize import get_host, resolve_url, split_url
from sanderling.urls.unsafe_actions import POST_MARK

PAGE_NAME = re.compile(
    r"^(?:b_start:int|(?=\w++$)(?:p|pg|pn|s|from|skip|cursor|after|seite|pagina|(?:\w*(?:page|start|offset)\w*)))$",
    re.IGNORECASE,
)
NEXT_LABEL = re.compile(
    r"^[\s\W]*(?:next|next page|older|more|more results|load more|show more"
    r"|weiter|nächste(?: seite)?|suivante?|page suivante"
    r"|siguiente|próxim[ao]|volgende|successiv[ao]|avanti|następna|nästa|следующая|次へ|下一页|다음)?[\s\W»›→>]*$",
    re.IGNORECASE,
)
PAGE_PATH = re.compile(r"/?(?:(?:page|seite|p)[/-])?\d{1,6}/?$")


RESULT_NOUN = (
    r"(?:results?|records?|hits?|matches|items?|entries|products?|documents?|articles?|found|treffer|ergebnisse?|eintr[äa]ge?"
    r"|r[ée]sultats?|resultados?|risultati|resultaten|wyników|träffar|件|条结果)"
)
TOTAL = re.compile(
    rf"(?<![\d.,])(\d{{1,3}}(?:[.,\s]\d{{3}}){{1,4}}|\d{{1,9}})\s+(?:\w+\s+)?{RESULT_NOUN}\b", re.IGNORECASE
)
OF_TOTAL = re.compile(
    r"\d\s+(?:of|von|de|sur|di|van|av)\s+(?:about\s+)?(\d{1,3}(?:[.,\s]\d{3}){1,4}|\d{1,9})\b", re.IGNORECASE
)
MAX_TOTAL_LINES = 200  # of a page are searched


class ResultLinks(Struct, frozen=True):
    """The links of a page of results by their meaning."""

    next_address: tuple[str, str]  # URL and request URL of the next page; empty: there is none
    records: tuple[Link, ...]
    variants: int  # other orders, filters and pages of the same results, which are not followed


def build_query_url(form: PageForm, pairs: Sequence[tuple[str, str]]) -> str:
    """Return the URL of a query. That of a POST request carries its body, marked as in archives."""
    try:
        encoded = urlencode(pairs, encoding=form.encoding, errors="xmlcharrefreplace")
    except LookupError:
        encoded = urlencode(pairs)
    if form.method != "post":
        return form.action.partition("?")[0] + "?" + encoded
    return f"{form.action}{'&' if '?' in form.action else '?'}{POST_MARK}&{encoded}"


def find_total(lines: Iterable[str]) -> int:
    """Return the number of results that a page says a query has, or 0."""
    for line in islice(lines, MAX_TOTAL_LINES):
        if match := OF_TOTAL.search(line) or TOTAL.search(line):
            return int(re.sub(r"\D", "", match[1]))
    return 0


def sort_links(url: str, form: PageForm, links: Iterable[Link], next_url: str = "") -> ResultLinks:
    """Separate the links of a page of results; `next_url`: the next page, where it is known otherwise."""
    host, path, pairs = _parse(url)
    names = {field.name for field in form.fields}
    visible = {field.name for field in form.fields if field.kind not in (HIDDEN, SUBMIT) and field.name}
    candidates: list[tuple[int, Link]] = []
    records, variants = [], 0
    for link in links:
        target_host, target_path, target_pairs = _parse(link.url)
        number = _get_page_number((path, pairs), (target_path, target_pairs), link, form) if target_host == host else 0
        if number > 0:
            candidates.append((number, link))
        if number or (target_host == host and target_path == path and _is_variant(link.url, names, visible)):
            variants += 1
        elif link.url != url:
            records.append(link)
    following = min(candidates, key=lambda pair: pair[0])[1] if candidates else None
    address = (str(following.url), following.request_url) if following else ("", "")
    if next_url and (target := resolve_url(url, next_url)) is not None and get_host(target.url) == host:
        address = (str(target.url), target.distinct_request_url)
    return ResultLinks(address, tuple(records), variants - (following is not None))


def _parse(url: str) -> tuple[str, str, frozenset[tuple[str, str]]]:
    path, _, query = split_url(url)[1].partition("?")
    return get_host(url), path, frozenset((k, v) for k, v in parse_qsl(query, keep_blank_values=True) if v)


def _is_variant(url: str, names: set[str], visible: set[str]) -> bool:
    """Return whether a link to the same address only chooses, orders or pages the results of the form."""
    pairs = parse_qsl(url.partition("?")[2], keep_blank_values=True)
    if not all(name in names or name.lower() in PRESENTATION or PAGE_NAME.match(name) for name, _ in pairs):
        return False
    is_paged = all(PAGE_NAME.match(name) and value.isdecimal() for name, value in pairs)
    return is_paged or any(name in visible for name, _ in pairs)


Address = tuple[str, frozenset[tuple[str, str]]]


def _get_page_number(current: Address, target: Address, link: Link, form: PageForm) -> int:
    """Return the order of a link that leads further in the same results; 0: it does not; -1: it leads back."""
    added, removed = target[1] - current[1], current[1] - target[1]
    if target[0] != current[0]:
        stem = PAGE_PATH.sub("", current[0]).rstrip("/")
        if added or removed or PAGE_PATH.sub("", target[0]).rstrip("/") != stem or not PAGE_PATH.search(target[0]):
            return 0
        here, there = _last_number(current[0]), _last_number(target[0])
        return there if there > max(here, 1) else -1
    if len(added) != 1:
        return 0
    ((name, value),) = added
    if any(key != name for key, _ in removed) or name in _list_choices(form):
        return 0
    here = next((int(old) for _, old in removed if old.isdecimal()), 0)
    if value.isdecimal() and (PAGE_NAME.match(name) or link.anchor.strip().isdecimal()):
        return int(value) if int(value) > max(here, 1 if not removed and PAGE_NAME.match(name) else 0) else 0
    return 1 if link.anchor and NEXT_LABEL.match(link.anchor) and not value.isdecimal() else 0


def _list_choices(form: PageForm) -> set[str]:
    return {field.name for field in form.fields if field.kind in (CHOICE, FLAG) and not PAGE_NAME.match(field.name)}


def _last_number(path: str) -> int:
    numbers = re.findall(r"\d{1,6}", path)
    return int(numbers[-1]) if numbers else 0
