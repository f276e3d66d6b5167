"""Graphs under one question, and the queries that a model writes for it.

Several graphs have one set of prefixes and are joined by SERVICE. Each query is read, validated,
repaired, run, and judged. What is surely wrong is told before anything runs, but only once:
findings may be wrong, and a query that comes again is run. An empty result is told once as well.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from pyoxigraph import NamedNode

from askgraph.answers.validation import WRONG, Finding, Knowledge, Services
from askgraph.answers.validation.graph_knowledge import graph_knowledge
from askgraph.answers.validation.validate import validated
from askgraph.endpoint import Counted, Endpoint
from askgraph.endpoint.federated import Federated
from askgraph.errors import QueryError, ServiceError, Unauthorised, Unreachable
from askgraph.graph import KnowledgeGraph, get_service_iri
from askgraph.graph.shapes import select_frequent
from askgraph.methods.tools import Context, ToolLimits
from askgraph.methods.tools.query_run import answer_query
from askgraph.methods.tools.rendering import fetch_labels
from askgraph.methods.tools.schema_lines import SchemaSlice
from askgraph.search.link import LinkedQuestion
from askgraph.search.pipeline import link_to_graph
from askgraph.search.tokenize import tokenize
from askgraph.sparql.judge import form_of
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.results import Term
from askgraph.sparql.rewrite import repaired
from askgraph.trace import Answer, Question


@dataclass(frozen=True, eq=False)
class AskedGraph:
    """A graph as it was `given`, and the context in which it is asked."""

    given: KnowledgeGraph
    context: Context
    counted: Counted

    @property
    def name(self) -> str:
        """The graph's name in its workspace."""
        return self.given.name

    @property
    def service(self) -> str:
        """The IRI by which a SERVICE calls it."""
        return get_service_iri(self.given)


@dataclass(frozen=True, eq=False)
class AskedGraphs:
    """The graphs of one question; requests to them are counted.

    If there are several, a query may call them by SERVICE, and no other endpoint: by the IRI
    that `get_service_iri` gives, `askgraph:NAME`, or the address of the endpoint. A prefix that
    two of
    them bind differently has another name for the second one.
    """

    every: tuple[AskedGraph, ...]

    @classmethod
    def of(
        cls,
        question: Question,
        graphs: Sequence[KnowledgeGraph],
        limits: ToolLimits,
        *,
        fraction: float = 1.0,
    ) -> "AskedGraphs":
        """Wrap graphs for a question; of a schema the most frequent `fraction` is shown."""
        counted = [Counted(graph.endpoint) for graph in graphs]
        endpoints: Sequence[Endpoint] = counted
        prefixes = [graph.prefixes for graph in graphs]
        if len(graphs) > 1:
            prefixes = [_joined(prefixes)] * len(graphs)
            services = {iri: counted[at] for iri, at in _callable(graphs).items()}
            endpoints = [
                Federated(one, services, timeout=limits.timeout, prefixes=prefixes[0].namespaces)
                for one in counted
            ]
        every = []
        for at, graph in enumerate(graphs):
            profile = select_frequent(graph.profile, fraction) if fraction < 1 else graph.profile
            asked = replace(graph, endpoint=endpoints[at], prefixes=prefixes[at], profile=profile)
            every.append(AskedGraph(graph, Context(asked, question, limits), counted[at]))
        return cls(tuple(every))

    @property
    def requests(self) -> int:
        """The number of SPARQL requests so far."""
        return sum(one.counted.requests for one in self.every)

    @property
    def several(self) -> bool:
        """Whether there is more than one."""
        return len(self.every) > 1

    @cached_property
    def services(self) -> Mapping[str, AskedGraph]:
        """The graphs by every IRI by which one of them can be called."""
        called = _callable([one.given for one in self.every])
        return {iri: self.every[at] for iri, at in called.items()}

    def named(self, name: str) -> AskedGraph | None:
        """Return the graph of a name, of an IRI for SERVICE, or of an endpoint's address."""
        by_name = {one.name: one for one in self.every}
        return by_name.get(name) or self.services.get(name)

    def context_of(self, answer: Answer) -> Context:
        """Return what is known of the graph that an answer is of."""
        return next(one.context for one in self.every if one.name == answer.graph)

    def knowledge(self, asked: AskedGraph) -> Services:
        """Return what is known of a graph, and of all that a query on it may call.

        The first call for a large graph takes seconds: call it in a thread.
        """
        known = self._known
        others = {iri: known[id(one)] for iri, one in self.services.items()}
        return Services(known[id(asked)], others if self.several else {})

    @cached_property
    def _known(self) -> Mapping[int, Knowledge]:
        """What is known of each graph, with all prefixes that are told, by its identity."""
        return {
            id(one): replace(graph_knowledge(one.given), prefixes=one.context.graph.prefixes)
            if one.context.graph.prefixes is not one.given.prefixes
            else graph_knowledge(one.given)
            for one in self.every
        }


