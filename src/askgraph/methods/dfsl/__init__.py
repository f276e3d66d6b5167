"""Dynamic few-shot learning: the most similar answered questions go into one prompt.

D'Abramo, "Dynamic Few-Shot Learning for Knowledge Graph Question Answering" (arXiv 2407.01409):
retrieval (4.2), the prompt of three parts (4.3), several queries and the choice among them (4.4).
The paper gives the model the gold entities and relations; here they are linked, or given by the
caller. Of several queries either the first or the largest result is taken (4.4.1). Ours are the
vote over equal results, and triples flipped without the model.
"""

import asyncio
import re
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import fmean
from typing import ClassVar

from askgraph import trace
from askgraph.errors import QueryError, ServiceError, Unauthorised, Unreachable
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import exclude_question, sample_examples
from askgraph.llm import Choice, LanguageModel, Options
from askgraph.llm.budget import BudgetAccount
from askgraph.methods import PaperPreset, apply_presets, parse_paper_preset
from askgraph.methods.dfsl.prompt import (
    QuestionTerms,
    TermDisplay,
    build_few_shot_prompt,
    get_given_terms,
    link_terms,
)
from askgraph.methods.settings import ModelMethodSettings, check_choices, check_minimum, load_texts
from askgraph.methods.shared import Conversation
from askgraph.methods.shared.examples import (
    ABLATIONS,
    MATCH_MODES,
    Demonstration,
    ExampleTerm,
    find_nearest,
    load_demonstrations,
    load_examples,
    load_nearby_demonstrations,
    remove_demonstration_terms,
    remove_terms,
)
from askgraph.methods.shared.follow_up import answer_over_first_graph
from askgraph.methods.tools import Context
from askgraph.methods.tools.query_run import QueryRun, build_answer, prepare_query, run_query
from askgraph.sparql.comparison import group_equal_results
from askgraph.sparql.parser import parse_tree
from askgraph.sparql.results import GraphResult, SelectResult
from askgraph.sparql.rewrite.canonical import canonicalize_query
from askgraph.sparql.rewrite.swapped import reverse_triples
from askgraph.sparql.serializer import to_text

__all__ = ["Dfsl"]

CHOICE_RULES = ("first", "largest", "vote")
_AGREED_CONFIDENCE = 0.8  # confidence in a result on which all hypotheses agree
_FLIPPED_WEIGHT = 0.3  # weight of a query derived from another one
_FLIPPED_CONFIDENCE_FACTOR = 0.6  # of the belief in an answer, where no model wrote its query
_MAX_BEAM_TOKENS = 600  # a beam search may continue up to this length, regardless of its best beams
_TEXTS = load_texts("dfsl")


@apply_presets
@dataclass(frozen=True)
class Dfsl(ModelMethodSettings):
    """One prompt with demonstrations; the fields are its settings.

    With `preset` paper, unset settings take the published values.

    Attributes:
        model: the language model.
        preset: best (ours), or paper (as published).
        variant: plain (the question alone), zero (with its IRIs), fixed or dynamic (with examples).
        k: examples that are shown.
        match: the compared text: form, question or terms.
        diverse: of several examples with one query only the nearest is shown.
        order: whether the nearest example is shown first or last.
        embedder: the embedding model for similarity; none: characters and words.
        examples: a file or folder of examples, instead of the graph's own.
        links: whether entities and relations are linked, or given with the question.
        ends: relations are shown with their classes, also those near linked ones.
        without: left out of question and examples: entities, relations, both or nothing.
        iris: entities and relations are shown in full, and queries as they were written.
        pick: with variant fixed: random examples (chance), or the first.
        hypotheses: one, beam, beams, samples, prompt or flips (the model's with triples flipped).
        n: beams, samples, queries asked for, or flips.
        choose: of several results the first, the largest, or by vote.
        rows: rows of the result at most.
    """

    converses: ClassVar[bool] = True
    published: ClassVar[PaperPreset] = parse_paper_preset(_TEXTS["paper"])
    """Settings of the paper; its five nearest examples are our default too (4.2, 5.4)."""

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
            match=MATCH_MODES,
            links=("linked", "given"),
            without=ABLATIONS,
            pick=("chance", "first"),
            order=("first", "last"),
            hypotheses=("one", "beam", "beams", "samples", "prompt", "flips"),
            choose=CHOICE_RULES,
        )
        check_minimum(self, 0, "k")
        check_minimum(self, 1, "n", "rows")

    def answer(
        self, question: trace.Question, graphs: Sequence[KnowledgeGraph]
    ) -> AsyncIterator[trace.Step]:
        """Answer a question over the first graph."""
        return answer_over_first_graph(self, self.model, question, graphs, partial(_DfslRun, self))


@dataclass(frozen=True)
class QueryHypothesis:
    """A query with its result and its weight against the other hypotheses."""

    query: str
    result: SelectResult | bool
    weight: float = 1.0

    @property
    def size(self) -> int:
        """The number of different rows; 1 for a boolean."""
        return 1 if isinstance(self.result, bool) else len(set(self.result.rows))


