"""The models around a model, put on in the one order in which they are right.

From the inside out: the patient model (limits and retries, shared by all questions), budgets,
the cache, and whatever else watches. A budget is inside the cache: what is left of it then does not
change the key, and what comes from the disk is not charged.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Unpack

from askgraph.llm import Event, Identity, LanguageModel, Message, Options
from askgraph.llm.budget import Account, Prices
from askgraph.llm.budgeted import BudgetedModel
from askgraph.llm.cached import CachedModel


@dataclass(frozen=True, eq=False, repr=False)
class ModelStack:
    """A model with its settings: `options` are the defaults of its requests.

    `cache` is the folder of the cache, if any; `outer` wraps all of it.
    """

    patient: LanguageModel
    options: Options = field(default_factory=Options)
    prices: Prices | None = None
    cache: Path | None = None
    outer: Callable[[LanguageModel], LanguageModel] | None = None
    accounts: tuple[Account, ...] = ()

    def __repr__(self) -> str:
        return f"{self.identity!r} with {self.options!r}"

    @property
    def identity(self) -> Identity:
        """The model that answers."""
        return self.patient.identity

    def charged(self, *accounts: Account) -> "ModelStack":
        """Return the same model, whose calls are charged to these accounts, too."""
        return replace(self, accounts=(*self.accounts, *accounts))

    async def complete(
        self, messages: Sequence[Message], **options: Unpack[Options]
    ) -> AsyncGenerator[Event, None]:
        """Send the messages and stream the reply."""
        wanted: Options = {**self.options}
        for name, value in options.items():
            if value is not None:
                wanted[name] = value  # type: ignore[literal-required]
        async with aclosing(self._whole.complete(messages, **wanted)) as stream:
            async for event in stream:
                yield event

    async def close(self) -> None:
        """Close the model inside, also for others that share it."""
        await self.patient.close()

    @cached_property
    def _whole(self) -> LanguageModel:
        model = self.patient
        if self.accounts:
            model = BudgetedModel(model, *self.accounts, prices=self.prices)
        if self.cache is not None:
            model = CachedModel(model, self.cache)
        return self.outer(model) if self.outer else model


def charged(
    model: LanguageModel, *accounts: Account, prices: Prices | None = None
) -> LanguageModel:
    """Return a model whose calls are charged to these accounts, below its cache if it has one.

    `prices` are for a model that knows none. Raises `SetupError` if an account limits money and
    there is no price.
    """
    if isinstance(model, ModelStack):
        return replace(model, prices=model.prices or prices).charged(*accounts)
    return BudgetedModel(model, *accounts, prices=prices)
