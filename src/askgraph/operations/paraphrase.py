"""Generated questions in natural words: a language model words them, two readings check it.

A wording is kept if graph search, or else the model itself with a query that it writes from the
words alone, comes to the result of the query that the question was made for.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from askgraph import registry
from askgraph.agent.drafts import reworded
from askgraph.endpoint import run
from askgraph.errors import QueryError, ServiceError
from askgraph.explanation.verbalise import iris_of
from askgraph.graph import KnowledgeGraph
from askgraph.llm import LanguageModel
from askgraph.llm.budget import Account, Budget
from askgraph.llm.stack import charged
from askgraph.metadata.examples import QueryExample, Wording
from askgraph.metadata.examples.drafts import Draft
from askgraph.metadata.examples.outcome import Outcome, Result, outcome_of
from askgraph.methods import Method
from askgraph.operations.answering import outcome_of as answer_of
from askgraph.sparql.results import Row, SelectResult, value_of
from askgraph.sparql.rewrite.repair import form_of
from askgraph.trace import Answer, Question
from askgraph.trace import Outcome as Answered
from askgraph.workspace import Workspace
from askgraph.workspace.models import Models

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

    model: LanguageModel
    writes: Method
    languages: tuple[str, ...]
    account: Account
    models: Models

    async def worded(
        self, readings: Sequence[Reading], graph: KnowledgeGraph, search: Method
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
        self, wording: Wording, reading: Reading, graph: KnowledgeGraph, search: Method
    ) -> bool:
        question = Question(wording.text, wording.language)
        for method, timeout in ((search, 2 * SECONDS), (self.writes, None)):
            try:
                answer = await answer_of(question, method, [graph], timeout=timeout)
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
    workspace: Workspace,
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


SECONDS = 5.0
"""For each query."""

_ROWS = 1000


async def results_of(draft: Draft, graph: KnowledgeGraph) -> list[tuple[str, Result]]:
    """Return the queries of a draft with what they give, those that tell something.

    None does if two things share the best value: the answer would be one of them by chance.
    Raises `QueryError` and `ServiceError` as the endpoint does.
    """
    found = [(query, await _result(query, graph)) for query in draft.queries]
    told = [(query, result) for query, result in found if tells(result)]
    return [] if told and draft.tie and await _tied(draft, graph) else told


def tells(result: Result) -> bool:
    """Whether a result tells something: a row with a value that is not the number zero."""
    if not isinstance(result, SelectResult):
        return isinstance(result, bool)
    return any(value_of(term) not in (None, "0") for row in result.rows for term in row)


def same(answered: Answered, query: str, result: Result) -> bool:
    """Whether an answer says what a query gave, its columns in any order, without repetition.

    One column of several may be the answer. A no has many reasons: it is the same if it is said
    of the same things.
    """
    if not isinstance(answered, Answer):
        return False
    if result is False:
        there = set(iris_of(answered.query))
        return answered.boolean is False and there.issuperset(iris_of(query))
    if answered.boolean is not None or not isinstance(result, SelectResult):
        return answered.boolean is result
    rows = answered.result.rows
    at = [answered.result.variables.index(column) for column in answered.answer_columns]
    ways = [at, *([one] for one in at)] if len(result.variables) == 1 < len(at) else [at]
    wanted = _values(result.rows)
    return any(_values([tuple(row[i] for i in way) for row in rows]) == wanted for way in ways)


async def _result(query: str, graph: KnowledgeGraph) -> Result:
    return await run(graph.endpoint, form_of(query), query, timeout=SECONDS, limit=_ROWS)


async def _tied(draft: Draft, graph: KnowledgeGraph) -> bool:
    best = await _result(draft.tie, graph)
    return isinstance(best, SelectResult) and len(set(best.rows)) < len(best.rows)


def _values(rows: Sequence[Row]) -> Outcome:
    distinct = {tuple(sorted(row, key=str)) for row in rows}
    return outcome_of(SelectResult((), tuple(distinct)))
