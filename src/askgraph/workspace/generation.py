"""Generate examples for a graph without any: drafts from its profile, kept if two readings agree.

A draft is a question from a template with its query. It is kept if the query has a result and graph
search, which does not know the template, finds a query with the same result for the question. A
language model may rephrase it; then it is checked again. Or it writes drafts, kept for a result.
"""

import time
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from askgraph import plugins
from askgraph.answers.verbalize import list_query_iris
from askgraph.endpoint import execute_sparql
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
from askgraph.llm.budget import BudgetAccount, ModelBudget, charge_model
from askgraph.methods import Method
from askgraph.methods.shared.drafts import draft_examples, reword_questions
from askgraph.sparql.judge import admit_query, get_query_form
from askgraph.sparql.results import Row, SelectResult, to_plain_value
from askgraph.trace import Answer, Question
from askgraph.trace import Outcome as Answered
from askgraph.workspace import Progress, Workspace, ignore_progress
from askgraph.workspace.examples import store_examples
from askgraph.workspace.graphs import build_missing_indices
from askgraph.workspace.models import Models
from askgraph.workspace.run_sync import ask_method as answer_of
from askgraph.workspace.run_sync import run_coroutine

_READER_METHOD = "sparql-llm"
_MAX_REVISIONS = 1


@dataclass(frozen=True)
class DraftReading:
    """A generated example, and the results of the queries that its question may stand for."""

    example: QueryExample
    results: tuple[tuple[str, Result], ...]


@dataclass(frozen=True, eq=False)
class QuestionRephraser:
    """A language model that rephrases questions in these languages, within one budget.

    `reader` is the method with which the same model reads a wording. Close it after use.
    """

    model: LanguageModel
    reader: Method
    languages: tuple[str, ...]
    account: BudgetAccount
    models: Models

    async def rephrase(
        self, readings: Sequence[DraftReading], graph: KnowledgeGraph, search: Method
    ) -> list[QueryExample]:
        """Return the examples in wordings of the model that read the same.

        One call rephrases all. An example without an accepted wording stays as it is.

        Raises:
            BudgetSpent: the budget is spent.
            ServiceError: the model failed.
        """
        drafts = [(reading.example.question, reading.example.query) for reading in readings]
        wordings_by_draft = await reword_questions(drafts, self.languages, self.model, self.account)
        graph_without_examples = replace(graph, examples=())  # the writer must not see them
        examples = []
        for candidate, wordings in zip(readings, wordings_by_draft, strict=True):
            accepted = [
                wording
                for wording in wordings
                if await self._has_same_reading(wording, candidate, graph_without_examples, search)
            ]
            examples.append(
                self._build_example(candidate.example, accepted) if accepted else candidate.example
            )
        return examples

    async def close(self) -> None:
        """Close the language model."""
        await self.models.close()

    async def _has_same_reading(
        self, wording: Wording, reading: DraftReading, graph: KnowledgeGraph, search: Method
    ) -> bool:
        question = Question(wording.text, wording.language)
        for method, timeout in ((search, 2 * QUERY_TIMEOUT_SECONDS), (self.reader, None)):
            try:
                answer = await answer_of(question, method, [graph], timeout=timeout)
            except (QueryError, ServiceError):
                continue
            if any(is_same_answer(answer, query, result) for query, result in reading.results):
                return True
        return False

    def _build_example(self, example: QueryExample, wordings: Sequence[Wording]) -> QueryExample:
        first, *other_wordings = wordings
        assert example.confirmation is not None
        return replace(
            example,
            question=first.text,
            language=first.language,
            others=tuple(other_wordings),
            confirmation=replace(example.confirmation, by=self.model.identity.model),
        )


def create_rephraser(
    workspace: Workspace,
    model: str,
    *,
    base_url: str | None = None,
    languages: Sequence[str] = ("en",),
    budget: ModelBudget | None = None,
) -> QuestionRephraser:
    """Create a rephraser with a model of the workspace; raise `SetupError` if it is unavailable."""
    models = Models(workspace.folder)
    account = BudgetAccount(budget or ModelBudget(), scope="run")
    prices = models.load_prices(models.resolve_settings(model, base_url=base_url))
    charged = charge_model(models.get_model(model, base_url=base_url), account, prices=prices)
    reader = plugins.load("method", _READER_METHOD)(charged, shots=0, revisions=_MAX_REVISIONS)
    return QuestionRephraser(charged, reader, tuple(languages), account, models)


