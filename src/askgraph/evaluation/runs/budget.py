"""Budget of a run: how much it may cost, and how much it has."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields

from askgraph.errors import SetupError
from askgraph.evaluation.runs.record import Record
from askgraph.llm.budget import Budget as Models

__all__ = ["Budget", "Spent"]


@dataclass(frozen=True)
class Budget:
    """Bounds over a whole run: model calls, tokens (in and out), money, SPARQL requests, seconds.

    Seconds are those of answering, summed over questions. A run stops asking when one is reached.
    """

    calls: float = math.inf
    tokens: float = math.inf
    money: float = math.inf
    requests: float = math.inf
    seconds: float = math.inf

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Budget":
        """Read `["money=2.5", "tokens=100000"]`; `SetupError` if one says something else."""
        known = {field.name for field in fields(cls)}
        bounds: dict[str, float] = {}
        for text in texts:
            name, _, value = text.partition("=")
            try:
                number = float(value)
            except ValueError:
                number = math.nan
            if name not in known or not number >= 0:
                raise SetupError(
                    f"the budget {text!r} is not understood; write one of "
                    f"{', '.join(sorted(known))}, '=' and a number, as in money=2.50"
                )
            bounds[name] = number
        return cls(**bounds)

    def of_models(self) -> Models:
        """Return what language models may use of it: calls, tokens and money.

        Raises `SetupError` if anything else is bounded.
        """
        if math.inf > min(self.requests, self.seconds):
            raise SetupError("the budget of a language model is in calls, tokens or money")
        calls, tokens = (
            None if bound == math.inf else int(bound) for bound in (self.calls, self.tokens)
        )
        return Models(calls, tokens, None if self.money == math.inf else self.money)


class Spent:
    """What the records of a run have cost so far, against its budget."""

    def __init__(self, budget: Budget, records: Iterable[Record] = ()) -> None:
        self._bounds = asdict(budget)
        self._spent = dict.fromkeys(self._bounds, 0.0)
        for record in records:
            self.add(record)

    def add(self, record: Record) -> None:
        """Count one more record."""
        usage = record.usage
        self._spent["calls"] += usage.llm_calls
        self._spent["tokens"] += usage.input_tokens + usage.output_tokens
        self._spent["money"] += usage.money
        self._spent["requests"] += usage.requests
        self._spent["seconds"] += record.seconds

    @property
    def used_up(self) -> str | None:
        """Which bound is reached, as text, or None."""
        for name, bound in self._bounds.items():
            if self._spent[name] >= bound:
                return f"the budget of {bound:g} {name} is used up ({self._spent[name]:g} spent)"
        return None
