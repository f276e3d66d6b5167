"""Queries that a model writes for one question: each read, validated, repaired, run, and judged.

What is surely wrong is told before anything runs, but only once: findings may be wrong, and a query
that comes again is run. An empty result is told once as well: a query that comes again stands.
"""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pyoxigraph import NamedNode

from askgraph.answers.validation import WRONG, Finding
from askgraph.answers.validation.validate import validated
from askgraph.errors import QueryError, ServiceError, Unauthorised, Unreachable
from askgraph.methods.shared.several_graphs import AskedGraph, AskedGraphs
from askgraph.methods.tools.query_run import answered
from askgraph.methods.tools.rendering import labels_in
from askgraph.sparql.results import Term
from askgraph.sparql.rewrite import form_of, repaired
from askgraph.trace import Answer

GRAPH = "# graph: "
"""What a line of a query begins with that names the graph which the query is put to."""

_FENCED = re.compile(r"```[\w-]*[^\S\n]*\n(.*?)(?:```|\Z)", re.DOTALL)
_NAMED = re.compile(
    r"^[^\S\n]*#\+?[^\S\n]*(?:graph|endpoint)[^\S\n]*:[^\S\n]*[<`]?([^\s>`]+)[>`]?[^\S\n]*\n?",
    re.IGNORECASE | re.MULTILINE,
)
_COLUMNS = re.compile(
    r"^[^\S\n]*#\+?[^\S\n]*answers?[^\S\n]*:((?:[\s,]*[?$]\w+)+)[^\S\n]*\n?",
    re.IGNORECASE | re.MULTILINE,
)

_FIRST, _REVISED = 0.75, 0.6  # what is believed of a query, written at once or after a revision
_DOUBTED = 0.2  # what is taken off for a query that the validator calls wrong
_TOLD = 5  # findings of one query
_PROPOSED = 3  # names instead of a wrong one
_LABELLED = 200  # rows
_LONGEST = 2_000  # characters of what is told


@dataclass(frozen=True)
class Written:
    """A query without the lines that name its graph and its answer; these are empty if not there.

    `columns` are variables by name, without a question mark.
    """

    query: str
    graph: str = ""
    columns: tuple[str, ...] = ()


def written_query(text: str) -> Written | None:
    """Return the last query of a reply, in a block of code or bare; None if there is none.

    An update is none. The line `# graph: NAME` names the graph; `#+ endpoint: URL`, which the
    published SPARQL-LLM writes, is read as well. `# answer: ?a ?b` names the columns asked for.
    """
    blocks = _FENCED.findall(text)
    for block in [*reversed(blocks), text]:
        named, told = _NAMED.search(block), _COLUMNS.search(block)
        query = repaired(_COLUMNS.sub("", _NAMED.sub("", block))).query.strip().rstrip("`")
        if form_of(query):
            columns = re.findall(r"[?$](\w+)", told[1]) if told else ()
            return Written(query, named[1] if named else "", tuple(dict.fromkeys(columns)))
    return None


@dataclass(frozen=True)
class Attempt:
    """What came of one query: an answer, what the validator finds wrong, why there is no answer."""

    answer: Answer | None = None
    findings: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class _Checked:
    """A query as it would run, where, and what is surely wrong with it."""

    graph: AskedGraph
    query: str
    columns: tuple[str, ...] = ()
    wrong: tuple[Finding, ...] = ()


