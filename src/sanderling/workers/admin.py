"""The desk of a running crawl: takes questions about its migrants and orders to them, answers when they are done."""

from collections.abc import Callable

from sanderling.errors import SanderlingError, UsageError
from sanderling.workers.control import ControlChannel, ControlCommand, ControlMessage
from sanderling.workers.lifecycle import LOCAL_PLACE, LifecycleState
from sanderling.workers.manager import WorkerPool

LOCAL_PLACE_NAME = "home"


class WorkerAdmin:
    """Serves one crawl."""

    def __init__(
        self, control: ControlChannel, pool: WorkerPool, build_assignment_report: Callable[[], ControlMessage]
    ) -> None:
        self.control = control
        self.pool = pool
        self.build_assignment_report = build_assignment_report
        self.pending_commands: list[
            tuple[ControlCommand, list[str]]
        ] = []  # orders whose migrants are still on their way

    def handle_commands(self) -> None:
        """Obey what came; answer what is done."""
        for question in self.control.read_commands():
            try:
                self._handle_command(question)
            except SanderlingError as error:
                self.control.write_reply(question.id, {"error": str(error)})
        for question, migrants in list(self.pending_commands):
            if not any(migrant in self.pool.pending_transitions for migrant in migrants):
                self.pending_commands.remove((question, migrants))
                self.control.write_reply(
                    question.id, {"workers": [self.describe_worker(migrant) for migrant in migrants]}
                )

    def _handle_command(self, command: ControlCommand) -> None:
        if command.action == "list":
            rows = [self.describe_worker(entry.id) for entry in self.pool.registry.list_alive()]
            self.control.write_reply(command.id, {"workers": rows})
        elif command.action == "schedule":
            self.control.write_reply(command.id, self.build_assignment_report())
        else:
            self.pending_commands.append((command, self._run_command(command)))

    def _run_command(self, command: ControlCommand) -> list[str]:
        """Carry out an order; who it concerns comes back."""
        place = str(command.arguments.get("place") or LOCAL_PLACE)
        place = LOCAL_PLACE if place == LOCAL_PLACE_NAME else place
        if command.action == "create":
            return [self.pool.create(place)]
        names = self._select_workers(command)
        match command.action:
            case "clone":
                return [self.pool.clone(name) for name in names]
            case "move":
                for name in names:
                    self.pool.dispatch(name, place) if place != LOCAL_PLACE else self.pool.retract(name)
            case "pause":
                for name in names:
                    self.pool.deactivate(name)
            case "resume":
                for name in names:
                    self.pool.activate(name)
            case "dispose":
                for name in names:
                    self.pool.dispose(name)
            case "make-way":
                return self.pool.deactivate_others(names[0])
            case _:
                raise UsageError(f"a crawl cannot {command.action!r}")
        return names

    def _select_workers(self, command: ControlCommand) -> list[str]:
        names = command.arguments.get("workers")
        if names == "all":
            wanted = LifecycleState.DEACTIVATED if command.action == "resume" else LifecycleState.RUNNING
            return [
                e.id
                for e in self.pool.registry.list_alive()
                if e.state is wanted and e.id not in self.pool.pending_transitions
            ]
        if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
            raise UsageError("say which migrants")
        return names

    def describe_worker(self, worker: str) -> ControlMessage:
        """One migrant, as `sanderling workers list` shows it."""
        entry, member = self.pool.registry.get(worker), self.pool.assignment.workers.get(worker)
        row: ControlMessage = {
            "id": worker,
            "state": entry.state.value,
            "place": entry.place or LOCAL_PLACE_NAME,
            "parent": entry.parent,
            "where": self.pool.engine.get_location(worker),
        }
        if member is not None:
            vitals = member.heartbeat
            row |= {
                "silent": member.is_silent,
                "load": len(member.host_by_token),
                "given": member.assigned_count,
                "pages": vitals.page_count,
                "cpu_share": round(vitals.cpu_share, 3),
                "memory_bytes": vitals.memory_bytes,
                "latency_seconds": round(vitals.latency_seconds, 4),
                "bytes_per_second": round(vitals.bytes_per_second),
                "heard_seconds_ago": round(max(0.0, self.pool.assignment.clock() - member.last_contact_at), 1),
            }
        return row
