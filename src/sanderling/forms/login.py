"""Log in by a recipe before a crawl: fill in the form of a page, send it, and keep the cookies."""

from collections.abc import Sequence
from urllib.parse import urlencode

from sanderling.errors import UsageError
from sanderling.fetch.curl_client import CurlClient
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.host_queue import parse_endpoint
from sanderling.fetch.transport import FetchRequest, FetchResponse
from sanderling.forms.form_recipes import LoginRecipe
from sanderling.html.form_fields import PageForm, extract_forms
from sanderling.html.parser import Document, parse_charset, parse_html
from sanderling.html.text import render_text
from sanderling.http.decoding import decode_body
from sanderling.http.head import parse_head
from sanderling.urls.normalize import get_host, resolve_url

MAX_REDIRECTS = 10
MAX_PAGE = 5_000_000


def log_in(recipes: Sequence[LoginRecipe], settings: FetchSettings) -> None:
    """Send the forms of all recipes; the cookies are in the jar of the settings then. Raises UsageError."""
    client = CurlClient(settings)
    try:
        for recipe in recipes:
            _send_form(recipe, client, settings)
    finally:
        client.close()


def _send_form(recipe: LoginRecipe, client: CurlClient, settings: FetchSettings) -> None:
    page, url = _fetch(recipe.url, client, settings)
    form = next((found for found in extract_forms(page, url, url) if _accepts(found, recipe)), None)
    if form is None and not recipe.action:
        raise UsageError(f"login: {recipe.url} has no form with the fields {', '.join(sorted(recipe.fields))}")
    if form is not None and form.method != "post" and not recipe.action:
        raise UsageError(f"login: the form of {recipe.url} would send the fields in a URL, which is not secret")
    hidden = {field.name: field.default for field in form.fields if field.default is not None} if form else {}
    pairs = {**hidden, **recipe.fields}
    encoding = form.encoding if form else "utf-8"
    body = urlencode(
        {name: value for name, value in pairs.items() if name}, encoding=encoding, errors="replace"
    ).encode()
    following, _ = _fetch(recipe.action or (form.action if form else url), client, settings, body)
    text = render_text(following)
    if recipe.check and recipe.check not in text:
        raise UsageError(f"login at {recipe.url} failed: the page that follows does not contain {recipe.check!r}")
    if not recipe.check and following.select_one("input[type=password]") is not None:
        raise UsageError(f"login at {recipe.url} failed: the page that follows asks for a password again")


def _accepts(form: PageForm, recipe: LoginRecipe) -> bool:
    return recipe.fields.keys() <= {field.name for field in form.fields}


def _fetch(url: str, client: CurlClient, settings: FetchSettings, body: bytes | None = None) -> tuple[Document, str]:
    """Fetch a page, following redirects. Returns it with its URL."""
    for _ in range(MAX_REDIRECTS):
        response = _request(url, client, settings, body)
        status, fields = parse_head(response.head_lines)
        location = fields.get(b"location", b"").decode("latin-1")
        if 300 <= status < 400 and location and (target := resolve_url(url, location)):
            url, body = target.request_url, None if status in (301, 302, 303) else body
            continue
        if response.curl_error or not 200 <= status < 300:
            raise UsageError(f"login: {url} returned {f'status {status}' if status else 'no answer'}")
        content, _ = decode_body(response.body, fields.get(b"content-encoding", b"").decode("latin-1"), MAX_PAGE)
        charset = parse_charset(fields.get(b"content-type", b"").decode("latin-1"))
        return parse_html(content, charset), url
    raise UsageError(f"login: {url} redirects again and again")


def _request(url: str, client: CurlClient, settings: FetchSettings, body: bytes | None) -> FetchResponse:
    request = FetchRequest(url, parse_endpoint(get_host(url)), None, (), MAX_PAGE, settings.timeout)
    if body is not None:
        headers = (b"Content-Type: application/x-www-form-urlencoded",)
        request = FetchRequest(
            url, request.endpoint, None, (), MAX_PAGE, settings.timeout, method="POST", headers=headers,
            request_body=body,
        )  # fmt: skip
    client.start(request)
    while True:
        if responses := client.wait(1.0):
            return responses[0]
