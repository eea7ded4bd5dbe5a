"""Similar pages: tick pages that are of the type of the samples or not, and save the samples under a name."""

from collections.abc import Sequence
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sanderling.errors import SanderlingError
from sanderling.web.forms import check_permission, deny_request, read_form
from sanderling.web.rendering import render_template
from sanderling.web.state import get_app_state
from sanderling.web.views import MAX_URL_LENGTH, require_login

MAX_TICKED, MAX_SHOWN = 50, 200
MAX_NAME_LENGTH = 80


@require_login
def similar_page(request: Request) -> Response:
    """GET /similar: the pages of the type of the ticked ones, and pages whose answer would tell most."""
    finder = get_app_state(request).similar_pages
    negatives = _list_ticked(request.query_params.getlist("not"))
    samples = [url for url in _list_ticked(request.query_params.getlist("sample")) if url not in negatives]
    status, error, ticked = 200, request.query_params.get("error", "")[:500], {*samples, *negatives}
    try:
        answer = finder.find(samples, negatives)
    except SanderlingError as problem:
        status, error, answer = 400, str(problem), finder.find((), ())
    context = {
        "samples": samples,
        "negatives": negatives,
        "page_count": len(answer.pages),
        "shown": [page for page in answer.pages if page.url not in ticked][:MAX_SHOWN],
        "questions": [page for page in answer.questions if page.url not in ticked],
        "saved": request.query_params.get("saved", "")[:MAX_NAME_LENGTH],
        "error": error,
    }
    return render_template(request, "similar.html", context, status)


async def save_similar(request: Request) -> Response:
    """POST /similar: save the samples under a name."""
    form = await read_form(request)
    if check_permission(request, form) is None:
        return deny_request()
    samples, negatives = (_list_ticked(form.get(name, "").split()) for name in ("samples", "negatives"))
    name = form.get("name", "").strip()[:MAX_NAME_LENGTH]
    finder, result = get_app_state(request).similar_pages, {"saved": name}
    if not name or not samples:
        result = {"error": "Give a name, and tick at least one page."}
    else:
        try:
            await run_in_threadpool(finder.save, name, samples, negatives)
        except SanderlingError as problem:
            result = {"error": str(problem)}
    ticked = [*(("sample", url) for url in samples), *(("not", url) for url in negatives)]
    return RedirectResponse(f"/similar?{urlencode([*ticked, *result.items()])}", 303)


def _list_ticked(urls: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(url[:MAX_URL_LENGTH] for url in urls if url))[:MAX_TICKED]
