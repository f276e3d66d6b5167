"""Settings that all methods with a language model share, and checks of the values of settings.

Each is declared and documented once: `askgraph.methods.help_of` reads what a setting does from the
`Attributes:` of these docstrings.
"""

from dataclasses import dataclass, field

from askgraph.errors import SetupError
from askgraph.llm import LanguageModel, Options
from askgraph.llm.budget import Account, Budget, Prices, charged


@dataclass(frozen=True, kw_only=True)
class SpendingSettings:
    """What a question may cost.

    Attributes:
        interpret: a last short call says the answer in words, from the first rows.
        tokens: input and output tokens of a question at most; none: any number.
        seconds: seconds of a question at most, after which it ends with its best; none: any number.
        money: money of a question at most, in the currency of the prices; none: any sum.
        timeout: seconds for a query, more than 0.
        prices: the price table of models that have no prices of their own.
    """

    interpret: bool = False
    tokens: int | None = None
    seconds: float | None = None
    money: float | None = None
    timeout: float = 20.0
    prices: Prices | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        above_zero(self, "timeout", "tokens", "seconds", "money")

    @property
    def options(self) -> Options:
        """The options of every call."""
        return Options()

    @property
    def query_seconds(self) -> float:
        """The seconds that a query may take, which are no more than the question has."""
        return self.timeout if self.seconds is None else min(self.timeout, self.seconds)

    def open_account(self) -> Account:
        """Return the account of a question, with its budget."""
        return Account(Budget(None, self.tokens, self.money, self.seconds))

    def charge(self, model: LanguageModel, *accounts: Account) -> LanguageModel:
        """Return a model whose calls are charged to accounts."""
        return charged(model, *accounts, prices=self.prices)


@dataclass(frozen=True, kw_only=True)
class ModelSettings(SpendingSettings):
    """How a model is asked, and what a question may cost.

    Attributes:
        temperature: of every call, 0 or more; none: the model's.
        seed: of every call; none: the model's.
    """

    temperature: float | None = None
    seed: int | None = None

    @property
    def options(self) -> Options:
        """The options of every call."""
        return Options(temperature=self.temperature, seed=self.seed)


@dataclass(frozen=True, kw_only=True)
class FallbackSettings(ModelSettings):
    """Settings of a method that has an answer of graph search where its model fails.

    Attributes:
        fallback: if the model's server fails at once, graph search's best stands and says so.
    """

    fallback: bool = True


def one_of(method: object, **known: tuple[str, ...]) -> None:
    """Raise `SetupError` if a setting is none of its known values."""
    for setting, values in known.items():
        if (value := getattr(method, setting)) not in values:
            raise SetupError(f"{setting!r} is one of {', '.join(values)}, not {value!r}")


def at_least(method: object, least: int, *settings: str) -> None:
    """Raise `SetupError` if a setting is less than `least`."""
    for setting in settings:
        if (value := getattr(method, setting)) < least:
            raise SetupError(f"{setting!r} is {least} or more, not {value!r}")


def above_zero(method: object, *settings: str) -> None:
    """Raise `SetupError` if a setting is given and is not more than zero."""
    for setting in settings:
        value = getattr(method, setting)
        if value is not None and not value > 0:
            raise SetupError(f"{setting!r} is more than 0, not {value!r}")


def shares(method: object, *settings: str) -> None:
    """Raise `SetupError` if a setting is not between 0 and 1."""
    for setting in settings:
        if not 0 <= (value := getattr(method, setting)) <= 1:
            raise SetupError(f"{setting!r} is from 0 to 1, not {value!r}")
