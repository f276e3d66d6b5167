"""Budgets of language models: prices, limits, and an account for each question and each run.

A text's tokens are estimated if no server counts them: one for four bytes of UTF-8.
"""

import json
import time
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from askgraph import deadline, llm
from askgraph.errors import BudgetSpent, SetupError
from askgraph.llm import TokenUsage


@dataclass(frozen=True)
class Price:
    """The price of a million tokens of each kind."""

    input: float
    output: float
    cached_input: float | None = None
    cache_write: float | None = None

    def of(self, usage: TokenUsage) -> float:
        """Return what so many tokens cost."""
        fresh = usage.input - usage.cached - usage.cache_written
        cached = self.input if self.cached_input is None else self.cached_input
        written = self.input if self.cache_write is None else self.cache_write
        million = (
            fresh * self.input
            + usage.cached * cached
            + usage.cache_written * written
            + usage.output * self.output
        )
        return million / 1_000_000


@dataclass(frozen=True)
class Prices:
    """Prices by model, in one currency, from a table in TOML that the operator keeps.

    currency = "EUR"

    [models."example-large"]
    input = 2.0          # for a million tokens
    cached_input = 0.5   # read from the prompt cache; `input` if it is left out
    cache_write = 2.5    # written into it; `input` if it is left out
    output = 8.0
    """

    models: Mapping[str, Price] = field(default_factory=dict)
    currency: str = ""

    @classmethod
    def read(cls, path: Path | str) -> "Prices":
        """Read a table; `SetupError` names its fault and the place."""
        try:
            table = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as problem:
            raise SetupError(f"the price table {path} cannot be read: {problem}") from problem
        models = table.get("models", {})
        currency = table.get("currency", "")
        if unknown := table.keys() - {"models", "currency"}:
            raise SetupError(f"the price table {path} has unknown keys: {sorted(unknown)}")
        if not isinstance(models, dict) or not isinstance(currency, str):
            raise SetupError(f"the price table {path} wants a text `currency` and [models.…]")
        return cls({name: _price(row, name, path) for name, row in models.items()}, currency)

    def of(self, model: str) -> Price:
        """Return the price of a model; `SetupError` if the table has none.

        A dated version costs what the longest name costs that it begins with, up to a dash.
        """
        if model in self.models:
            return self.models[model]
        fitting = [name for name in self.models if model.startswith((f"{name}-", f"{name}@"))]
        if not fitting:
            if not self.models:
                raise SetupError(
                    f"a limit of money needs the price of {model!r}: name a file with prices in "
                    "the model's setting `prices`"
                )
            there = ", ".join(sorted(self.models))
            raise SetupError(
                f"the price table has no price for {model!r}; it has {there}: add"
                f' [models."{model}"] with input and output, for a million tokens'
            )
        return self.models[max(fitting, key=len)]


def _price(row: object, name: str, path: Path | str) -> Price:
    place = f"the price table {path}, model {name!r}"
    if not isinstance(row, dict):
        raise SetupError(f"{place}: a table with input and output is wanted")
    if unknown := row.keys() - set(Price.__dataclass_fields__):
        raise SetupError(f"{place}: unknown keys {sorted(unknown)}")
    if missing := {"input", "output"} - row.keys():
        raise SetupError(f"{place}: {' and '.join(sorted(missing))} missing")
    for key, value in row.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
            raise SetupError(f"{place}: {key} is {value!r}; it must be a number, 0 or more")
    return Price(**row)


@dataclass(frozen=True)
class Budget:
    """The most that may be used; None is no limit. Tokens are input and output together."""

    calls: int | None = None
    tokens: int | None = None
    money: float | None = None  # in the currency of the price table
    seconds: float | None = None  # from the opening of the account


class Account:
    """Counts what is used against a budget.

    The need of calls under way is held back, so that many at once do not overdraw it: their
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
        """The seconds left, of the question's deadline too; None without a limit."""
        most = self.budget.seconds
        return deadline.before_closing(None if most is None else most - self.seconds)

    @property
    def late(self) -> BudgetSpent:
        """The error for the seconds being over."""
        most = self.budget.seconds
        own = most is not None and self.seconds >= most
        return self.spent("seconds", f"the {most:g} seconds are over" if own else deadline.over())

    def most_output(self, estimate: int, price: Price) -> int | None:
        """Return how many output tokens a call with so much input may have; None: no limit.

        Raises `BudgetSpent` if not even the input can be afforded, or the time is over.
        """
        limits: list[int] = []
        budget = self.budget
        if budget.calls is not None and self.calls >= budget.calls:
            raise self.spent("calls", f"all {budget.calls:,} calls are made")
        if (left := self.seconds_left) is not None and left <= 0:
            raise self.late
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
        """End a call: release the amount held and count the one used."""
        self._held_tokens -= estimate
        self._held_money -= price.of(TokenUsage(input=estimate))
        self.usage += usage
        self.money += price.of(usage)

    def spent(self, limit: str, why: str) -> BudgetSpent:
        """Return the error for a limit that is reached."""
        return BudgetSpent(
            f"the budget of the {self.scope} is used up: {why}", limit=limit, scope=self.scope
        )


_EACH = 4  # tokens around a message or a tool


def estimated_tokens(text: str) -> int:
    """Guess the tokens of a text."""
    return -(-len(text.encode("utf-8", "replace")) // 4)


def estimated_input(request: llm.Request) -> int:
    """Guess the tokens of a request's messages, tools and schema."""
    texts = [_text(message) for message in request.messages]
    if request.schema is not None:
        texts.append(json.dumps(request.schema))
    tools = sum(map(estimated_tool, request.tools))
    return tools + sum(estimated_tokens(text) + _EACH for text in texts)


def estimated_tool(tool: llm.ToolSchema) -> int:
    """Guess the tokens of a tool's schema."""
    parameters = json.dumps(tool.parameters)
    return estimated_tokens(f"{tool.name} {tool.description} {parameters}") + _EACH


def estimated_usage(request: llm.Request, choices: tuple[llm.Choice, ...]) -> llm.TokenUsage:
    """Guess the tokens of a request and its choices."""
    output = sum(
        estimated_tokens(choice.text + choice.reasoning + choice.refusal + _calls(choice.calls))
        for choice in choices
    )
    return llm.TokenUsage(input=estimated_input(request), output=output, estimated=True)


def _text(message: llm.Message) -> str:
    match message:
        case llm.Assistant(text, calls, reasoning):
            return text + reasoning + _calls(calls)
        case llm.ToolResult(_, tool, text):
            return tool + text
        case _:
            return message.text


def _calls(calls: tuple[llm.ToolCall, ...]) -> str:
    return "".join(call.name + call.arguments for call in calls)
