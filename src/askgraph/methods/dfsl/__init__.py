"""Dynamic few-shot learning: the most similar answered questions go into one prompt.

D'Abramo, "Dynamic Few-Shot Learning for Knowledge Graph Question Answering" (arXiv 2407.01409):
retrieval (4.2), the prompt of three parts (4.3), several queries and how one is chosen (4.4). The
paper gives the model the gold entities and relations; here they are linked, or given by whoever
asks, and the answer never says one for the other. Of several queries either the first set or the
largest is taken (4.4.1). Ours are the vote over equal results, flipped triples made without the
model, and retrieval by masked questions.
"""

import asyncio
import re
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import fmean
from typing import ClassVar

from askgraph.errors import QueryError, ServiceError, SetupError, Unauthorised, Unreachable
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import sample_examples
from askgraph.llm import Choice, LanguageModel, Options
from askgraph.llm.budget import Account
from askgraph.methods import PaperPreset, PaperSetting, apply_presets
from askgraph.methods.dfsl.prompt import (
    LEFT_OUT,
    AskedTerms,
    ShownTerms,
    few_shot_prompt,
    given_terms,
    left,
    linked_terms,
)
from askgraph.methods.settings import ModelSettings, check_choices, check_minimum
from askgraph.methods.shared import Conversation
from askgraph.methods.shared.examples import (
    MATCHES,
    Shot,
    Term,
    examples_at,
    nearest,
    other_than,
    shots_near,
    shots_of,
)
from askgraph.methods.shared.follow_up import over_first_graph
from askgraph.methods.tools import Context
from askgraph.methods.tools.query_run import QueryRun, build_answer, prepare_query, run_query
from askgraph.sparql.comparison import alike
from askgraph.sparql.parser import read
from askgraph.sparql.results import GraphResult, SelectResult
from askgraph.sparql.rewrite.canonical import canonical_query
from askgraph.sparql.rewrite.swapped import flipped
from askgraph.sparql.serializer import text_of
from askgraph.trace import Answer, Draft, ModelTurn, Prompt, Question, Refusal, Step, Thought, heard

__all__ = ["Dfsl"]

CHOICES = ("first", "largest", "vote")
_ANSWERED = 0.8  # what is believed of a result that all hypotheses agree on
_FLIPPED = 0.3  # the weight of a query that was made from another one
_UNWRITTEN = 0.6  # of the belief in an answer, where no model wrote its query
_BEAM_TOKENS = 600  # a beam search may go on so long, whatever its best beams have come to
PUBLISHED = PaperPreset(
    "D'Abramo, Dynamic Few-Shot Learning, arXiv 2407.01409",
    {
        "match": PaperSetting("terms", "4.2: the question with its entities and relations"),
        "links": PaperSetting("given", "4.2: gold entities and relations"),
        "ends": PaperSetting(False, "4.3: entities and relations by name alone"),
        "iris": PaperSetting(True, "5.4.3: IRIs in full, with labels if these say more"),
        "diverse": PaperSetting(False, "appendix A: two examples with one query are shown"),
        "order": PaperSetting("first", "appendix A: the nearest example stands first"),
        "pick": PaperSetting("first", "5.3: fixed examples are picked by hand"),
        "hypotheses": PaperSetting(
            "beam", "5.4.1: the best of a beam search; DFSL-MQ is beams, n=10"
        ),
        "n": PaperSetting(3, "5.4.1: the size of the beam"),
    },
    (
        "5.4.1: similarity is by characters unless an embedder is named (embedder=…); the paper's "
        "is all-mpnet-base-v2",
        "4.2: of more than 1,000 examples the nearest are looked for among 200 that an index finds",
        "5.4.1: an example that asks what the question asks is never shown",
        "5.4.1: a beam search ends after 600 tokens",
        "4.4: no query that gives triples, and no more than 10,000 rows",
    ),
)
"""The settings of the paper; five examples, the nearest, are its own (4.2, 5.4)."""


