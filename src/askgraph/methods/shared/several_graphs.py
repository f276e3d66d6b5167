"""The graphs of a question, and the queries that a model writes for them.

Several graphs have one set of prefixes and are joined by SERVICE. Each query is parsed, validated,
repaired, run and judged. The model learns of certain faults before a query runs, but only once:
findings may be wrong, and a query that comes again is run. An empty result is also reported once.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from pyoxigraph import NamedNode

from askgraph.answers.validation import MIN_WRONG_CERTAINTY, Finding, Knowledge, ServiceKnowledge
from askgraph.answers.validation.graph_knowledge import load_graph_knowledge
from askgraph.answers.validation.validate import validate_query
from askgraph.endpoint import CountingEndpoint, Endpoint
from askgraph.endpoint.federated import FederatedEndpoint
from askgraph.errors import QueryError, ServiceError, Unauthorised, Unreachable
from askgraph.graph import KnowledgeGraph, get_service_iri
from askgraph.graph.shapes import select_frequent
from askgraph.methods.settings import load_texts
from askgraph.methods.tools import Context, ToolLimits
from askgraph.methods.tools.query_run import answer_query
from askgraph.methods.tools.rendering import fetch_labels
from askgraph.methods.tools.schema_lines import SchemaSlice
from askgraph.search.link import LinkedQuestion
from askgraph.search.pipeline import link_to_graph
from askgraph.search.tokenize import tokenize
from askgraph.sparql.judge import get_query_form
from askgraph.sparql.lexer import declare_prefixes
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.results import Term
from askgraph.sparql.rewrite import repair_query
from askgraph.trace import Answer, Question


@dataclass(frozen=True, eq=False)
class QuestionGraph:
    """A graph with the context in which a question is put to it.

    Attributes:
        given: the graph as the caller passed it.
        context: the context, whose graph counts requests and may have further prefixes.
        counted: the endpoint that counts requests.
    """

    base: KnowledgeGraph
    context: Context
    counted: CountingEndpoint

    @property
    def name(self) -> str:
        """The graph's name in its workspace."""
        return self.base.name

    @property
    def service(self) -> str:
        """The IRI of the graph in a SERVICE clause."""
        return get_service_iri(self.base)


@dataclass(frozen=True, eq=False)
class QuestionGraphs:
    """The graphs of one question, whose requests are counted.

    A query on one of several graphs may call the others by SERVICE, and no other endpoint: by the
    IRI from `service_iri`, by `askgraph:NAME`, or by the address of the endpoint. If two graphs
    bind a prefix differently, the second one gets another prefix.
    """

    graphs: tuple[QuestionGraph, ...]

    @classmethod
    def from_graphs(
        cls,
        question: Question,
        graphs: Sequence[KnowledgeGraph],
        limits: ToolLimits,
        *,
        fraction: float = 1.0,
    ) -> "QuestionGraphs":
        """Wrap graphs for a question; only the most frequent `fraction` of a schema is shown."""
        counted_endpoints = [CountingEndpoint(graph.endpoint) for graph in graphs]
        endpoints: Sequence[Endpoint] = counted_endpoints
        prefixes = [graph.prefixes for graph in graphs]
        if len(graphs) > 1:
            prefixes = [_join_prefixes(prefixes)] * len(graphs)
            services = {
                iri: counted_endpoints[position]
                for iri, position in _index_services(graphs).items()
            }
            endpoints = [
                FederatedEndpoint(
                    endpoint, services, timeout=limits.timeout, prefixes=prefixes[0].namespaces
                )
                for endpoint in counted_endpoints
            ]
        question_graphs = []
        for position, graph in enumerate(graphs):
            profile = select_frequent(graph.profile, fraction) if fraction < 1 else graph.profile
            wrapped_graph = replace(
                graph, endpoint=endpoints[position], prefixes=prefixes[position], profile=profile
            )
            question_graphs.append(
                QuestionGraph(
                    graph, Context(wrapped_graph, question, limits), counted_endpoints[position]
                )
            )
        return cls(tuple(question_graphs))

    @property
    def requests(self) -> int:
        """The number of SPARQL requests so far."""
        return sum(graph.counted.requests for graph in self.graphs)

    @property
    def has_several(self) -> bool:
        """Whether there is more than one graph."""
        return len(self.graphs) > 1

    @cached_property
    def services(self) -> Mapping[str, QuestionGraph]:
        """The graphs by each IRI that SERVICE may use for them."""
        positions_by_iri = _index_services([graph.base for graph in self.graphs])
        return {iri: self.graphs[position] for iri, position in positions_by_iri.items()}

    def find_graph(self, name: str) -> QuestionGraph | None:
        """Return the graph with a name, a SERVICE IRI or an endpoint address, or None."""
        by_name = {graph.name: graph for graph in self.graphs}
        return by_name.get(name) or self.services.get(name)

    def get_context(self, answer: Answer) -> Context:
        """Return the context of the graph of an answer."""
        return next(graph.context for graph in self.graphs if graph.name == answer.graph)

    def get_knowledge(self, graph: QuestionGraph) -> ServiceKnowledge:
        """Return the validator's knowledge of a graph and of all graphs that its queries may call.

        The first call for a large graph takes seconds: call it in a thread.
        """
        knowledge_by_id = self._knowledge_by_id
        services = {
            iri: knowledge_by_id[id(service_graph)] for iri, service_graph in self.services.items()
        }
        return ServiceKnowledge(knowledge_by_id[id(graph)], services if self.has_several else {})

    @cached_property
    def _knowledge_by_id(self) -> Mapping[int, Knowledge]:
        """The validator's knowledge of each graph by identity, with all prefixes of the prompt."""
        return {
            id(graph): replace(
                load_graph_knowledge(graph.base), prefixes=graph.context.graph.prefixes
            )
            if graph.context.graph.prefixes is not graph.base.prefixes
            else load_graph_knowledge(graph.base)
            for graph in self.graphs
        }


