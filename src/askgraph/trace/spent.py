"""What steps have cost, also those of a run that came to no outcome."""

from collections.abc import Sequence

from askgraph.trace import ModelTurn, Outcome, Step, Thought, Usage

__all__ = ["spent"]


def spent(steps: Sequence[Step]) -> Usage:
    """Return what a run cost: its outcome says so; without one, its thoughts and turns do."""
    outcomes = [step for step in steps if isinstance(step, Outcome)]
    if outcomes:
        return outcomes[-1].usage
    return sum((step.usage for step in steps if isinstance(step, Thought | ModelTurn)), Usage())
