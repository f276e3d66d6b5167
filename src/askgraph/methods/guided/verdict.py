"""Verdicts on the replies of the guided method's model: each run, with what is doubtful about it.

Nothing here asks a model; what is doubtful is put in words for one, with the evidence.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from pyoxigraph import Literal, NamedNode

from askgraph.answers import bare_answer
from askgraph.answers.verbalize import in_words
from askgraph.errors import QueryError, ServiceError
from askgraph.graph.arrays import GraphArrays
from askgraph.llm import Choice
from askgraph.methods.guided.candidates import Candidates, Numbered
from askgraph.methods.guided.prompt import Reply, read_reply
from askgraph.methods.shared.several_graphs import Trials, disagrees
from askgraph.methods.tools import Context
from askgraph.methods.tools.hits import look_up_types
from askgraph.methods.tools.rendering import TermWriter, render_table
from askgraph.search.decide import find_omitted_words
from askgraph.search.rank.expected_answer_type import derive_expected_answer
from askgraph.search.rank.type_mismatches import find_type_mismatches
from askgraph.sparql.results import Row, SelectResult, value_of
from askgraph.sparql.vocabulary import NUMERIC_DATATYPES, RDF_LANG_STRING, XSD_STRING
from askgraph.trace import Answer, heard

_NOTHING_SAID = "There is nothing before this that could stay the same."
_NOT_BETWEEN = "You ask back, but not between two of the candidates: decide yourself."
_UNSEEN = "You have not seen this result yet: look whether it is what the question asks for."
_SURE = 0.7  # what a model says of a query whose result it need not see, if that is plain
_MANY = 1_000  # rows from which on a result that nobody has seen is odd
_BELIEVED = 0.9  # the chance of a candidate that another result contradicts
_SHOWN = 6  # rows of a result that is doubted
_BIAS = 0.8
_WEIGHTS = {
    "searched": 1.6,
    "against": -0.8,
    "said": 1.0,
    "finding": -1.0,
    "empty": -2.6,
    "truncated": -0.4,
    "misfit": -1.2,
    "revised": -0.5,
}
_FINDINGS = 2  # the third finding tells no more than two do


@dataclass(frozen=True)
class Signs:
    """What is known of an answer when a run ends.

    `searched` is the chance that graph search gives to a candidate with the same result, 0 if no
    candidate has it; `against` the chance that it gives to the best one with another result. `said`
    is the model's own word, from 0 to 1, None if it said nothing. `findings` are those of the
    validator that still stand; a result may be `empty` or `truncated`; a `misfit` has not the shape
    that the question asks for; `revised` says that the first reply had to be mended by another
    call.
    """

    searched: float = 0.0
    against: float = 0.0
    said: float | None = None
    findings: int = 0
    empty: bool = False
    truncated: bool = False
    misfit: bool = False
    revised: bool = False


def answer_confidence(signs: Signs) -> float:
    """Estimate the chance (0–1, both excluded) that an answer with these signs is right.

    A logistic model. The bias and the weights of `searched` and `against` were fitted to 1,380
    published answers of a Llama-3.3-70B agent over supply-kgrep (Henselmann et al., 2025) and to
    370 recorded answers of a stronger model by four methods, each of the two weighing half: the
    weaker one needs agreement more, and is right less often without it. The other weights are
    plausible and were not fitted; of 1,166 published answers with an empty result one was right. A
    better sign never lowers the chance.
    """
    facts = {
        "searched": signs.searched,
        "against": signs.against,
        "said": 0.0 if signs.said is None else signs.said - 0.5,
        "finding": min(signs.findings, _FINDINGS),
        "empty": signs.empty,
        "truncated": signs.truncated,
        "misfit": signs.misfit,
        "revised": signs.revised,
    }
    linear = _BIAS + sum(_WEIGHTS[name] * value for name, value in facts.items())
    return 1 / (1 + math.exp(-linear))


@dataclass(frozen=True)
class Verdict:
    """A reply and the answer that it comes to, None for none; `doubts` are told to the model.

    `signs` are what speaks for and against the answer, but for the votes of others; `rival` is the
    number of the best candidate with another result, 0 for none.
    """

    reply: Reply
    answer: Answer | None = None
    doubts: tuple[str, ...] = ()
    signs: Signs = field(default_factory=Signs)
    rival: int = 0

    @property
    def confidence(self) -> float:
        """The chance that the answer is right, as far as this reply tells."""
        return answer_confidence(self.signs)

    @property
    def declines(self) -> bool:
        """Whether the model says that the graph holds no answer."""
        said = self.reply
        return not (said.problem or said.chosen or said.written or said.ask or said.same)


@dataclass(eq=False)
class Judge:
    """Judges replies about one question; `chances` are those of the numbered candidates."""

    candidates: Candidates
    trials: Trials
    chances: Sequence[float]
    _taken: dict[int, Answer | None] = field(default_factory=dict)

    def read(self, choice: Choice) -> Reply:
        """Read what a model said, its placeholders replaced by what they stand for."""
        reply, veil = read_reply(choice, len(self.chances)), self.candidates.veil
        if veil is None:
            return reply
        thought, ask = veil.unmask_text(reply.thought), veil.unmask_text(reply.ask)
        told = replace(reply, thought=thought, ask=ask)
        if reply.written is None:
            return told
        try:
            query = veil.unmask_query(reply.written.query)
        except QueryError as problem:
            return Reply(problem=f"{problem}.")
        return replace(told, written=replace(reply.written, query=query))

    async def judged(self, reply: Reply, *, revised: bool = False) -> Verdict:
        """Run what a reply says; `revised` tells that it is not the first.

        Raises `ServiceError` if an endpoint is down.
        """
        judge = partial(self._judged, reply, revised=revised)
        return await heard("verdict", Verdict, judge, reply, revised)

    async def _judged(self, reply: Reply, *, revised: bool) -> Verdict:
        if reply.problem or reply.same:
            return Verdict(reply, doubts=(reply.problem or _NOTHING_SAID,))
        if reply.written is not None:
            written = reply.written
            graph = written.graph
            if not graph and reply.chosen:
                graph = self.candidates.numbered[reply.chosen - 1].graph
            columns = reply.columns or written.columns
            tried = await self.trials.attempted(replace(written, graph=graph, columns=columns))
            if tried.answer is None:
                doubts = self._told((*tried.findings, tried.problem), written.query)
                return Verdict(reply, doubts=doubts)
            return await self._weighed(reply, tried.answer, tried.findings, revised=revised)
        if reply.chosen:
            answer = await self._take(reply.chosen)
            if answer is None:
                doubt = f"Candidate {reply.chosen} could not be run to its end."
                return Verdict(reply, doubts=(doubt,))
            told = [name for name in reply.columns if name in answer.result.variables]
            if told and len(told) == len(reply.columns):
                answer = replace(answer, answer_columns=tuple(told))
            return await self._weighed(reply, answer, (), revised=revised)
        decides_nothing = reply.ask and len(reply.between) < 2
        return Verdict(reply, doubts=(_NOT_BETWEEN,) if decides_nothing else ())

    async def taken(self, number: int) -> Answer | None:
        """Return the answer of a candidate as graph search gives it; None if it fails."""
        return await heard("candidate", Answer | None, partial(self._take, number), number)

    async def _take(self, number: int) -> Answer | None:
        if number not in self._taken:
            one = self.candidates.numbered[number - 1]
            searched = one.found.searched
            best, chance = one.ran.cluster.best, self.chances[number - 1]
            known = one.ran.complete_result
            try:
                found = await searched.answer(best, one.found.proposal, chance, known=known)
            except ServiceError:
                if known is None:
                    raise
                found = _bare(one, chance)  # its rows are there, labels and evidence are not
            self._taken[number] = found
        return self._taken[number]

    async def _weighed(
        self, reply: Reply, answer: Answer, findings: Sequence[str], *, revised: bool
    ) -> Verdict:
        """The verdict on an answer: what speaks for and against it."""
        search = self.candidates.by_graph[answer.graph]
        given = answer.result if answer.boolean is None else answer.boolean
        expected = derive_expected_answer(search.linked.linked)
        unfit = find_type_mismatches(expected, answer.query, given, search.searched.graph.profile)
        same = other = 0
        for one in self.candidates.numbered:
            found = one.ran
            theirs = bare_answer(
                found.query, one.graph, found.rows_or_boolean, columns=found.columns
            )
            differs = disagrees(answer, theirs)
            other = one.number if differs and not other else other
            same = one.number if not differs and not same else same
        chances = self.chances
        signs = Signs(
            searched=chances[same - 1] if same else 0.0,
            against=chances[other - 1] if other else 0.0,
            said=reply.sure,
            findings=len(findings),
            empty=answer.is_empty,
            truncated=answer.result.truncated is not None,
            misfit=bool(unfit),
            revised=revised,
        )
        doubts = [*self._told([*findings, *_of_result(answer), *unfit], answer.query)]
        seen = same and (answer.boolean is None or reply.chosen)  # yes is given by many a query
        unseen = reply.written is not None and not seen and not signs.empty and bool(chances)
        if unseen and (odd := await self._odd(answer, reply, signs, other)) is not None:
            doubts.append(f"{await self._unseen(answer, reply.chosen)}{odd}")
        veil = self.candidates.veil
        if doubts and not signs.empty and (veil is None or veil.shows_rows):
            context = search.linked.context
            few = replace(context, limits=replace(context.limits, rows=_SHOWN))
            doubts.insert(0, f"Your query gives {await _given(few, answer)}")
        return Verdict(reply, answer, tuple(doubts), signs, other)

    def _told(self, texts: Sequence[str], query: str) -> tuple[str, ...]:
        """What is said of a query as a model may read it."""
        veil = self.candidates.veil
        return tuple(
            texts if veil is None else (veil.mask_explanation(query, text) for text in texts)
        )

    async def _odd(self, answer: Answer, reply: Reply, signs: Signs, other: int) -> str | None:
        """What is odd about a result that nobody has seen; None if it may stand unseen.

        A yes or no may not, nor what the model is not sure of, nor another result than that of a
        candidate that graph search is sure of, uses all words, and holds the same kind of thing.
        """
        veil = self.candidates.veil
        if odd := "".join(f" {one}" for one in _oddities(answer)):
            return odd if veil is None or veil.shows_rows else ""
        if answer.boolean is not None or (reply.sure or 0.0) < _SURE:
            return ""
        if signs.against < _BELIEVED or other == reply.chosen:
            return None
        theirs = await self._take(other)
        if theirs is None or theirs.unused_words or not self.of_one_kind(answer, theirs):
            return None
        return f" Candidate {other} leaves no word out, and gives something else."

    async def _unseen(self, answer: Answer, number: int) -> str:
        """That nobody has seen this result, and how it differs from that of the candidate edited.

        The difference is told by the rows that only one of them has; nothing if the candidate
        itself leaves words out, or if the two hold different kinds of things, which the question
        decides and not the rows.
        """
        veil = self.candidates.veil
        if not number or (veil is not None and not veil.shows_rows):
            return _UNSEEN
        theirs = await self._take(number)
        if theirs is None or theirs.unused_words or not self.of_one_kind(answer, theirs):
            return _UNSEEN
        context = self.candidates.by_graph[answer.graph].linked.context
        names = ("your query", f"candidate {number}")
        apart = await told_apart(context, answer, theirs, names=names)
        return f"{_UNSEEN} {apart}" if apart else _UNSEEN

    def of_one_kind(self, answer: Answer, other: Answer) -> bool:
        """Whether the answer columns of two answers on one graph hold what can be compared.

        Things can if they share a class or have none, numbers with numbers, texts with texts, and
        yes with no. What is empty can be compared with anything.
        """
        if answer.graph != other.graph or (answer.boolean is None) != (other.boolean is None):
            return False
        arrays = self.candidates.by_graph[answer.graph].searched.graph.arrays
        kinds = [_kinds(one, arrays) for one in (answer, other)]
        return not all(kinds) or bool(kinds[0] & kinds[1])


def _kinds(answer: Answer, arrays: GraphArrays | None) -> set[str]:
    """The kinds of what the answer columns hold in the first rows; "thing" if it has no class."""
    at = [answer.result.variables.index(name) for name in answer.answer_columns]
    found = set[str]()
    for row in answer.result.rows[:_SHOWN]:
        for term in (row[place] for place in at):
            if isinstance(term, Literal):
                found.add(_sort(term))
            elif term is not None:
                types = look_up_types(arrays, str(term)) if arrays is not None else ()
                found.update(types or ("thing",))
    return found


def _sort(literal: Literal) -> str:
    """Return the kind of a literal: texts are alike, and so are numbers."""
    datatype = literal.datatype.value
    if datatype in NUMERIC_DATATYPES:
        return "number"
    return "text" if datatype in (XSD_STRING, RDF_LANG_STRING) else datatype


async def _given(context: Context, answer: Answer) -> str:
    """What a query gives: the first rows, or yes or no."""
    if answer.boolean is not None:
        return "yes." if answer.boolean else "no."
    return (await render_table(context, answer.result)).text


def _oddities(answer: Answer) -> Iterator[str]:
    """What a result has that a right one hardly ever has, in words."""
    result = answer.result
    for name in result.variables if answer.boolean is None else ():
        if all(term is None for term in result.column(name)):
            yield f"?{name} never has a value."
    if len(result.rows) > _MANY:
        yield f"It has {len(result.rows):,} rows."
    counted = [value_of(term) for row in result.rows for term in row]
    if counted == ["0"]:
        yield "There is nothing to count or to add up."


def _bare(one: Numbered, chance: float) -> Answer:
    """A candidate as an answer without labels and evidence."""
    found = one.ran
    words = in_words(found.query, {}, language=one.context.language)
    answer = bare_answer(
        found.query,
        one.graph,
        found.rows_or_boolean,
        columns=found.columns,
        words=words,
        confidence=chance,
    )
    return replace(
        answer,
        unused_words=find_omitted_words(
            one.found.proposal, found.cluster.best, is_query_shown=True
        ),
    )


def _of_result(answer: Answer) -> list[str]:
    if answer.is_empty:
        return [f"The query has no result. {answer.why_empty or ''}".strip()]
    if answer.result.truncated is not None:
        return [f"The result was cut off: {answer.result.truncated.reason}."]
    return []


_DIFFERING_ROWS = 3  # of each side
_DIFFERING_CELLS = 3  # of a row


async def told_apart(
    context: Context, first: Answer, second: Answer, *, names: tuple[str, str] = ("1", "2")
) -> str:
    """Return how two answers on the context's graph differ, by their answer columns; "" if not.

    Some rows that only one of them has, at most about 150 tokens; the answers are called by
    `names`. Raises `ServiceError` if labels are asked of a graph that is down.
    """
    # few results are compared by their rows
    from askgraph.sparql.comparison import alike, differing, of_columns

    given = [
        of_columns(one.result, one.answer_columns) if one.boolean is None else one.boolean
        for one in (first, second)
    ]
    if alike(given) == [0, 0]:
        return ""
    one, other = given
    difference = differing(_as_rows(one), _as_rows(other))
    only = (difference.only_first, difference.only_second)
    shown = [row[:_DIFFERING_CELLS] for rows in only for row in rows[:_DIFFERING_ROWS]]
    iris = [term.value for row in shown for term in row if isinstance(term, NamedNode)]
    writer = await TermWriter.from_iris(context, iris)
    if all(isinstance(each, bool) or _is_one_value(each) for each in given):
        gives = [
            f"{name} gives {_outcome(each, writer)}"
            for name, each in zip(names, given, strict=True)
        ]
        return f"{', '.join(gives)}."
    sizes = [f"{name} has {_size(each)}" for name, each in zip(names, given, strict=True)]
    lines = [f"{', '.join(sizes)}; {difference.common:,} in common."]
    lines += [
        f"Only {name}: {_rows(rows, writer)}"
        for name, rows in zip(names, only, strict=True)
        if rows
    ]
    widths = {len(each.variables) for each in given if isinstance(each, SelectResult)}
    if not any(only) and len(widths) > 1:
        lines.append("They differ in the number of columns.")
    return "\n".join(lines)


def _as_rows(given: SelectResult | bool) -> SelectResult:
    return given if not isinstance(given, bool) else SelectResult(("answer",), ((Literal(given),),))


def _is_one_value(given: SelectResult) -> bool:
    return len(given.rows) == 1 and len(given.variables) == 1


def _outcome(given: SelectResult | bool, writer: TermWriter) -> str:
    if isinstance(given, bool):
        return "yes" if given else "no"
    from askgraph.sparql.comparison import is_blank  # few results are compared by their rows

    return "nothing" if is_blank(given) else _rows(given.rows, writer)


def _size(given: SelectResult | bool) -> str:
    if isinstance(given, bool):
        return "a yes or no"
    many = len(set(given.rows))
    cut = "the first " if given.truncated else ""
    only = "different " if many < len(given.rows) else ""
    return f"{cut}{many:,} {only}{'row' if many == 1 else 'rows'}"


def _rows(rows: Sequence[Row], writer: TermWriter) -> str:
    told = []
    for row in rows[:_DIFFERING_ROWS]:
        cells = ", ".join(map(writer.write_term, row[:_DIFFERING_CELLS]))
        told.append(f"{cells}, …" if len(row) > _DIFFERING_CELLS else cells)
    left = len(rows) - _DIFFERING_ROWS
    return f"{'; '.join(told)}{f' and {left:,} more' if left > 0 else ''}"
