"""Graph search: no language model. Link, grow answer sets, apply operators, rank, decide, show.

The idea of building all small queries over what a question mentions is Diefenbach, Both, Singh and
Maret's (arXiv 1803.00832); growing answer sets with the words they use is ours.
"""

import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import ClassVar

from askgraph.answers.search_run import SearchLimits, SearchRun, top_score
from askgraph.answers.verbalize.phrases import phrases_in
from askgraph.deadline import SECONDS
from askgraph.endpoint import Counted
from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.llm import LanguageModel
from askgraph.methods import check_words
from askgraph.search.tokenize import tokenize
from askgraph.search.tokenize.word_lists import greeted
from askgraph.trace import Answer, Draft, Outcome, Question, Refusal, Step, Thought, Usage

__all__ = ["GraphSearch"]


@dataclass(frozen=True)
class GraphSearch(SearchLimits):
    """The default method; its settings are the `SearchLimits`.

    A question that leans on the one before it ("And Saturn?", "Who discovered it?") is completed
    first. Raises `SetupError` for a day that is none.

    Attributes:
        states: patterns that are grown at most.
        tried: queries that are run at most in search of one with a result.
        evidence_rows: rows for which the triples behind them are fetched.
        rows: rows of the result at most.
        timeout: seconds for a query.
        seconds: seconds for the whole question.
        answer_from: the confidence from which it answers without asking back, 0 to 1.
        ask_from: the confidence below which it refuses, 0 to 1.
        operators: whether questions are read as counts, comparisons, orders or negations.
        today: the day for what is current and how old things are, as 2024-06-30; else the clock's.
        ranking: a file of weights to rank candidates by, in the place of the package's.
        meanings: an embedding model (`onnx:PATH`) for words that nothing names, if unsure without.
        model: the language model that says the answer in words, and is asked nothing else.
        interpret: the model says the answer in words.
    """

    converses: ClassVar[bool] = True
    only_words: ClassVar[bool] = True
    asks: ClassVar[Mapping[str, tuple[object, ...]]] = {"interpret": (True,)}

    model: LanguageModel | None = None
    interpret: bool = False

    def __post_init__(self) -> None:
        check_words(self)
        try:
            date.fromisoformat(self.today or "2000-01-01")
        except ValueError as error:
            raise SetupError(
                f"today={self.today!r} is no day; write it as in today=2024-06-30"
            ) from error

    async def answer(
        self, question: Question, graphs: Sequence[KnowledgeGraph]
    ) -> AsyncIterator[Step]:
        """Answer a question over one graph, over the one of several that fits best, or over two."""
        ask = partial(self._answer, question, graphs)
        follows = bool(question.before) and not greeted(question.text)
        if follows or self.interpret:
            # Late: few questions follow another, and few answers are said in words.
            from askgraph.methods.shared import follow_up, worded

            if follows:
                answer = partial(self._answer, graphs=graphs)
                ask = partial(follow_up.in_full, question, graphs, answer)
            if self.interpret and self.model is not None:
                seconds = self.timeout or SECONDS
                ask = partial(worded, ask, question, graphs, self.model, timeout=seconds)
        steps = ask()
        async with aclosing(steps):
            async for step in steps:
                yield step

    async def _answer(
        self, question: Question, graphs: Sequence[KnowledgeGraph]
    ) -> AsyncGenerator[Step, None]:
        started = time.perf_counter()
        if greeted(question.text):
            from askgraph.answers.next_questions import greeting  # few questions greet

            known = await greeting(question, graphs, self._outcome)
            yield replace(known, usage=known.usage + Usage(time.perf_counter() - started))
            return
        runs = [SearchRun(self, question, graph, Counted(graph.endpoint)) for graph in graphs]
        found = [(run, await run.proposal()) for run in runs]
        if not found:
            raise ValueError("no graph was given")
        if len(found) > 1:
            from askgraph.answers.two_graphs import over_two  # few questions have several graphs

            answer = await over_two(found)
            joined = (
                answer if answer is not None and answer.confidence >= self.answer_from else None
            )
        else:
            joined = None
        run, proposal = max(found, key=lambda one: top_score(one[1]))
        for note in (*proposal.linked.notes, *await run.taught(proposal)):
            yield Thought(note)
        yield run.findings(proposal)
        for draft in run.drafts(proposal):
            yield draft
        if joined is not None:
            yield Draft(joined.query, round(proposal.candidates[0].score, 3))
        outcome = joined or await run.outcome(proposal)
        told = any(one.first == 0 for one in proposal.frame.operators)
        if not question.before and (told or not isinstance(outcome, Answer)):
            outcome = _changing_nothing(question, run.graph) or outcome
        requests = sum(run.endpoint.requests for run in runs)
        usage = Usage(time.perf_counter() - started, requests)
        yield replace(outcome, usage=usage)

    async def _outcome(self, question: Question, graph: KnowledgeGraph) -> Outcome:
        run = SearchRun(self, question, graph, Counted(graph.endpoint))
        return await run.outcome(await run.proposal())


def _changing_nothing(question: Question, graph: KnowledgeGraph) -> Refusal | None:
    """Refuse a change ("only the first two") that has no result before it."""
    from askgraph.search import follow_up  # most questions ask for something

    text, language = question.text, question.language
    changes = follow_up.change_of(text, graph.names, language=language)
    if not changes and not follow_up.leans_on_a_result(text, language):
        return None
    language = question.language or tokenize(question.text).language
    return Refusal(phrases_in(language).say("refuse no result"))
