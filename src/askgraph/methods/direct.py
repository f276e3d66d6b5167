"""Direct: a language model answers from what it knows, without the graph. A baseline, no more.

Alekseev et al., "The benefits of query-based KGQA systems" (NLDB 2025): direct answering (section
5) and how often a model rejects what it would get wrong (section 7). The names that it gives are
looked up in the graph, so that they can be scored as any answer; that is ours.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

from pyoxigraph import Literal, NamedNode

from askgraph.errors import QueryError, ServiceError
from askgraph.graph import KnowledgeGraph
from askgraph.index.names import tokens
from askgraph.llm import LanguageModel, Options, System, User
from askgraph.llm.budget import Account
from askgraph.llm.structured import Structured, read_structured
from askgraph.methods.settings import ModelSettings
from askgraph.methods.shared import Conversation, said_before
from askgraph.methods.shared.follow_up import over_first_graph
from askgraph.methods.tools import Context
from askgraph.methods.tools.query_run import built_answer, run
from askgraph.trace import Answer, Draft, Question, Refusal, Step, heard

__all__ = ["Direct"]

INSTRUCTION = """\
Answer questions about facts from what you know. Reply with a JSON object:
`known`: false if you do not know the answer for sure; then nothing else counts.
`yes`: true or false if the question wants a yes or no, else null.
`answers`: all that answers it, each by its usual name, or as a number, or a date (YYYY-MM-DD).

Question: Which rivers flow through Vienna?
{"known": true, "yes": null, "answers": ["Danube", "Wien"]}
Question: Is Lisbon larger than Rome?
{"known": true, "yes": false, "answers": []}
Question: What had the mayor of Padua for breakfast?
{"known": false, "yes": null, "answers": []}"""
SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {
        "known": {"type": "boolean"},
        "yes": {"type": ["boolean", "null"]},
        "answers": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["known", "yes", "answers"],
}
_BELIEVED = 0.5  # nothing says how sure it is
_MOST = 1_000  # answers that are looked up
_HITS = 10


@dataclass(frozen=True)
class Direct(ModelSettings):
    """A model that is asked without a graph; its fields are its settings.

    What it does not know is a refusal.

    Attributes:
        model: the language model.
    """

    searches: ClassVar[bool] = True
    converses: ClassVar[bool] = True

    model: LanguageModel

    def answer(self, question: Question, graphs: Sequence[KnowledgeGraph]) -> AsyncIterator[Step]:
        """Answer a question, in the names of the first graph."""
        return over_first_graph(self, self.model, question, graphs, partial(_Run, self))


@dataclass(eq=False)
class _Run:
    method: Direct
    context: Context
    account: Account
    model: LanguageModel
    outcome: Answer | Refusal = field(
        default_factory=lambda: Refusal("The model does not know the answer.")
    )

    async def steps(self) -> AsyncGenerator[Step, None]:
        """Ask the model once, and look up what it names."""
        question = self.context.question
        before = said_before(question, queries=False)
        asked = "\n\n".join(filter(None, (before, f"Question: {question.text}")))
        options: Options = {**self.method.options, "schema": SCHEMA}
        told = (System(INSTRUCTION), User(asked))
        talk = Conversation(self.model, self.account, [*told], options=options)
        yield talk.prompt("question")
        turn = (await talk.turn()).step
        yield turn
        match read_structured(turn.choice, SCHEMA):
            case Structured(value):
                query = await heard("names", str, partial(asyncio.to_thread, self.query, value))
            case unfit:
                self.outcome = Refusal(f"The model gave no answer: {unfit.feedback}")
                return
        if not query:
            return
        yield Draft(query, _BELIEVED)

        async def looked_up() -> Answer:
            ran = await run(self.context, query, rows=_MOST)
            return await built_answer(self.context, ran, confidence=_BELIEVED)

        try:
            self.outcome = await heard("answer", Answer, looked_up, query)
        except (QueryError, ServiceError) as problem:
            self.outcome = Refusal(f"What the model said cannot be told of the graph: {problem}")

    def query(self, value: Mapping[str, object]) -> str:
        """The query that gives what the model said; empty if it does not know."""
        if value["known"] is not True:
            return ""
        if isinstance(value["yes"], bool):
            return f"ASK {{ FILTER({str(value['yes']).lower()}) }}"
        said = value["answers"]
        names = [str(one) for one in said][:_MOST] if isinstance(said, list) else []
        terms = dict.fromkeys(term for name in names if name.strip() for term in self.terms(name))
        listed = " ".join(terms)
        return f"SELECT DISTINCT ?answer WHERE {{ VALUES ?answer {{ {listed} }} }}" if terms else ""

    def terms(self, name: str) -> Iterator[str]:
        """What a name means in the graph: the thing used most that is called so, else a text."""
        graph, wanted = self.context.graph, tokens(name)
        for key in ("entities", "literals"):
            if key not in graph.indices:
                continue
            hits = graph.indices[key].search(name, limit=_HITS)
            for hit in hits:
                if wanted in (tokens(known) for known in hit.item.names):
                    is_text = hit.item.iri.startswith('"')
                    yield hit.item.iri if is_text else str(NamedNode(hit.item.iri))
                    return
        yield str(Literal(name.strip()))
