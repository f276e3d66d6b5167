"""Queries that have solutions are never called wrong, and are never repaired.

They are made from triples of a graph: some of their terms become variables, some of the triples
become optional, alternatives, paths, or conditions. Whether they have solutions a store decides.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import TypeAlias

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pyoxigraph import (
    BlankNode,
    Literal,
    NamedNode,
    QuerySolutions,
    RdfFormat,
    Store,
    Triple,
    parse,
)
from tests.answers.validation.conftest import known
from tests.graphs import store_of

from askgraph import sample
from askgraph.answers.validation import MIN_WRONG_CERTAINTY, FaultKind, Knowledge, ServiceKnowledge
from askgraph.answers.validation.graph_knowledge import build_profile_knowledge
from askgraph.answers.validation.validate import validate_query
from askgraph.endpoint.oxigraph import OxigraphEndpoint
from askgraph.errors import ServiceError
from askgraph.graph.arrays import build_arrays
from askgraph.graph.local_profile import build_profile
from askgraph.graph.void import parse_void
from askgraph.graph.void_text import serialize_void
from askgraph.sparql.rdf_files import RdfStatements
from askgraph.sparql.vocabulary import RDF_TYPE, RDFS_SUB_CLASS_OF
from askgraph.workspace.run_sync import run_coroutine

_SECONDS = 2.0  # for a query; some of those that chance makes would take for ever
Term: TypeAlias = NamedNode | BlankNode | Literal | Triple

MANY_CLASSES = """
@prefix : <http://x.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:A a owl:Class ; rdfs:label "A" . :B a owl:Class ; rdfs:subClassOf :A .
:C rdfs:subClassOf :B . :D rdfs:subClassOf :C . :Alone rdfs:subClassOf :B .
:x1 a :D, :Old ; :part :y1 ; :size 5 ; :name "x"@en, "x" ; :tag "t"^^:dt ; :flag true ;
  :when "2000-01-01"^^xsd:date .
