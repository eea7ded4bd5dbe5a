"""From a reply to a visit: decode, digest, parse once, take links and marks, pack."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct

from sanderling.fetch.curl_client import request_headers, told_headers
from sanderling.fetch.curl_transfer import Reply
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.link_resolution import Promise, links_of, pointers_of, uses_of, with_leads
from sanderling.fetch.native_links import pack_links
from sanderling.fetch.response import Verdict, fault, is_over, judge, text, validator
from sanderling.fetch.topic_score import promise_of, relevance
from sanderling.fingerprint.fast.fast_scan import glance
from sanderling.fingerprint.fast.stable_hash import CHARSET, sift, tied
from sanderling.frontier.ordering.topic import Listener, Topic, pack_relevance
from sanderling.html.links import Extract, extract, extract_head, with_anchors
from sanderling.html.parser import Document, charset_of, is_html, parse
from sanderling.html.robots_meta import robots_tag, until_of
from sanderling.html.scanned_page import MUTE, Glance
from sanderling.http.decoders import inflater
from sanderling.http.decoding import decoded
from sanderling.http.head import Fields, media_type, read_head
from sanderling.models import Kept, Outcome, Reason, Role, Stop, Visit
from sanderling.urls.normalize import resolve
from sanderling.warc.http_head import stored_head
from sanderling.warc.packer import GZIP, Exchange, pack_metadata, pack_request, pack_response

HEADS = 1 << 20  # bytes of both heads of a record, at most
RESPONSE = b"\r\nWARC-Type: response\r\n"
END = b"\r\n\r\n"


def stored_body(folder: str, kept: Kept, cap_bytes: int) -> bytes:
    """Read the body of an answer as `pack_response` packed it; empty if it is not here, or something else."""
    try:
        with open(Path(folder, kept.file), "rb", buffering=0) as file:
            member = os.pread(file.fileno(), kept.length, kept.start)
        inflate = inflater.decompressobj(GZIP)
        record = inflate.decompress(member, cap_bytes + HEADS)
    except (inflater.error, OSError):  # at another place, cut short, never written by us
        return b""
    head, _, block = record.partition(END)
    answer, _, body = block.partition(END)
    if not inflate.eof or RESPONSE not in head or not body.endswith(END):
        return b""
    coding = text(read_head(answer.split(b"\r\n"))[1].get(b"content-encoding", b""))
    found, reason = decoded(body[: -len(END)], coding, cap_bytes)
    return b"" if reason is not Reason.NONE else found


class Known(Struct, frozen=True):
    """What is known of a page whose marks are made."""

    body: bytes
    is_changed: bool = False  # it was another before
    before: bytes = b""  # what it was; empty if that is not at hand, or not asked for
    kept: Kept | None = None  # and how that is kept
    left: bytes = b""  # of it without what no mark sees; empty: nobody knows
    is_alike: bool = False  # the same was left of it before


Marks = Callable[[Document | Glance, Known], dict[str, bytes]]
"""What later rooms ask of a page, computed once while it is at hand; of one that is another now its tree is."""

Facts = dict[str, Any]
"""Fields of a `Visit`, by name; it lives inside this module only."""

UNCHANGED = "unchanged"
MAX_CHARSET = 40


def no_marks(_page: Document | Glance, _known: Known) -> dict[str, bytes]:
    """For those who only want the page."""
    return {}


class Observer:
    """Looks at replies with the eyes of one crawl: its limits and its marks."""

    def __init__(self, settings: FetchSettings, marks: Marks, packs: bool = False) -> None:
        self._settings = settings
        self._marks = marks
        self._packs = packs  # links, where it can: what is seen goes home and nobody here looks at it again
        self._agent = settings.agent_token
        self._topic = Listener(Topic(settings.topic)) if settings.topic else None
        self._names_host, self._headers = told_headers(request_headers(settings))

    def observe(self, stop: Stop, reply: Reply, at: float) -> Visit:
        """Say what was seen at one stop."""
        status, fields = read_head(reply.lines)
        verdict = fault(reply)
        came_whole = verdict is None
        verdict = verdict or judge(status, fields, reply, at)
        facts: Facts = {}
        if verdict.outcome is Outcome.FETCHED:
            verdict = self._read_body(stop, reply, fields, facts, at)
        elif verdict.outcome is Outcome.NOT_MODIFIED:
            facts["head"] = stored_head(b"".join(reply.lines), 0)
            self._read_tag(fields, facts, at)
        elif came_whole:
            self._pack(stop, reply, facts, at)
            if 300 <= status < 400 and verdict.outcome is Outcome.FAILED and stop.role is Role.PAGE:
                self._read_choices(reply, fields, facts, at)
        return Visit(
            stop.id,
            stop.token,
            stop.url,
            verdict.outcome,
            at,
            verdict.reason,
            verdict.note,
            status,
            reply.seconds,
            wire_bytes=reply.wire_bytes,
            address=reply.address,
            location=verdict.location,
            retry_after=verdict.retry_after,
            etag=validator(fields.get(b"etag")),
            last_modified=validator(fields.get(b"last-modified")),
            role=stop.role,
            **facts,
        )

    def _read_body(self, stop: Stop, reply: Reply, fields: Fields, facts: Facts, at: float) -> Verdict:
        """Decode and digest a body, then read it and pack it, unless it is the one we know."""
        coding = text(fields.get(b"content-encoding", b""))
        limit = self._settings.max_body_of(stop.role)
        body, reason = decoded(reply.body, coding, limit)
        if reason is Reason.TOO_LARGE:
            return Verdict(Outcome.SKIPPED, reason, f"more than {limit} bytes, content coding {coding[:50]!r} removed")
        if reason:
            return Verdict(Outcome.FAILED, reason, f"content coding {coding[:50]!r}")
        digest = self._describe(body, fields, facts, at)
        if digest == stop.digest:
            facts["head"] = stored_head(b"".join(reply.lines), len(reply.body))
            return Verdict(Outcome.FETCHED, note=UNCHANGED)
        self._pack(stop, reply, facts, at, digest if body is reply.body else b"")
        if stop.role is not Role.PAGE:
            from sanderling.fetch.sitemap_response import read_beside  # few stops are

            found, note = read_beside(stop.role, reply.ask.url, body, facts["mime"], facts["charset"])
            facts.update(found)
            return Verdict(Outcome.FETCHED, note=note)
        if b"link" in fields or b"refresh" in fields:
            self._read_leads(reply.ask.url, fields, facts)
        if not is_html(facts["mime"], body):
            return Verdict(Outcome.FETCHED)
        if len(body) > self._settings.max_page:
            return Verdict(Outcome.FETCHED, note=f"not parsed: a page of {len(body)} bytes")
        until = self._read_page(reply.ask.url, self._look(stop, body, facts["charset"]), facts)
        facts["noindex"] |= is_over(until, at)
        return Verdict(Outcome.FETCHED)

    def _read_choices(self, reply: Reply, fields: Fields, facts: Facts, at: float) -> None:
        """Take the links of an answer that leads nowhere by itself: what browsers show of it, a person goes on from."""
        body, reason = decoded(reply.body, text(fields.get(b"content-encoding", b"")), self._settings.max_page)
        if reason or not is_html(media_type(fields), body):
            return
        self._read_tag(fields, facts, at)
        page = parse(body, charset_of(text(fields.get(b"content-type", b""))))
        found = extract(page, reply.ask.url, agent=self._agent)
        facts["nofollow"] = facts.get("nofollow", False) or found.nofollow
        facts["links"], facts["links_dropped"] = links_of(found, facts["nofollow"]), found.dropped

    def _describe(self, body: bytes, fields: Fields, facts: Facts, at: float) -> bytes:
        """Take what is known of a body before it is read: digest, size, type, and what the header says to robots."""
        facts["noindex"] = facts["nofollow"] = False
        digest: bytes = hashlib.sha256(body).digest()
        facts["digest"], facts["size"] = digest, len(body)
        facts["mime"] = media_type(fields)
        facts["charset"] = charset_of(text(fields.get(b"content-type", b"")))[:MAX_CHARSET]
        self._read_tag(fields, facts, at)
        return digest

    def _look(self, stop: Stop, body: bytes, charset: str) -> "tuple[Document | Glance, Known]":
        """Look once at a page, closely if much is asked of it; say what is known of it."""
        known = self._known(stop, body)
        page = (glance(body, charset) if self._is_enough(known) else None) or parse(body, charset)
        if known.is_alike and (page.encoding or "").lower() != CHARSET:  # the same letters mean others now
            known = self._known(stop, body, is_sifted=False)
            page = page if isinstance(page, Document) else parse(body, charset)
        return page, known

    def _known(self, stop: Stop, body: bytes, is_sifted: bool = True) -> Known:
        """Say what is known of a page that came, and read what it was if it may be another to a mark."""
        last, archive = stop.last, self._settings.archive
        if not stop.digest or last is None or not last.is_page or not archive:
            return Known(body, bool(stop.digest))
        left = sift(body) if is_sifted and last.charset == CHARSET else b""
        if left and left == last.left:
            return Known(body, True, kept=last, left=left, is_alike=True)
        from sanderling.fetch.process import stored_body  # most pages of most crawls are new

        return Known(body, True, stored_body(archive, last, self._settings.max_page), last, left)

    def _read_tag(self, fields: Fields, facts: Facts, at: float) -> None:
        """Take what the header says to robots."""
        if tag := text(fields.get(b"x-robots-tag", b"")):
            facts["barred"], facts["nofollow"] = robots_tag(tag, self._agent)
            facts["barred"] |= is_over(until_of(tag, self._agent), at)

    def _read_leads(self, url: str, fields: Fields, facts: Facts) -> None:
        """Take what the headers say of other pages; what the page itself says is added, and goes before it."""
        from sanderling.fetch.link_header import leads_of  # few answers say any of it
        from sanderling.fetch.sitemap_response import list_named

        leads = leads_of(url, fields, facts["nofollow"])
        facts["canonical"], facts["links"] = leads.canonical, leads.links
        facts["pointers"] = leads.pointers + list_named(url, fields.get(b"link", b""))

    def _read_page(self, url: str, looked: "tuple[Document | Glance, Known]", facts: Facts) -> str:
        """Take everything from a page that was looked at; say until when it says that it is there."""
        page, known = looked
        found = self._extract(page, url)
        facts["noindex"] |= found.noindex
        facts["nofollow"] |= found.nofollow
        facts["charset"] = (page.encoding or facts["charset"]).lower()
        facts["title"], facts["language"] = found.title, found.language
        canonical = resolve(found.base, found.canonical, found.encoding) if found.canonical else None
        if canonical is not None:
            facts["canonical"] = canonical.url
        topic = self._topic
        facts["pointers"] = pointers_of(found) + facts.get("pointers", ())
        if self._settings.resources and isinstance(page, Document):
            facts["uses"] = uses_of(page, found.base)
        facts["marks"] = self._marks(page, known)
        if known.is_changed:
            facts["marks"]["sieve"] = tied(known.left, facts["digest"])
        promise = None
        if topic and isinstance(page, Document):
            facts["marks"]["relevance"] = pack_relevance(relevance(topic, page, found.title))
            promise = promise_of(topic, page, found)
        self._take_links(page, url, found, facts, promise)
        return found.until

    def _extract(self, page: Document | Glance, url: str) -> Extract:
        """Take what a page says; the links in the text of one seen at a glance are still to come."""
        if isinstance(page, Glance):
            return extract_head(page, url, self._agent)
        return extract(page, url, bool(self._settings.keep), self._agent)

    def _take_links(
        self, page: Document | Glance, url: str, found: Extract, facts: Facts, promise: Promise | None
    ) -> None:
        """Take all links of a page, and those that its headers say."""
        nofollow, leads = facts["nofollow"], facts.get("links", ())
        if isinstance(page, Glance):
            packed = pack_links(found, page, url, nofollow) if self._packs and not leads else None
            if packed is not None:
                facts["links"] = packed
                return
            found = with_anchors(found, page, url)
        facts["links"] = with_leads(links_of(found, nofollow, promise), leads, nofollow)
        facts["links_dropped"] = found.dropped

    def _is_enough(self, known: Known) -> bool:
        """Say whether a glance is enough: of a page that is new, or as it was to all marks, little is asked."""
        is_other = known.is_changed and not known.is_alike
        wants_more = is_other or self._topic or self._settings.resources or self._settings.keep
        return not wants_more and self._agent.lower() not in MUTE

    def _pack(self, stop: Stop, reply: Reply, facts: Facts, at: float, digest: bytes = b"") -> None:
        """Write the records the archive keeps of this answer; `digest` is the body's, if it came without coding."""
        algorithm = self._settings.digest
        known = digest if algorithm == "sha256" else b""
        exchange = Exchange(reply.ask.url, at, b"".join(reply.lines), reply.body, reply.address, "", known)
        packed = pack_response(exchange, algorithm)
        facts["head"], facts["response"], facts["record_id"] = packed.head, packed.member, packed.record_id
        facts["payload"] = packed.payload_digest
        if self._settings.keep_requests:
            asked = Exchange(reply.ask.url, at, self.request(reply), address=reply.address)
            facts["request"] = pack_request(asked, packed.record_id, algorithm).member
            known_by = (("fetchTimeMs", f"{reply.seconds * 1000:.0f}"), ("hopsFromSeed", str(stop.depth)))
            facts["metadata"] = pack_metadata(reply.ask.url, at, known_by, packed.record_id, algorithm).member

    def request(self, reply: Reply) -> bytes:
        """Write the request as curl sent it, without passwords and cookies: those are nobody's to read later."""
        host, _, path = reply.ask.url.partition("://")[2].partition("/")
        named = "" if self._names_host else f"Host: {host}\r\n"
        start = f"GET /{path} HTTP/1.1\r\n{named}".encode()
        return b"".join([start, self._headers, *[line + b"\r\n" for line in reply.ask.conditions], b"\r\n"])


def untried(stop: Stop, outcome: Outcome, reason: Reason, at: float, note: str = "", pause: float = 0.0) -> Visit:
    """Say that a stop was not asked for, and why."""
    return Visit(stop.id, stop.token, stop.url, outcome, at, reason, note, retry_after=pause)