def _callable(graphs: Sequence[KnowledgeGraph]) -> dict[str, int]:
    """By what a SERVICE may name, which graph that is; an address that two share names none."""
    shared = Counter(graph.endpoint.address for graph in graphs)
    found: dict[str, int] = {}
    for at, graph in enumerate(graphs):
        address = graph.endpoint.address
        if shared[address] == 1 and address.startswith(("http://", "https://")):
            found[address] = at
    for at, graph in enumerate(graphs):
        found |= {get_service_iri(graph): at, f"askgraph:{graph.name}": at}
    return found


def _joined(several: Sequence[PrefixMap]) -> PrefixMap:
    """One map for all graphs: a prefix that is taken for something else gets a number."""
    own: dict[str, str] = {}
    for prefixes in several:
        for prefix, namespace in prefixes.own.items():
            if namespace not in own.values():
                own[_free(prefix, own)] = namespace
    return PrefixMap(own)


def _free(prefix: str, taken: Mapping[str, str]) -> str:
    name, number = prefix, 2
    while name in taken:
        name, number = f"{prefix or 'ns'}{number}", number + 1
    return name


@dataclass(frozen=True, eq=False)
class LinkedGraph:
    """The links of a text, and the part of the schema that is near to them."""

    asked: AskedGraph
    linked: LinkedQuestion
    near: SchemaSlice

    @property
    def context(self) -> Context:
        """The context in which the graph is asked."""
        return self.asked.context

    def headed(self, text: str, *, several: bool) -> str:
        """Return a text below the name of the graph, if there are several."""
        return f"{GRAPH}{self.asked.name}\n{text}" if several else text


async def linked_graph(text: str, asked: AskedGraph) -> LinkedGraph:
    """Link the words of a text to the names of a graph."""
    context = asked.context
    linked = await link_to_graph(tokenize(text, context.question.language), context.graph)
    return LinkedGraph(asked, linked, SchemaSlice(context.graph, linked))


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
            found = await answer_query(
                checked.graph.context, checked.query, checked.columns, confidence=confidence
            )
        except (Unreachable, Unauthorised):
            raise
        except QueryError as problem:
            return f"The query failed: {problem}"[:_LONGEST]
        except ServiceError as problem:
            from askgraph.methods.tools.query_faults import (
                explain_failure,
            )  # most queries do not fail

            return f"The query failed: {explain_failure(problem)}"[:_LONGEST]
        return await self._labelled(found, checked.graph)

    async def _labelled(self, answer: Answer, graph: AskedGraph) -> Answer:
        """The answer with the labels that other graphs have for what their SERVICE gave."""
        labels = dict(answer.labels)
        for other in self.graphs.every if "SERVICE" in answer.query.upper() else ():
            terms = (term for row in answer.result.rows[:_LABELLED] for term in row)
            found = {term.value for term in terms if isinstance(term, NamedNode)}
            if other is not graph and (unnamed := sorted(found - labels.keys())):
                labels |= await fetch_labels(other.context, unnamed)
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
