"""Decide by comparison which pages of a host are rendered: those of templates to which rendering adds content.

A template is a group of pages of a host with similar HTML and the same scripts. Its first pages are rendered and
compared with their HTTP version; more are rendered only while rendering adds content, and it is tried again at
intervals that grow with the number of pages.
"""

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace
from xxhash import xxh32_intdigest

from sanderling.fingerprint.structure import compute_feature_similarity, decode_features
from sanderling.html.script_built import has_text
from sanderling.models import Host
from sanderling.page_rendering import RenderReason, RenderTemplate

MIN_PROBES = 3  # of a template
UNANIMOUS_PROBES = 6  # of a host: after as many equal results a new template needs a single probe
MIN_GAIN_SHARE = 0.25  # of pages built by scripts: missing content is worse than an idle browser
MIN_COMPLETE_GAIN_SHARE = 0.65  # of pages that look complete: most must gain
MIN_VAIN_PROBES = 3  # pages of a host that look complete and gained nothing; one more for four times as many
MAX_PROBES = 16  # counters are halved above: sites change
FIRST_INTERVAL = 8  # pages between the first decision against rendering and the next probe; then twice as many
SKETCH_SIZE = 32
MIN_SIMILARITY = 0.5  # of pages of one template
MAX_TEMPLATES = 64  # of a host
MAX_HOSTS = 512
MAX_SCRIPTS = 64
MAX_SCANNED_BYTES = 1_000_000
SCRIPT_SOURCE = re.compile(rb"<script\b[^>]{0,500}?\ssrc\s*=\s*[\"']?([^\"'\s>]{1,500})", re.IGNORECASE)
VERSION_PART = re.compile(rb"[0-9a-f]{6,64}|\d+|\?.*", re.IGNORECASE)
FIELD_OF_TEXT = 0x7E87  # marks hashes of scripts, so that they differ from those of blocks


class Choice(Struct, frozen=True):
    """A decision about a page."""

    template: RenderTemplate
    is_rendered: bool
    reason: RenderReason


class HostEvidence(Struct):
    """Templates of a host, and the probes that are not finished."""

    templates: list[RenderTemplate] = []
    running: dict[tuple[int, ...], int] = {}  # probes by sketch