QUERY_TIMEOUT_SECONDS = 5.0
"""The time limit of each query."""

_MAX_ROWS = 1000


async def fetch_results(draft: ExampleDraft, graph: KnowledgeGraph) -> list[tuple[str, Result]]:
    """Return the queries of a draft with their results, if informative.

    A tie for the best value gives no results: the answer would be arbitrary.

    Raises:
        QueryError: a query failed.
        ServiceError: the endpoint failed.
    """

    async def ask(query: str) -> Result:
        return await execute_sparql(
            graph.endpoint,
            get_query_form(query),
            query,
            timeout=QUERY_TIMEOUT_SECONDS,
            limit=_MAX_ROWS,
        )

    results = [(query, await ask(query)) for query in draft.queries]
    informative = [(query, result) for query, result in results if is_informative(result)]
    if informative and draft.tie:
        best = await ask(draft.tie)
        if isinstance(best, SelectResult) and len(set(best.rows)) < len(best.rows):
            return []
    return informative


def is_informative(result: Result) -> bool:
    """Return whether a result has a value other than the number zero."""
    if not isinstance(result, SelectResult):
        return isinstance(result, bool)
    return any(to_plain_value(term) not in (None, "0") for row in result.rows for term in row)


def is_same_answer(outcome: Answered, query: str, result: Result) -> bool:
    """Return whether an answer equals a result, with columns in any order, without duplicates.

    One column of several may be the answer. A false ASK result has many possible causes: it
    is the same only if the query is about the same resources.
    """
    if not isinstance(outcome, Answer):
        return False
    if result is False:
        answer_iris = set(list_query_iris(outcome.query))
        return outcome.boolean is False and answer_iris.issuperset(list_query_iris(query))
    if outcome.boolean is not None or not isinstance(result, SelectResult):
        return outcome.boolean is result
    rows = outcome.result.rows
    column_indices = [outcome.result.variables.index(column) for column in outcome.answer_columns]
    column_choices = (
        [column_indices, *([column_index] for column_index in column_indices)]
        if len(result.variables) == 1 < len(column_indices)
        else [column_indices]
    )

    def digest_values(rows: Iterable[Row]) -> ResultDigest:
        return digest_result(SelectResult((), tuple({tuple(sorted(row, key=str)) for row in rows})))

    expected_values = digest_values(result.rows)
    return any(
        digest_values(tuple(row[index] for index in indices) for row in rows) == expected_values
        for indices in column_choices
    )


_MAX_DRAFTS_PER_EXAMPLE = 20
_BATCH_SIZE = 8


@dataclass(frozen=True)
class GeneratedExamples:
    """The kept examples, the number of drafts, and why generation ended."""

    graph: str
    examples: tuple[QueryExample, ...]
    drafted: int
    ended: str


def generate_examples(
    workspace: Workspace,
    graph: str | None = None,
    *,
    number: int = 20,
    seconds: float = 60.0,
    seed: int = 0,
    rephraser: QuestionRephraser | None = None,
    invent: bool = False,
    progress: Progress = ignore_progress,
) -> GeneratedExamples:
    """Generate examples of a graph and write them, marked as generated, into its folder.

    At most `number` new ones are made, from up to twenty times as many drafts. Questions
    and queries with existing examples are skipped. The same graph and seed give the same
    examples. They are written eight at a time, so that a stopped call can resume.

    Args:
        seconds: the approximate time limit.
        rephraser: rephrases the questions; otherwise they keep their templates' words.
        invent: its model writes questions and queries instead (SPARQL-LLM, section 4.1.1).

    Raises:
        ServiceError: the graph or the language model failed.
    """
    method = workspace.method()
    opened = workspace.graph(graph, progress=progress)
    if rephraser is not None:
        build_missing_indices(opened, progress=progress)
    inventor = rephraser if invent else None
    generator = _ExampleGenerator(workspace, opened, method, rephraser, number, progress, inventor)
    return run_coroutine(generator.run(seed, seconds))


