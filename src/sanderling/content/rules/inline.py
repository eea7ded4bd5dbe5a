"""Furniture inside the text of a page: what tells of other pages, wants to be shared, asks for an answer or an address.

It is known by common words that it begins with or consists of, or by its name, and only where the lines around it are
as such things are: links and buttons, hardly any prose, in a part of their own. What else could be text is text.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable

from sanderling.content.line_features import LONG, Page, Sight
from sanderling.content.phrases import ANNOUNCED, ANSWER, CALL, HELPFUL, NETWORK, OTHERS, SHARE
from sanderling.content.rules.breadcrumbs import lines_apart
from sanderling.content.side_content import Lines, worthy
from sanderling.html.text import dense

MOST_LINES = 60  # of a part that tells of others, empty ones not counted
FEW_LINES = 16  # of one that asks
CALLED = 6  # lines of a call
CALLING = 300  # letters of it
MAX_TOLD = 50  # lines of one sort around which parts are looked for
LETTERS = re.compile(
    r"newsletter|(?<!un)subscri|sign up|signup|mailing list|stay in touch|keep in touch|stay up to date|stay informed|"
    r"stay connected|stay in the loop|your inbox|email updates|e-mail updates|"
    r"abonnier|anmelden|auf dem laufenden|in kontakt bleiben|abonnez|s'abonner|s’abonner|inscrivez|s'inscrire|"
    r"s’inscrire|restez inform|infolettre|suscri|boletín|mantente|iscriviti|resta aggiornato|rimani aggiornato|assine|"
    r"inscreva|fique por dentro|nieuwsbrief|aanmelden|blijf op de hoogte|nyhetsbrev|nyhedsbrev|prenumer|tilmeld|"
    r"uutiskirj|odebír|newslettr|zapisz się|hírlevél|iratkoz|abone ol|bülten|подпис|рассылк|розсилк|ニュースレター|"
    r"メルマガ|メールマガジン|订阅|訂閱|뉴스레터|구독"
).search


class Trimmings:
    """The lines of a page that are furniture inside of its text, and the lines whose words decide that."""

    def __init__(self, page: Page) -> None:
        self.sight = Sight(page)
        self.lines: set[int] = set()
        self.parts: list[Lines] = []  # those that are furniture as a whole
        for find in (
            self._named,
            self._beside,
            self._others,
            self._questions,
            self._shared,
            self._letters,
            self._calls,
        ):
            find()
        self.lines |= lines_apart(self.sight, self.lines)

    @property
    def weighed(self) -> set[int]:
        """The lines whose words decide what is furniture."""
        return self.sight.weighed

    def letters(self) -> frozenset[bytes]:
        """The letters of these lines, and of the parts that are furniture as a whole."""
        whole = ["".join(self.sight.lines[first:last]) for first, last in self.parts]
        return frozenset(map(dense, (*whole, *(self.sight.lines[n] for n in self.lines)))) - {b""}

    def _add(self, part: Lines) -> None:
        self.parts.append(part)
        self.lines.update(self.sight.inside(part))

    def _named(self) -> None:
        """Take parts with a telling name that are links for the most part, or ask."""
        for part in self.sight.page.named:
            inside = self.sight.inside(part)
            if 0 < len(inside) <= MOST_LINES:
                self.sight.weighed.update(inside)
                if self._is_list(part, inside) or self._is_asking(part, inside):
                    self._add(part)

    def _beside(self) -> None:
        """Take what a page says stands beside its text, if that is links for the most part and tells no price."""
        for part in self.sight.page.beside[:MAX_TOLD]:
            inside = self.sight.inside(part)
            self.sight.weighed.update(inside)
            links = sum(self.sight.page.lengths[n] for n in inside if n in self.sight.bare)
            is_listed = 2 * links > sum(self.sight.page.lengths[n] for n in inside) and not self.sight.has_title(part)
            if is_listed and not worthy(self.sight.lines, inside):
                self._add(part)

    def _others(self) -> None:
        """Take parts that begin with what announces other pages, and list them."""
        keys = self.sight.keys
        ahead = [n for n in self.sight.headings if n in keys and keys[n].startswith(ANNOUNCED)]
        for place in (*self.sight.told(OTHERS)[:MAX_TOLD], *ahead[:MAX_TOLD]):
            around = self.sight.around(place, MOST_LINES)
            listed = [part for part, inside in around if inside[0] == place and self._is_list(part, inside[1:])]
            for part in listed[-1:]:
                self._add(part)

    def _is_list(self, part: Lines, inside: list[int]) -> bool:
        """Say whether lines are links, each with hardly more than a line of prose, and no title of the page."""
        links = sum(n in self.sight.bare for n in inside)
        return 0 < links >= self._prose(inside) and not self.sight.has_title(part)

    def _is_asking(self, part: Lines, inside: list[int]) -> bool:
        """Say whether a few lines want an answer: all of them short, but for one, and there is something to press."""
        if len(inside) > FEW_LINES or self.sight.has_title(part):
            return False
        return self._prose(inside) <= 1 and self.sight.has_controls(part)

    def _prose(self, places: list[int]) -> float:
        """Count the lines of prose; what is told at length is too much of it."""
        prose = [self.sight.page.lengths[n] for n in places if self.sight.is_prose(n)]
        return len(prose) if max(prose, default=0) < 2 * LONG else float("inf")

    def _questions(self) -> None:
        """Take questions whether a page helped, with the answers, wherever these stand alone."""
        for place in self.sight.told(HELPFUL)[:MAX_TOLD]:
            self._add_with(place, self._is_answer)

    def _is_answer(self, place: int, part: Lines) -> bool:
        if self.sight.sorts.get(place) in (HELPFUL, ANSWER, SHARE) or place in self.sight.bare:
            return True
        return place not in self.sight.headings and not self.sight.is_prose(place) and self.sight.has_controls(part)

    def _shared(self) -> None:
        """Take what offers to share or print a page, or leads to its top, with what stands with it alone."""
        sharing = [n for n in self.sight.told(SHARE) if n in self.sight.bare]
        for place in sorted({*sharing, *self.sight.sharers})[:MAX_TOLD]:
            self._add_with(place, self._is_shared)

    def _is_shared(self, place: int, _: Lines) -> bool:
        return place in self.sight.sharers or self.sight.sorts.get(place) in (SHARE, NETWORK)

    def _add_with(self, place: int, is_of_it: Callable[[int, Lines], bool]) -> None:
        """Take a line, and the largest part around it all of whose lines are of its kind."""
        found = None
        for part, inside in self.sight.around(place, FEW_LINES):
            is_told = inside[0] in self.sight.sorts or inside[0] in self.sight.sharers
            if not is_told or not all(is_of_it(n, part) for n in inside):
                break
            found = part
        self.lines.add(place)
        if found is not None:
            self._add(found)

    def _letters(self) -> None:
        """Take what asks for an address to send letters to: the part that begins with it, or just the field."""
        shown = self.sight.shown or [0]
        near = [one for one in self.sight.page.asking if shown[0] <= one[0] <= shown[-1] + FEW_LINES]
        for asking in near[:MAX_TOLD]:
            own = self.sight.inside(asking)
            found = asking if 0 < len(own) <= FEW_LINES and self._is_letter(asking, own, own) else None
            for part, inside in self.sight.around(asking[0], FEW_LINES):
                if part[1] >= asking[1] and self._is_letter(part, inside, inside[:1]):
                    found = part
            self.sight.weighed.update(own)
            if found is not None:
                self._add(found)

    def _is_letter(self, part: Lines, inside: list[int], telling: list[int]) -> bool:
        """Say whether a part asks for an address, and some of its lines say what for."""
        if not self._is_asking(part, inside) or len(self.sight.headings.intersection(inside)) > 1:
            return False
        return LETTERS(self.sight.words(telling)) is not None

    def _calls(self) -> None:
        """Take a call to sign up below the text: a heading, some words and a link that says what to do."""
        calls = [n for n in self.sight.told(CALL) if n in self.sight.bare]
        last = max(filter(self.sight.is_prose, self.sight.shown), default=-1) if calls else -1
        for place in calls[-MAX_TOLD:]:
            parts = [part for part, inside in self.sight.around(place, CALLED) if self._is_call(inside, last)]
            for part in parts[-1:]:
                self._add(part)

    def _is_call(self, inside: list[int], last: int) -> bool:
        """Say whether words lead to links, and nothing like it stands before or behind them; what is sold does so."""
        sight = self.sight
        words = [n for n in inside if n not in sight.bare]
        at, until = bisect_left(sight.shown, inside[0]), bisect_right(sight.shown, inside[-1])
        beside = {*sight.shown[max(at - 1, 0) : at], *sight.shown[until : until + 1]}
        if inside[0] not in sight.headings or inside[-1] < last or inside[: len(words)] != words:
            return False
        said = sight.words(words)
        return (
            len(said) <= CALLING and not any(map(str.isdigit, said)) and beside.isdisjoint(sight.bare | sight.headings)
        )
