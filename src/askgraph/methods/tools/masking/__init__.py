"""The veil over a graph: a model sees all, the schema with masked values, or the schema alone."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

import numpy as np
from pyoxigraph import Literal, NamedNode

from askgraph.graph import KnowledgeGraph, service_iri
from askgraph.graph.names import schema_names
from askgraph.index.names import stem, tokens
from askgraph.methods.tools.masking.placeholders import Guard, Hidden, masked_query
from askgraph.methods.tools.masking.question import Stretch, stretches
from askgraph.methods.tools.term_text import STANDARD, expanded_name
from askgraph.search.link import LinkedQuestion
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import PrefixMap, words_of_local_name

_WORD = re.compile(r"[^\W_]+(?:[.,]\d+)*")
_CHANGES = re.compile(r" Rows with a change: [^\n]*")
_ROWS = re.compile(r"\d[\d,]* rows")
_AGAIN = re.compile(r"(hidden:\w+)(?:[\s,]+\1)+(?!\w)")

_CHARACTERS = (
    "Functional InverseFunctional Transitive Symmetric Asymmetric Reflexive Irreflexive Ontology "
    "Deprecated"
).split()
_SPECIAL = tuple(f"{v.OWL}{character}Property" for character in _CHARACTERS)
_KINDS = (*v.CLASS_TYPES, *v.PROPERTY_TYPES, *_SPECIAL)
_MOST = 2_000  # with more, the terms that are declared are what the graph is about


@dataclass(eq=False)
class Veil:
    """Puts placeholders for things and literals of graphs, for one question, and terms for them.

    Classes, predicates and the terms of standard vocabularies stay as they are. `hidden:e3` stands
    for a thing, `hidden:v2` for a literal; the same one in all graphs of the question. One veil is
    for all contexts of a question. Without `rows` no rows are shown, nor how many there are.
    `strange` are IRIs that no graph holds: a model made them up, and may read of them. `used` are
    the IRIs that words of the question are taken for, before others of the same name.
    """

    graphs: tuple[KnowledgeGraph, ...]
    linked: tuple[LinkedQuestion, ...]
    rows: bool = True
    hidden: Hidden = field(default_factory=Hidden)
    strange: set[str] = field(default_factory=set)
    used: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        linked: Sequence[tuple[KnowledgeGraph, LinkedQuestion]],
        *,
        sees: str = "masked",
        used: Sequence[str] = (),
    ) -> "Veil":
        """Return the veil of a question that was linked to graphs, for what a model `sees`."""
        graphs, links = zip(*linked, strict=True)
        return cls(tuple(graphs), tuple(links), rows=sees == "masked", used=tuple(used))

    def shows(self, iri: str) -> bool:
        """Return whether an IRI is of the schema, or names a graph."""
        return iri in self._schema or iri in self.strange or iri.startswith(STANDARD)

    def iri(self, iri: str) -> str:
        """Return the placeholder of a thing."""
        return self.hidden.placeholder(NamedNode(iri))

    def literal(self, literal: Literal, prefixes: PrefixMap) -> str:
        """Return the placeholder of a literal with its language or datatype."""
        return self.hidden.typed(literal, prefixes, like=self._numbers.get(literal.value))

    def question(self) -> str:
        """Return the question with placeholders for all that names things and values.

        Of a question that is too long to be read whole, what was read.
        Behind a literal stands what it is: `hidden:v1 (a number)`.
        """
        reading, text, end = self.linked[0].reading, "", 0
        for one in self._stretches:
            first, last = reading.tokens[one.first], reading.tokens[one.last]
            start, until = one.span or (first.start, last.end)
            kind = f" ({one.kind})" if one.kind else ""
            text += reading.text[end:start] + self.hidden.placeholder(one.term) + kind
            end = until
        rest = reading.text[end : reading.tokens[-1].end if reading.cut else None]
        return self.checked(text + rest)

    def words(self, text: str) -> str:
        """Return words of the question with placeholders for what names things and values."""
        named: dict[str, str] = {}
        for one in self._stretches:
            for token in self.linked[0].reading.tokens[one.first : one.last + 1]:
                named.setdefault(token.text, self.hidden.placeholder(one.term))
        put = _WORD.sub(lambda found: named.get(found[0], found[0]), text)
        return self.checked(_AGAIN.sub(r"\1", put))

    def query(self, query: str) -> str:
        """Return a query with placeholders for its constants, without its comments."""
        return self._query(query, self.shows)

    def unveiled(self, query: str) -> str:
        """Return a query that a model wrote with the terms in place of their placeholders.

        It is the query itself, not JSON that holds one. Raises `QueryError` for a placeholder that
        stands for nothing.
        """
        return self.hidden.in_query(query)

    def in_words(self, text: str) -> str:
        """Return what a model says in words with names and values in place of placeholders.

        One that stands for nothing becomes "something".
        """
        return self.hidden.in_words(text)

    def checked(self, text: str) -> str:
        """Return a text as it may be sent: what it still says of things and values is masked.

        Names are found by the names of the graphs, word for word and of any length, in scripts
        without spaces also within a word; literals if they are short or
        were hidden before. Numbers of fewer than four digits stay: they may be counts.
        """
        return self._guard.masked(text)

    def explained(self, query: str, text: str) -> str:
        """Return what is said about a query, no constant of the query in it.

        IRIs in it that no graph holds stay. Nor is it said how many rows there are if none are
        shown.
        """
        self._query(query, self._shows_author)
        told = text if self.rows else _ROWS.sub("several rows", _CHANGES.sub("", text))
        return self._guard.masked(told, counts=False)

    def _masked(self, term: NamedNode | Literal) -> str:
        if isinstance(term, Literal) and term.datatype.value not in v.NUMERIC_DATATYPES:
            return self.literal(term, self.graphs[0].prefixes)
        return self.hidden.placeholder(term)

    def _query(self, query: str, shows: Callable[[str], bool]) -> str:
        return masked_query(
            query, self._expanded, shows=shows, mask=self._masked, numbers=self._numbers
        )

    def _shows_author(self, iri: str) -> bool:
        """Whether an IRI may be seen by the model that wrote it: also if surely no graph has it."""
        arrays = [graph.arrays for graph in self.graphs]
        if all(one and one.complete and one.terms.iri(iri) is None for one in arrays) and not (
            self.hidden.holds(NamedNode(iri))
        ):
            self.strange.add(iri)
        return self.shows(iri)

    def _expanded(self, name: str) -> str | None:
        """The IRI of a prefixed name by the prefixes of the first graph that has it."""
        known = (expanded_name(name, graph.prefixes) for graph in self.graphs)
        return next((iri for iri in known if iri), None)

    @cached_property
    def _stretches(self) -> tuple[Stretch, ...]:
        found = stretches(
            list(zip(self.graphs, self.linked, strict=True)),
            expand=self._expanded,
            shows=self.shows,
            spoken=self._spoken,
            used=self.used,
        )
        reading = self.linked[0].reading
        for one in found:
            if isinstance(one.term, NamedNode):
                start, end = reading.tokens[one.first].start, reading.tokens[one.last].end
                self.hidden.names.setdefault(one.term.value, reading.text[start:end])
        return found

    @cached_property
    def _numbers(self) -> dict[str, Literal]:
        """The numbers and times of the question, by how they are written."""
        return {
            one.term.value: one.term for one in self._stretches if isinstance(one.term, Literal)
        }

    @cached_property
    def _schema(self) -> frozenset[str]:
        """Classes, predicates and datatypes, and what stands for graphs and for namespaces."""
        found: set[str] = set()
        for graph in self.graphs:
            profile = graph.profile
            found.update(c.iri for c in profile.classes)
            found.update(p.iri for p in profile.predicates)
            found.update(kind for p in profile.predicates for kind, _ in p.datatypes)
            found.update(graph.prefixes.namespaces.values(), declared(graph))
            found |= {service_iri(graph), f"askgraph:{graph.name}"}
        return frozenset(found)

    @cached_property
    def _spoken(self) -> frozenset[str]:
        """The stems of all words that the schema says: names, readable parts of IRIs, prefixes."""
        texts = [words_of_local_name(iri) for iri in self._schema]
        for graph in self.graphs:
            texts += [graph.name, *graph.prefixes.namespaces]
            texts += [name.text for name in schema_names(graph.profile)]
            texts += chain.from_iterable(declared(graph).values())
        return frozenset(stem(word) for text in texts for word in tokens(text))

    @cached_property
    def _guard(self) -> Guard:
        return Guard(
            tuple(graph.names for graph in self.graphs),
            self._spoken,
            frozenset(word for linked in self.linked for word in linked.reading.words.stop),
            self._expanded,
            self.shows,
            self.hidden,
        )


def declared(graph: KnowledgeGraph) -> Mapping[str, Sequence[str]]:
    """Return the labels of each class and property that a graph here declares as one.

    Nothing if there are more than 2,000: such a graph is a terminology, whose classes are its
    things.
    """
    arrays = graph.arrays
    typed = None if arrays is None else arrays.number(v.RDF_TYPE)
    if arrays is None or typed is None:
        return {}
    terms = arrays.terms
    kinds = [at for kind in _KINDS if (at := terms.iri(kind)) is not None]
    nodes = arrays.step(np.array(sorted(kinds), dtype=np.int32), typed, inverse=True)
    if len(nodes) > _MOST:
        return {}
    naming = [at for iri in v.LABEL_PREDICATES if (at := arrays.number(iri)) is not None]
    return {
        terms.value(node): [
            terms.value(label)
            for number in naming
            for label in arrays.step(np.array([node], dtype=np.int32), number).tolist()
            if terms.is_literal(label)
        ]
        for node in nodes.tolist()
        if terms.is_iri(node)
    }