def _index_services(graphs: Sequence[KnowledgeGraph]) -> dict[str, int]:
    """Map each name that SERVICE may use to the position of its graph; shared ones are left out."""
    address_counts = Counter(graph.endpoint.address for graph in graphs)
    positions_by_iri: dict[str, int] = {}
    for position, graph in enumerate(graphs):
        address = graph.endpoint.address
        if address_counts[address] == 1 and address.startswith(("http://", "https://")):
            positions_by_iri[address] = position
    for position, graph in enumerate(graphs):
        positions_by_iri |= {get_service_iri(graph): position, f"askgraph:{graph.name}": position}
    return positions_by_iri


def _join_prefixes(prefix_maps: Sequence[PrefixMap]) -> PrefixMap:
    """Join the prefixes of all graphs; a prefix that is taken gets a number."""
    namespaces: dict[str, str] = {}
    for prefixes in prefix_maps:
        for prefix, namespace in prefixes.own_prefixes.items():
            if namespace not in namespaces.values():
                name, number = prefix, 2
                while name in namespaces:
                    name, number = f"{prefix or 'ns'}{number}", number + 1
                namespaces[name] = namespace
    return PrefixMap(namespaces)


@dataclass(frozen=True, eq=False)
class LinkedGraph:
    """A graph with the links of a text, and the part of the schema near them."""

    question_graph: QuestionGraph
    linked_question: LinkedQuestion
    schema_slice: SchemaSlice

    @property
    def context(self) -> Context:
        """The context in which the question is put to the graph."""
        return self.question_graph.context

    def add_heading(self, text: str, *, has_several_graphs: bool) -> str:
        """Return a text, below the name of the graph if there are several."""
        return (
            f"{GRAPH_LINE_PREFIX}{self.question_graph.name}\n{text}" if has_several_graphs else text
        )


async def link_graph(text: str, question_graph: QuestionGraph) -> LinkedGraph:
    """Link the words of a text to the names of a graph."""
    context = question_graph.context
    linked = await link_to_graph(tokenize(text, context.question.language), context.graph)
    return LinkedGraph(question_graph, linked, SchemaSlice(context.graph, linked))


GRAPH_LINE_PREFIX = "# graph: "
"""The start of a line in a query that names the graph to run the query on."""

_CODE_BLOCK = re.compile(r"```[\w-]*[^\S\n]*\n(.*?)(?:```|\Z)", re.DOTALL)
_GRAPH_LINE = re.compile(
    r"^[^\S\n]*#\+?[^\S\n]*(?:graph|endpoint)[^\S\n]*:[^\S\n]*[<`]?([^\s>`]+)[>`]?[^\S\n]*\n?",
    re.IGNORECASE | re.MULTILINE,
)
_ANSWER_LINE = re.compile(
    r"^[^\S\n]*#\+?[^\S\n]*answers?[^\S\n]*:((?:[\s,]*[?$]\w+)+)[^\S\n]*\n?",
    re.IGNORECASE | re.MULTILINE,
)

# Confidence in a query, at once or after a revision.
_FIRST_CONFIDENCE, _REVISED_CONFIDENCE = 0.75, 0.6
_FINDING_PENALTY = 0.2  # confidence penalty for a query with validation errors
_ADVICE: Mapping[str, str] = load_texts("shared")["advice"]
_MAX_FINDINGS = 5  # findings of one query
_MAX_PROPOSALS = 3  # replacements per wrong name
_MAX_LABELLED_ROWS = 200  # rows
_MAX_FEEDBACK_CHARACTERS = 2_000  # characters of an observation


