"""Control a running crawl, and report how its workers are assigned to hosts."""

import json
from pathlib import Path

from sanderling.config.settings import AssignmentSettings
from sanderling.errors import UsageError
from sanderling.workers.assignment.ahp import compute_alonso_lamata_ratio, compute_eigenvector, compute_saaty_ratio
from sanderling.workers.assignment.ahp_strategy import AhpStrategy
from sanderling.workers.assignment.report import explain_choice
from sanderling.workers.assignment.strategy_registry import build_ahp_strategy, build_strategy
from sanderling.workers.control import ControlMessage, is_crawl_running, send_command

__all__ = ["ControlMessage", "describe_assignment", "explain_choice", "is_crawl_running", "send_command"]


def describe_assignment(folder: Path, settings: AssignmentSettings) -> dict[str, object]:
    """Describe strategy, weights with their consistency, and the last choice of a running or completed crawl."""
    described: dict[str, object] = {"schedule": settings.schedule}
    if isinstance(build_strategy(settings), AhpStrategy):
        described |= _describe_weights(build_ahp_strategy(settings))
    last = _load_last_choice(folder)
    return described | ({"last": last} if last else {})


def _describe_weights(strategy: AhpStrategy) -> dict[str, object]:
    named = {c.name: round(w, 4) for c, w in zip(strategy.criteria, strategy.weights, strict=True)}
    return {
        "weights": named,
        "principal_eigenvalue": round(compute_eigenvector(strategy.judgments)[1], 4),
        "consistency_ratio": round(compute_saaty_ratio(strategy.judgments), 4),
        "consistency_ratio_alonso_lamata": round(compute_alonso_lamata_ratio(strategy.judgments), 4),
    }


def _load_last_choice(folder: Path) -> dict[str, object]:
    if is_crawl_running(folder):
        return send_command(folder, {"do": "schedule"})
    file = folder / "logs" / "schedule.json"
    try:
        found = json.loads(file.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {file}: {error}") from None
    return found if isinstance(found, dict) else {}
