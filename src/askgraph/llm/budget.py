"""Budgets of language models: the limits and the cost, one account a question, one a run."""

import time
from dataclasses import dataclass

from askgraph.errors import BudgetSpent
from askgraph.llm import TokenUsage
from askgraph.llm.prices import Price

__all__ = ["Account", "Budget"]


@dataclass(frozen=True)
class Budget:
    """The most that may be used; None is no limit. Tokens are input and output together."""

    calls: int | None = None
    tokens: int | None = None
    money: float | None = None  # in the currency of the price table
    seconds: float | None = None  # from the opening of the account


class Account:
    """Counts what is used against a budget.

    What calls under way will need is held back, so that many at once do not overdraw it: their
    estimated input, not their output. `scope` names whose it is in messages: question or run.
    """

    def __init__(self, budget: Budget, *, scope: str = "question") -> None:
        self.budget = budget
        self.scope = scope
        self.calls = 0
        self.usage = TokenUsage()
        self.money = 0.0
        self._held_tokens = 0
        self._held_money = 0.0
        self._opened = time.monotonic()

    @property
    def seconds(self) -> float:
        """The age of the account."""
        return time.monotonic() - self._opened

    @property
    def seconds_left(self) -> float | None:
        """The seconds left; None without a limit."""
        return None if self.budget.seconds is None else self.budget.seconds - self.seconds

    def most_output(self, estimate: int, price: Price) -> int | None:
        """Return how many output tokens a call with so much input may have; None: no limit.

        Raises `BudgetSpent` if not even the input can be afforded, or the time is over.
        """
        limits: list[int] = []
        budget = self.budget
        if budget.calls is not None and self.calls >= budget.calls:
            raise self.spent("calls", f"all {budget.calls:,} calls are made")
        if budget.seconds is not None and self.seconds >= budget.seconds:
            raise self.spent("seconds", f"the {budget.seconds:g} seconds are over")
        if budget.tokens is not None:
            left = budget.tokens - self.usage.total - self._held_tokens - estimate
            if left < 1:
                used = f"{self.usage.total:,} of {budget.tokens:,} tokens are used"
                raise self.spent("tokens", f"{used}, and the next call has about {estimate:,}")
            limits.append(left)
        if budget.money is not None:
            paid = price.of(TokenUsage(input=estimate))
            rest = budget.money - self.money - self._held_money - paid
            if rest <= 0:
                used = f"{self.money:.4f} of {budget.money:g} is spent"
                raise self.spent("money", f"{used}, and the next call costs about {paid:.4f}")
            if price.output > 0:
                limits.append(max(1, int(rest / price.output * 1_000_000)))
        return min(limits, default=None)

    def hold(self, estimate: int, price: Price) -> None:
        """Begin a call: count it and hold back its input."""
        self.calls += 1
        self._held_tokens += estimate
        self._held_money += price.of(TokenUsage(input=estimate))

    def settle(self, estimate: int, usage: TokenUsage, price: Price) -> None:
        """End a call: give back what was held and count what it took."""
        self._held_tokens -= estimate
        self._held_money -= price.of(TokenUsage(input=estimate))
        self.usage += usage
        self.money += price.of(usage)

    def spent(self, limit: str, why: str) -> BudgetSpent:
        """Return the error that says so."""
        return BudgetSpent(
            f"the budget of the {self.scope} is used up: {why}", limit=limit, scope=self.scope
        )
