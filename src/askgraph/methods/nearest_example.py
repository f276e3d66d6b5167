"""Nearest example: return the query of the most similar example, unchanged. A baseline.

Its score measures how much the questions of a benchmark reveal about each other. A method that
learns from examples has to beat it.
"""

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import ClassVar

from rapidfuzz import fuzz, process

from askgraph.answers import build_plain_answer
from askgraph.deadline import DEFAULT_SECONDS
from askgraph.errors import QueryError, SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import QueryExample, read_examples
from askgraph.llm import LanguageModel
from askgraph.methods import check_interpretation
from askgraph.methods.shared import answer_in_words
from askgraph.methods.shared.follow_up import answer_completed
from askgraph.sparql.judge import admit_query
from askgraph.sparql.results import SelectResult
from askgraph.trace import Draft, Question, Refusal, Step, Usage

__all__ = ["NearestExample"]


@dataclass(frozen=True)
class NearestExample:
    """The query of the most similar question in a file; the fields are its settings.

    Similarity is the share of characters that both questions have in common, their words sorted. It
    is also the confidence.

    Attributes:
        examples: a file of questions with queries (`questions.jsonl`).
        model: the language model that verbalizes the answer; it has no other task.
        interpret: the model verbalizes the answer.
        timeout: seconds for a query.
        seconds: seconds for the whole question.
    """

    converses: ClassVar[bool] = True
    only_words: ClassVar[bool] = True
    asks: ClassVar[Mapping[str, tuple[object, ...]]] = {"interpret": (True,)}

    examples: str = ""
    model: LanguageModel | None = None
    interpret: bool = False
    timeout: float | None = 20.0
    seconds: float | None = DEFAULT_SECONDS

    def __post_init__(self) -> None:
        check_interpretation(self)

    @property
    def missing(self) -> str:
        """Why the method cannot answer as configured; empty if it can."""
        message = "nearest-example needs a file of questions: its setting 'examples'"
        return "" if self.examples else message

    def answer(self, question: Question, graphs: Sequence[KnowledgeGraph]) -> AsyncIterator[Step]:
        """Answer a question over the first graph."""
        if self.missing:
            raise SetupError(self.missing)
        ask = partial(answer_completed, question, graphs[:1], partial(self._answer, graphs=graphs))
        if self.model is None or not self.interpret:
            return ask()
        return answer_in_words(
            ask, question, graphs, self.model, timeout=self.timeout or DEFAULT_SECONDS
        )

    async def _answer(
        self, question: Question, graphs: Sequence[KnowledgeGraph]
    ) -> AsyncIterator[Step]:
        started = time.perf_counter()
        examples = _load_examples(self.examples)
        if not examples:
            yield Refusal("there is no example to take a query from")
            return
        text, percent, index = process.extractOne(
            question.text, [example.question for example in examples], scorer=fuzz.token_sort_ratio
        )
        confidence = percent / 100
        query, graph = examples[index].query, graphs[0]
        yield Draft(query, confidence, text)
        try:
            admissible = admit_query(query, prefixes=graph.prefixes.namespaces)
            ask = graph.endpoint.ask if admissible.form == "ASK" else graph.endpoint.select
            result: SelectResult | bool = await ask(admissible.text, timeout=self.timeout)
        except QueryError as error:
            yield Refusal(f"the query of {text!r} does not fit this graph: {error}")
            return
        usage = Usage(time.perf_counter() - started, requests=1)
        answer = build_plain_answer(query, graph.name, result, words=text, confidence=confidence)
        yield replace(answer, usage=usage)


@lru_cache(maxsize=8)
def _load_examples(path: str) -> tuple[QueryExample, ...]:
    return read_examples(Path(path))
