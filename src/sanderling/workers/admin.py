"""Executes the commands of `sanderling workers` in a running crawl."""

from collections.abc import Callable

from sanderling.errors import SanderlingError, UsageError
from sanderling.workers.control import ControlChannel, ControlCommand, ControlMessage
from sanderling.workers.lifecycle import LOCAL_PLACE, LifecycleState
from sanderling.workers.manager import WorkerPool

LOCAL_PLACE_NAME = "home"


class WorkerAdmin:
    """Command handler of a running crawl."""

    def __init__(
        self, control: ControlChannel, pool: WorkerPool, build_assignment_report: Callable[[], ControlMessage]
    ) -> None:
        self.control = control
        self.pool = pool
        self.build_assignment_report = build_assignment_report
        self.pending_commands: list[tuple[ControlCommand, list[str]]] = []  # with workers in transition

    def handle_commands(self) -> None:
        """Execute new commands and reply to those that are complete."""
        for command in self.control.read_commands():
            try:
                self._handle_command(command)
            except SanderlingError as error:
                self.control.write_reply(command.id, {"error": str(error)})
        for command, workers in list(self.pending_commands):
            if not any(worker in self.pool.pending_transitions for worker in workers):
                self.pending_commands.remove((command, workers))
                rows = [self.describe_worker(worker) for worker in workers]
                self.control.write_reply(command.id, {"workers": rows})

    def _handle_command(self, command: ControlCommand) -> None:
        if command.action == "list":
            rows = [self.describe_worker(record.id) for record in self.pool.registry.list_alive()]
            self.control.write_reply(command.id, {"workers": rows})
        elif command.action == "schedule":
            self.control.write_reply(command.id, self.build_assignment_report())
        else:
            self.pending_commands.append((command, self._run_command(command)))

    def _run_command(self, command: ControlCommand) -> list[str]:
        """Start a command. Returns the workers it applies to."""
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
            case "pause-others":
                return self.pool.deactivate_others(names[0])
            case _:
                raise UsageError(f"unknown command {command.action!r}")
        return names

    def _select_workers(self, command: ControlCommand) -> list[str]:
        names = command.arguments.get("workers")
        if names == "all":
            state = LifecycleState.DEACTIVATED if command.action == "resume" else LifecycleState.RUNNING
            return [
                record.id
                for record in self.pool.registry.list_alive()
                if record.state is state and record.id not in self.pool.pending_transitions
            ]
        if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
            raise UsageError("name the workers; sanderling workers list shows them")
        return names

    def describe_worker(self, worker: str) -> ControlMessage:
        """Return the row of a worker in `sanderling workers list`."""
        record, stats = self.pool.registry.get(worker), self.pool.assignment.workers.get(worker)
        row: ControlMessage = {
            "id": worker,
            "state": record.state.value,
            "place": record.place or LOCAL_PLACE_NAME,
            "parent": record.parent,
            "where": self.pool.engine.get_location(worker),
        }
        if stats is not None:
            heartbeat = stats.heartbeat
            row |= {
                "silent": stats.is_silent,
                "load": len(stats.host_by_token),
                "given": stats.assigned_count,
                "pages": heartbeat.page_count,
                "cpu_share": round(heartbeat.cpu_share, 3),
                "memory_bytes": heartbeat.memory_bytes,
                "latency_seconds": round(heartbeat.latency_seconds, 4),
                "bytes_per_second": round(heartbeat.bytes_per_second),
                "last_contact_seconds_ago": round(max(0.0, self.pool.assignment.clock() - stats.last_contact_at), 1),
            }
        return row
