"""Find boilerplate inside the main content: related links, share buttons, feedback prompts, newsletter forms.

Candidates match a phrase or class name. They are boilerplate only if the lines around them look like it: links and
buttons, hardly any prose, in a container of their own. Otherwise they stay main content.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable

from sanderling.content.line_features import LONG_LINE_LENGTH, LineFeatures, PageLines
from sanderling.content.phrases import (
    CALL_TO_ACTION,
    FEEDBACK_ANSWER,
    FEEDBACK_PROMPT,
    RELATED_LINKS,
    SHARE_BUTTON,
    SOCIAL_NETWORK,
    load_phrases,
)
from sanderling.content.rule import Rule
from sanderling.content.rules.breadcrumbs import find_navigation_lines
from sanderling.content.side_content import LineSpan, find_price_lines
from sanderling.content.word_lists import compile_words
from sanderling.html.text import compact_text

MAX_LIST_LINES = 60  # non-empty lines of related links
MAX_PROMPT_LINES = 16
MAX_CALL_LINES = 6
MAX_CALL_LENGTH = 300  # characters
MAX_MATCHES = 50  # candidate lines per rule
NEWSLETTER = "(?<!un)(?:{boilerplate.newsletter})"


class InlineBoilerplate:
    """The boilerplate lines inside the main content, and the lines that decided it."""

    def __init__(self, page: PageLines) -> None:
        self.features = LineFeatures(page)
        self.lines: set[int] = set()
        self.parts: list[LineSpan] = []  # parts that are boilerplate as a whole
        for rule in BOILERPLATE_RULES:
            rule.apply(self)
        self.lines |= find_navigation_lines(self.features, self.lines)

    @property
    def decisive_lines(self) -> set[int]:
        return self.features.decisive_lines

    def collect_texts(self) -> frozenset[bytes]:
        """Return the compacted texts of boilerplate lines and parts."""
        whole = ["".join(self.features.lines[first:last]) for first, last in self.parts]
        return frozenset(map(compact_text, (*whole, *(self.features.lines[n] for n in self.lines)))) - {b""}

    def _add_part(self, part: LineSpan) -> None:
        self.parts.append(part)
        self.lines.update(self.features.get_text_lines(part))

    def _find_named_parts(self) -> None:
        """Add parts with a boilerplate class name that are link lists or prompts."""
        for part in self.features.page.inline_candidates:
            part_lines = self.features.get_text_lines(part)
            if 0 < len(part_lines) <= MAX_LIST_LINES:
                self.features.decisive_lines.update(part_lines)
                if self._is_link_list(part, part_lines) or self._is_prompt(part, part_lines):
                    self._add_part(part)

    def _find_link_asides(self) -> None:
        """Add `<aside>` elements that are mostly links and have no price."""
        for part in self.features.page.aside_parts[:MAX_MATCHES]:
            part_lines = self.features.get_text_lines(part)
            self.features.decisive_lines.update(part_lines)
            link_length = sum(
                self.features.page.weighted_lengths[n] for n in part_lines if n in self.features.link_only_lines
            )
            is_mostly_links = 2 * link_length > sum(
                self.features.page.weighted_lengths[n] for n in part_lines
            ) and not self.features.has_title(part)
            if is_mostly_links and not find_price_lines(self.features.lines, part_lines):
                self._add_part(part)

    def _find_related_links(self) -> None:
        """Add link lists that start with a phrase such as "related articles"."""
        keys, prefixes = self.features.phrase_keys, load_phrases().related_links_prefixes
        prefixed = [n for n in self.features.heading_lines if n in keys and keys[n].startswith(prefixes)]
        for n in (*self.features.find_phrase_lines(RELATED_LINKS)[:MAX_MATCHES], *prefixed[:MAX_MATCHES]):
            enclosing = self.features.iterate_enclosing_parts(n, MAX_LIST_LINES)
            link_lists = [
                part
                for part, part_lines in enclosing
                if part_lines[0] == n and self._is_link_list(part, part_lines[1:])
            ]
            for part in link_lists[-1:]:
                self._add_part(part)

    def _is_link_list(self, part: LineSpan, line_indexes: list[int]) -> bool:
        """Return whether lines are links with at most as many prose lines, and no page title."""
        links = sum(n in self.features.link_only_lines for n in line_indexes)
        return 0 < links >= self._count_prose_lines(line_indexes) and not self.features.has_title(part)

    def _is_prompt(self, part: LineSpan, line_indexes: list[int]) -> bool:
        """Return whether a few short lines have controls, with at most a single prose line."""
        if len(line_indexes) > MAX_PROMPT_LINES or self.features.has_title(part):
            return False
        return self._count_prose_lines(line_indexes) <= 1 and self.features.has_controls(part)

    def _count_prose_lines(self, line_indexes: list[int]) -> float:
        """Count prose lines; infinite if any is long."""
        prose = [self.features.page.weighted_lengths[n] for n in line_indexes if self.features.is_prose(n)]
        return len(prose) if max(prose, default=0) < 2 * LONG_LINE_LENGTH else float("inf")

    def _find_feedback_prompts(self) -> None:
        for n in self.features.find_phrase_lines(FEEDBACK_PROMPT)[:MAX_MATCHES]:
            self._add_line_with_part(n, self._is_feedback_line)

    def _is_feedback_line(self, line_index: int, part: LineSpan) -> bool:
        if (
            self.features.phrase_kinds.get(line_index) in (FEEDBACK_PROMPT, FEEDBACK_ANSWER, SHARE_BUTTON)
            or line_index in self.features.link_only_lines
        ):
            return True
        return (
            line_index not in self.features.heading_lines
            and not self.features.is_prose(line_index)
            and self.features.has_controls(part)
        )

    def _find_share_buttons(self) -> None:
        sharing = [n for n in self.features.find_phrase_lines(SHARE_BUTTON) if n in self.features.link_only_lines]
        for n in sorted({*sharing, *self.features.share_lines})[:MAX_MATCHES]:
            self._add_line_with_part(n, self._is_share_line)

    def _is_share_line(self, line_index: int, _: LineSpan) -> bool:
        return line_index in self.features.share_lines or self.features.phrase_kinds.get(line_index) in (
            SHARE_BUTTON,
            SOCIAL_NETWORK,
        )

    def _add_line_with_part(self, line_index: int, is_same_kind: Callable[[int, LineSpan], bool]) -> None:
        """Add a line, and the largest part around it with only lines of its kind."""
        largest = None
        for part, part_lines in self.features.iterate_enclosing_parts(line_index, MAX_PROMPT_LINES):
            starts_with_phrase = (
                part_lines[0] in self.features.phrase_kinds or part_lines[0] in self.features.share_lines
            )
            if not starts_with_phrase or not all(is_same_kind(n, part) for n in part_lines):
                break
            largest = part
        self.lines.add(line_index)
        if largest is not None:
            self._add_part(largest)

    def _find_newsletter_forms(self) -> None:
        """Add newsletter forms: the part that starts with the invitation, or the form alone."""
        text_lines = self.features.text_lines or [0]
        forms = [
            form
            for form in self.features.page.form_parts
            if text_lines[0] <= form[0] <= text_lines[-1] + MAX_PROMPT_LINES
        ]
        for form in forms[:MAX_MATCHES]:
            form_lines = self.features.get_text_lines(form)
            found = (
                form
                if 0 < len(form_lines) <= MAX_PROMPT_LINES and self._is_newsletter_form(form, form_lines, form_lines)
                else None
            )
            for part, part_lines in self.features.iterate_enclosing_parts(form[0], MAX_PROMPT_LINES):
                if part[1] >= form[1] and self._is_newsletter_form(part, part_lines, part_lines[:1]):
                    found = part
            self.features.decisive_lines.update(form_lines)
            if found is not None:
                self._add_part(found)

    def _is_newsletter_form(self, part: LineSpan, line_indexes: list[int], label_indexes: list[int]) -> bool:
        if not self._is_prompt(part, line_indexes) or len(self.features.heading_lines.intersection(line_indexes)) > 1:
            return False
        return compile_words(NEWSLETTER).search(self.features.get_lowercase_text(label_indexes)) is not None

    def _find_calls_to_action(self) -> None:
        """Add calls to action below the text: a heading, some words, and a link."""
        calls = [n for n in self.features.find_phrase_lines(CALL_TO_ACTION) if n in self.features.link_only_lines]
        last_prose_line = max(filter(self.features.is_prose, self.features.text_lines), default=-1) if calls else -1
        for n in calls[-MAX_MATCHES:]:
            parts = [
                part
                for part, part_lines in self.features.iterate_enclosing_parts(n, MAX_CALL_LINES)
                if self._is_call_to_action(part_lines, last_prose_line)
            ]
            for part in parts[-1:]:
                self._add_part(part)

    def _is_call_to_action(self, line_indexes: list[int], last_prose_line: int) -> bool:
        """Return whether words lead to links, without adjacent links or headings; product lists have those."""
        features = self.features
        words = [n for n in line_indexes if n not in features.link_only_lines]
        start, end = (
            bisect_left(features.text_lines, line_indexes[0]),
            bisect_right(features.text_lines, line_indexes[-1]),
        )
        adjacent = {*features.text_lines[max(start - 1, 0) : start], *features.text_lines[end : end + 1]}
        if (
            line_indexes[0] not in features.heading_lines
            or line_indexes[-1] < last_prose_line
            or line_indexes[: len(words)] != words
        ):
            return False
        text = features.get_lowercase_text(words)
        return (
            len(text) <= MAX_CALL_LENGTH
            and not any(map(str.isdigit, text))
            and adjacent.isdisjoint(features.link_only_lines | features.heading_lines)
        )


BOILERPLATE_RULES = (  # applied in this order
    Rule("named_parts", InlineBoilerplate._find_named_parts),
    Rule("link_asides", InlineBoilerplate._find_link_asides),
    Rule("related_links", InlineBoilerplate._find_related_links),
    Rule("feedback_prompts", InlineBoilerplate._find_feedback_prompts),
    Rule("share_buttons", InlineBoilerplate._find_share_buttons),
    Rule("newsletter_forms", InlineBoilerplate._find_newsletter_forms),
    Rule("calls_to_action", InlineBoilerplate._find_calls_to_action),
)
