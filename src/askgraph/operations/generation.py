"""Examples for a graph that has none: drafted from its profile, kept if two readings agree.

A draft is a question from a template and the query that it was made for. It is kept if that
query gives a result and graph search, which knows nothing of the template, reads the question as a
query with the same result. A language model may word it anew; then it is read again.
"""

import time
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime

from askgraph.errors import BudgetSpent, QueryError, ServiceError
from askgraph.graph import KnowledgeGraph
from askgraph.metadata.examples import Confirmation, QueryExample
from askgraph.metadata.examples.drafts import Draft, drafts
from askgraph.metadata.examples.outcome import Result, outcome_of
from askgraph.metadata.examples.similar import plain_question
from askgraph.methods import Method
from askgraph.operations.answering import outcome_of as answer_of
from askgraph.operations.examples import keep
from askgraph.operations.paraphrase import SECONDS, Reading, Worder, results_of, same
from askgraph.trace import Question
from askgraph.workspace import Progress, Workspace, silent
from askgraph.workspace.graphs import build_missing
from askgraph.workspace.synchronous import result_of

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
        known = {plain_question(w.text) for one in self.graph.examples for w in one.wordings}
        queries = {one.query.strip() for one in self.graph.examples}
        stream = drafts(self.graph.profile, self.graph.endpoint, self.graph.prefixes, seed=seed)
        async with aclosing(stream) as given:
            async for draft in given:
                found = len(self.kept) + len(self.waiting)
                if found == self.number or self.drafted == self.number * _DRAFTS_FOR_ONE:
                    return f"{found} of {self.number} were found"
                if time.monotonic() > end:
                    return ""
                question = plain_question(draft.question)
                if question in known or not queries.isdisjoint(map(str.strip, draft.queries)):
                    continue
                known.add(question)
                await self._read(draft)
        return "there is nothing more to ask of it"

    async def _read(self, draft: Draft) -> None:
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
            if same(answer, query, result) and outcome_of(result).digest is not None:
                example = _example(draft, query, self.graph, result)
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


def _example(draft: Draft, query: str, graph: KnowledgeGraph, result: Result) -> QueryExample:
    now, outcome = datetime.now(UTC).isoformat(timespec="seconds"), outcome_of(result)
    return QueryExample(
        draft.question,
        query,
        "en",
        keywords=(draft.kind,),
        origin="generated",
        confirmation=Confirmation(now, graph.name, graph.snapshot, outcome.rows, outcome.digest),
    )