@apply_presets
@dataclass(frozen=True)
class Dfsl(ModelSettings):
    """One prompt with demonstrations; its fields are its settings.

    With `preset` paper, what is not set is as published.

    Attributes:
        model: the language model.
        preset: best (ours), or paper (as published).
        variant: plain (the question alone), zero (with its IRIs), fixed or dynamic (with examples).
        k: examples that are shown.
        match: what is compared: form, question, terms or masked.
        diverse: of several examples with one query only the nearest is shown.
        order: whether the nearest example is shown first or last.
        embedder: the embedding model that compares; none: by characters and words.
        examples: a file or folder of examples, instead of the graph's own.
        links: whether entities and relations are linked, or given with the question.
        ends: relations are told with what they lead from and to, also those near linked ones.
        without: what is left out of question and examples: entities, relations, both or nothing.
        iris: entities and relations are shown in full, and queries as they were written.
        pick: of the variant fixed: examples by chance, or the first.
        hypotheses: one, beam, beams, samples, prompt or flips (the model's with triples flipped).
        n: beams, samples, queries asked for, or flips.
        choose: of several results the first, the largest, or by vote.
        rows: rows of the result at most.
    """

    converses: ClassVar[bool] = True
    published: ClassVar[PaperPreset] = PUBLISHED

    model: LanguageModel
    preset: str = "best"
    variant: str = "dynamic"
    k: int = 5
    match: str = "form"
    diverse: bool = True
    order: str = "last"
    embedder: str = ""
    examples: str = ""
    links: str = "linked"
    ends: bool = True
    without: str = ""
    iris: bool = False
    pick: str = "chance"
    hypotheses: str = "flips"
    n: int = 5
    choose: str = "first"
    rows: int = 10_000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choices(
            self,
            variant=("plain", "zero", "fixed", "dynamic"),
            match=MATCHES,
            links=("linked", "given"),
            without=LEFT_OUT,
            pick=("chance", "first"),
            order=("first", "last"),
            hypotheses=("one", "beam", "beams", "samples", "prompt", "flips"),
            choose=CHOICES,
        )
        check_minimum(self, 0, "k")
        check_minimum(self, 1, "n", "rows")

    def answer(self, question: Question, graphs: Sequence[KnowledgeGraph]) -> AsyncIterator[Step]:
        """Answer a question over the first graph."""
        return over_first_graph(self, self.model, question, graphs, partial(_Run, self))


@dataclass(frozen=True)
class Hypothesis:
    """A query with its result; `weight` is what its author believes of it, against the others."""

    query: str
    result: SelectResult | bool
    weight: float = 1.0

    @property
    def size(self) -> int:
        """The number of different rows; a yes or no is one."""
        return 1 if isinstance(self.result, bool) else len(set(self.result.rows))


