"""Prices of tokens, from a table in TOML that the operator keeps.

currency = "EUR"

[models."example-large"]
input = 2.0          # for a million tokens
cached_input = 0.5   # read from the prompt cache; `input` if it is left out
cache_write = 2.5    # written into it; `input` if it is left out
output = 8.0
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from askgraph.errors import SetupError
from askgraph.llm import TokenUsage

__all__ = ["Price", "Prices"]


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
    """Prices by model, in one currency."""

    models: Mapping[str, Price] = field(default_factory=dict)
    currency: str = ""

    @classmethod
    def read(cls, path: Path | str) -> "Prices":
        """Read a table; `SetupError` says what is wrong with it and where."""
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
