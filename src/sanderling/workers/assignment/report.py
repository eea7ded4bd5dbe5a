"""Say in words and numbers why a migrant won."""

from sanderling.workers.assignment.ahp_strategy import Ahp
from sanderling.workers.assignment.roster import Roster

Report = dict[str, object]
"""What is printed or sent as JSON; it never travels between rooms as anything but an answer."""


def report(roster: Roster, coordinator_seconds: float) -> Report:
    """The last choice, what it was made of, and what choosing costs."""
    share = roster.seconds / coordinator_seconds if coordinator_seconds else 0.0
    found: Report = {
        "choices": roster.choices,
        "seconds": round(roster.seconds, 4),
        "share_of_coordinator": round(share, 5),
        "coordinator_seconds": round(coordinator_seconds, 3),
        "given": {member.id: member.given for member in roster.members.values()},
    }
    last = roster.choose.last if isinstance(roster.choose, Ahp) else None
    if last is not None and isinstance(roster.choose, Ahp):
        names = [criterion.name for criterion in roster.choose.criteria]
        found |= {
            "host": last.host,
            "winner": last.winner,
            "scores": {name: round(value, 4) for name, value in zip(last.migrants, last.scores, strict=True)},
            "parts": {
                migrant: {name: round(part[place], 4) for name, part in zip(names, last.parts, strict=True)}
                for place, migrant in enumerate(last.migrants)
            },
            "weights": {name: round(w, 4) for name, w in zip(names, roster.choose.weights, strict=True)},
        }
    return found


def explain(found: Report) -> str:
    """Tell a person why the winner won: where it gained most over the second."""
    cost = f"{found['choices']} choices took {found['share_of_coordinator']:.2%} of the coordinator's time"
    scores, parts, weights = found.get("scores"), found.get("parts"), found.get("weights")
    if not (isinstance(scores, dict) and isinstance(parts, dict) and isinstance(weights, dict)):
        return cost
    ranks = sorted(scores, key=lambda migrant: -scores[migrant])
    lines = [f"last choice: {found['winner']} goes to {found['host']}"]
    lines += [f"  {migrant:<16} {scores[migrant]:.4f}" for migrant in ranks]
    if len(ranks) > 1:
        first, second = parts[ranks[0]], parts[ranks[1]]
        gains = {name: weights[name] * (first[name] - second[name]) for name in weights}
        lines += [f"why {ranks[0]} and not {ranks[1]}:"]
        lines += [
            f"  {name:<14} {gain:+.4f}" for name, gain in sorted(gains.items(), key=lambda item: -item[1]) if gain
        ]
    return "\n".join([*lines, cost])
