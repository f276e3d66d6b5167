"""Replies of the guided method's model, run and judged: the answer, and what is doubtful about it.

Nothing here asks a model. What is doubtful is told in words for one, with the evidence.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from askgraph.agent.feedback import disagrees
from askgraph.agent.trials import Trials
from askgraph.agent.written_query import Written
from askgraph.answers.build import bare_answer
from askgraph.errors import QueryError, ServiceError
from askgraph.explanation.verbalise import in_words
from askgraph.llm import Choice
from askgraph.methods.guided.candidates import Numbered
from askgraph.methods.guided.confidence import Signs, believed
from askgraph.methods.guided.difference import told_apart
from askgraph.methods.guided.proposals import Searches
from askgraph.methods.guided.reply import Reply, read_reply
from askgraph.search.rank.expected import expected_of
from askgraph.search.rank.expected_misfits import misfits
from askgraph.tools.tables import table
from askgraph.trace import Answer

__all__ = ["Judge", "Verdict"]

_NOT_BETWEEN = "You ask back, but not between two of the candidates: decide yourself."
_STRONG = 0.8  # what graph search believes of a candidate that is not passed over in silence
_SURE = 0.95  # what a model says of a query that need not see what it gives
_SHOWN = 6  # rows of a result that is doubted


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
        return believed(self.signs)

    @property
    def declines(self) -> bool:
        """Whether the model says that the graph holds no answer."""
        said = self.reply
        return not (said.problem or said.chosen or said.written or said.ask)


@dataclass(eq=False)
class Judge:
    """Judges replies about one question."""

    searches: Searches
    trials: Trials
    _taken: dict[int, Answer | None] = field(default_factory=dict)

    def read(self, choice: Choice) -> Reply:
        """Read what a model said, its placeholders replaced by what they stand for."""
        reply, veil = read_reply(choice, len(self.searches.numbered)), self.searches.veil
        if veil is None:
            return reply
        thought, ask = veil.in_words(reply.thought), veil.in_words(reply.ask)
        told = replace(reply, thought=thought, ask=ask)
        if reply.written is None:
            return told
        try:
            query = veil.unveiled(reply.written.query)
        except QueryError as problem:
            return Reply(problem=f"{problem}.")
        return replace(told, written=replace(reply.written, query=query))

    async def judged(self, reply: Reply, *, revised: bool = False) -> Verdict:
        """Run what a reply says; `revised` tells that it is not the first.

        Raises `ServiceError` where an endpoint is down.
        """
        if reply.problem:
            return Verdict(reply, doubts=(reply.problem,))
        if reply.written is not None:
            return await self._written(reply, reply.written, revised=revised)
        if reply.chosen:
            return await self._chosen(reply, revised=revised)
        decides_nothing = reply.ask and len(reply.between) < 2
        return Verdict(reply, doubts=(_NOT_BETWEEN,) if decides_nothing else ())

    async def taken(self, number: int) -> Answer | None:
        """Return the answer of a candidate as graph search gives it; None where it fails."""
        if number not in self._taken:
            one = self.searches.numbered[number - 1]
            searched = self.searches.by_graph[one.graph].searched
            best, chance = one.proposed.cluster.best, self.searches.believed[number - 1]
            known = one.proposed.whole
            try:
                found = await searched.answer(best, one.proposal, chance, known=known)
            except ServiceError:
                if known is None:
                    raise
                found = _bare(one, chance)  # its rows are there, labels and evidence are not
            self._taken[number] = found
        return self._taken[number]

    async def _chosen(self, reply: Reply, *, revised: bool) -> Verdict:
        answer = await self.taken(reply.chosen)
        if answer is None:
            doubt = f"Candidate {reply.chosen} could not be run to its end."
            return Verdict(reply, doubts=(doubt,))
        told = [name for name in reply.columns if name in answer.result.variables]
        if told and len(told) == len(reply.columns):
            answer = replace(answer, answer_columns=tuple(told))
        return await self._weighed(reply, answer, (), revised=revised)

    async def _written(self, reply: Reply, written: Written, *, revised: bool) -> Verdict:
        graph = written.graph
        if not graph and reply.chosen:
            graph = self.searches.numbered[reply.chosen - 1].graph
        columns = reply.columns or written.columns
        tried = await self.trials.attempted(replace(written, graph=graph, columns=columns))
        if tried.answer is None:
            doubts = self._told((*tried.findings, tried.problem), written.query)
            return Verdict(reply, doubts=doubts)
        return await self._weighed(reply, tried.answer, tried.findings, revised=revised)

    async def _weighed(
        self, reply: Reply, answer: Answer, findings: Sequence[str], *, revised: bool
    ) -> Verdict:
        """The verdict on an answer: what speaks for and against it."""
        search = self.searches.by_graph[answer.graph]
        given = answer.result if answer.boolean is None else answer.boolean
        expected = expected_of(search.linked.linked)
        unfit = misfits(expected, answer.query, given, search.searched.graph.profile)
        same, other = self._candidates(answer)
        chances = self.searches.believed
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
        unseen = reply.written is not None and not same and not signs.empty and bool(chances)
        if unseen and (reply.sure or 0.0) < _SURE:
            doubts.append(await self._unseen(answer, other if signs.against >= _STRONG else 0))
        veil = self.searches.veil
        if doubts and not signs.empty and answer.boolean is None and (veil is None or veil.rows):
            context = search.linked.context
            few = replace(context, limits=replace(context.limits, rows=_SHOWN))
            doubts.insert(0, f"Your query gives {(await table(few, answer.result)).text}")
        return Verdict(reply, answer, tuple(doubts), signs, other)

    def _told(self, texts: Sequence[str], query: str) -> tuple[str, ...]:
        """What is said of a query as a model may read it."""
        veil = self.searches.veil
        return tuple(texts if veil is None else (veil.explained(query, text) for text in texts))

    def _candidates(self, answer: Answer) -> tuple[int, int]:
        """The first candidate with this result, and the first with another; 0 for none."""
        same = other = 0
        for one in self.searches.numbered:
            found = one.proposed
            theirs = bare_answer(found.query, one.graph, found.given, columns=found.columns)
            differs = disagrees(answer, theirs)
            other = one.number if differs and not other else other
            same = one.number if not differs and not same else same
        return same, other

    async def _unseen(self, answer: Answer, number: int) -> str:
        """That nobody has seen this result, and how it differs from a candidate's, if from one.

        The difference is told by the rows that only one of them has.
        """
        said = "You have not seen this result yet: look whether it is what the question asks for."
        if not number:
            return said
        said = f"{said} Candidate {number}, which fits the words well, says something else."
        theirs = await self.taken(number)
        veil = self.searches.veil
        hides_rows = veil is not None and not veil.rows
        if theirs is None or theirs.graph != answer.graph or hides_rows:
            return said
        context = self.searches.by_graph[answer.graph].linked.context
        names = ("your query", f"candidate {number}")
        apart = await told_apart(context, answer, theirs, names=names)
        return f"{said} {apart.text}" if apart else said


def _bare(one: Numbered, chance: float) -> Answer:
    """A candidate as an answer without labels and evidence."""
    found = one.proposed
    words = in_words(found.query, {}, language=one.context.language)
    return bare_answer(
        found.query,
        one.graph,
        found.given,
        columns=found.columns,
        words=words,
        confidence=chance,
    )


def _of_result(answer: Answer) -> list[str]:
    if answer.is_empty:
        return [f"The query has no result. {answer.why_empty or ''}".strip()]
    if answer.result.truncated is not None:
        return [f"The result was cut off: {answer.result.truncated.reason}."]
    return []
