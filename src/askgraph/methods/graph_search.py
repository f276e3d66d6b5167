"""Graph search, without a language model: link, expand answer sets, apply operators, rank, decide.

The idea of building all small queries over the terms of a question comes from Diefenbach, Both,
Singh and Maret (arXiv 1803.00832); expanding answer sets together with the words they use is ours.
"""

import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import ClassVar

from askgraph.answers.search_run import SearchLimits, SearchRun, get_top_score
from askgraph.answers.verbalize.phrases import load_phrases
from askgraph.deadline import DEFAULT_SECONDS
from askgraph.endpoint import CountingEndpoint
from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.index.names import ItemKind
from askgraph.llm import LanguageModel
from askgraph.methods import check_interpretation
from askgraph.search.decide import find_omitted_words
from askgraph.search.rank import RankedCandidates
from askgraph.search.tokenize import tokenize
from askgraph.search.tokenize.word_lists import detect_greeting
from askgraph.trace import Answer, Outcome, Question, Refusal, Step, Thought, Usage

__all__ = ["GraphSearch"]


@dataclass(frozen=True)
class GraphSearch(SearchLimits):
    """The method without a language model; its settings are the `SearchLimits`.

    A follow-up question ("And Saturn?", "Who discovered it?") is completed first. Raises
    `SetupError` if `today` is not a date.

    Attributes:
        states: patterns that are expanded at most.
        tried: queries that are run at most in search of one with a result.
        evidence_rows: rows for which the supporting triples are fetched.
        rows: rows of the result at most.
        timeout: seconds for a query.
        seconds: seconds for the whole question.
        answer_from: the confidence from which it answers without asking back, 0 to 1.
        ask_from: the confidence below which it refuses, 0 to 1.
        operators: whether questions are read as counts, comparisons, orders or negations.
        today: the date for current facts and for ages, as 2024-06-30; default: the clock's.
        ranking: a file of weights that replaces the package's weights for ranking candidates.
        model: the language model that verbalizes the answer; it has no other task.
        interpret: the model verbalizes the answer.
    """

    converses: ClassVar[bool] = True
    learns: ClassVar[bool] = True
    only_words: ClassVar[bool] = True
    asks: ClassVar[Mapping[str, tuple[object, ...]]] = {"interpret": (True,)}

    model: LanguageModel | None = None
    interpret: bool = False

    def __post_init__(self) -> None:
        check_interpretation(self)
        try:
            date.fromisoformat(self.today or "2000-01-01")
        except ValueError as error:
            raise SetupError(
                f"today={self.today!r} is not a date; write it as in today=2024-06-30"
            ) from error

    async def answer(
        self, question: Question, graphs: Sequence[KnowledgeGraph]
    ) -> AsyncIterator[Step]:
        """Answer a question over one graph, the best of several, or a pair of graphs joined."""
        ask = partial(self._answer, question, graphs)
        follows = bool(question.before) and not detect_greeting(question.text)
        if follows or self.interpret:
            # Imported late: few questions are follow-ups, and few answers need a sentence.
            from askgraph.methods.shared import answer_in_words, follow_up

            if follows:
                answer = partial(self._answer, graphs=graphs)
                ask = partial(follow_up.answer_completed, question, graphs, answer)
            if self.interpret and self.model is not None:
                seconds = self.timeout or DEFAULT_SECONDS
                ask = partial(answer_in_words, ask, question, graphs, self.model, timeout=seconds)
        steps = ask()
        async with aclosing(steps):
            async for step in steps:
                yield step

    async def _answer(
        self, question: Question, graphs: Sequence[KnowledgeGraph]
    ) -> AsyncGenerator[Step, None]:
        started = time.perf_counter()
        if detect_greeting(question.text):
            from askgraph.answers.next_questions import answer_greeting  # few questions greet

            greeting_outcome = await answer_greeting(question, graphs, self._find_outcome)
            yield replace(
                greeting_outcome,
                usage=greeting_outcome.usage + Usage(time.perf_counter() - started),
            )
            return
        runs = [
            SearchRun(self, question, graph, CountingEndpoint(graph.endpoint)) for graph in graphs
        ]
        proposals = [(run, await run.propose_candidates()) for run in runs]
        run, proposal = max(proposals, key=lambda item: get_top_score(item[1]))
        for note in (*proposal.linked.notes, *await run.describe_glossary_words(proposal)):
            yield Thought(note)
        yield run.build_findings(proposal)
        for draft in run.list_drafts(proposal):
            yield draft
        outcome = await run.decide_outcome(proposal)
        starts_with_operator = any(item.first == 0 for item in proposal.operators.operators)
        if not question.before and (starts_with_operator or not isinstance(outcome, Answer)):
            outcome = _refuse_change(question, run.graph, proposal) or outcome
        usage = Usage(time.perf_counter() - started, sum(run.endpoint.requests for run in runs))
        yield replace(outcome, usage=usage)

    async def _find_outcome(self, question: Question, graph: KnowledgeGraph) -> Outcome:
        run = SearchRun(self, question, graph, CountingEndpoint(graph.endpoint))
        return await run.decide_outcome(await run.propose_candidates())


def _refuse_change(
    question: Question, graph: KnowledgeGraph, proposal: RankedCandidates
) -> Refusal | None:
    """Refuse a change ("only the first two") if there is no earlier result to change."""
    from askgraph.search import follow_up  # most questions ask for something

    text, language = question.text, question.language
    changes = follow_up.parse_result_change(text, graph.names, language=language)
    operators = proposal.operators.mask
    has_noun = any(
        weight and not operators >> at & 1 for at, weight in enumerate(proposal.linked.weights)
    )
    best = proposal.candidates[:1]
    is_whole = has_noun and any(not find_omitted_words(proposal, item) for item in best)
    is_whole = is_whole or any(link.is_exact for link in proposal.linked.get_links(ItemKind.CLASS))
    if not changes and (is_whole or not follow_up.is_about_result(text, language)):
        return None
    language = question.language or tokenize(question.text).language
    return Refusal(load_phrases(language).say("refuse no result"))