@dataclass(eq=False)
class _DfslRun:
    method: Dfsl
    context: Context
    account: BudgetAccount
    model: LanguageModel
    choices: list[Choice] = field(default_factory=list)
    outcome: trace.Answer | trace.Refusal = field(
        default_factory=lambda: trace.Refusal("The model wrote no query.")
    )

    async def run_steps(self) -> AsyncGenerator[trace.Step, None]:
        """Link, retrieve, ask the model once, run its queries, and choose an answer."""
        prompt, demonstration_count = await trace.record_or_replay(
            "prompt", tuple[trace.Prompt, int], self.build_prompt
        )
        if (
            not demonstration_count
            and self.method.variant in ("fixed", "dynamic")
            and self.method.k
        ):
            yield trace.Thought("there is no example to show: the model is asked without")
        yield prompt
        for turn in await self.ask_model(prompt):
            yield turn
            self.choices.append(turn.choice)
        method = self.method
        replies = (
            self.choices if method.hypotheses == "beams" else sort_by_probability(self.choices)
        )
        queries = weigh_queries(replies, prefixes=self.context.graph.prefixes.namespaces)
        if method.hypotheses == "flips":
            for query in list(queries):
                for flipped_query in self.flip_triples(query):
                    queries.setdefault(flipped_query, _FLIPPED_WEIGHT)
        if not queries:
            yield trace.Thought("no query stands in what the model wrote")
            return
        for query, weight in queries.items():
            yield trace.Draft(query, round(weight, 4))
        choose = partial(self.choose_outcome, queries)
        self.outcome = await trace.record_or_replay(
            "settled", trace.Answer | trace.Refusal, choose, *queries.items()
        )

    async def build_prompt(self) -> tuple[trace.Prompt, int]:
        """Return the prompt, and the number of demonstrations in it."""
        method = self.method
        question_terms = await self.find_question_terms()
        demonstrations = await self.find_demonstrations(
            question_terms.terms if question_terms else ()
        )
        prompt = build_few_shot_prompt(
            self.context,
            question_terms,
            demonstrations,
            queries=method.n if method.hypotheses == "prompt" else 1,
            display=TermDisplay(
                method.iris, method.without, method.preset == "paper", method.variant == "fixed"
            ),
        )
        return prompt, len(demonstrations)

    async def find_question_terms(self) -> QuestionTerms | None:
        """Return the terms of the question; None if the prompt does not need them."""
        if self.method.variant == "plain":
            return None
        if self.method.without == "both":
            return QuestionTerms(())
        find_terms = get_given_terms if self.method.links == "given" else link_terms
        question_terms = await find_terms(self.context, ends=self.method.ends)
        return replace(
            question_terms, terms=remove_terms(question_terms.terms, self.method.without)
        )

    async def find_demonstrations(self, terms: Sequence[ExampleTerm]) -> Sequence[Demonstration]:
        """Return the demonstrations in their order; the list may be empty."""
        method, context = self.method, self.context
        if method.variant not in ("fixed", "dynamic"):
            return []
        examples = load_examples(method.examples) if method.examples else context.graph.examples
        if method.variant == "fixed":
            limit = method.k + 1
            is_random = method.pick == "chance"
            sampled = sample_examples("", examples, limit=limit) if is_random else examples[:limit]
            different = exclude_question(context.question.text, sampled)
            demonstrations = await load_demonstrations(context, different[: method.k])
            return remove_demonstration_terms(demonstrations, method.without)
        candidates = await load_nearby_demonstrations(
            context,
            terms,
            examples,
            match=method.match,
            embedder=method.embedder,
            without=method.without,
        )
        nearest_demonstrations = await asyncio.to_thread(
            find_nearest,
            context.question.text,
            terms,
            candidates,
            limit=method.k,
            match=method.match,
            embedder=method.embedder or None,
            diverse=method.diverse,
        )
        return nearest_demonstrations if method.order == "first" else nearest_demonstrations[::-1]

    async def ask_model(self, prompt: trace.Prompt) -> tuple[trace.ModelTurn, ...]:
        """Return the model's replies to one call; the first turn carries the cost."""
        method = self.method
        options = method.options
        is_sampled = method.hypotheses in ("samples", "beams", "beam")
        if is_sampled:
            options |= Options(logprobs=True)
        if method.hypotheses in ("beams", "beam"):
            options |= Options(beams=True, max_tokens=_MAX_BEAM_TOKENS)
        conversation = Conversation(self.model, self.account, [*prompt.messages], options=options)
        turns = await conversation.sample_replies(method.n if is_sampled else 1)
        return turns[:1] if method.hypotheses == "beam" else turns

    def flip_triples(self, query: str) -> Iterator[str]:
        """Yield the query with triples flipped; nothing if it cannot be parsed."""
        try:
            tree = parse_tree(prepare_query(self.context, query).query)
        except QueryError:
            return
        yield from map(to_text, reverse_triples(tree, limit=self.method.n))

    async def choose_outcome(self, queries: dict[str, float]) -> trace.Answer | trace.Refusal:
        """Run the queries and choose among their results, ignoring failed queries.

        If the time is over, only the results so far count.
        """
        hypotheses: list[QueryHypothesis] = []
        problems: list[str] = []
        for query, weight in queries.items():
            seconds_left = self.account.remaining_seconds
            if seconds_left is not None and seconds_left <= 0:
                problems.append("the time limit of the question was reached")
                break
            try:
                query_run = await run_query(
                    self.context, prepare_query(self.context, query).query, rows=self.method.rows
                )
                if isinstance(query_run.result, GraphResult):
                    raise QueryError(
                        "the query returns triples, but an answer must be rows, or yes or no"
                    )
                hypotheses.append(QueryHypothesis(query_run.query, query_run.result, weight))
            except (Unreachable, Unauthorised):
                if not hypotheses:
                    raise
                break
            except (QueryError, ServiceError) as error:
                problems.append(str(error))
                continue
            if self.method.choose == "first" and hypotheses[-1].size:
                break
        best_and_share = choose_hypothesis(hypotheses, self.method.choose)
        if best_and_share is None:
            return trace.Refusal(f"No query of the model could be run: {problems[0]}")
        return await self.answer(*best_and_share, problems)

    async def answer(
        self, best: QueryHypothesis, agreeing_share: float, problems: Sequence[str]
    ) -> trace.Answer | trace.Refusal:
        """Return the answer of a hypothesis; a refusal if its result is empty."""
        confidence = _AGREED_CONFIDENCE * (1.0 if self.method.choose == "first" else agreeing_share)
        confidence *= 1.0 if best.weight > _FLIPPED_WEIGHT else _FLIPPED_CONFIDENCE_FACTOR
        query_run = QueryRun(best.query, best.result)
        answer = await build_answer(self.context, query_run, confidence=confidence)
        if best.size:
            return answer
        failure_text = f" {len(problems)} failed, the first: {problems[0]}" if problems else ""
        return trace.Refusal(f"No query of the model has a result.{failure_text}", answer)


