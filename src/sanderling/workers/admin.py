"""The desk of a running crawl: takes questions about its migrants and orders to them, answers when they are done."""

from collections.abc import Callable

from sanderling.errors import SanderlingError, UsageError
from sanderling.workers.control import Answer, Control, Question
from sanderling.workers.lifecycle import HOME, Life
from sanderling.workers.manager import Crew

HOME_NAME = "home"


class Desk:
    """Serves one crawl."""

    def __init__(self, control: Control, crew: Crew, schedule: Callable[[], Answer]) -> None:
        self.control = control
        self.crew = crew
        self.schedule = schedule
        self.open: list[tuple[Question, list[str]]] = []  # orders whose migrants are still on their way

    def serve(self) -> None:
        """Obey what came; answer what is done."""
        for question in self.control.questions():
            try:
                self._obey(question)
            except SanderlingError as error:
                self.control.answer(question.id, {"error": str(error)})
        for question, migrants in list(self.open):
            if not any(migrant in self.crew.leaving for migrant in migrants):
                self.open.remove((question, migrants))
                self.control.answer(question.id, {"migrants": [self.describe(migrant) for migrant in migrants]})

    def _obey(self, question: Question) -> None:
        if question.do == "list":
            rows = [self.describe(entry.id) for entry in self.crew.register.alive()]
            self.control.answer(question.id, {"migrants": rows})
        elif question.do == "schedule":
            self.control.answer(question.id, self.schedule())
        else:
            self.open.append((question, self._order(question)))

    def _order(self, question: Question) -> list[str]:
        """Carry out an order; who it concerns comes back."""
        place = str(question.what.get("place") or HOME)
        place = HOME if place == HOME_NAME else place
        if question.do == "create":
            return [self.crew.create(place)]
        names = self._names(question)
        match question.do:
            case "clone":
                return [self.crew.clone(name) for name in names]
            case "move":
                for name in names:
                    self.crew.dispatch(name, place) if place != HOME else self.crew.retract(name)
            case "pause":
                for name in names:
                    self.crew.deactivate(name)
            case "resume":
                for name in names:
                    self.crew.activate(name)
            case "dispose":
                for name in names:
                    self.crew.dispose(name)
            case "make-way":
                return self.crew.make_way(names[0])
            case _:
                raise UsageError(f"a crawl cannot {question.do!r}")
        return names

    def _names(self, question: Question) -> list[str]:
        names = question.what.get("migrants")
        if names == "all":
            wanted = Life.DEACTIVATED if question.do == "resume" else Life.RUNNING
            return [e.id for e in self.crew.register.alive() if e.life is wanted and e.id not in self.crew.leaving]
        if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
            raise UsageError("say which migrants")
        return names

    def describe(self, migrant: str) -> Answer:
        """One migrant, as `sanderling migrants list` shows it."""
        entry, member = self.crew.register.find(migrant), self.crew.roster.members.get(migrant)
        row: Answer = {
            "id": migrant,
            "state": entry.life.value,
            "place": entry.place or HOME_NAME,
            "parent": entry.parent,
            "where": self.crew.engine.where(migrant),
        }
        if member is not None:
            vitals = member.vitals
            row |= {
                "silent": member.silent,
                "load": len(member.stops),
                "given": member.given,
                "pages": vitals.pages,
                "cpu_share": round(vitals.cpu_share, 3),
                "memory_bytes": vitals.memory_bytes,
                "latency_seconds": round(vitals.latency_seconds, 4),
                "bytes_per_second": round(vitals.bytes_per_second),
                "heard_seconds_ago": round(max(0.0, self.crew.roster.clock() - member.heard_at), 1),
            }
        return row