@dataclass(frozen=True)
class ParsedQuery:
    """A query without the lines that name its graph and its answer columns."""

    query: str
    graph: str = ""  # the name of the graph, empty if the query has no such line
    columns: tuple[str, ...] = ()  # names of the answer variables, without question marks


def parse_query(text: str, *, repair: bool = True) -> ParsedQuery | None:
    """Return the last query of a reply, in a code block or bare, or None.

    Updates are ignored. The line `# graph: NAME` names the graph; `#+ endpoint: URL`, as in the
    published SPARQL-LLM, is read too. `# answer: ?a ?b` names the answer columns.
    """
    for block in [*reversed(_CODE_BLOCK.findall(text)), text]:
        graph_match, columns_match = _GRAPH_LINE.search(block), _ANSWER_LINE.search(block)
        query = _ANSWER_LINE.sub("", _GRAPH_LINE.sub("", block))
        query = (repair_query(query).query if repair else query).strip().rstrip("`")
        if get_query_form(query):
            columns = re.findall(r"[?$](\w+)", columns_match[1]) if columns_match else ()
            return ParsedQuery(
                query, graph_match[1] if graph_match else "", tuple(dict.fromkeys(columns))
            )
    return None


@dataclass(frozen=True)
class QueryAttempt:
    """The result of one query: an answer, the findings of the validator, or the problem."""

    answer: Answer | None = None
    findings: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class _ValidatedQuery:
    """A query as it would run, its graph, and the faults that are certain."""

    graph: QuestionGraph
    query: str
    columns: tuple[str, ...] = ()
    faults: tuple[Finding, ...] = ()