_TAGGED_QUERY = re.compile(r"<sparql>(.*?)(?:</sparql>|\Z)", re.DOTALL | re.IGNORECASE)
_CODE_BLOCK = re.compile(r"```\w*\s*\n(.*?)```", re.DOTALL)
_QUERY_FORM = re.compile(r"\b(?:SELECT|ASK)\b", re.IGNORECASE)


def parse_queries(text: str) -> list[str]:
    """Return the different queries in a reply: in tags, else in a code block, else all of it."""
    texts = _TAGGED_QUERY.findall(text) or _CODE_BLOCK.findall(text) or [text]
    queries = dict.fromkeys(query.strip() for query in texts)
    return [query for query in queries if _QUERY_FORM.search(query)]


def sort_by_probability(choices: Sequence[Choice]) -> list[Choice]:
    """Return replies by their mean log-probability per token, the most likely first.

    A beam search ranks by the same mean, which does not favour short replies. If a reply has no
    log-probabilities, the order stays unchanged.
    """
    if not all(choice.logprobs for choice in choices):
        return list(choices)
    return sorted(choices, key=lambda choice: -fmean(token.logprob for token in choice.logprobs))


def weigh_queries(
    choices: Sequence[Choice], *, prefixes: Mapping[str, str] | None = None
) -> dict[str, float]:
    """Return the queries of several replies, in their order, with the number of replies of each.

    Queries that differ only in names, layout and order (`canonicalize_query`) count as one, in its
    first wording. If no reply has log-probabilities, the most frequent query comes first.
    """
    first_texts: dict[str, str] = {}
    weights: dict[str, float] = defaultdict(float)
    for choice in choices:
        for query in parse_queries(choice.text):
            weights[
                first_texts.setdefault(canonicalize_query(query, prefixes=prefixes), query)
            ] += 1.0
    if any(choice.logprobs for choice in choices):
        return dict(weights)
    return dict(sorted(weights.items(), key=lambda item: -item[1]))


def choose_hypothesis(
    hypotheses: Sequence[QueryHypothesis], rule: str
) -> tuple[QueryHypothesis, float] | None:
    """Choose a hypothesis, and return it with the share of the weight that agrees with it.

    The rule `first` takes the first with a result, `largest` the first one with most rows, and
    `vote` the first one of the results with the most weight together; equal results
    (`sparql.alike`) count as one. Empty results are chosen only if there is nothing else. The
    return value is None if there is no hypothesis.
    """
    candidates = [hypothesis for hypothesis in hypotheses if hypothesis.size] or list(hypotheses)
    if not candidates:
        return None
    numbers = group_equal_results([hypothesis.result for hypothesis in candidates])
    votes: dict[int, float] = defaultdict(float)
    for number, hypothesis in zip(numbers, candidates, strict=True):
        votes[number] += hypothesis.weight
    best_index = 0
    if rule == "largest":
        best_index = max(range(len(candidates)), key=lambda index: candidates[index].size)
    elif rule == "vote":
        best_index = max(range(len(candidates)), key=lambda index: votes[numbers[index]])
    total = sum(hypothesis.weight for hypothesis in hypotheses)
    return candidates[best_index], votes[numbers[best_index]] / total if total else 0.0