@dataclass(eq=False)
class _ExampleGenerator:
    workspace: Workspace
    graph: KnowledgeGraph
    method: Method
    rephraser: QuestionRephraser | None
    number: int
    progress: Progress
    inventor: QuestionRephraser | None = None
    stored: list[QueryExample] = field(default_factory=list)
    waiting: list[DraftReading] = field(default_factory=list)
    drafted: int = 0

    async def run(self, seed: int, seconds: float) -> GeneratedExamples:
        """Draft, read and write until there are enough examples or no more drafts."""
        try:
            ended = await self._process_drafts(seed, time.monotonic() + seconds)
            await self._write_batch()
        except BudgetSpent as spent:
            ended = str(spent)
        finally:
            if self.rephraser is not None:
                await self.rephraser.close()
            await self.graph.endpoint.close()
        ended = ended or f"{seconds:g} seconds were over"
        return GeneratedExamples(self.graph.name, tuple(self.stored), self.drafted, ended)

    async def _process_drafts(self, seed: int, end: float) -> str:
        questions = {
            normalize_question(wording.text)
            for example in self.graph.examples
            for wording in example.wordings
        }
        queries = {example.query.strip() for example in self.graph.examples}
        graph = self.graph
        stream = generate_drafts(graph.profile, graph.endpoint, graph.prefixes, seed=seed)
        if self.inventor is not None:
            stream = self._invent_drafts(self.inventor)
        async with aclosing(stream) as draft_stream:
            async for draft in draft_stream:
                count = len(self.stored) + len(self.waiting)
                if count == self.number or self.drafted == self.number * _MAX_DRAFTS_PER_EXAMPLE:
                    return f"{count} of {self.number} were found"
                if time.monotonic() > end:
                    return ""
                question = normalize_question(draft.question)
                if question in questions or not queries.isdisjoint(map(str.strip, draft.queries)):
                    continue
                questions.add(question)
                await self._read_draft(draft)
        return "there are no more questions to generate"

    async def _invent_drafts(self, by: QuestionRephraser) -> AsyncGenerator[ExampleDraft, None]:
        profile, prefixes = self.graph.profile, self.graph.prefixes.namespaces
        for question, query in await draft_examples(profile, self.number, by.model, by.account):
            with suppress(QueryError):
                admitted = admit_query(query, prefixes=prefixes).text
                yield ExampleDraft(question, (admitted,), "invented")

    async def _read_draft(self, draft: ExampleDraft) -> None:
        """Keep a draft if graph search, given only its question, finds the intended result."""
        self.drafted += 1
        done = len(self.stored) + len(self.waiting)
        self.progress(f"reading {draft.question}", done, self.number)
        try:
            results = await fetch_results(draft, self.graph)
            if not results:
                return
            question, timeout = Question(draft.question, "en"), 2 * QUERY_TIMEOUT_SECONDS
            answer = None
            if self.inventor is None:
                answer = await answer_of(question, self.method, [self.graph], timeout=timeout)
        except (QueryError, ServiceError):
            return
        for query, result in results:
            is_right = answer is None or is_same_answer(answer, query, result)
            if is_right and digest_result(result).digest is not None:
                now = datetime.now(UTC).isoformat(timespec="seconds")
                outcome = digest_result(result)
                example = QueryExample(
                    draft.question,
                    query,
                    "en",
                    keywords=(draft.kind,),
                    origin="generated",
                    confirmation=Confirmation(
                        now,
                        self.graph.name,
                        self.graph.snapshot,
                        outcome.rows,
                        outcome.digest,
                        self.inventor.model.identity.model if self.inventor else None,
                    ),
                )
                self.waiting.append(DraftReading(example, tuple(results)))
                break
        if len(self.waiting) == _BATCH_SIZE:
            await self._write_batch()

    async def _write_batch(self) -> None:
        batch = [draft_reading.example for draft_reading in self.waiting]
        if self.rephraser is not None and batch and self.inventor is None:
            self.progress(f"wording {len(batch)} questions", len(self.stored), self.number)
            batch = await self.rephraser.rephrase(self.waiting, self.graph, self.method)
        if batch:
            store_examples(self.workspace, self.graph.name, batch)
        self.stored += batch
        self.waiting.clear()