class RenderChoices:
    """Comparisons of all hosts of a worker, and what follows from them."""

    def __init__(self) -> None:
        self._hosts: dict[Host, HostEvidence] = {}

    def adopt(self, host: Host, templates: Iterable[RenderTemplate]) -> None:
        """Add what earlier runs and other workers found."""
        evidence = self._get_evidence(host)
        evidence.templates = merge_templates(evidence.templates, templates)

    def has_gains(self, host: Host) -> bool:
        """Return whether rendering added content to any page of a host."""
        return any(template.gains for template in self._get_evidence(host).templates)

    def decide(self, host: Host, body: bytes, structure: bytes, is_shell: bool = True) -> Choice | None:
        """Decide whether to render a page. None: wait for a probe of its template that is running.

        Pages that look complete are compared rarely, and rendered if clearly most comparisons show a gain.
        """
        evidence = self._get_evidence(host)
        template = self._find_template(evidence, build_sketch(body, structure), has_text(body))
        running = evidence.running.get(template.sketch, 0)
        missing = self._count_missing_probes(evidence, template) if is_shell else count_missing_complete(template)
        may_probe = is_shell or may_probe_complete(evidence)
        if missing > 0 and may_probe:
            return self._start_probe(evidence, template) if running < missing else None
        share = MIN_GAIN_SHARE if is_shell else MIN_COMPLETE_GAIN_SHARE
        if missing <= 0 and template.gains >= share * template.probes:
            return Choice(self._count_page(evidence, template), True, RenderReason.GAIN)
        if template.pages >= template.next_probe and not running and may_probe:
            return self._start_probe(evidence, template)
        return Choice(self._count_page(evidence, template), False, RenderReason.NO_GAIN)

    def record(self, host: Host, choice: Choice, has_gain: bool | None) -> RenderTemplate:
        """Record the comparison of a rendered page, and return its template. None: the page could not be rendered."""
        evidence = self._get_evidence(host)
        sketch = choice.template.sketch
        template = next((found for found in evidence.templates if found.sketch == sketch), choice.template)
        if choice.reason is RenderReason.PROBE:
            evidence.running[sketch] = max(0, evidence.running.get(sketch, 0) - 1)
        if has_gain is None:
            has_gain = False  # rendering a page that cannot be rendered adds nothing
        probes, gains = template.probes + 1, template.gains + has_gain
        if probes > MAX_PROBES:
            probes, gains = probes // 2, gains // 2
        interval = max(FIRST_INTERVAL, template.pages)
        return self._put(evidence, replace(template, probes=probes, gains=gains, next_probe=template.pages + interval))

    def abandon(self, host: Host, choice: Choice) -> None:
        """Forget a probe that was cancelled."""
        running = self._get_evidence(host).running
        if choice.reason is RenderReason.PROBE:
            running[choice.template.sketch] = max(0, running.get(choice.template.sketch, 0) - 1)

    def _get_evidence(self, host: Host) -> HostEvidence:
        evidence = self._hosts.pop(host, None) or HostEvidence()
        self._hosts[host] = evidence  # the most recently used is last
        if len(self._hosts) > MAX_HOSTS:
            del self._hosts[next(iter(self._hosts))]
        return evidence

    def _find_template(self, evidence: HostEvidence, sketch: tuple[int, ...], is_text: bool) -> RenderTemplate:
        features = frozenset(sketch)
        best, similarity = None, 0.0
        for template in evidence.templates:
            found = compute_feature_similarity(features, frozenset(template.sketch))
            if template.has_text == is_text and found > similarity:
                best, similarity = template, found
        if best is not None and (similarity >= MIN_SIMILARITY or len(evidence.templates) >= MAX_TEMPLATES):
            return best
        return RenderTemplate(sketch, is_text)

    def _count_missing_probes(self, evidence: HostEvidence, template: RenderTemplate) -> int:
        probes = sum(found.probes for found in evidence.templates)
        gains = sum(found.gains for found in evidence.templates)
        is_unanimous = probes >= UNANIMOUS_PROBES and gains in (0, probes)
        return (1 if is_unanimous else MIN_PROBES) - template.probes

    def _start_probe(self, evidence: HostEvidence, template: RenderTemplate) -> Choice:
        evidence.running[template.sketch] = evidence.running.get(template.sketch, 0) + 1
        return Choice(self._count_page(evidence, template), True, RenderReason.PROBE)

    def _count_page(self, evidence: HostEvidence, template: RenderTemplate) -> RenderTemplate:
        return self._put(evidence, replace(template, pages=template.pages + 1))

    def _put(self, evidence: HostEvidence, template: RenderTemplate) -> RenderTemplate:
        others = [found for found in evidence.templates if found.sketch != template.sketch]
        evidence.templates = [*others, template]
        return template


def count_missing_complete(template: RenderTemplate) -> int:
    """Return how many more comparisons pages that look complete need: one, and more if it shows a gain."""
    return (MIN_PROBES if template.gains else 1) - template.probes


def may_probe_complete(evidence: HostEvidence) -> bool:
    """Return whether another page of a host may be compared although it looks complete."""
    templates = [template for template in evidence.templates if template.has_text]
    vain = sum(template.probes - template.gains for template in templates) + sum(evidence.running.values())
    pages = sum(template.pages for template in templates)
    return vain < MIN_VAIN_PROBES + (pages // FIRST_INTERVAL).bit_length() // 2


def merge_templates(known: Sequence[RenderTemplate], added: Iterable[RenderTemplate]) -> list[RenderTemplate]:
    """Return the templates of both, at most `MAX_TEMPLATES`; of the same template, the one with more pages."""
    merged = {template.sketch: template for template in known}
    for template in added:
        old = merged.get(template.sketch)
        if old is None or (template.pages, template.probes) > (old.pages, old.probes):
            merged[template.sketch] = template
    return sorted(merged.values(), key=lambda template: -template.pages)[:MAX_TEMPLATES]


def build_sketch(body: bytes, structure: bytes) -> tuple[int, ...]:
    """Return the smallest hashes of a page's blocks and of the addresses of its scripts, without versions."""
    scripts = SCRIPT_SOURCE.findall(body[:MAX_SCANNED_BYTES])[:MAX_SCRIPTS]
    names = {VERSION_PART.sub(b"", source) for source in scripts}
    hashes = {xxh32_intdigest(name, FIELD_OF_TEXT) for name in names}
    hashes |= {xxh32_intdigest(feature.to_bytes(8, "big")) for feature in decode_features(structure)}
    return tuple(sorted(hashes)[:SKETCH_SIZE])
