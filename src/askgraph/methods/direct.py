"""Direct: a language model answers from memory, without the graph. A baseline.

Alekseev et al., "The benefits of query-based KGQA systems" (NLDB 2025): direct answering (section
5), and how often a model rejects a question that it would get wrong (section 7). The names in the
answer are looked up in the graph so that they can be scored like any answer; that step is ours.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

from pyoxigraph import Literal, NamedNode

from askgraph.errors import QueryError, ServiceError
from askgraph.graph import KnowledgeGraph
from askgraph.index.names import split_tokens
from askgraph.llm import Assistant, LanguageModel, Message, Options, System, User
from askgraph.llm.budget import BudgetAccount
from askgraph.llm.structured import StructuredReply, describe_for_user, parse_structured
from askgraph.methods.settings import ModelMethodSettings, check_minimum, load_texts
from askgraph.methods.shared import Conversation, format_earlier_questions
from askgraph.methods.shared.examples import Demonstration, find_nearest
from askgraph.methods.shared.follow_up import answer_over_first_graph
from askgraph.methods.tools import Context
from askgraph.methods.tools.query_run import answer_query, build_answer, run_query
from askgraph.trace import Answer, Draft, Question, Refusal, Step, record_or_replay

__all__ = ["Direct"]

_TEXTS = load_texts("direct")
INSTRUCTION: str = _TEXTS["instruction"]
SCHEMA: Mapping[str, object] = _TEXTS["schema"]
_CONFIDENCE = 0.5  # the method has no measure of confidence
_MAX_ANSWERS = 1_000  # answers to look up in the graph
_MAX_HITS = 10
_MAX_SHOT_ANSWERS = 20  # answers of an example that are shown


@dataclass(frozen=True)
class Direct(ModelMethodSettings):
    """A model that answers without a graph; the fields are its settings.

    If the model does not know the answer, the outcome is a refusal.

    Attributes:
        model: the language model.
        shots: similar examples of the graph that are shown with their answers.
    """

    searches: ClassVar[bool] = True
    converses: ClassVar[bool] = True

    model: LanguageModel
    shots: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_minimum(self, 0, "shots")

    def answer(self, question: Question, graphs: Sequence[KnowledgeGraph]) -> AsyncIterator[Step]:
        """Answer a question with the names of the first graph."""
        return answer_over_first_graph(
            self, self.model, question, graphs, partial(_DirectRun, self)
        )


@dataclass(eq=False)
class _DirectRun:
    method: Direct
    context: Context
    account: BudgetAccount
    model: LanguageModel
    outcome: Answer | Refusal = field(
        default_factory=lambda: Refusal("The model does not know the answer.")
    )

    async def run_steps(self) -> AsyncGenerator[Step, None]:
        """Ask the model once and look up the names in its answer."""
        question = self.context.question
        before = format_earlier_questions(question, queries=False)
        question_text = "\n\n".join(filter(None, (before, f"Question: {question.text}")))
        options: Options = {**self.method.options, "schema": SCHEMA}
        shots = await record_or_replay("shots", tuple[Message, ...], self.build_shots)
        messages = [System(INSTRUCTION), *shots, User(question_text)]
        conversation = Conversation(self.model, self.account, messages, options=options)
        yield conversation.to_prompt("question")
        turn = (await conversation.take_turn()).step
        yield turn
        match parse_structured(turn.choice, SCHEMA):
            case StructuredReply(value):
                query = await record_or_replay(
                    "names", str, partial(asyncio.to_thread, self.build_query, value)
                )
            case unfit:
                self.outcome = Refusal(f"No answer: {describe_for_user(unfit.feedback)}.")
                return
        if not query:
            return
        yield Draft(query, _CONFIDENCE)

        async def look_up_answer() -> Answer:
            query_run = await run_query(self.context, query, rows=_MAX_ANSWERS)
            return await build_answer(self.context, query_run, confidence=_CONFIDENCE)

        try:
            self.outcome = await record_or_replay("answer", Answer, look_up_answer, query)
        except (QueryError, ServiceError) as problem:
            self.outcome = Refusal(
                f"The answer of the model cannot be matched to the graph: {problem}"
            )

    async def build_shots(self) -> tuple[Message, ...]:
        """Return the nearest examples, the nearest last, each with the names that answer it."""
        context = self.context
        examples = context.graph.examples if self.method.shots else ()
        demonstrations = [Demonstration(example, ()) for example in examples]
        nearest = await asyncio.to_thread(
            find_nearest, context.question.text, (), demonstrations, limit=self.method.shots,
            match="question",
        )  # fmt: skip
        messages: list[Message] = []
        for example in (demonstration.example for demonstration in reversed(nearest)):
            try:
                answer = await answer_query(context, example.query, confidence=_CONFIDENCE)
            except (QueryError, ServiceError):
                continue  # an example of another graph has no answer here
            names = [
                answer.labels.get(term.value, term.value)
                for column in answer.answer_columns[:1]
                for term in answer.result.get_column(column)[:_MAX_SHOT_ANSWERS]
                if isinstance(term, NamedNode | Literal)
            ]
            if names or answer.boolean is not None:
                reply = {"known": True, "yes": answer.boolean, "answers": names}
                reply_text = json.dumps(reply, ensure_ascii=False)
                messages += [User(f"Question: {example.question}"), Assistant(reply_text)]
        return tuple(messages)

    def build_query(self, value: Mapping[str, object]) -> str:
        """Build the query that returns the model's answer; empty if the model does not know it."""
        if value["known"] is not True:
            return ""
        if isinstance(value["yes"], bool):
            return f"ASK {{ FILTER({str(value['yes']).lower()}) }}"
        answers = value["answers"]
        names = (
            [str(answer) for answer in answers][:_MAX_ANSWERS] if isinstance(answers, list) else []
        )
        terms = dict.fromkeys(
            term for name in names if name.strip() for term in self.find_terms(name)
        )
        terms_text = " ".join(terms)
        return (
            f"SELECT DISTINCT ?answer WHERE {{ VALUES ?answer {{ {terms_text} }} }}"
            if terms
            else ""
        )

    def find_terms(self, name: str) -> Iterator[str]:
        """Yield the most used entity or literal with a name, else the name as a new literal."""
        graph, name_tokens = self.context.graph, split_tokens(name)
        for key in ("entities", "literals"):
            if key not in graph.indices:
                continue
            for hit in graph.indices[key].search(name, limit=_MAX_HITS):
                if name_tokens in (split_tokens(hit_name) for hit_name in hit.item.names):
                    is_text = hit.item.iri.startswith('"')
                    yield hit.item.iri if is_text else str(NamedNode(hit.item.iri))
                    return
        yield str(Literal(name.strip()))
