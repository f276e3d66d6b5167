"""Verdicts on the replies of the guided method's model: each reply is run and its doubts listed.

No function here calls a model; doubts are put in words for the model, with the evidence.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from pyoxigraph import Literal

from askgraph.answers import build_plain_answer
from askgraph.answers.verbalize import verbalize_query
from askgraph.errors import QueryError, ServiceError
from askgraph.graph.arrays import GraphArrays
from askgraph.llm import Choice
from askgraph.methods.guided.candidates import CandidateSet
from askgraph.methods.guided.prompt import GuidedReply, parse_reply
from askgraph.methods.settings import load_texts
from askgraph.methods.shared.several_graphs import QueryTrials, has_different_values
from askgraph.methods.tools import Context
from askgraph.methods.tools.hits import look_up_types
from askgraph.methods.tools.rendering import render_table
from askgraph.search.decide import find_omitted_words
from askgraph.search.rank.expected_answer_type import derive_expected_answer
from askgraph.search.rank.type_mismatches import find_type_mismatches
from askgraph.sparql.vocabulary import NUMERIC_DATATYPES, RDF_LANG_STRING, XSD_STRING
from askgraph.trace import Answer, record_or_replay

_NO_EARLIER_REPLY = "There is nothing before this that could stay the same."
_UNCLEAR_ALTERNATIVES = "You ask back, but not between two of the candidates: decide yourself."
_MAX_RESULT_ROWS = 6  # rows of a result that is doubted
_BIAS_WEIGHT = 0.8
_TEXTS = load_texts("guided")
_WEIGHTS: Mapping[str, float] = _TEXTS["weights"]
_REMARKS: Mapping[str, str] = _TEXTS["remarks"]
_MAX_COUNTED_FINDINGS = 2  # a third finding adds no information


@dataclass(frozen=True)
class Signs:
    """Evidence for and against an answer at the end of a run."""

    searched: float = 0.0  # the chance of graph search's candidate with the same result; 0 if none
    against: float = 0.0  # the chance that it gives the best candidate with another result
    said: float | None = None  # the model's own confidence, 0 to 1; None if it gave none
    findings: int = 0  # remaining findings of the validator
    empty: bool = False
    truncated: bool = False
    misfit: bool = False  # the result does not have the type that the question asks for
    revised: bool = False  # the first reply needed another call


def estimate_answer_confidence(signs: Signs) -> float:
    """Estimate the chance (0–1, both excluded) that an answer with these signs is right.

    This is a logistic model. The bias and the weights of `searched` and `against` were fitted to
    1,380 published answers of a Llama-3.3-70B agent over supply-kgrep (Henselmann et al., 2025) and
    to 370 recorded answers of a stronger model by four methods, each of the two weighing half: the
    weaker one needs agreement more, and is right less often without it. The other weights are
    plausible and were not fitted; of 1,166 published answers with an empty result one was right. A
    better sign never lowers the chance.
    """
    features = {
        "searched": signs.searched, "against": signs.against,
        "said": 0.0 if signs.said is None else signs.said - 0.5,
        "finding": min(signs.findings, _MAX_COUNTED_FINDINGS), "empty": signs.empty,
        "truncated": signs.truncated, "misfit": signs.misfit, "revised": signs.revised,
    }  # fmt: skip
    linear = _BIAS_WEIGHT + sum(_WEIGHTS[name] * value for name, value in features.items())
    return 1 / (1 + math.exp(-linear))


@dataclass(frozen=True)
class Verdict:
    """A reply with its answer, if any; the signs do not include the votes of others."""

    reply: GuidedReply
    answer: Answer | None = None
    doubts: tuple[str, ...] = ()  # texts for the model
    signs: Signs = field(default_factory=Signs)
    rival: int = 0  # the number of the best candidate with another result, 0 for none

    @property
    def confidence(self) -> float:
        """The chance that the answer is right, by this reply alone."""
        return estimate_answer_confidence(self.signs)

    @property
    def is_refusal(self) -> bool:
        """Whether the model states that the graph holds no answer."""
        parsed = self.reply
        return not (parsed.problem or parsed.chosen or parsed.written or parsed.ask or parsed.same)

    @property
    def remark(self) -> str:
        """The doubts in one sentence for the user."""
        reply, signs = self.reply, self.signs
        failed = self.answer is None and bool(reply.chosen or reply.written)
        cases: Mapping[str, object] = {
            "problem": reply.problem or reply.same, "failed": failed,
            "unclear": self.answer is None, "empty": signs.empty,
        }  # fmt: skip
        return _REMARKS[next((name for name, holds in cases.items() if holds), "findings")]


@dataclass(eq=False)
class ReplyJudge:
    """Judges the replies to one question; `chances` are those of the numbered candidates."""

    candidates: CandidateSet
    trials: QueryTrials
    chances: Sequence[float]
    _candidate_answers: dict[int, Answer | None] = field(default_factory=dict)

    def read_reply(self, choice: Choice) -> GuidedReply:
        """Parse the model's reply and replace its placeholders by what they stand for."""
        reply, masker = parse_reply(choice, len(self.chances)), self.candidates.masker
        if masker is None:
            return reply
        thought, ask = masker.unmask_text(reply.thought), masker.unmask_text(reply.ask)
        unmasked = replace(reply, thought=thought, ask=ask)
        if reply.written is None:
            return unmasked
        try:
            query = masker.unmask_query(reply.written.query)
        except QueryError as problem:
            return GuidedReply(problem=f"{problem}.")
        return replace(unmasked, written=replace(reply.written, query=query))

    async def judge_reply(self, reply: GuidedReply, *, revised: bool = False) -> Verdict:
        """Run the query of a reply and return the verdict.

        Args:
            revised: whether this is not the first reply.

        Raises:
            ServiceError: an endpoint is down.
        """
        judge = partial(self._judge_reply, reply, revised=revised)
        return await record_or_replay("verdict", Verdict, judge, reply, revised)

    async def _judge_reply(self, reply: GuidedReply, *, revised: bool) -> Verdict:
        if reply.problem or reply.same:
            return Verdict(reply, doubts=(reply.problem or _NO_EARLIER_REPLY,))
        if reply.written is not None:
            parsed_query = reply.written
            graph = parsed_query.graph
            if not graph and reply.chosen:
                graph = self.candidates.numbered[reply.chosen - 1].graph
            columns = reply.columns or parsed_query.columns
            attempt = await self.trials.run_unvalidated(
                replace(parsed_query, graph=graph, columns=columns)
            )
            if attempt.answer is None:
                doubts = self._mask_texts((*attempt.findings, attempt.problem), parsed_query.query)
                return Verdict(reply, doubts=doubts)
            return await self._weigh_answer(
                reply, attempt.answer, attempt.findings, revised=revised
            )
        if reply.chosen:
            answer = await self._answer_candidate(reply.chosen)
            if answer is None:
                doubt = f"Candidate {reply.chosen} could not be run to its end."
                return Verdict(reply, doubts=(doubt,))
            known_columns = [name for name in reply.columns if name in answer.result.variables]
            if known_columns and len(known_columns) == len(reply.columns):
                answer = replace(answer, answer_columns=tuple(known_columns))
            return await self._weigh_answer(reply, answer, (), revised=revised)
        decides_nothing = reply.ask and len(reply.between) < 2
        return Verdict(reply, doubts=(_UNCLEAR_ALTERNATIVES,) if decides_nothing else ())

    async def answer_candidate(self, number: int) -> Answer | None:
        """Return the answer of a candidate by graph search; None if it fails."""
        return await record_or_replay(
            "candidate", Answer | None, partial(self._answer_candidate, number), number
        )

    async def _answer_candidate(self, number: int) -> Answer | None:
        if number not in self._candidate_answers:
            candidate = self.candidates.numbered[number - 1]
            search_run = candidate.graph_candidates.search_run
            best, chance = candidate.run_candidate.cluster.best, self.chances[number - 1]
            full_result = candidate.run_candidate.complete_result
            try:
                answer = await search_run.answer(
                    best, candidate.graph_candidates.proposal, chance, known_result=full_result
                )
            except ServiceError:
                if full_result is None:
                    raise
                run_candidate = candidate.run_candidate
                words = verbalize_query(
                    run_candidate.query, {}, language=candidate.context.language
                )
                answer = build_plain_answer(
                    run_candidate.query,
                    candidate.graph,
                    run_candidate.rows_or_boolean,
                    columns=run_candidate.columns,
                    words=words,
                    confidence=chance,
                )
                answer = replace(
                    answer,
                    unused_words=find_omitted_words(
                        candidate.graph_candidates.proposal,
                        run_candidate.cluster.best,
                        is_query_shown=True,
                    ),
                )  # its rows are there, labels and evidence are not
            self._candidate_answers[number] = answer
        return self._candidate_answers[number]

    async def _weigh_answer(
        self, reply: GuidedReply, answer: Answer, findings: Sequence[str], *, revised: bool
    ) -> Verdict:
        """Return the verdict on an answer, with the evidence for and against it."""
        candidates = self.candidates.by_graph[answer.graph]
        result = answer.result if answer.boolean is None else answer.boolean
        expected = derive_expected_answer(candidates.linked.linked_question)
        mismatches = find_type_mismatches(
            expected, answer.query, result, candidates.search_run.graph.profile
        )
        same_number = other_number = 0
        for candidate in self.candidates.numbered:
            run_candidate = candidate.run_candidate
            candidate_answer = build_plain_answer(
                run_candidate.query,
                candidate.graph,
                run_candidate.rows_or_boolean,
                columns=run_candidate.columns,
            )
            differs = has_different_values(answer, candidate_answer)
            other_number = candidate.number if differs and not other_number else other_number
            same_number = candidate.number if not differs and not same_number else same_number
        chances = self.chances
        signs = Signs(
            searched=chances[same_number - 1] if same_number else 0.0,
            against=chances[other_number - 1] if other_number else 0.0,
            said=reply.sure,
            findings=len(findings),
            empty=answer.is_empty,
            truncated=answer.result.truncated is not None,
            misfit=bool(mismatches),
            revised=revised,
        )
        problems = [f"The query has no result. {answer.why_empty or ''}".strip()]
        doubts = [
            *self._mask_texts([*findings, *(problems if answer.is_empty else ())], answer.query)
        ]
        masker = self.candidates.masker
        if doubts and not signs.empty and (masker is None or masker.shows_rows):
            context = candidates.linked.context
            short_context = replace(context, limits=replace(context.limits, rows=_MAX_RESULT_ROWS))
            doubts.insert(0, f"Your query gives {await _format_result(short_context, answer)}")
        return Verdict(reply, answer, tuple(doubts), signs, other_number)

    def _mask_texts(self, texts: Sequence[str], query: str) -> tuple[str, ...]:
        """Return texts about a query as a model may read them."""
        masker = self.candidates.masker
        return tuple(
            texts if masker is None else (masker.mask_explanation(query, text) for text in texts)
        )

    def is_comparable(self, answer: Answer, second: Answer) -> bool:
        """Return whether the answer columns of two answers on one graph hold comparable values.

        Entities are comparable if they share a class or have none; numbers are with numbers, texts
        with texts, and booleans with booleans. Empty results are comparable with all others.
        """
        if answer.graph != second.graph or (answer.boolean is None) != (second.boolean is None):
            return False
        arrays = self.candidates.by_graph[answer.graph].search_run.graph.arrays
        kinds = [_collect_kinds(each_answer, arrays) for each_answer in (answer, second)]
        return not all(kinds) or bool(kinds[0] & kinds[1])


def _collect_kinds(answer: Answer, arrays: GraphArrays | None) -> set[str]:
    """Return the kinds of the answer values in the first rows; "thing" for an IRI without class."""
    indices = [answer.result.variables.index(name) for name in answer.answer_columns]
    kinds = set[str]()
    for row in answer.result.rows[:_MAX_RESULT_ROWS]:
        for term in (row[index] for index in indices):
            if isinstance(term, Literal):
                kinds.add(_get_literal_kind(term))
            elif term is not None:
                types = look_up_types(arrays, str(term)) if arrays is not None else ()
                kinds.update(types or ("thing",))
    return kinds


def _get_literal_kind(literal: Literal) -> str:
    """Return the kind of a literal; all texts are of one kind, and so are all numbers."""
    datatype = literal.datatype.value
    if datatype in NUMERIC_DATATYPES:
        return "number"
    return "text" if datatype in (XSD_STRING, RDF_LANG_STRING) else datatype


async def _format_result(context: Context, answer: Answer) -> str:
    """Return the first rows of a result, or yes or no."""
    if answer.boolean is not None:
        return "yes." if answer.boolean else "no."
    return (await render_table(context, answer.result)).text
