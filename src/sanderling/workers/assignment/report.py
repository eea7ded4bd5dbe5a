"""Reports the last choice of a worker and its reasons (`sanderling schedule --show`)."""

from sanderling.workers.assignment.ahp_strategy import AhpStrategy
from sanderling.workers.assignment.worker_assignment import WorkerAssignment

AssignmentReport = dict[str, object]  # printed or sent as JSON


def build_report(assignment: WorkerAssignment, coordinator_seconds: float) -> AssignmentReport:
    share = assignment.cpu_seconds / coordinator_seconds if coordinator_seconds else 0.0
    report: AssignmentReport = {
        "choices": assignment.choice_count,
        "seconds": round(assignment.cpu_seconds, 4),
        "share_of_coordinator": round(share, 5),
        "coordinator_seconds": round(coordinator_seconds, 3),
        "given": {stats.id: stats.assigned_count for stats in assignment.workers.values()},
    }
    last = assignment.strategy.last_choice if isinstance(assignment.strategy, AhpStrategy) else None
    if last is not None and isinstance(assignment.strategy, AhpStrategy):
        names = [criterion.name for criterion in assignment.strategy.criteria]
        report |= {
            "host": last.host,
            "winner": last.winner,
            "scores": {name: round(value, 4) for name, value in zip(last.workers, last.scores, strict=True)},
            "parts": {
                worker: {name: round(part[index], 4) for name, part in zip(names, last.criterion_weights, strict=True)}
                for index, worker in enumerate(last.workers)
            },
            "weights": {name: round(w, 4) for name, w in zip(names, assignment.strategy.weights, strict=True)},
        }
    return report


def explain_choice(report: AssignmentReport) -> str:
    """Format a report: scores, and the criteria by which the winner leads."""
    cost = f"{report['choices']} choices took {report['share_of_coordinator']:.2%} of the coordinator's CPU time"
    scores, parts, weights = report.get("scores"), report.get("parts"), report.get("weights")
    if not (isinstance(scores, dict) and isinstance(parts, dict) and isinstance(weights, dict)):
        return cost
    ranks = sorted(scores, key=lambda worker: -scores[worker])
    lines = [f"last choice: {report['winner']} for {report['host']}"]
    lines += [f"  {worker:<16} {scores[worker]:.4f}" for worker in ranks]
    if len(ranks) > 1:
        first, second = parts[ranks[0]], parts[ranks[1]]
        gains = {name: weights[name] * (first[name] - second[name]) for name in weights}
        lines += [f"why {ranks[0]} and not {ranks[1]}:"]
        lines += [
            f"  {name:<14} {gain:+.4f}" for name, gain in sorted(gains.items(), key=lambda item: -item[1]) if gain
        ]
    return "\n".join([*lines, cost])