@dataclass(eq=False)
class Trials:
    """Tries replies one after the other; `best` is the answer so far.

    The best is the last query that ran, unless that one is empty and another one was there before.
    """

    graphs: AskedGraphs
    validate: bool = True
    best: Answer | None = None
    _tried: int = 0
    _told: set[str] = field(default_factory=set)  # queries that were called wrong
    _ran_before: set[str] = field(default_factory=set)
    _refused: _Checked | None = None

    async def tried(self, text: str, *, last: bool = False) -> str:
        """Try the query in a reply; return what is wrong for the model, empty for nothing.

        With `last` the query runs whatever the validator says. Raises `ServiceError` if the
        endpoint is down.
        """
        believed = _REVISED if self._tried else _FIRST
        self._tried += 1
        written = written_query(text)
        if written is None:
            return "There is no SELECT or ASK query in your reply."
        where = self._where(written)
        if not where:
            names = ", ".join(one.name for one in self.graphs.every)
            return f"There is no graph {written.graph!r}: the first line is {GRAPH}NAME, of {names}"
        checked = await self._checked(written, where)
        from askgraph.sparql.rewrite.canonical import canonical_query  # for queries that come again

        prefixes = checked.graph.context.graph.prefixes.namespaces
        key = f"{checked.graph.name} {canonical_query(checked.query, prefixes=prefixes)}"
        if checked.wrong and key not in self._told and not last:
            self._told.add(key)
            self._refused = checked
            return "\n".join(map(_said, checked.wrong[:_TOLD]))[:_LONGEST]
        problem = await self._ran(checked, believed)
        insisted = key in self._ran_before and self.best is not None
        self._ran_before.add(key)
        return "" if insisted else problem

    async def attempted(self, written: Written) -> Attempt:
        """Run a query whatever the validator says, and tell what came of it; it is not kept.

        Raises `ServiceError` if the endpoint is down.
        """
        where = self._where(written)
        if not where:
            return Attempt(problem=f"There is no graph {written.graph!r}.")
        checked = await self._checked(written, where)
        findings = tuple(map(_said, checked.wrong[:_TOLD]))
        found = await self._answered(checked, _FIRST)
        if isinstance(found, str):
            return Attempt(None, findings, found)
        return Attempt(found, findings)

    async def settle(self) -> None:
        """Where nothing has run, run the last query that the validator called wrong."""
        if self.best is None and self._refused is not None:
            await self._ran(self._refused, _REVISED)

    def _where(self, written: Written) -> Sequence[AskedGraph]:
        """The graphs that a query may be for: the one it names, else any."""
        if not written.graph or not self.graphs.several:
            return self.graphs.every
        named = self.graphs.named(written.graph)
        return () if named is None else (named,)

    async def _checked(self, written: Written, where: Sequence[AskedGraph]) -> _Checked:
        """The query on the graph of which the fewest faults in it are known."""
        if not self.validate and len(where) == 1:
            return _Checked(where[0], written.query, written.columns)
        found = [await asyncio.to_thread(self._validated, written, one) for one in where]
        best = min(found, key=lambda one: sum(finding.certainty for finding in one.wrong))
        return best if self.validate else replace(best, query=written.query)

    def _validated(self, written: Written, graph: AskedGraph) -> _Checked:
        verdict = validated(
            written.query, self.graphs.knowledge(graph), language=graph.context.language
        )
        wrong = tuple(one for one in verdict.remaining if one.certainty >= WRONG)
        return _Checked(graph, verdict.repaired, written.columns, wrong)

    async def _ran(self, checked: _Checked, believed: float) -> str:
        found = await self._answered(checked, believed)
        if isinstance(found, str):
            return found
        if self.best is None or not found.is_empty or self.best.is_empty:
            self.best = found
        why = f"The query has no result. {found.why_empty or ''}".strip()
        return why if found.is_empty else ""

    async def _answered(self, checked: _Checked, believed: float) -> Answer | str:
        """The answer of a query, or in words why there is none."""
        confidence = believed - _DOUBTED * bool(checked.wrong)
        try:
            found = await answered(
                checked.graph.context, checked.query, checked.columns, confidence=confidence
            )
        except (Unreachable, Unauthorised):
            raise
        except QueryError as problem:
            return f"The query failed: {problem}"[:_LONGEST]
        except ServiceError as problem:
            from askgraph.methods.tools.query_faults import said_failure  # most queries do not fail

            return f"The query failed: {said_failure(problem)}"[:_LONGEST]
        return await self._labelled(found, checked.graph)

    async def _labelled(self, answer: Answer, graph: AskedGraph) -> Answer:
        """The answer with the labels that other graphs have for what their SERVICE gave."""
        labels = dict(answer.labels)
        for other in self.graphs.every if "SERVICE" in answer.query.upper() else ():
            terms = (term for row in answer.result.rows[:_LABELLED] for term in row)
            found = {term.value for term in terms if isinstance(term, NamedNode)}
            if other is not graph and (unnamed := sorted(found - labels.keys())):
                labels |= await labels_in(other.context, unnamed)
        return replace(answer, labels=labels)


def _said(finding: Finding) -> str:
    proposals = ", ".join(
        f'{one.text} "{one.label}"' if one.label else one.text
        for one in finding.proposals[:_PROPOSED]
    )
    told = f"{finding.message.rstrip('.')}."
    return f"{told} Instead, perhaps: {proposals}." if proposals else told


def disagrees(answer: Answer, other: Answer) -> bool:
    """Whether no column of another result holds just what an answer column does."""
    if answer.boolean is not None or other.boolean is not None:
        return answer.boolean != other.boolean
    theirs = {_values(other, column) for column in other.result.variables}
    return not any(_values(answer, column) in theirs for column in answer.answer_columns)


def _values(answer: Answer, column: str) -> frozenset[Term | None]:
    at = answer.result.variables.index(column)
    return frozenset(row[at] for row in answer.result.rows)
