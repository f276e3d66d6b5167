"""Dynamic few-shot learning: the most similar answered questions go into one prompt.

D'Abramo, "Dynamic Few-Shot Learning for Knowledge Graph Question Answering" (arXiv 2407.01409):
retrieval (4.2), the prompt of three parts (4.3), several queries and how one is chosen (4.4). The
paper gives the model the gold entities and relations; here they are linked, or given by whoever
asks, and the answer never says one for the other. Ours are the vote over equal results, flipped
triples made without the model, and retrieval by masked questions.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from pyoxigraph import NamedNode

from askgraph.agent.conversation import spent_on
from askgraph.agent.few_shot import MATCHES, Shot, Term, nearest, shots_of
from askgraph.agent.hypotheses import CHOICES, Hypothesis, chosen
from askgraph.candidates.propose import read_and_linked
from askgraph.endpoint.counted import Counted
from askgraph.errors import BudgetSpent, QueryError, ServiceError, SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.index.names import Kind
from askgraph.llm import Choice, LanguageModel, Options, System, User, completed
from askgraph.llm.budget import Account, Budget
from askgraph.llm.prices import Prices
from askgraph.llm.stack import charged
from askgraph.metadata.similar import random_examples
from askgraph.rdf.prefixes import PrefixMap
from askgraph.sparql.flipped import flipped
from askgraph.sparql.format import formatted
from askgraph.tools import Context, Limits
from askgraph.tools.answered import answered
from askgraph.tools.mentions import mentioned
from askgraph.tools.running import ready
from askgraph.tools.shown import Writer, labels_in
from askgraph.trace import (
    Answer,
    Draft,
    ModelTurn,
    Prompt,
    Question,
    Refusal,
    Step,
    Thought,
    Usage,
)

__all__ = ["Dfsl"]

TASK = """\
You write SPARQL queries that answer questions over an RDF graph.
1. Reply with the query alone, between <sparql> and </sparql>.
2. Use only IRIs that are listed with the question or stand in the examples, not all of them.
3. Take care in which direction each relation leads; the examples show it.
4. Select what is asked for, as IRIs or values, and nothing else; ASK for yes or no.
5. Prefixes are declared already. Do not call a label service."""

PLAIN = """\
You write SPARQL queries that answer questions over an RDF graph.
1. Reply with the query alone, between <sparql> and </sparql>.
2. Select what is asked for, as IRIs or values, and nothing else; ASK for yes or no.
3. Do not call a label service."""

SEVERAL = """
6. Write up to {n} different queries, each between tags of its own, the most likely first. Among
them should be some that differ only in the direction of a relation."""

_VARIANTS = ("plain", "zero", "fixed", "dynamic")
_HYPOTHESES = ("one", "samples", "prompt", "flips")
_LINKS = ("linked", "given")
_TAGGED = re.compile(r"<sparql>(.*?)(?:</sparql>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCED = re.compile(r"```\w*\s*\n(.*?)```", re.DOTALL)
_RELATIONS = 15
_ANSWERED = 0.8  # what is believed of a result that all hypotheses agree on
_FLIPPED = 0.3  # the weight of a query that was made from another one


@dataclass(frozen=True)
class Dfsl:
    """One prompt with demonstrations; its fields are its settings.

    `variant` is plain (the question alone), zero (with its IRIs), fixed (with examples by chance,
    the same for all questions) or dynamic (with the `k` most similar ones, by `match`: question,
    terms or masked; `embedder` as of `askgraph.index.embeddings`, else by characters). The examples
    are those of the graph. `links` are linked, or given with the question. `hypotheses` are one,
    samples (`n` of the model, with their log-probabilities where the server gives them), prompt
    (`n` asked for in words) or flips (the model's, then with triples flipped), of which one is
    chosen by `choose`: first, largest or vote.
    """

    converses: ClassVar[bool] = False

    model: LanguageModel
    variant: str = "dynamic"
    k: int = 5
    match: str = "terms"
    embedder: str = ""
    links: str = "linked"
    hypotheses: str = "flips"
    n: int = 5
    choose: str = "first"
    rows: int = 10_000
    timeout: float = 20.0
    tokens: int | None = None
    seconds: float | None = None
    money: float | None = None
    temperature: float | None = None
    seed: int | None = None
    prices: Prices | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        known = {
            "variant": _VARIANTS,
            "match": MATCHES,
            "links": _LINKS,
            "hypotheses": _HYPOTHESES,
            "choose": CHOICES,
        }
        for setting, values in known.items():
            if (value := getattr(self, setting)) not in values:
                raise SetupError(f"{setting!r} is one of {', '.join(values)}, not {value!r}")

    async def answer(
        self, question: Question, graphs: Sequence[KnowledgeGraph]
    ) -> AsyncIterator[Step]:
        """Answer a question over the first graph."""
        if not graphs:
            raise ValueError("no graph was given")
        started = time.perf_counter()
        endpoint = Counted(graphs[0].endpoint)
        account = Account(Budget(None, self.tokens, self.money, self.seconds))
        context = Context(
            replace(graphs[0], endpoint=endpoint), question, Limits(timeout=self.timeout)
        )
        run = _Run(self, context, account, charged(self.model, account, prices=self.prices))
        outcome: Answer | Refusal
        try:
            async for step in run.steps():
                yield step
            outcome = run.outcome
        except (BudgetSpent, ServiceError) as problem:
            outcome = Refusal(f"No answer was found: {problem}.")
        seconds = time.perf_counter() - started
        usage = spent_on(account, seconds=seconds, requests=endpoint.requests)
        yield replace(outcome, usage=usage)


@dataclass(eq=False)
class _Run:
    method: Dfsl
    context: Context
    account: Account
    model: LanguageModel
    outcome: Answer | Refusal = field(init=False)

    def __post_init__(self) -> None:
        self.outcome = Refusal("The model wrote no query.")

    async def steps(self) -> AsyncIterator[Step]:
        """Link, retrieve, ask the model once, run what it wrote, choose."""
        method, question = self.method, self.context.question
        terms = [] if method.variant == "plain" else await self.terms()
        shots = await self.shots(terms)
        prompt = self.prompt(terms, shots)
        yield prompt
        wanted = method.n if method.hypotheses == "samples" else 1
        options = Options(temperature=method.temperature, seed=method.seed, n=wanted)
        if wanted > 1:
            options["logprobs"] = True
        before = spent_on(self.account)
        completion = await completed(self.model.complete(prompt.messages, **options))
        after = spent_on(self.account)
        for number, choice in enumerate(completion.choices):
            usage = _since(before, after) if not number else Usage()
            yield ModelTurn(choice, usage, completion.model)
        queries = list(self.queries(completion.choices))
        if not queries:
            yield Thought("no query stands in what the model wrote")
            return
        for query, weight in queries:
            yield Draft(query, round(weight, 4))
        self.outcome = await self.settled(queries, question)

    async def terms(self) -> list[Term]:
        """The entities and relations of the question, linked or given."""
        question = self.context.question
        if self.method.links == "given":
            if not question.given:
                raise SetupError(
                    "links are to be given, but none came with the question; 'linked' finds them"
                )
            labels = await labels_in(self.context, question.given)
            relations = {p.iri for p in self.context.graph.profile.predicates}
            return [Term(iri, labels.get(iri, ""), iri in relations) for iri in question.given]
        graph = self.context.graph
        linked = await asyncio.to_thread(
            read_and_linked, question.text, question.language, graph.names
        )
        found = await mentioned(self.context, linked)
        things = [one.term.value for one in found if isinstance(one.term, NamedNode)]
        named = linked.of(Kind.PREDICATE, Kind.CLASS)[:_RELATIONS]
        schema = {link.target: link.kind is Kind.PREDICATE for link in named}
        labels = await labels_in(self.context, [*things, *schema])
        return [
            *(Term(iri, labels.get(iri, "")) for iri in things),
            *(Term(iri, labels.get(iri, ""), relation) for iri, relation in schema.items()),
        ]

    async def shots(self, terms: Sequence[Term]) -> list[Shot]:
        """The demonstrations; none without examples, which is no error."""
        method, context = self.method, self.context
        if method.variant not in ("fixed", "dynamic"):
            return []
        examples = context.graph.examples
        if method.variant == "fixed":
            examples = tuple(random_examples("", examples, limit=method.k + 1))
        store = await shots_of(context, examples)
        found = await asyncio.to_thread(
            nearest,
            context.question.text,
            terms,
            store,
            limit=method.k,
            match=method.match,
            embedder=method.embedder or None,
        )
        return found

    def prompt(self, terms: Sequence[Term], shots: Sequence[Shot]) -> Prompt:
        """The task, the demonstrations, the question; what changes least comes first."""
        method = self.method
        task = PLAIN if method.variant == "plain" else TASK
        if method.hypotheses == "prompt":
            task += SEVERAL.format(n=method.n)
        writer = Writer(self.context)
        parts = [
            f"{_asked(shot.example.question, shot.terms, writer)}\n"
            f"<sparql>\n{_body(shot.example.query, self.context.graph.prefixes)}\n</sparql>"
            for shot in reversed(shots)
        ]
        asked = self.context.question.text
        parts.append(_asked(asked, terms, writer))
        return Prompt("question", (System(task), User("\n###\n".join(parts))))

    def queries(self, choices: Sequence[Choice]) -> list[tuple[str, float]]:
        """The queries in the model's replies with their weights, most believed first."""
        found: dict[str, float] = {}
        ordered = sorted(choices, key=lambda choice: -(choice.logprob or 0.0))
        for choice in ordered:
            for query in _written(choice.text):
                found[query] = found.get(query, 0.0) + 1.0
        if self.method.hypotheses == "flips":
            for query in list(found):
                for other in _flips(ready(self.context, query).query, limit=self.method.n):
                    found.setdefault(other, _FLIPPED)
        return list(found.items())

    async def settled(
        self, queries: Sequence[tuple[str, float]], question: Question
    ) -> Answer | Refusal:
        """Run the queries and choose among what they give; a failed one counts as none."""
        hypotheses: list[Hypothesis] = []
        problem = ""
        for query, weight in queries:
            try:
                found = await answered(self.context, query, confidence=_ANSWERED)
            except (QueryError, ServiceError) as error:
                problem = problem or str(error)
                continue
            hypotheses.append(Hypothesis(found, weight))
            if self.method.choose == "first" and not hypotheses[-1].empty:
                break
        best = chosen(hypotheses, self.method.choose)
        if best is None:
            return Refusal(f"No query of the model could be run: {problem}")
        hypothesis, agreeing = best
        if hypothesis.empty:
            return Refusal("No query of the model has a result.", hypothesis.answer)
        written = hypothesis.weight > _FLIPPED
        confidence = _ANSWERED * (agreeing if self.method.choose == "vote" else 1.0)
        return replace(hypothesis.answer, confidence=confidence * (1.0 if written else 0.6))


def _asked(question: str, terms: Sequence[Term], writer: Writer) -> str:
    entities = [_named(term, writer) for term in terms if not term.relation]
    relations = [_named(term, writer) for term in terms if term.relation]
    lines = [f"Question: {question}"]
    if entities:
        lines.append(f"Entities: {', '.join(entities)}")
    if relations:
        lines.append(f"Relations: {', '.join(relations)}")
    return "\n".join(lines)


def _named(term: Term, writer: Writer) -> str:
    short = writer.short(term.iri)
    return f"{short} {writer.text(term.label)}" if term.label and term.label != short else short


def _body(query: str, prefixes: PrefixMap) -> str:
    """A query laid out with the graph's prefixes, without the lines that declare them."""
    try:
        laid_out = formatted(query, prefixes, {})
    except QueryError:
        return query
    lines = laid_out.splitlines()
    return "\n".join(line for line in lines if line and not line.startswith("PREFIX "))


def _written(text: str) -> list[str]:
    """The queries in a reply: between tags, else in a fence, else all of it."""
    found = _TAGGED.findall(text) or _FENCED.findall(text) or [text]
    queries = (query.strip() for query in found)
    return [query for query in queries if re.search(r"\b(SELECT|ASK)\b", query, re.IGNORECASE)]


def _flips(query: str, *, limit: int) -> list[str]:
    try:
        return list(flipped(query, limit=limit))
    except QueryError:
        return []


def _since(before: Usage, after: Usage) -> Usage:
    return Usage(
        llm_calls=after.llm_calls - before.llm_calls,
        input_tokens=after.input_tokens - before.input_tokens,
        cached_tokens=after.cached_tokens - before.cached_tokens,
        output_tokens=after.output_tokens - before.output_tokens,
        money=after.money - before.money,
    )