@dataclass(eq=False)
class _Run:
    method: Dfsl
    context: Context
    account: Account
    model: LanguageModel
    said: list[Choice] = field(default_factory=list)
    outcome: Answer | Refusal = field(default_factory=lambda: Refusal("The model wrote no query."))

    async def steps(self) -> AsyncGenerator[Step, None]:
        """Link, retrieve, ask the model once, run what it wrote, choose."""
        prompt, shots = await heard("prompt", tuple[Prompt, int], self.prompt)
        if not shots and self.method.variant in ("fixed", "dynamic") and self.method.k:
            yield Thought("there is no example to show: the model is asked without")
        yield prompt
        for turn in await self.turns(prompt):
            yield turn
            self.said.append(turn.choice)
        queries = self.queries()
        if not queries:
            yield Thought("no query stands in what the model wrote")
            return
        for query, weight in queries.items():
            yield Draft(query, round(weight, 4))
        run = partial(self.settled, queries)
        self.outcome = await heard("settled", Answer | Refusal, run, *queries.items())

    async def prompt(self) -> tuple[Prompt, int]:
        """What the model is told, and how many demonstrations are in it."""
        method = self.method
        asked = await self.asked()
        shots = await self.shots(asked.terms if asked else ())
        prompt = few_shot_prompt(
            self.context,
            asked,
            shots,
            queries=method.n if method.hypotheses == "prompt" else 1,
            shown=ShownTerms(method.iris, method.without, method.preset == "paper"),
        )
        return prompt, len(shots)

    async def asked(self) -> AskedTerms | None:
        """The entities and relations of the question; None if the prompt has no use of them."""
        if self.method.variant == "plain":
            return None
        if self.method.without == "both":
            return AskedTerms(())
        terms_of = given_terms if self.method.links == "given" else linked_terms
        asked = await terms_of(self.context, ends=self.method.ends)
        return replace(asked, terms=left(asked.terms, self.method.without))

    async def shots(self, terms: Sequence[Term]) -> list[Shot]:
        """The demonstrations in their order; none without examples, which is no error."""
        method, context = self.method, self.context
        if method.variant not in ("fixed", "dynamic"):
            return []
        known = examples_at(method.examples) if method.examples else context.graph.examples
        if method.variant == "fixed":
            limit = method.k + 1
            by_chance = method.pick == "chance"
            spare = sample_examples("", known, limit=limit) if by_chance else known[:limit]
            store = self.ablated(await shots_of(context, spare))
            return other_than(context.question.text, store)[: method.k]
        store = await shots_near(
            context,
            terms,
            known,
            match=method.match,
            embedder=method.embedder,
            without=partial(left, without=method.without),
            what=method.without,
        )
        found = await asyncio.to_thread(
            nearest,
            context.question.text,
            terms,
            store,
            limit=method.k,
            match=method.match,
            embedder=method.embedder or None,
            diverse=method.diverse,
        )
        return found if method.order == "first" else found[::-1]

    def ablated(self, shots: Sequence[Shot]) -> Sequence[Shot]:
        """The demonstrations, without the entities or relations that are to be left out."""
        if not self.method.without:
            return shots
        return [replace(one, terms=left(one.terms, self.method.without)) for one in shots]

    async def turns(self, prompt: Prompt) -> tuple[ModelTurn, ...]:
        """What the model says, in one call; its cost is the first turn's."""
        method = self.method
        options = method.options
        several = method.hypotheses in ("samples", "beams", "beam")
        if several:
            options |= Options(logprobs=True)
        if method.hypotheses in ("beams", "beam"):
            options |= Options(beams=True, max_tokens=_BEAM_TOKENS)
        talk = Conversation(self.model, self.account, [*prompt.messages], options=options)
        turns = await talk.samples(method.n if several else 1)
        return turns[:1] if method.hypotheses == "beam" else turns

    def queries(self) -> dict[str, float]:
        """The queries in the model's replies with their weights, most believed first."""
        method = self.method
        replies = self.said if method.hypotheses == "beams" else by_belief(self.said)
        found = weighed(replies, prefixes=self.context.graph.prefixes.namespaces)
        if method.hypotheses == "flips":
            for query in list(found):
                for other in self.flips(query):
                    found.setdefault(other, _FLIPPED)
        return found

    def flips(self, query: str) -> Iterator[str]:
        """The query with triples flipped; none of what cannot be read."""
        try:
            tree = read(prepare_query(self.context, query).query)
        except QueryError:
            return
        yield from map(text_of, flipped(tree, limit=self.method.n))

    async def settled(self, queries: dict[str, float]) -> Answer | Refusal:
        """Run the queries and choose among what they give; a failed one counts as none.

        If the time is over, what was found until then has to do.
        """
        hypotheses: list[Hypothesis] = []
        problems: list[str] = []
        for query, weight in queries.items():
            left = self.account.seconds_left
            if left is not None and left <= 0:
                problems.append("the time for the question is over")
                break
            try:
                hypotheses.append(await self.hypothesis(query, weight))
            except (Unreachable, Unauthorised):
                if not hypotheses:
                    raise
                break
            except (QueryError, ServiceError) as error:
                problems.append(str(error))
                continue
            if self.method.choose == "first" and hypotheses[-1].size:
                break
        best = chosen(hypotheses, self.method.choose)
        if best is None:
            return Refusal(f"No query of the model could be run: {problems[0]}")
        return await self.answer(*best, problems)

    async def hypothesis(self, query: str, weight: float) -> Hypothesis:
        """Run a query; `QueryError` for one that gives triples."""
        ran = await run_query(
            self.context, prepare_query(self.context, query).query, rows=self.method.rows
        )
        if isinstance(ran.result, GraphResult):
            raise QueryError("the query gives triples, and an answer is rows, or yes or no")
        return Hypothesis(ran.query, ran.result, weight)

    async def answer(
        self, best: Hypothesis, agreeing: float, problems: Sequence[str]
    ) -> Answer | Refusal:
        """The answer of a hypothesis; a refusal if it has no row."""
        confidence = _ANSWERED * (1.0 if self.method.choose == "first" else agreeing)
        confidence *= 1.0 if best.weight > _FLIPPED else _UNWRITTEN
        ran = QueryRun(best.query, best.result)
        answer = await build_answer(self.context, ran, confidence=confidence)
        if best.size:
            return answer
        failed = f" {len(problems)} failed, the first: {problems[0]}" if problems else ""
        return Refusal(f"No query of the model has a result.{failed}", answer)


