"""Settings that all methods with a language model share, each declared and documented once.

`askgraph.methods.parse_setting_help` reads the help of a setting from `Attributes:` in these
docstrings.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from askgraph.errors import SetupError
from askgraph.llm import LanguageModel, Options
from askgraph.llm.budget import BudgetAccount, ModelBudget, PriceTable, charge_model


@dataclass(frozen=True, kw_only=True)
class SpendingSettings:
    """Limits on what a question may cost.

    Attributes:
        interpret: a last short call verbalizes the answer, from the first rows.
        tokens: input and output tokens of a question at most; none: no limit.
        seconds: seconds of a question at most, after which it ends with its best; none: no limit.
        money: cost of a question at most, in the currency of the prices; none: no limit.
        timeout: seconds for a query, more than 0.
        prices: the price table of models without prices of their own.
    """

    interpret: bool = False
    tokens: int | None = None
    seconds: float | None = None
    money: float | None = None
    timeout: float = 20.0
    prices: PriceTable | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for setting in ("timeout", "tokens", "seconds", "money"):
            value = getattr(self, setting)
            if value is not None and not value > 0:
                raise SetupError(f"{setting!r} must be more than 0, not {value!r}")

    @property
    def options(self) -> Options:
        """Options of every model call."""
        return Options()

    @property
    def query_seconds(self) -> float:
        """Timeout of a query in seconds, at most the time limit of the question."""
        return self.timeout if self.seconds is None else min(self.timeout, self.seconds)

    def open_account(self) -> BudgetAccount:
        """Return a new account with the budget of one question."""
        return BudgetAccount(ModelBudget(None, self.tokens, self.money, self.seconds))

    def charge(self, model: LanguageModel, *accounts: BudgetAccount) -> LanguageModel:
        """Return a model that charges its calls to the accounts."""
        return charge_model(model, *accounts, prices=self.prices)


@dataclass(frozen=True, kw_only=True)
class ModelMethodSettings(SpendingSettings):
    """Sampling settings of a model, and limits on what a question may cost.

    Attributes:
        temperature: of every call, 0 or more; none: the model's default.
        seed: of every call; none: the model's default.
    """

    temperature: float | None = None
    seed: int | None = None

    @property
    def options(self) -> Options:
        """Options of every model call."""
        return Options(temperature=self.temperature, seed=self.seed)


@dataclass(frozen=True, kw_only=True)
class FallbackSettings(ModelMethodSettings):
    """Settings of a method that falls back to graph search when its model fails.

    Attributes:
        fallback: if the model's server fails at once, return graph search's best and say so.
    """

    fallback: bool = True


def check_choices(method: object, **choices: tuple[str, ...]) -> None:
    """Raise `SetupError` if a setting is not one of its allowed values."""
    for setting, values in choices.items():
        if (value := getattr(method, setting)) not in values:
            raise SetupError(f"{setting!r} must be one of {', '.join(values)}, not {value!r}")


def check_minimum(method: object, minimum: int, *settings: str) -> None:
    """Raise `SetupError` if a setting is less than `minimum`."""
    for setting in settings:
        if (value := getattr(method, setting)) < minimum:
            raise SetupError(f"{setting!r} must be {minimum} or more, not {value!r}")


def check_fractions(method: object, *settings: str) -> None:
    """Raise `SetupError` if a setting is not between 0 and 1."""
    for setting in settings:
        if not 0 <= (value := getattr(method, setting)) <= 1:
            raise SetupError(f"{setting!r} must be between 0 and 1, not {value!r}")


@cache
def load_texts(name: str) -> Mapping[str, Any]:
    """Load the texts for a model, the JSON Schemas and the paper's settings of a method."""
    file = files("askgraph.methods").joinpath("prompts", f"{name}.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))
