"""Generated questions in natural words: a language model words them, two readings check it.

A wording is kept where graph search, or else the model itself with a query that it writes from the
words alone, comes to the result of the query that the question was made for.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from askgraph import registry
from askgraph.agent.rewording import reworded
from askgraph.errors import QueryError, ServiceError
from askgraph.llm.budget import Account, Budget
from askgraph.llm.stack import charged
from askgraph.metadata.examples import QueryExample, Wording
from askgraph.metadata.examples.outcome import Result
from askgraph.trace import Question
from askgraph.workspace.answering import outcome_of
from askgraph.workspace.models import Models
from askgraph.workspace.two_readings import SECONDS, same

if TYPE_CHECKING:
    from askgraph.graph import KnowledgeGraph
    from askgraph.llm import LanguageModel
    from askgraph.methods import Method
    from askgraph.workspace import Workspace

__all__ = ["Reading", "Worder", "worder_of"]

_WRITES = "sparql-llm"
_REVISIONS = 1


@dataclass(frozen=True)
class Reading:
    """A generated example, and what the queries that its question may stand for give."""

    example: QueryExample
    results: tuple[tuple[str, Result], ...]


@dataclass(frozen=True, eq=False)
class Worder:
    """A language model that words questions in these languages, within a budget for all of them.

    `writes` is the method with which the same model reads a wording. Close it after use.
    """

    model: "LanguageModel"
    writes: "Method"
    languages: tuple[str, ...]
    account: Account
    models: Models

    async def worded(
        self, readings: Sequence[Reading], graph: "KnowledgeGraph", search: "Method"
    ) -> list[QueryExample]:
        """Return the examples in words that read the same, as the model gave them.

        One call words them all. An example none of whose wordings reads the same stays as it is.
        Raises `BudgetSpent` and `ServiceError` as the model does.
        """
        asked = [(one.example.question, one.example.query) for one in readings]
        given = await reworded(asked, self.languages, self.model, self.account)
        unseen = replace(graph, examples=())  # no reader may look the query up
        found = []
        for one, wordings in zip(readings, given, strict=True):
            kept = [w for w in wordings if await self._reads_same(w, one, unseen, search)]
            found.append(self._example(one.example, kept) if kept else one.example)
        return found

    async def close(self) -> None:
        """Close the language model."""
        await self.models.close()

    async def _reads_same(
        self, wording: Wording, reading: Reading, graph: "KnowledgeGraph", search: "Method"
    ) -> bool:
        question = Question(wording.text, wording.language)
        for method, timeout in ((search, 2 * SECONDS), (self.writes, None)):
            try:
                answer = await outcome_of(question, method, [graph], timeout=timeout)
            except (QueryError, ServiceError):
                continue
            if any(same(answer, query, result) for query, result in reading.results):
                return True
        return False

    def _example(self, example: QueryExample, wordings: Sequence[Wording]) -> QueryExample:
        first, *others = wordings
        assert example.confirmation is not None
        return replace(
            example,
            question=first.text,
            language=first.language,
            others=tuple(others),
            confirmation=replace(example.confirmation, by=self.model.identity.model),
        )


def worder_of(
    workspace: "Workspace",
    model: str,
    *,
    base_url: str | None = None,
    languages: Sequence[str] = ("en",),
    budget: Budget | None = None,
) -> Worder:
    """Return a worder with a model of the workspace: a `[models.NAME]` table or a model id.

    Raises `SetupError` for a model that cannot be had, and for a limit on money without prices.
    """
    models = Models(workspace.folder)
    account = Account(budget or Budget(), scope="run")
    prices = models.prices(models.settings(model, base_url=base_url))
    talks = charged(models.model(model, base_url=base_url), account, prices=prices)
    writes = registry.load("method", _WRITES)(talks, shots=0, revisions=_REVISIONS)
    return Worder(talks, writes, tuple(languages), account, models)
