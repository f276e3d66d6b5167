"""Several graphs under one question: one set of prefixes, joins by SERVICE, what words link to."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from askgraph.answers.validation import Knowledge, Services
from askgraph.answers.validation.graph_knowledge import graph_knowledge
from askgraph.endpoint import Counted, Endpoint
from askgraph.endpoint.federated import Federated
from askgraph.graph import KnowledgeGraph, service_iri
from askgraph.graph.shapes import frequent
from askgraph.methods.tools import Context, Limits
from askgraph.methods.tools.schema_lines import Slice
from askgraph.search.link import LinkedQuestion
from askgraph.search.pipeline import link_to_graph
from askgraph.search.tokenize import tokenize
from askgraph.sparql.prefixes import PrefixMap
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
        return service_iri(self.given)


@dataclass(frozen=True, eq=False)
class AskedGraphs:
    """The graphs of one question; requests to them are counted.

    If there are several, a query may call them by SERVICE, and no other endpoint: by the IRI
    that `service_iri` gives, `askgraph:NAME`, or the address of the endpoint. A prefix that two of
    them bind differently has another name for the second one.
    """

    every: tuple[AskedGraph, ...]

    @classmethod
    def of(
        cls,
        question: Question,
        graphs: Sequence[KnowledgeGraph],
        limits: Limits,
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
            profile = frequent(graph.profile, fraction) if fraction < 1 else graph.profile
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
        found |= {service_iri(graph): at, f"askgraph:{graph.name}": at}
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
    near: Slice

    @property
    def context(self) -> Context:
        """The context in which the graph is asked."""
        return self.asked.context


async def linked_graph(text: str, asked: AskedGraph) -> LinkedGraph:
    """Link the words of a text to the names of a graph."""
    context = asked.context
    linked = await link_to_graph(tokenize(text, context.question.language), context.graph)
    return LinkedGraph(asked, linked, Slice(context.graph, linked))