:x2 a :D ; :part :y2, :u ; :size 5.5 ; :name "y"@EN-us .
:x3 a :Old, :New ; :holds [ a :Inner ; :weight 1.0e0 ] ; :holds [ :weight 2 ] .
:x4 a :Alone, :Old ; :part :x1 ; :size 1e3 .
:y1 a :E ; :whole :x1 . :u :near :x1 ; :size 7 .
:y2 a :E, :Old ; :list (1 2 3) .
"""


@dataclass(frozen=True)
class Graph:
    """Triples, the store that answers, and what is known of them in one way or another."""

    triples: tuple[Triple, ...]
    store: Store
    endpoint: OxigraphEndpoint
    known: dict[str, ServiceKnowledge]

    def has(self, query: str) -> bool:
        """Whether an ASK query is true; one that takes too long is as good as false."""
        try:
            return run_coroutine(self.endpoint.ask(query, timeout=_SECONDS))
        except ServiceError:
            return False


def graph_of(turtle: str, folder: Path) -> Graph:
    triples = tuple(sorted(parse(turtle.encode(), RdfFormat.TURTLE), key=str))
    triples = tuple(Triple(t.subject, t.predicate, t.object) for t in triples)
    kept = Store(folder)
    kept.load(turtle.encode(), format=RdfFormat.TURTLE)
    kept.flush()
    del kept
    store = store_of(turtle)
    profile = build_profile(build_arrays(parse(turtle.encode(), RdfFormat.TURTLE)))
    void = parse_void(
        RdfStatements.parse_document(
            serialize_void(profile).encode(), RdfFormat.TURTLE, base="urn:void"
        )
    )
    assert void is not None
    ways: dict[str, Knowledge] = {
        "triples": known(turtle),
        "profile": build_profile_knowledge(profile),
        "ends alone": build_profile_knowledge(replace(profile, partitions=())),
        "VoID": build_profile_knowledge(void),
    }
    services = {name: ServiceKnowledge(one) for name, one in ways.items()}
    return Graph(triples, store, OxigraphEndpoint(folder, memory=2 * 1024**3), services)


GRAPHS = {"sample": sample.graph_path().read_text(encoding="utf-8"), "many classes": MANY_CLASSES}


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Graph]]:
    made = {
        name: graph_of(turtle, tmp_path_factory.mktemp("graph")) for name, turtle in GRAPHS.items()
    }
    yield made
    for graph in made.values():
        run_coroutine(graph.endpoint.close())


@dataclass
class Making:
    """A query in the making: chance, and the terms that became variables."""

    graph: Graph
    chance: Random
    names: dict[Term, str] = field(default_factory=dict)

    def one_in(self, number: int) -> bool:
        return self.chance.randrange(number) == 0

    def connected(self, most: int) -> list[Triple]:
        """Triples of which each shares a resource with one before."""
        found = [self.chance.choice(self.graph.triples)]
        while len(found) < most:
            at = self.chance.choice(found)
            ends = [end for end in (at.subject, at.object) if not isinstance(end, Literal)]
            near = [t for t in self.graph.triples if t.subject in ends or t.object in ends]
            found.append(self.chance.choice(near))
        return found

    def term(self, term: Term) -> str:
        """A variable for a term, or the term itself."""
        if term not in self.names and (isinstance(term, BlankNode) or not self.one_in(5)):
            self.names[term] = f"?v{len(self.names)}"
        return self.names.get(term, str(term))

    def pattern(self, triple: Triple) -> str:
        start = self.term(triple.subject)
        if triple.predicate.value != RDF_TYPE or self.one_in(6):
            return self.step(start, str(triple.predicate), self.term(triple.object))
        if self.one_in(3):
            return f"{start} a/<{RDFS_SUB_CLASS_OF}>* {self.above(triple.object)} ."
        return f"{start} a {triple.object} ."

    def step(self, start: str, predicate: str, end: str) -> str:
        """A step as itself, turned round, or as a path that has it as one way."""
        way = self.chance.choice("pppp^|+*")
        if way == "|":
            predicate += f"|^{self.chance.choice(self.graph.triples).predicate}"
        elif way == "+" or (way == "*" and (start + end).count("?") < 2):
            predicate += way
        elif way == "^" and not end.startswith('"'):
            return f"{end} ^{predicate} {start} ."
        return f"{start} {predicate} {end} ."

    def above(self, cls: Term) -> str:
        rows = self.graph.store.query(f"SELECT ?c {{ {cls} <{RDFS_SUB_CLASS_OF}>* ?c }}")
        assert isinstance(rows, QuerySolutions)
        return self.chance.choice(sorted(str(row[0]) for row in rows))

    def part(self, triple: Triple, spare: Triple) -> str:
        """A triple as one of the things that a group may hold."""
        text = self.pattern(triple)
        match self.chance.choice("pppppougse-n"):
            case "o":
                return f"OPTIONAL {{ {text} }}"
            case "u":
                return f"{{ {text} }} UNION {{ {self.pattern(spare)} }}"
            case "g":
                return f"{{ {text} }}"
            case "s":
                return f"{{ SELECT * {{ {text} }} }}"
            case "e":
                return f"FILTER EXISTS {{ {text} }}"
            case "-":
                return f"{text} MINUS {{ {self.of_some_class(triple.subject)} }}"
            case "n":
                return f"{text} FILTER NOT EXISTS {{ {self.of_some_class(triple.subject)} }}"
            case _:
                return text

    def of_some_class(self, term: Term) -> str:
        classes = [str(t.object) for t in self.graph.triples if t.predicate.value == RDF_TYPE]
        return f"{self.term(term)} a {self.chance.choice(classes)} ."

    def conditions(self) -> Iterator[str]:
        """What is true of the values that became variables."""
        for term, name in self.names.items():
            if isinstance(term, NamedNode) and self.one_in(6):
                yield f"VALUES {name} {{ {term} }}"
            elif not isinstance(term, Literal) or self.one_in(2):
                continue
            elif term.language:
                yield f'FILTER(LANG({name}) = "{term.language}")'
            elif term.value.isdigit() and term.datatype.value.endswith("integer"):
                yield f"FILTER({name} >= {term.value} && {name} < {int(term.value) + 1})"
            else:
                yield f"FILTER({name} = {term})"

    def given(self) -> str:
        """The terms that the variables stood for; with them a store need not look far."""
        named = {name: term for term, name in self.names.items()}
        cells = ["UNDEF" if isinstance(term, BlankNode) else str(term) for term in named.values()]
        return f"VALUES ({' '.join(named)}) {{ ({' '.join(cells)}) }}"

    def body(self) -> str:
        triples = self.connected(4)
        parts = [self.part(triple, self.chance.choice(triples)) for triple in triples]
        return "{ " + " ".join([*parts, *self.conditions()]) + " }"


@pytest.mark.parametrize("name", GRAPHS)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(chance=st.randoms(use_true_random=False), head=st.sampled_from(["SELECT *", "ASK"]))
def test_a_query_that_has_solutions_is_sound(
    graphs: dict[str, Graph], name: str, chance: Random, head: str
) -> None:
    graph = graphs[name]
    making = Making(graph, chance)
    body = making.body()
    assume(graph.has(f"ASK {{ {making.given()} {body[2:]}"))
    query = f"{head} {body}"
    for way, services in graph.known.items():
        said = validate_query(query, services)
        sure = [
            f
            for f in said.findings
            if f.certainty >= MIN_WRONG_CERTAINTY and f.kind is not FaultKind.UNJOINED
        ]
        assert sure == [], f"by its {way}: {query}"
        assert said.repaired == query
