"""Examples for a graph that has none: drafted from its profile, kept if two readings agree.

A draft is a question from a template and the query that it was made for. It is kept if that
query gives a result and graph search, which knows nothing of the template, reads the question as a
query with the same result. A language model may word it anew; then it is read again.
"""

import time
from collections.abc import Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from askgraph import plugins
from askgraph.answers.verbalize import iris_of
from askgraph.endpoint import run
from askgraph.errors import BudgetSpent, QueryError, ServiceError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import (
    Confirmation,
    QueryExample,
    Result,
    ResultDigest,
    Wording,
    digest_result,
    normalize_question,
)
from askgraph.graph.examples.drafts import ExampleDraft, generate_drafts
from askgraph.llm import LanguageModel
from askgraph.llm.budget import Account, Budget, charged
from askgraph.methods import Method
from askgraph.methods.shared.drafts import reworded
from askgraph.sparql.judge import form_of
from askgraph.sparql.results import Row, SelectResult, value_of
from askgraph.trace import Answer, Question
from askgraph.trace import Outcome as Answered
from askgraph.workspace import Progress, Workspace, silent
from askgraph.workspace.examples import keep
from askgraph.workspace.graphs import build_missing
from askgraph.workspace.models import Models
from askgraph.workspace.run_sync import outcome_of as answer_of
from askgraph.workspace.run_sync import result_of

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
    writes = plugins.load("method", _WRITES)(talks, shots=0, revisions=_REVISIONS)
    return Worder(talks, writes, tuple(languages), account, models)


SECONDS = 5.0
"""For each query."""

_ROWS = 1000


async def results_of(draft: ExampleDraft, graph: KnowledgeGraph) -> list[tuple[str, Result]]:
    """Return the queries of a draft with what they give, those that tell something.

    None does if two things share the best value: the answer would be one of them by chance.
    Raises `QueryError` and `ServiceError` as the endpoint does.
    """

    async def ask(query: str) -> Result:
        return await run(graph.endpoint, form_of(query), query, timeout=SECONDS, limit=_ROWS)

    found = [(query, await ask(query)) for query in draft.queries]
    told = [(query, result) for query, result in found if tells(result)]
    if told and draft.tie:
        best = await ask(draft.tie)
        if isinstance(best, SelectResult) and len(set(best.rows)) < len(best.rows):
            return []
    return told


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

    def values(some: Iterable[Row]) -> ResultDigest:
        distinct = {tuple(sorted(row, key=str)) for row in some}
        return digest_result(SelectResult((), tuple(distinct)))

    wanted = values(result.rows)
    return any(values(tuple(row[i] for i in way) for row in rows) == wanted for way in ways)


_DRAFTS_FOR_ONE = 20
_BATCH = 8


@dataclass(frozen=True)
class Generated:
    """The examples that were kept, of how many drafts, and why no more were made."""

    graph: str
    examples: tuple[QueryExample, ...]
    drafted: int
    ended: str


def generate(
    workspace: Workspace,
    graph: str | None = None,
    *,
    number: int = 20,
    seconds: float = 60.0,
    seed: int = 0,
    worder: Worder | None = None,
    progress: Progress = silent,
) -> Generated:
    """Make examples of a graph and write them, marked as generated, into its folder.

    At most `number` new ones are made, from twenty times as many drafts, within about `seconds`.
    Questions and queries that the graph has examples of already are passed over. The same graph and
    seed give the same examples. They are written eight at a time: stopped, the same call goes on.
    A `worder` words them; one that nobody would read as the same keeps the words of its template.
    Raises `ServiceError` if the graph, or the language model, does not answer.
    """
    method = workspace.method()
    opened = workspace.graph(graph, progress=progress)
    if worder is not None:
        build_missing(opened, progress=progress)
    making = _Making(workspace, opened, method, worder, number, progress)
    return result_of(making.made(seed, seconds))


@dataclass(eq=False)
class _Making:
    workspace: Workspace
    graph: KnowledgeGraph
    method: Method
    worder: Worder | None
    number: int
    progress: Progress
    kept: list[QueryExample] = field(default_factory=list)
    waiting: list[Reading] = field(default_factory=list)
    drafted: int = 0

    async def made(self, seed: int, seconds: float) -> Generated:
        """Draft, read and write until there are enough, or there is no more to have."""
        try:
            ended = await self._drafted(seed, time.monotonic() + seconds)
            await self._written()
        except BudgetSpent as spent:
            ended = str(spent)
        finally:
            if self.worder is not None:
                await self.worder.close()
            await self.graph.endpoint.close()
        ended = ended or f"{seconds:g} seconds were over"
        return Generated(self.graph.name, tuple(self.kept), self.drafted, ended)

    async def _drafted(self, seed: int, end: float) -> str:
        """Take drafts; return why no more, nothing if the time was over."""
        known = {normalize_question(w.text) for one in self.graph.examples for w in one.wordings}
        queries = {one.query.strip() for one in self.graph.examples}
        stream = generate_drafts(
            self.graph.profile, self.graph.endpoint, self.graph.prefixes, seed=seed
        )
        async with aclosing(stream) as given:
            async for draft in given:
                found = len(self.kept) + len(self.waiting)
                if found == self.number or self.drafted == self.number * _DRAFTS_FOR_ONE:
                    return f"{found} of {self.number} were found"
                if time.monotonic() > end:
                    return ""
                question = normalize_question(draft.question)
                if question in known or not queries.isdisjoint(map(str.strip, draft.queries)):
                    continue
                known.add(question)
                await self._read(draft)
        return "there is nothing more to ask of it"

    async def _read(self, draft: ExampleDraft) -> None:
        """Take a draft that graph search, told only its question, reads as it was meant."""
        self.drafted += 1
        done = len(self.kept) + len(self.waiting)
        self.progress(f"reading {draft.question}", done, self.number)
        try:
            results = await results_of(draft, self.graph)
            if not results:
                return
            asked = Question(draft.question, "en")
            answer = await answer_of(asked, self.method, [self.graph], timeout=2 * SECONDS)
        except (QueryError, ServiceError):
            return
        for query, result in results:
            if same(answer, query, result) and digest_result(result).digest is not None:
                now, outcome = (
                    datetime.now(UTC).isoformat(timespec="seconds"),
                    digest_result(result),
                )
                example = QueryExample(
                    draft.question,
                    query,
                    "en",
                    keywords=(draft.kind,),
                    origin="generated",
                    confirmation=Confirmation(
                        now, self.graph.name, self.graph.snapshot, outcome.rows, outcome.digest
                    ),
                )
                self.waiting.append(Reading(example, tuple(results)))
                break
        if len(self.waiting) == _BATCH:
            await self._written()

    async def _written(self) -> None:
        """Write what waits, worded anew if there is somebody to do that."""
        batch = [one.example for one in self.waiting]
        if self.worder is not None and batch:
            self.progress(f"wording {len(batch)} questions", len(self.kept), self.number)
            batch = await self.worder.worded(self.waiting, self.graph, self.method)
        if batch:
            keep(self.workspace, self.graph.name, batch)
        self.kept += batch
        self.waiting.clear()