@dataclass(eq=False)
class QueryTrials:
    """Tries replies one after the other; `best` is the best answer so far.

    The best answer is that of the last query that ran, but an empty result never replaces another
    answer.
    """

    graphs: QuestionGraphs
    validate: bool = True
    is_plain: bool = False  # as published: no repairs, and an empty result is a result
    best: Answer | None = None
    _trial_count: int = 0
    _reported_queries: set[str] = field(default_factory=set)  # queries that were called wrong
    _run_queries: set[str] = field(default_factory=set)
    _rejected: _ValidatedQuery | None = None

    async def try_reply(self, text: str, *, is_last: bool = False) -> str:
        """Try the query in a reply; return the problem for the model, or an empty text.

        With `is_last` the query runs whatever the validator finds.

        Raises:
            ServiceError: the endpoint is down.
        """
        confidence = _REVISED_CONFIDENCE if self._trial_count else _FIRST_CONFIDENCE
        self._trial_count += 1
        parsed = parse_query(text, repair=not self.is_plain)
        if parsed is None:
            return "There is no SELECT or ASK query in your reply."
        graphs = self._select_graphs(parsed)
        if not graphs:
            names = ", ".join(graph.name for graph in self.graphs.graphs)
            return f"There is no graph {parsed.graph!r}; there are {names}. {_ADVICE['graph']}"
        validated_query = await self._check(parsed, graphs)
        from askgraph.sparql.rewrite.canonical import canonicalize_query  # for repeated queries

        prefixes = validated_query.graph.context.graph.prefixes.namespaces
        key = (
            f"{validated_query.graph.name} "
            f"{canonicalize_query(validated_query.query, prefixes=prefixes)}"
        )
        is_new = self.is_plain or key not in self._reported_queries
        if validated_query.faults and is_new and not is_last:
            self._reported_queries.add(key)
            self._rejected = validated_query
            return "\n".join(map(_format_finding, validated_query.faults[:_MAX_FINDINGS]))[
                :_MAX_FEEDBACK_CHARACTERS
            ]
        problem = await self._run_checked(validated_query, confidence)
        is_repeated = key in self._run_queries and self.best is not None
        self._run_queries.add(key)
        return "" if is_repeated else problem

    async def run_unvalidated(self, parsed: ParsedQuery) -> QueryAttempt:
        """Run a query whatever the validator finds, and return the result without keeping it.

        Raises:
            ServiceError: the endpoint is down.
        """
        graphs = self._select_graphs(parsed)
        if not graphs:
            return QueryAttempt(problem=f"There is no graph {parsed.graph!r}.")
        validated_query = await self._check(parsed, graphs)
        findings = tuple(map(_format_finding, validated_query.faults[:_MAX_FINDINGS]))
        result = await self._execute(validated_query, _FIRST_CONFIDENCE)
        if isinstance(result, str):
            return QueryAttempt(None, findings, result)
        return QueryAttempt(result, findings)

    async def run_rejected(self) -> None:
        """Run the last query that the validator rejected, if no query has run."""
        if self.best is None and self._rejected is not None:
            await self._run_checked(self._rejected, _REVISED_CONFIDENCE)

    def _select_graphs(self, parsed: ParsedQuery) -> Sequence[QuestionGraph]:
        """Return the graphs that a query may be for: the one it names, or else all."""
        if not parsed.graph or not self.graphs.has_several:
            return self.graphs.graphs
        named_graph = self.graphs.find_graph(parsed.graph)
        return () if named_graph is None else (named_graph,)

    async def _check(self, parsed: ParsedQuery, graphs: Sequence[QuestionGraph]) -> _ValidatedQuery:
        """Return the query on the graph where the fewest faults are known."""
        if not self.validate and len(graphs) == 1:
            return _ValidatedQuery(graphs[0], parsed.query, parsed.columns)
        validated_queries = [
            await asyncio.to_thread(self._validate_on_graph, parsed, candidate)
            for candidate in graphs
        ]
        best_query = min(
            validated_queries,
            key=lambda candidate: sum(finding.certainty for finding in candidate.faults),
        )
        return best_query if self.validate else replace(best_query, query=parsed.query)

    def _validate_on_graph(self, parsed: ParsedQuery, graph: QuestionGraph) -> _ValidatedQuery:
        query, namespaces = parsed.query, graph.context.graph.prefixes.namespaces
        if self.is_plain:
            query = declare_prefixes(query, namespaces)
        knowledge, language = self.graphs.get_knowledge(graph), graph.context.language
        verdict = validate_query(query, knowledge, language=language, repair=not self.is_plain)
        faults = tuple(
            finding for finding in verdict.remaining if finding.certainty >= MIN_WRONG_CERTAINTY
        )
        query = query if self.is_plain else verdict.repaired
        return _ValidatedQuery(graph, query, parsed.columns, faults)

    async def _run_checked(self, validated_query: _ValidatedQuery, confidence: float) -> str:
        result = await self._execute(validated_query, confidence)
        if isinstance(result, str):
            return result
        if self.best is None or not result.is_empty or self.best.is_empty:
            self.best = result
        if not result.is_empty or self.is_plain:
            return ""
        return f"The query has no result. {result.why_empty or ''}".strip()

    async def _execute(
        self, validated_query: _ValidatedQuery, base_confidence: float
    ) -> Answer | str:
        """Return the answer of a query, or a text with the reason for its failure."""
        confidence = base_confidence - _FINDING_PENALTY * bool(validated_query.faults)
        try:
            answer = await answer_query(
                validated_query.graph.context,
                validated_query.query,
                validated_query.columns,
                confidence=confidence,
            )
        except (Unreachable, Unauthorised):
            raise
        except QueryError as problem:
            return f"The query failed: {problem}"[:_MAX_FEEDBACK_CHARACTERS]
        except ServiceError as problem:
            # Most queries do not fail.
            from askgraph.methods.tools.query_faults import explain_failure

            return f"The query failed: {explain_failure(problem)}"[:_MAX_FEEDBACK_CHARACTERS]
        graph = validated_query.graph
        labels = dict(answer.labels)
        for other_graph in self.graphs.graphs if "SERVICE" in answer.query.upper() else ():
            terms = (term for row in answer.result.rows[:_MAX_LABELLED_ROWS] for term in row)
            iris = {term.value for term in terms if isinstance(term, NamedNode)}
            if other_graph is not graph and (unlabelled_iris := sorted(iris - labels.keys())):
                labels |= await fetch_labels(other_graph.context, unlabelled_iris)
        return replace(answer, labels=labels)


def remove_advice(fault: str) -> str:
    """Return a fault of a reply without the advice to the model, for the user."""
    return next(
        (fault.removesuffix(f" {text}") for text in _ADVICE.values() if fault.endswith(text)), fault
    )


def _format_finding(finding: Finding) -> str:
    proposals = ", ".join(
        f'{proposal.text} "{proposal.label}"' if proposal.label else proposal.text
        for proposal in finding.proposals[:_MAX_PROPOSALS]
    )
    message = f"{finding.message.rstrip('.')}."
    return f"{message} Instead, perhaps: {proposals}." if proposals else message


def has_different_values(answer: Answer, proposed: Answer) -> bool:
    """Return whether no column of another result has exactly the values of an answer column."""
    if answer.boolean is not None or proposed.boolean is not None:
        return answer.boolean != proposed.boolean
    proposed_values = {_get_column_values(proposed, column) for column in proposed.result.variables}
    return not any(
        _get_column_values(answer, column) in proposed_values for column in answer.answer_columns
    )


def _get_column_values(answer: Answer, column: str) -> frozenset[Term | None]:
    position = answer.result.variables.index(column)
    return frozenset(row[position] for row in answer.result.rows)
