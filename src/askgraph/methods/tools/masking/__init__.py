"""Mask a graph: a model sees everything, the schema with masked values, or only the schema."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

import numpy as np
from pyoxigraph import Literal, NamedNode

from askgraph.graph import KnowledgeGraph, get_service_iri
from askgraph.graph.names import iterate_schema_names
from askgraph.index.names import split_tokens, stem_word
from askgraph.methods.tools.masking.placeholders import PlaceholderTable, TextMasker, mask_query
from askgraph.methods.tools.masking.question import TermSpan, find_term_spans
from askgraph.methods.tools.term_text import STANDARD_NAMESPACES, expand_name
from askgraph.search.link import LinkedQuestion
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import PrefixMap, split_local_name

_WORD = re.compile(r"[^\W_]+(?:[.,]\d+)*")
_CHANGED_ROW_COUNTS = re.compile(r" Rows with a change: [^\n]*")
_ROW_COUNT = re.compile(r"\d[\d,]* rows")
_REPEATED_PLACEHOLDER = re.compile(r"(hidden:\w+)(?:[\s,]+\1)+(?!\w)")

_PROPERTY_CHARACTERISTICS = (
    "Functional InverseFunctional Transitive Symmetric Asymmetric Reflexive Irreflexive Ontology "
    "Deprecated"
).split()
_SPECIAL_PROPERTY_TYPES = tuple(
    f"{v.OWL}{character}Property" for character in _PROPERTY_CHARACTERISTICS
)
_DECLARATION_TYPES = (*v.CLASS_TYPES, *v.PROPERTY_TYPES, *_SPECIAL_PROPERTY_TYPES)
_MAX_DECLARED_TERMS = 2_000  # with more, the declared terms are the content of the graph


@dataclass(eq=False)
class TermMasker:
    """Replaces entities and literals of graphs by placeholders, for one question, and back.

    Classes, predicates and terms of standard vocabularies stay visible. `hidden:e3` stands for an
    entity, `hidden:v2` for a literal, the same in all graphs and contexts of a question. Without
    `shows_rows`, neither rows nor their number are shown. `invented_iris` are IRIs that no graph
    contains: the model that made them up may read them. `preferred_iris` win over other terms with
    the same name when words of the question are resolved.
    """

    graphs: tuple[KnowledgeGraph, ...]
    linked_questions: tuple[LinkedQuestion, ...]
    shows_rows: bool = True
    placeholders: PlaceholderTable = field(default_factory=PlaceholderTable)
    invented_iris: set[str] = field(default_factory=set)
    preferred_iris: tuple[str, ...] = ()

    @classmethod
    def from_links(
        cls,
        linked_graphs: Sequence[tuple[KnowledgeGraph, LinkedQuestion]],
        *,
        visibility: str = "masked",
        preferred_iris: Sequence[str] = (),
    ) -> "TermMasker":
        """Create the masker of a question that was linked to graphs."""
        graphs, links = zip(*linked_graphs, strict=True)
        return cls(
            tuple(graphs),
            tuple(links),
            shows_rows=visibility == "masked",
            preferred_iris=tuple(preferred_iris),
        )

    def is_visible(self, iri: str) -> bool:
        """Return whether an IRI belongs to the schema or identifies a graph."""
        return (
            iri in self._schema_iris
            or iri in self.invented_iris
            or iri.startswith(STANDARD_NAMESPACES)
        )

    def mask_literal(self, literal: Literal, prefixes: PrefixMap) -> str:
        """Return the placeholder of a literal, with its language or datatype."""
        return self.placeholders.assign_typed_placeholder(
            literal, prefixes, same_text_literal=self._literals_by_text.get(literal.value)
        )

    def mask_question(self) -> str:
        """Return the question with placeholders for all names of entities and values.

        If the question was too long to be tokenized completely, only the tokenized part. A literal
        is followed by its kind: `hidden:v1 (a number)`.
        """
        reading, text, end = self.linked_questions[0].reading, "", 0
        for span in self._spans:
            first, last = reading.tokens[span.first], reading.tokens[span.last]
            start, stop = span.text_range or (first.start, last.end)
            kind = f" ({span.kind})" if span.kind else ""
            text += reading.text[end:start] + self.placeholders.assign_placeholder(span.term) + kind
            end = stop
        tail = reading.text[end : reading.tokens[-1].end if reading.is_truncated else None]
        return self.mask_text(text + tail)

    def mask_words(self, text: str) -> str:
        """Return words of the question with placeholders for names of entities and values."""
        placeholder_by_word: dict[str, str] = {}
        for span in self._spans:
            for token in self.linked_questions[0].reading.tokens[span.first : span.last + 1]:
                placeholder_by_word.setdefault(
                    token.text, self.placeholders.assign_placeholder(span.term)
                )
        masked_text = _WORD.sub(lambda match: placeholder_by_word.get(match[0], match[0]), text)
        return self.mask_text(_REPEATED_PLACEHOLDER.sub(r"\1", masked_text))

    def mask_query(self, query: str) -> str:
        """Return a query with placeholders for its constants, without comments."""
        return self._mask_query(query, self.is_visible)

    def unmask_query(self, query: str) -> str:
        """Return a query of the model with its placeholders replaced by terms.

        The text must be the query itself, not JSON that contains one.

        Raises:
            QueryError: a placeholder is unknown.
        """
        return self.placeholders.unmask_query(query)

    def unmask_text(self, text: str) -> str:
        """Return a text of the model with its placeholders replaced by names and values.

        An unknown placeholder becomes "something".
        """
        return self.placeholders.unmask_text(text)

    def mask_text(self, text: str) -> str:
        """Mask the names of entities and the values that remain in a text, before it is sent.

        Names match whole words, and in scripts without spaces also parts of words; literals match
        if they are short or were masked before. Numbers of fewer than four digits stay: they may be
        counts.
        """
        return self._text_masker.mask(text)

    def mask_explanation(self, query: str, text: str) -> str:
        """Mask an explanation of a query, including all constants of the query.

        IRIs in it that no graph contains stay. Numbers of rows are removed if rows are not shown.
        """
        self._mask_query(query, self._is_visible_to_author)
        visible_text = (
            text
            if self.shows_rows
            else _ROW_COUNT.sub("several rows", _CHANGED_ROW_COUNTS.sub("", text))
        )
        return self._text_masker.mask(visible_text, counts=False)

    def _mask_term(self, term: NamedNode | Literal) -> str:
        if isinstance(term, Literal) and term.datatype.value not in v.NUMERIC_DATATYPES:
            return self.mask_literal(term, self.graphs[0].prefixes)
        return self.placeholders.assign_placeholder(term)

    def _mask_query(self, query: str, is_visible: Callable[[str], bool]) -> str:
        return mask_query(
            query,
            self._expand_name,
            is_visible=is_visible,
            mask=self._mask_term,
            numbers=self._literals_by_text,
        )

    def _is_visible_to_author(self, iri: str) -> bool:
        """Return whether the author of an IRI may see it: visible, or certainly in no graph."""
        if all(
            graph_arrays and graph_arrays.complete and graph_arrays.terms.find_iri(iri) is None
            for graph_arrays in (graph.arrays for graph in self.graphs)
        ) and not (self.placeholders.has_placeholder(NamedNode(iri))):
            self.invented_iris.add(iri)
        return self.is_visible(iri)

    def _expand_name(self, name: str) -> str | None:
        """Return the IRI of a prefixed name, from the first graph that knows the prefix."""
        expansions = (expand_name(name, graph.prefixes) for graph in self.graphs)
        return next((iri for iri in expansions if iri), None)

    @cached_property
    def _spans(self) -> tuple[TermSpan, ...]:
        spans = find_term_spans(
            list(zip(self.graphs, self.linked_questions, strict=True)),
            expand=self._expand_name,
            is_visible=self.is_visible,
            schema_stems=self._schema_stems,
            preferred_iris=self.preferred_iris,
        )
        reading = self.linked_questions[0].reading
        for span in spans:
            if isinstance(span.term, NamedNode):
                start, end = reading.tokens[span.first].start, reading.tokens[span.last].end
                self.placeholders.names.setdefault(span.term.value, reading.text[start:end])
        return spans

    @cached_property
    def _literals_by_text(self) -> dict[str, Literal]:
        return {
            span.term.value: span.term for span in self._spans if isinstance(span.term, Literal)
        }

    @cached_property
    def _schema_iris(self) -> frozenset[str]:
        """IRIs of classes, predicates, datatypes, graphs and namespaces."""
        iris: set[str] = set()
        for graph in self.graphs:
            profile = graph.profile
            iris.update(c.iri for c in profile.classes)
            iris.update(p.iri for p in profile.predicates)
            iris.update(kind for p in profile.predicates for kind, _ in p.datatypes)
            iris.update(graph.prefixes.namespaces.values(), list_declared_terms(graph))
            iris |= {get_service_iri(graph), f"askgraph:{graph.name}"}
        return frozenset(iris)

    @cached_property
    def _schema_stems(self) -> frozenset[str]:
        """Stems of all words in the schema: names, readable parts of IRIs, prefixes."""
        texts = [split_local_name(iri) for iri in self._schema_iris]
        for graph in self.graphs:
            texts += [graph.name, *graph.prefixes.namespaces]
            texts += [name.text for name in iterate_schema_names(graph.profile)]
            texts += chain.from_iterable(list_declared_terms(graph).values())
        return frozenset(stem_word(word) for text in texts for word in split_tokens(text))

    @cached_property
    def _text_masker(self) -> TextMasker:
        return TextMasker(
            tuple(graph.names for graph in self.graphs),
            self._schema_stems,
            frozenset(
                word
                for linked in self.linked_questions
                for word in linked.reading.word_list.stop_words
            ),
            self._expand_name,
            self.is_visible,
            self.placeholders,
        )


def list_declared_terms(graph: KnowledgeGraph) -> Mapping[str, Sequence[str]]:
    """Return the labels of each class and property that a local graph declares.

    The result is empty above 2,000: such a graph is a terminology, whose classes are its entities.
    """
    arrays = graph.arrays
    type_predicate = None if arrays is None else arrays.get_predicate_number(v.RDF_TYPE)
    if arrays is None or type_predicate is None:
        return {}
    terms = arrays.terms
    kinds = [at for kind in _DECLARATION_TYPES if (at := terms.find_iri(kind)) is not None]
    nodes = arrays.step(np.array(sorted(kinds), dtype=np.int32), type_predicate, inverse=True)
    if len(nodes) > _MAX_DECLARED_TERMS:
        return {}
    label_predicates = [
        at for iri in v.LABEL_PREDICATES if (at := arrays.get_predicate_number(iri)) is not None
    ]
    return {
        terms.get_value(node): [
            terms.get_value(label)
            for number in label_predicates
            for label in arrays.step(np.array([node], dtype=np.int32), number).tolist()
            if terms.is_literal(label)
        ]
        for node in nodes.tolist()
        if terms.is_iri(node)
    }