_TAGGED = re.compile(r"<sparql>(.*?)(?:</sparql>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCED = re.compile(r"```\w*\s*\n(.*?)```", re.DOTALL)
_QUERY = re.compile(r"\b(?:SELECT|ASK)\b", re.IGNORECASE)


def queries_in(text: str) -> list[str]:
    """Return the different queries in a reply: between tags, else in a fence, else all of it."""
    found = _TAGGED.findall(text) or _FENCED.findall(text) or [text]
    queries = dict.fromkeys(query.strip() for query in found)
    return [query for query in queries if _QUERY.search(query)]


def by_belief(choices: Sequence[Choice]) -> list[Choice]:
    """Return replies in the order of their log-probability, by the token: the likeliest first.

    The mean over the tokens is what a beam search ranks by, and does not favour a short reply. A
    reply that does not tell its own cannot be ranked, and then all stay in the order given.
    """
    if not all(choice.logprobs for choice in choices):
        return list(choices)
    return sorted(choices, key=lambda c: -fmean(token.logprob for token in c.logprobs))


def weighed(
    choices: Sequence[Choice], *, prefixes: Mapping[str, str] | None = None
) -> dict[str, float]:
    """Return the queries of several replies, in their order, with how many wrote each.

    Queries that differ in names, layout and order alone (`canonical_query`) are one, as it was
    written first. If no reply tells its log-probability, what more of them wrote comes first.
    """
    first: dict[str, str] = {}
    found: dict[str, float] = defaultdict(float)
    for choice in choices:
        for query in queries_in(choice.text):
            found[first.setdefault(canonical_query(query, prefixes=prefixes), query)] += 1.0
    if any(choice.logprobs for choice in choices):
        return dict(found)
    return dict(sorted(found.items(), key=lambda one: -one[1]))


def chosen(hypotheses: Sequence[Hypothesis], by: str) -> tuple[Hypothesis, float] | None:
    """Return one hypothesis of several, in the order of their author, and the share that agrees.

    `first`: the first with a result. `largest`: the one with most rows, the first of equals.
    `vote`: the first of those whose results weigh most together, equal ones (`sparql.alike`) as
    one. Empty results are chosen only if there is nothing else. None if there is no
    hypothesis. Raises `SetupError` for another way of choosing.
    """
    if by not in CHOICES:
        raise SetupError(f"hypotheses are chosen by {', '.join(CHOICES)}, not by {by!r}")
    listed = [one for one in hypotheses if one.size] or list(hypotheses)
    if not listed:
        return None
    numbers = alike([one.result for one in listed])
    votes: dict[int, float] = defaultdict(float)
    for number, one in zip(numbers, listed, strict=True):
        votes[number] += one.weight
    best = 0
    if by == "largest":
        best = max(range(len(listed)), key=lambda at: listed[at].size)
    elif by == "vote":
        best = max(range(len(listed)), key=lambda at: votes[numbers[at]])
    total = sum(one.weight for one in hypotheses)
    return listed[best], votes[numbers[best]] / total if total else 0.0
