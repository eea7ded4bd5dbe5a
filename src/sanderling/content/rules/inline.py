"""Furniture inside the text of a page: what tells of other pages, wants to be shared, asks for an answer or an address.

It is known by common words that it begins with or consists of, or by its name, and only where the lines around it are
as such things are: links and buttons, hardly any prose, in a part of their own. What else could be text is text.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable

from sanderling.content.line_features import LONG_LINE_LENGTH, LineFeatures, PageLines
from sanderling.content.phrases import (
    CALL_TO_ACTION,
    FEEDBACK_ANSWER,
    FEEDBACK_PROMPT,
    RELATED_LINKS,
    RELATED_LINKS_PREFIX_KEYS,
    SHARE_BUTTON,
    SOCIAL_NETWORK,
)
from sanderling.content.rules.breadcrumbs import find_navigation_lines
from sanderling.content.side_content import LineSpan, find_price_lines
from sanderling.html.text import compact_text

MAX_LIST_LINES = 60  # of a part that tells of others, empty ones not counted
MAX_PROMPT_LINES = 16  # of one that asks
MAX_CALL_LINES = 6  # lines of a call
MAX_CALL_LENGTH = 300  # letters of it
MAX_MATCHES = 50  # lines of one sort around which parts are looked for
search_newsletter_phrase = re.compile(
    r"newsletter|(?<!un)subscri|sign up|signup|mailing list|stay in touch|keep in touch|stay up to date|stay informed|"
    r"stay connected|stay in the loop|your inbox|email updates|e-mail updates|"
    r"abonnier|anmelden|auf dem laufenden|in kontakt bleiben|abonnez|s'abonner|s’abonner|inscrivez|s'inscrire|"
    r"s’inscrire|restez inform|infolettre|suscri|boletín|mantente|iscriviti|resta aggiornato|rimani aggiornato|assine|"
    r"inscreva|fique por dentro|nieuwsbrief|aanmelden|blijf op de hoogte|nyhetsbrev|nyhedsbrev|prenumer|tilmeld|"
    r"uutiskirj|odebír|newslettr|zapisz się|hírlevél|iratkoz|abone ol|bülten|подпис|рассылк|розсилк|ニュースレター|"
    r"メルマガ|メールマガジン|订阅|訂閱|뉴스레터|구독"
).search


class InlineBoilerplate:
    """The lines of a page that are furniture inside of its text, and the lines whose words decide that."""

    def __init__(self, page: PageLines) -> None:
        self.features = LineFeatures(page)
        self.lines: set[int] = set()
        self.parts: list[LineSpan] = []  # those that are furniture as a whole
        for find in (
            self._find_named_parts,
            self._find_link_asides,
            self._find_related_links,
            self._find_feedback_prompts,
            self._find_share_buttons,
            self._find_newsletter_forms,
            self._find_calls_to_action,
        ):
            find()
        self.lines |= find_navigation_lines(self.features, self.lines)

    @property
    def decisive_lines(self) -> set[int]:
        """The lines whose words decide what is furniture."""
        return self.features.decisive_lines

    def collect_texts(self) -> frozenset[bytes]:
        """The letters of these lines, and of the parts that are furniture as a whole."""
        whole = ["".join(self.features.lines[first:last]) for first, last in self.parts]
        return frozenset(map(compact_text, (*whole, *(self.features.lines[n] for n in self.lines)))) - {b""}

    def _add_part(self, part: LineSpan) -> None:
        self.parts.append(part)
        self.lines.update(self.features.get_text_lines(part))

    def _find_named_parts(self) -> None:
        """Take parts with a telling name that are links for the most part, or ask."""
        for part in self.features.page.inline_candidates:
            inside = self.features.get_text_lines(part)
            if 0 < len(inside) <= MAX_LIST_LINES:
                self.features.decisive_lines.update(inside)
                if self._is_link_list(part, inside) or self._is_prompt(part, inside):
                    self._add_part(part)

    def _find_link_asides(self) -> None:
        """Take what a page says stands beside its text, if that is links for the most part and tells no price."""
        for part in self.features.page.aside_parts[:MAX_MATCHES]:
            inside = self.features.get_text_lines(part)
            self.features.decisive_lines.update(inside)
            links = sum(self.features.page.weighted_lengths[n] for n in inside if n in self.features.link_only_lines)
            is_listed = 2 * links > sum(
                self.features.page.weighted_lengths[n] for n in inside
            ) and not self.features.has_title(part)
            if is_listed and not find_price_lines(self.features.lines, inside):
                self._add_part(part)

    def _find_related_links(self) -> None:
        """Take parts that begin with what announces other pages, and list them."""
        keys = self.features.phrase_keys
        ahead = [n for n in self.features.heading_lines if n in keys and keys[n].startswith(RELATED_LINKS_PREFIX_KEYS)]
        for place in (*self.features.find_phrase_lines(RELATED_LINKS)[:MAX_MATCHES], *ahead[:MAX_MATCHES]):
            around = self.features.iterate_enclosing_parts(place, MAX_LIST_LINES)
            listed = [part for part, inside in around if inside[0] == place and self._is_link_list(part, inside[1:])]
            for part in listed[-1:]:
                self._add_part(part)

    def _is_link_list(self, part: LineSpan, line_indexes: list[int]) -> bool:
        """Say whether lines are links, each with hardly more than a line of prose, and no title of the page."""
        links = sum(n in self.features.link_only_lines for n in line_indexes)
        return 0 < links >= self._count_prose_lines(line_indexes) and not self.features.has_title(part)

    def _is_prompt(self, part: LineSpan, line_indexes: list[int]) -> bool:
        """Say whether a few lines want an answer: all of them short, but for one, and there is something to press."""
        if len(line_indexes) > MAX_PROMPT_LINES or self.features.has_title(part):
            return False
        return self._count_prose_lines(line_indexes) <= 1 and self.features.has_controls(part)

    def _count_prose_lines(self, line_indexes: list[int]) -> float:
        """Count the lines of prose; what is told at length is too much of it."""
        prose = [self.features.page.weighted_lengths[n] for n in line_indexes if self.features.is_prose(n)]
        return len(prose) if max(prose, default=0) < 2 * LONG_LINE_LENGTH else float("inf")

    def _find_feedback_prompts(self) -> None:
        """Take questions whether a page helped, with the answers, wherever these stand alone."""
        for place in self.features.find_phrase_lines(FEEDBACK_PROMPT)[:MAX_MATCHES]:
            self._add_line_with_part(place, self._is_feedback_line)

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
        """Take what offers to share or print a page, or leads to its top, with what stands with it alone."""
        sharing = [n for n in self.features.find_phrase_lines(SHARE_BUTTON) if n in self.features.link_only_lines]
        for place in sorted({*sharing, *self.features.share_lines})[:MAX_MATCHES]:
            self._add_line_with_part(place, self._is_share_line)

    def _is_share_line(self, line_index: int, _: LineSpan) -> bool:
        return line_index in self.features.share_lines or self.features.phrase_kinds.get(line_index) in (
            SHARE_BUTTON,
            SOCIAL_NETWORK,
        )

    def _add_line_with_part(self, line_index: int, is_same_kind: Callable[[int, LineSpan], bool]) -> None:
        """Take a line, and the largest part around it all of whose lines are of its kind."""
        found = None
        for part, inside in self.features.iterate_enclosing_parts(line_index, MAX_PROMPT_LINES):
            is_told = inside[0] in self.features.phrase_kinds or inside[0] in self.features.share_lines
            if not is_told or not all(is_same_kind(n, part) for n in inside):
                break
            found = part
        self.lines.add(line_index)
        if found is not None:
            self._add_part(found)

    def _find_newsletter_forms(self) -> None:
        """Take what asks for an address to send letters to: the part that begins with it, or just the field."""
        shown = self.features.text_lines or [0]
        near = [one for one in self.features.page.form_parts if shown[0] <= one[0] <= shown[-1] + MAX_PROMPT_LINES]
        for asking in near[:MAX_MATCHES]:
            own = self.features.get_text_lines(asking)
            found = asking if 0 < len(own) <= MAX_PROMPT_LINES and self._is_newsletter_form(asking, own, own) else None
            for part, inside in self.features.iterate_enclosing_parts(asking[0], MAX_PROMPT_LINES):
                if part[1] >= asking[1] and self._is_newsletter_form(part, inside, inside[:1]):
                    found = part
            self.features.decisive_lines.update(own)
            if found is not None:
                self._add_part(found)

    def _is_newsletter_form(self, part: LineSpan, line_indexes: list[int], label_indexes: list[int]) -> bool:
        """Say whether a part asks for an address, and some of its lines say what for."""
        if not self._is_prompt(part, line_indexes) or len(self.features.heading_lines.intersection(line_indexes)) > 1:
            return False
        return search_newsletter_phrase(self.features.get_lowercase_text(label_indexes)) is not None

    def _find_calls_to_action(self) -> None:
        """Take a call to sign up below the text: a heading, some words and a link that says what to do."""
        calls = [n for n in self.features.find_phrase_lines(CALL_TO_ACTION) if n in self.features.link_only_lines]
        last = max(filter(self.features.is_prose, self.features.text_lines), default=-1) if calls else -1
        for place in calls[-MAX_MATCHES:]:
            parts = [
                part
                for part, inside in self.features.iterate_enclosing_parts(place, MAX_CALL_LINES)
                if self._is_call_to_action(inside, last)
            ]
            for part in parts[-1:]:
                self._add_part(part)

    def _is_call_to_action(self, line_indexes: list[int], last_prose_line: int) -> bool:
        """Say whether words lead to links, and nothing like it stands before or behind them; what is sold does so."""
        sight = self.features
        words = [n for n in line_indexes if n not in sight.link_only_lines]
        at, until = bisect_left(sight.text_lines, line_indexes[0]), bisect_right(sight.text_lines, line_indexes[-1])
        beside = {*sight.text_lines[max(at - 1, 0) : at], *sight.text_lines[until : until + 1]}
        if (
            line_indexes[0] not in sight.heading_lines
            or line_indexes[-1] < last_prose_line
            or line_indexes[: len(words)] != words
        ):
            return False
        said = sight.get_lowercase_text(words)
        return (
            len(said) <= MAX_CALL_LENGTH
            and not any(map(str.isdigit, said))
            and beside.isdisjoint(sight.link_only_lines | sight.heading_lines)
        )
