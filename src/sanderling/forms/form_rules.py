"""Decide whether a form may be sent, and recognize the purpose of each field."""

import re
from itertools import pairwise

from sanderling.html.form_fields import CHOICE, FLAG, HIDDEN, SUBMIT, TEXT, FormField, PageForm
from sanderling.urls.unsafe_actions import ACTION_PARAMETERS, ACTIONS, WEAK_ACTIONS, find_unsafe_action, join_words

NEVER_SENT = ("password", "email", "file", "textarea")  # kinds of fields
KNOWN_KINDS = frozenset((CHOICE, FLAG, HIDDEN, SUBMIT, TEXT, "number", "date", "month", "color", "keygen", "output"))
WORD = re.compile(r"[a-z]+(?=[A-Z])|[^\W\d_]+")
PURPOSES = {
    "login": "login signin logon anmelden anmeldung connexion connecter accedi iniciar inloggen register registration"
    " registrieren signup username benutzername account konto passwd pwd otp pin captcha recaptcha",
    "payment": "payment pay card creditcard cvv cvc iban bic checkout zahlung kreditkarte paiement pago donate donation"
    " spende coupon voucher",
    "contact": "contact kontakt contacto contatti feedback inquiry enquiry message nachricht newsletter subscribe"
    " subscription abonnieren email mail phone telephone tel mobile firstname lastname fullname vorname nachname"
    " address street strasse birthday birthdate ssn",
    "comment": "comment comments kommentar commentaire comentario reply review rating guestbook gästebuch vote poll"
    " survey umfrage quiz petition",
}
PURPOSE_WORDS = {word: purpose for purpose, words in PURPOSES.items() for word in words.split()}
SEARCH_TERMS = (
    "search searchform searchbox find finder filter query lookup browse suche suchen suchbegriff finden rechercher"
    " recherche chercher buscar busca búsqueda cerca ricerca trova zoeken sök szukaj haku hledat поиск 検索 搜索 검색"
    " keyword keywords term terms stichwort"
)
SEARCH_WORDS = frozenset(SEARCH_TERMS.split())
BOX_NAMES = "q query s k kw search keyword keywords term terms text words find suche w wd p"
SEARCH_NAMES = frozenset(BOX_NAMES.split())
TOKEN = re.compile(r"csrf|xsrf|authenticity|nonce|^_?token$|requestverification", re.IGNORECASE)
# Names of fields that change how results are shown, not which
PRESENTATION_NAMES = (
    "sort sortby orderby order dir direction asc desc view display layout style theme lang language locale hl currency"
    " format output page p offset start sortierung tri"
)
PRESENTATION = frozenset(PRESENTATION_NAMES.split())
PAGE_SIZE = re.compile(
    r"(?:per|items|results|rows|page|hits|num)[\W_]*(?:per)?[\W_]*(?:page|size|count|results)?$|^(?:limit|rows|count|size|n)$",
    re.IGNORECASE,
)


def split_identifier(text: str) -> set[str]:
    """Return the words of names and labels: `firstName` gives both words and the whole."""
    words = [word.lower() for part in text.split() for word in WORD.findall(part)]
    return {*words, *(first + second for first, second in pairwise(words))}


def find_refusal(form: PageForm, mode: str) -> str:
    """Return why a form is never sent, or "". `mode`: select or search."""
    if form.method != "get":
        return f"method {form.method}: needs a recipe"
    for field in form.fields:
        if field.kind in NEVER_SENT or field.kind not in KNOWN_KINDS:
            return f"{field.kind} field"
        if field.kind == HIDDEN and TOKEN.search(field.name):
            return "token field"
    if reason := _find_action(form):
        return f"changes something: {reason}"
    words = [(field, split_identifier(f"{field.name} {field.label}")) for field in form.fields if field.kind != SUBMIT]
    hints = split_identifier(form.hints) | split_identifier(re.sub(r"^\w+://[^/]*", "", form.action).partition("?")[0])
    is_search = bool((hints | set().union(*(found for _, found in words))) & SEARCH_WORDS)
    for field, found in words:
        typed = found if field.kind == TEXT else set()
        purposes = sorted({PURPOSE_WORDS[word] for word in typed & PURPOSE_WORDS.keys()})
        if purposes and (purposes[0] != "comment" or not is_search):
            return f"{purposes[0]} field"
    if not is_search and (purposes := sorted({PURPOSE_WORDS[word] for word in hints & PURPOSE_WORDS.keys()})):
        return f"{purposes[0]} form"
    return _find_unusable(form, mode)


def _find_action(form: PageForm) -> str:
    """Return the part of a form that names an action."""
    if action := find_unsafe_action(form.action):
        return action
    for field in form.fields:
        name = join_words(field.name)
        values = [join_words(value) for value in (field.default or "", *field.values)]
        if field.kind == HIDDEN and name in ACTION_PARAMETERS and set(values) & ACTIONS:
            return f"{field.name}={field.default}"
        if field.kind in (HIDDEN, SUBMIT) and (
            name in ACTIONS - WEAK_ACTIONS or set(values) & (ACTIONS - WEAK_ACTIONS)
        ):
            return field.name or field.default or "button"
    hinted = [word for word in split_identifier(form.hints) if word in ACTIONS - WEAK_ACTIONS]
    return sorted(hinted)[0] if hinted else ""


def _find_unusable(form: PageForm, mode: str) -> str:
    """Return why nothing can be chosen in a form, or ""."""
    choices = [field for field in form.fields if is_choice(field)]
    typed = [field for field in form.fields if field.kind in (TEXT, "number", "date", "month")]
    if not choices and not typed:
        return "nothing to choose"
    if not choices and mode == "select":
        return "text field: needs --forms search"
    if not choices and not any(is_search_box(field, form) or field.kind != TEXT or field.values for field in typed):
        return "text field that is not recognized as a search"
    return ""


def is_choice(field: FormField) -> bool:
    """Return whether the values of a field select different results."""
    if field.kind not in (CHOICE, FLAG) or not field.name or is_page_size(field):
        return False
    return join_words(field.name) not in PRESENTATION and len(list_values(field)) > 0


def list_values(field: FormField) -> list[str]:
    """Return the values of a choice except "any"."""
    return [value for value in field.values if value.strip() and value != field.default] + (
        [field.default] if field.default and field.default in field.values and len(field.values) > 1 else []
    )


def is_search_box(field: FormField, form: PageForm) -> bool:
    if field.kind != TEXT:
        return False
    words = split_identifier(f"{field.name} {field.label} {form.hints}")
    return join_words(field.name) in SEARCH_NAMES or bool(words & SEARCH_WORDS)


def is_page_size(field: FormField) -> bool:
    return field.kind == CHOICE and bool(PAGE_SIZE.search(field.name)) and all(v.isdecimal() for v in field.values)


def get_default(field: FormField) -> str | None:
    """Return the value that is sent if nothing is chosen: the largest page, else the default of the form."""
    if is_page_size(field) and field.values:
        return max(field.values, key=int)
    return field.default
