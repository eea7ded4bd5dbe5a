"""The same as JSON, for programs."""

from collections.abc import Callable

import msgspec
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from sanderling.search.feedback.event_log import query_key
from sanderling.search.feedback.unmet_queries import briefs
from sanderling.search.query import LONGEST
from sanderling.search.search_types import Ask, Hit, Piece, Results
from sanderling.web.openapi import DESCRIPTION
from sanderling.web.rendering import iso
from sanderling.web.search_view import log_shown
from sanderling.web.state import DAY, rooms_of, session_of
from sanderling.web.tracking import client_of, remember
from sanderling.web.views import KINDS, url_of, versions_of, whole

MOST = 100
Answer = Callable[[Request], object]


def answering(answer: Answer, *, insiders: bool = True) -> Callable[[Request], Response]:
    """Wrap a function that gives records into one that gives JSON."""

    def handler(request: Request) -> Response:
        if insiders and rooms_of(request).public and session_of(request) is None:
            return JSONResponse({"error": "please log in"}, 401)
        found = answer(request)
        if found is None:
            return JSONResponse({"error": "not found"}, 404)
        return Response(msgspec.json.encode(found), 200, {"Cache-Control": "no-store"}, "application/json")

    return handler


def search(request: Request) -> Response:
    """GET /api/search."""
    rooms, client = rooms_of(request), client_of(request)
    asked = request.query_params
    text = asked.get("q", "")[:LONGEST]
    limit = min(whole(request, "limit") or 10, 1000)
    ask = Ask(
        text, whole(request, "offset", 10_000), limit, asked.get("explain") == "1", asked.get("facets") != "0",
        asked.get("snippets") != "0", rooms.clock(),
    )  # fmt: skip
    results = rooms.library.search(ask)
    query_id = log_shown(rooms, client, text, results) if asked.get("log") != "0" else ""
    response = Response(
        msgspec.json.encode(as_object(results, query_id, explain=ask.explain)), media_type="application/json"
    )
    remember(response, request, client)
    return response


def as_object(results: Results, query_id: str, *, explain: bool) -> dict[str, object]:
    """Results as JSON has them."""
    return {
        "query": results.text, "query_id": query_id, "total": results.total, "meant": results.meant,
        "relaxed": results.relaxed, "hits": [hit_object(hit, explain=explain) for hit in results.hits],
        "facets": {name: {c.value: c.count for c in counts} for name, counts in results.facets.items()},
    }  # fmt: skip


def hit_object(hit: Hit, *, explain: bool) -> dict[str, object]:
    """One hit; the only HTML in it is ours, around escaped text."""
    made: dict[str, object] = {
        "position": hit.position, "url": hit.url, "title": "".join(p.text for p in hit.title),
        "title_html": marked(hit.title), "snippet_html": marked(hit.snippet), "site": hit.site, "type": hit.type,
        "language": hit.language, "changed_at": iso(hit.changed_at if hit.changed_at > hit.first_seen_at else 0),
        "first_seen_at": iso(hit.first_seen_at), "visited_at": iso(hit.visited_at),
        "score": hit.parts.score,
    }  # fmt: skip
    if explain:
        parts = hit.parts
        made["parts"] = {"text": parts.text, "link": parts.link, "freshness": parts.freshness,
                         "behaviour": parts.behaviour}  # fmt: skip
        made["fields"] = [{"word": word, "field": field, "score": score} for word, field, score in parts.fields]
    return made


def marked(pieces: tuple[Piece, ...]) -> str:
    """Pieces as HTML: text escaped, what was found inside <mark>."""
    return str(Markup("").join(Markup("<mark>{}</mark>").format(p.text) if p.hit else escape(p.text) for p in pieces))


def status(request: Request) -> object:
    """GET /api/status."""
    rooms = rooms_of(request)
    indexed, until = rooms.library.size()
    seen = rooms.window.status()
    return msgspec.structs.replace(seen, indexed=indexed, index_behind=max(0, seen.visits - until))


def changes(request: Request) -> object:
    """GET /api/changes."""
    asked = request.query_params
    kind, days = asked.get("kind", ""), whole(request, "days", 3650)
    rooms = rooms_of(request)
    since = rooms.clock() - days * DAY if days else 0.0
    most, offset = min(whole(request, "limit") or 50, MOST), whole(request, "offset", 10_000)
    return rooms.window.changes(kind if kind in KINDS else "", asked.get("site", "")[:200], since, offset, most)


def page(request: Request) -> object:
    """GET /api/page: None becomes 404."""
    return rooms_of(request).window.page(url_of(request))


def history(request: Request) -> object:
    """GET /api/history."""
    return rooms_of(request).window.history(url_of(request), min(whole(request, "limit") or 100, 1000)) or None


def diff(request: Request) -> object:
    """GET /api/diff."""
    return rooms_of(request).window.compare(url_of(request), *versions_of(request))


def due(request: Request) -> object:
    """GET /api/due."""
    return rooms_of(request).window.due(min(whole(request, "limit") or 50, 1000))


def hosts(request: Request) -> object:
    """GET /api/hosts."""
    return rooms_of(request).window.hosts(min(whole(request, "limit") or 50, 1000))


def migrants(request: Request) -> object:
    """GET /api/migrants."""
    return rooms_of(request).window.migrants()


def wanted(request: Request) -> object:
    """GET /api/briefs: what users did not find, for specialised migrants."""
    return briefs(rooms_of(request).log)


def more(request: Request) -> Response:
    """GET /api/more?q=: is more being looked for because of this question, and how much has come?"""
    found = briefs(rooms_of(request).log, query_key(request.query_params.get("q", "")[:LONGEST]), 1)
    return JSONResponse({"state": found[0].state, "found": found[0].found} if found else {"state": "", "found": 0})


def stats(request: Request) -> object:
    """GET /api/stats."""
    rooms = rooms_of(request)
    since = rooms.clock() - (whole(request, "days", 3650) or 30) * DAY
    return {by: rooms.log.tallies(by, since) for by in ("action", "page", "query", "day")}


def description(_: Request) -> Response:
    """GET /api/openapi.json."""
    return JSONResponse(DESCRIPTION)


def root(_: Request) -> Response:
    """GET /api: to its description."""
    return RedirectResponse("/api/openapi.json", 302)


def health(request: Request) -> Response:
    """GET /healthz: the app answers, and its databases do."""
    rooms = rooms_of(request)
    rooms.log.db.execute("SELECT 1")
    return JSONResponse({"status": "ok", "indexed": rooms.library.size()[0]})
