"""Store robots.txt files."""

from sanderling.crawl.context import SITEMAP_RANK
from sanderling.crawl.stages.close_leases import UNREACHABLE_BACKOFF_DIVISOR
from sanderling.crawl.stages.sitemaps import WELL_KNOWN_PATHS, enqueue_sitemaps
from sanderling.crawl.stages.stage_services import RobotsServices
from sanderling.fetch.robots import build_robots_rules
from sanderling.models import FileRef, Reason, RobotsTxt, Url
from sanderling.urls.normalize import resolve_url
from sanderling.urls.scope import is_seed_site


def store_robots(robots: RobotsTxt, context: RobotsServices, now: float) -> None:
    """Store a robots.txt and queue its sitemaps; give up the host after repeated failures."""
    rules = build_robots_rules(robots, context.options.agent_token)
    if (
        robots.is_reachable
        and context.options.use_sitemaps
        and is_seed_site(context.frontier.url_filter.scope_rule, robots.host)
    ):
        urls = [resolve_url(robots.host + "/", text) for text in rules.sitemaps]
        refs = [FileRef(url.url, url.distinct_request_url) for url in urls if url is not None]
        known = context.frontier.url_store.get([ref.url for ref in refs])
        retired = context.revisit.sitemap_schedule.load_just_retired([found.id for found in known.values()])
        context.frontier.requeue(retired, SITEMAP_RANK)  # named by the site now
        enqueue_sitemaps(refs or [FileRef(Url(robots.host + WELL_KNOWN_PATHS[0]))], context.frontier, now)
    backoff, crawl_delay = context.options.backoff_seconds / UNREACHABLE_BACKOFF_DIVISOR, rules.get_crawl_delay() or 0.0
    if not context.frontier.hosts.store_robots(robots, backoff, now, crawl_delay):
        host_id = context.frontier.url_store.get_host_id(robots.host)
        detail = f"robots.txt: status {robots.status}" if robots.status else "robots.txt: no answer"
        context.stats.count_dropped(
            *context.frontier.give_up_host(host_id, robots.host, Reason.ROBOTS_UNREACHABLE, detail)
        )
