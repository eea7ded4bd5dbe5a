"""A watch: pages to monitor, interval, changes that count, and targets of notifications. Validated when it is added."""

from functools import cached_property

from msgspec import Struct

from sanderling.changes.classify import validate_kinds
from sanderling.content.user_rules import UserRules
from sanderling.errors import UsageError
from sanderling.monitor.active_hours import ActiveHours, parse_active_hours
from sanderling.monitor.conditions import WatchCondition, parse_condition
from sanderling.monitor.part_selector import PartSelector, parse_part_selector
from sanderling.urls.scope import is_wildcard_match

TEMPLATE_FIELDS = ("watch", "url", "title", "text", "kinds", "significance", "pages")
MAX_INTERVAL = 365 * 86_400.0


class Watch(Struct, frozen=True, omit_defaults=True, kw_only=True, dict=True):
    """Pages or sites that are monitored. Times are in seconds."""

    name: str
    urls: tuple[str, ...] = ()  # pages, without their sites
    sites: tuple[str, ...] = ()  # seeds, with their sites
    pattern: str = ""  # pages of the collection; * matches anything
    every: float = 0.0  # 0: adaptive
    selector: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()  # empty: all
    min_significance: float = 0.0
    conditions: tuple[str, ...] = ()
    notify: tuple[str, ...] = ()
    digest: float = 0.0  # 0: each change at once
    template: str = ""
    days: str = ""  # "mon-fri"; empty: every day
    hours: str = ""  # "08:00-18:00"; empty: always
    timezone: str = ""  # empty: UTC
    paused: bool = False
    added_at: float = 0.0
    baseline_at: float = 0.0  # when all pages of a site were stored; pages found later are new

    @cached_property
    def part_selectors(self) -> tuple[PartSelector, ...]:
        return tuple(map(parse_part_selector, self.selector))

    @cached_property
    def ignore_selectors(self) -> tuple[PartSelector, ...]:
        return tuple(map(parse_part_selector, self.ignore))

    @cached_property
    def user_rules(self) -> UserRules:
        """Rules for the comparison of whole pages."""
        css, regex = (
            tuple(one.expression for one in self.ignore_selectors if one.language == language)
            for language in ("css", "regex")
        )
        return UserRules(ignore=css, ignore_text=regex)

    @cached_property
    def parsed_conditions(self) -> tuple[WatchCondition, ...]:
        return tuple(map(parse_condition, self.conditions))

    @property
    def active_hours(self) -> ActiveHours:
        return parse_active_hours(self.hours, self.days, self.timezone)

    @property
    def is_single_page(self) -> bool:
        return len(self.urls) == 1 and not self.sites and not self.pattern

    @property
    def includes_boilerplate(self) -> bool:
        """Whether text outside the main content counts: no kind, condition, or part was asked for."""
        return not (self.kinds or self.conditions or self.selector)

    def matches(self, url: str) -> bool:
        """Return whether a page belongs to this watch."""
        return url in self.urls or bool(self.pattern and is_wildcard_match(url, self.pattern))


def validate_watch(watch: Watch) -> Watch:
    """Return the watch. Raises UsageError if it cannot work."""
    if not (watch.urls or watch.sites or watch.pattern):
        raise UsageError(f"watch {watch.name!r} has no page; give a URL or a pattern")
    if any(one.language == "xpath" for one in watch.ignore_selectors):
        raise UsageError("an XPath cannot be ignored; use a CSS selector, a JSON path or re:EXPRESSION")
    _ = watch.part_selectors, watch.parsed_conditions, watch.active_hours  # raise UsageError
    validate_kinds(watch.kinds)
    if not 0 <= watch.min_significance <= 1:
        raise UsageError("the minimum significance is a number from 0 to 1")
    for name, seconds in (("interval", watch.every), ("digest interval", watch.digest)):
        if not 0 <= seconds <= MAX_INTERVAL:
            raise UsageError(f"the {name} must be between 0 and 365 days")
    _validate_template(watch.template)
    return watch


def _validate_template(template: str) -> None:
    try:
        template.format_map(dict.fromkeys(TEMPLATE_FIELDS, ""))
    except (KeyError, ValueError, IndexError, AttributeError):
        names = ", ".join(f"{{{name}}}" for name in TEMPLATE_FIELDS)
        raise UsageError(f"the message template is invalid; fields are {names}, and {{{{ for a brace") from None
