"""Store how pages were rendered, and where rendering adds content."""

from collections import defaultdict
from collections.abc import Sequence

from sanderling.crawl.stages.stage_services import RenderingServices
from sanderling.models import Host, Visit
from sanderling.page_rendering import RenderReason, RenderTemplate
from sanderling.storage.render_templates import RENDERING, encode_rendering
from sanderling.urls.normalize import get_host
from sanderling.workers.browser.render_choice import merge_templates


def store_renderings(visits: Sequence[Visit], context: RenderingServices) -> None:
    """Store the rendering of each page, and the comparisons of its host."""
    found: dict[Host, list[RenderTemplate]] = defaultdict(list)
    fingerprints = []
    for visit in visits:
        if visit.rendering is not None:
            fingerprints.append((visit.id, RENDERING, encode_rendering(visit.rendering)))
            context.stats.rendered += visit.rendering.is_rendered
            context.stats.unrendered += visit.rendering.reason is RenderReason.SHELL
            if visit.rendering.template is not None:
                found[get_host(visit.url)].append(visit.rendering.template)
    if fingerprints:
        context.storage.catalog.store_fingerprints(fingerprints)
    for host, templates in found.items():
        stored = context.storage.render_templates.load(host)
        context.storage.render_templates.save(host, merge_templates(stored, templates))
