"""Link words of a graph's glossary as if they were names of the graph.

A word for several classes becomes a virtual class above them during the search; the resulting
queries contain the classes themselves.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from itertools import chain
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np
from pyoxigraph import Literal, NamedNode, Variable

from askgraph import sparql as ast
from askgraph.endpoint import Endpoint
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import GraphArrays, TripleTexts, build_arrays
from askgraph.graph.glossary import AGGREGATES, Glossary, GlossaryEntry
from askgraph.graph.profile import ClassProfile, PredicateProfile, Profile
from askgraph.index.names import IndexedName, ItemKind, NameIndex, find_phrases, stem_name
from askgraph.search.expand.schema import Schema, build_schema
from askgraph.search.link import GlossaryWord, Link, LinkedQuestion, add_links, link_question
from askgraph.search.operators.query_builder import QueryCandidate
from askgraph.search.query_pieces import build_pattern, get_alias
from askgraph.search.tokenize import TokenizedQuestion, tokenize
from askgraph.search.tokenize.question_operators import Operator, QuestionOperators
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.rewrite.virtual import DefinedTerm
from askgraph.sparql.serializer import to_text
from askgraph.sparql.vocabulary import RDF_TYPE, XSD_DECIMAL

_FULL_MATCH_SHARE: Final = 0.9
"""Minimum similarity of a word that is exactly the glossary's and means nothing else."""
_MIN_MATCH_SHARE: Final = 0.75  # it may be from this position on
_MAX_DEFINED_ROWS: Final = 200_000  # instances of a definition that the search knows
_MAX_EXTENDED_ARRAYS: Final = 8  # sets of definitions whose arrays are cached for a graph
_EXTENDED_ARRAYS: WeakKeyDictionary[GraphArrays, dict[object, GraphArrays]] = WeakKeyDictionary()
_TYPE: Final = NamedNode(RDF_TYPE)


def link_glossary(linked: LinkedQuestion, graph: KnowledgeGraph) -> LinkedQuestion:
    """Add the links of a graph's glossary to a question, ahead of all other links."""
    words = _index_glossary(graph.glossary or Glossary(), graph.names, graph.profile)
    glossary_links = [
        link
        for link in _link_words(linked.reading, words.names)
        if link.similarity >= _MIN_MATCH_SHARE
    ]
    if not glossary_links:
        return linked
    exact = [{*link.positions} for link in glossary_links if link.similarity >= _FULL_MATCH_SHARE]
    remaining = (
        link
        for link in linked.links
        if not any({*link.positions} <= positions for positions in exact)
    )
    entries = {entry.iri: entry for entry in (graph.glossary or Glossary()).definitions}
    hidden = (graph.glossary or Glossary()).hidden_iris
    hidden_masks = [link.mask for link in glossary_links if link.target in hidden]
    glossary_links = [
        link
        for link in glossary_links
        if not any(link.mask & mask == link.mask for mask in hidden_masks)
    ]
    glossary_words = {
        link.positions: GlossaryWord(
            link.name,
            *words.targets[link.name],
            link.mask,
            entries[link.target].definition.aggregate or "none"
            if link.target in entries and entries[link.target].definition.value
            else "",
        )
        for link in sorted(glossary_links, key=lambda link: link.similarity)
    }
    linked = add_links(replace(linked, links=tuple(remaining)), glossary_links)
    return replace(linked, glossary_words=tuple(glossary_words.values()))


_HEAD_SCORE: Final = 0.9  # score of the last words of several classes' names, for all of them


def unite_class_heads(
    linked: LinkedQuestion, words: Sequence[GlossaryWord], schema: Schema
) -> tuple[LinkedQuestion, Schema]:
    """Return a question and a schema in which last words of names name a virtual class.

    Args:
        linked: the question.
        words: the words; see `askgraph.search.expand.generic_nouns.find_class_heads`.
    """
    defined = linked.glossary_words
    linked = unite_classes(replace(linked, glossary_words=tuple(words)))
    targets = {word.iri: word.word for word in words}
    links = tuple(
        replace(link, name=targets[link.target], similarity=_HEAD_SCORE)
        if link.target in targets
        else link
        for link in linked.links
    )
    sums = tuple(word for word in defined if word.aggregate)
    united = replace(linked, links=links, glossary_words=sums)
    placeless = tuple(replace(word, mask=0) for word in words)  # found again in other questions
    return united, build_schema(schema.graph, add_superclasses(schema.profile, placeless))


def unite_classes(linked: LinkedQuestion) -> LinkedQuestion:
    """Replace the links of a word for several classes by one link to a virtual class above them."""
    links = list(linked.links)
    for word in linked.glossary_words:
        class_links = [
            at
            for at, link in enumerate(links)
            if link.mask == word.mask and link.target in word.classes
        ]
        if class_links:
            links[class_links[0]] = replace(links[class_links[0]], target=word.iri)
            links = [link for at, link in enumerate(links) if at not in class_links[1:]]
    return replace(linked, links=tuple(links))


@dataclass(frozen=True, eq=False)
class _GlossaryIndex:
    """The words of a glossary as names, with the IRIs that each stands for; see `GlossaryWord`."""

    names: NameIndex
    targets: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]


@lru_cache(maxsize=8)
def _index_glossary(glossary: Glossary, names: NameIndex, profile: Profile) -> _GlossaryIndex:
    targets = {
        name: resolve_entry(entry, glossary, names)
        for entry in glossary.entries
        if not (entry.query or entry.definition.kind == "rows")
        for name, _ in entry.names
    }
    kinds = {
        entry.iri: ItemKind.PREDICATE if entry.definition.value else ItemKind.CLASS
        for entry in glossary.definitions
    }
    classes = {
        name: resolved.means
        if len((resolved := glossary.resolve_synonyms(entry)).means) > 1
        else ()
        for entry in glossary.entries
        for name, _ in entry.names
    }
    return _GlossaryIndex(
        NameIndex.from_names(
            IndexedName(word, iri, kinds.get(iri) or classify_iri(iri, profile))
            for word, iris in targets.items()
            for iri in iris
        ),
        {word: (iris, classes[word]) for word, iris in targets.items()},
    )


def _link_words(reading: TokenizedQuestion, names: NameIndex) -> tuple[Link, ...]:
    return link_question(reading, names).links if len(names) else ()


def resolve_entry(entry: GlossaryEntry, glossary: Glossary, names: NameIndex) -> tuple[str, ...]:
    """Return the IRIs of a glossary entry, of its synonym if it refers to one.

    A fixed query has none.

    Raises:
        SetupError: the synonyms form a cycle.
    """
    resolved = glossary.resolve_synonyms(entry)
    if resolved.definition.pattern:
        return (resolved.iri,)
    return resolved.means or tuple(
        dict.fromkeys(name.target for name in find_exact_names(resolved.same_as, names))
    )


def find_exact_names(text: str, names: NameIndex) -> tuple[IndexedName, ...]:
    """Return the classes, predicates and things with this name, ignoring plural endings."""
    words = stem_name(text)
    return tuple(
        name
        for phrase in find_phrases(words, names, inflected=True)
        if (phrase.first, phrase.end) == (0, len(words))
        for name in phrase.names
        if name.kind is not ItemKind.VALUE
    )


def suggest_names(text: str, names: NameIndex, limit: int = 5) -> tuple[str, ...]:
    """Return the names of a graph nearest to a text, by spelling or meaning, best first."""
    links = _link_words(tokenize(text), names)
    return tuple(dict.fromkeys(link.name for link in links if link.kind is not ItemKind.VALUE))[
        :limit
    ]


def classify_iri(iri: str, profile: Profile) -> ItemKind:
    """Return whether an IRI is a class, a predicate or else a thing of a graph."""
    if any(iri in (item.iri, *item.parents) for item in profile.classes):
        return ItemKind.CLASS
    is_predicate = any(item.iri == iri for item in profile.predicates)
    return ItemKind.PREDICATE if is_predicate else ItemKind.ENTITY


@lru_cache(maxsize=16)
def add_superclasses(profile: Profile, words: tuple[GlossaryWord, ...]) -> Profile:
    """Return a profile with a virtual class above the classes of each such word."""
    words_by_iri = {item.iri: item for item in words if item.classes}
    parents: dict[str, list[str]] = {}
    for iri, word in words_by_iri.items():
        for item in word.classes:
            parents.setdefault(item, []).append(iri)
    known_iris = {item.iri for item in profile.classes}
    missing = (ClassProfile(iri, 0) for iri in parents if iri not in known_iris)
    classes = [
        replace(item, parents=(*item.parents, *parents.get(item.iri, ())))
        for item in (*profile.classes, *missing)
    ]
    virtual = (ClassProfile(iri, 0, names=((item.word, ""),)) for iri, item in words_by_iri.items())
    return replace(profile, classes=(*classes, *virtual))


def restore_classes(
    candidates: Iterable[QueryCandidate], words: Sequence[GlossaryWord], schema: Schema
) -> Iterator[QueryCandidate]:
    """Yield the candidates with each virtual class replaced by a union of its classes."""
    classes_by_iri = {item.iri: item.classes for item in words if item.classes}

    def replace_virtual_class(node: Any) -> Any:
        if isinstance(node, ast.Pattern) and isinstance(node.object, NamedNode):
            patterns = [
                build_pattern(
                    node.subject,
                    RDF_TYPE,
                    NamedNode(cls),
                    is_transitive=schema.has_subclass_instances(cls),
                )
                for cls in classes_by_iri.get(node.object.value, ())
            ]
            return _build_union(patterns, schema) if patterns else node
        return node

    return rewrite(candidates, replace_virtual_class)


def rewrite(
    candidates: Iterable[QueryCandidate], change: Callable[[Any], Any]
) -> Iterator[QueryCandidate]:
    """Yield the candidates with each node of their queries changed."""
    for item in candidates:
        tree, window = ast.transform((item.tree, item.window), change)
        yield replace(item, tree=tree, window=window)


def _build_union(patterns: Sequence[ast.Pattern], schema: Schema) -> ast.Element:
    """Return what matches any of these patterns, each subject once."""
    union = ast.Union(tuple(ast.Group((item,)) for item in patterns))
    members = [
        schema.get_instances(item.object.value)
        for item in patterns
        if isinstance(item.object, NamedNode)
    ]
    is_disjoint = sum(map(len, members)) == len(reduce(np.union1d, members))
    subject = patterns[0].subject
    if is_disjoint or not isinstance(subject, Variable):
        return union
    return ast.Query("SELECT", ast.Group((union,)), ((subject, None),), distinct=True)


@dataclass(frozen=True, eq=False)
class DefinitionSearch:
    """The definitions of a graph's glossary, in the search for an answer to a question.

    Measures and conditions that the question names are properties and classes of the graph's
    arrays during the search; the resulting queries contain their patterns instead.
    """

    glossary: Glossary  # the glossary
    terms: Mapping[str, DefinedTerm]  # the parsed definitions by the IRI of the virtual term
    touched: tuple[GlossaryEntry, ...] = ()  # the definitions that the question names
    lifted: tuple[GlossaryEntry, ...] = ()  # the default filters that the question lifts

    def select(self, linked: LinkedQuestion) -> "DefinitionSearch":
        """Return the search with the definitions that the links of a question name."""
        targets = {iri for word in linked.glossary_words for iri in word.targets}
        touched = (entry for entry in self.glossary.definitions if entry.iri in targets)
        return replace(self, touched=tuple(touched))

    async def extend(
        self, arrays: GraphArrays, profile: Profile, endpoint: Endpoint
    ) -> tuple[GraphArrays, Profile]:
        """Return arrays and a profile with the instances and values of the touched definitions."""
        triples: list[TripleTexts] = []
        for entry in self.touched:
            term = self.terms[entry.iri]
            result = await endpoint.select(to_text(term.query), limit=_MAX_DEFINED_ROWS)
            rows = [row for row in result.rows if all(cell is not None for cell in row)]
            if term.value is None:
                triples += [(str(row[0]), f"<{RDF_TYPE}>", f"<{entry.iri}>") for row in rows]
                classes = (*profile.classes, ClassProfile(entry.iri, len(rows), entry.names))
                profile = replace(profile, classes=classes)
                continue
            triples += [(str(row[0]), f"<{entry.iri}>", str(row[1])) for row in rows]
            literals = (row[1] for row in rows if isinstance(row[1], Literal))
            datatype = next((literal.datatype.value for literal in literals), XSD_DECIMAL)
            predicate = PredicateProfile(
                entry.iri,
                len(rows),
                len({str(row[0]) for row in rows}),
                len({str(row[1]) for row in rows}),
                names=entry.names,
                subject_classes=((term.cls, len(rows)),),
                datatypes=((datatype, len(rows)),),
            )
            profile = replace(profile, predicates=(*profile.predicates, predicate))
        if not triples:
            return arrays, profile
        key = tuple(entry.iri for entry in self.touched), hash(tuple(triples))
        extended = _EXTENDED_ARRAYS.setdefault(arrays, {})
        if key not in extended:
            if len(extended) >= _MAX_EXTENDED_ARRAYS:
                extended.clear()
            extended[key] = build_arrays(
                chain(arrays.iterate_texts(), triples), complete=arrays.complete
            )
        return extended[key], profile

    def restore(
        self, candidates: Iterable[QueryCandidate], linked: LinkedQuestion, schema: Schema
    ) -> Iterator[QueryCandidate]:
        """Yield the candidates with the patterns of definitions, and with default filters."""
        class_iris = {link.target for link in linked.get_links(ItemKind.CLASS) if link.is_exact}
        for item in candidates:
            tree = self._state_classes(self._drop_summed(item.tree), class_iris, schema)
            tree = self._apply_row_rules(self._add_filters(tree, schema))
            columns = {name for name, _ in tree.columns}
            values = tuple(value for value in item.shown if get_alias(value) in columns)
            yield replace(item, tree=tree, shown=values or item.shown, terms=self.terms)

    def _state_classes(self, tree: ast.Query, class_iris: Set[str], schema: Schema) -> ast.Query:
        """State the classes that a question names, if it aggregates a measure."""
        if not self.touched or not any(call.is_aggregate for call in ast.find_calls(tree.columns)):
            return tree
        patterns = [item for item in tree.where.elements if isinstance(item, ast.Pattern)]
        typed = {item.subject for item in patterns if item.predicate == _TYPE}
        for variable in dict.fromkeys(
            node for node in ast.walk(tree) if isinstance(node, Variable)
        ):
            for cls in self._find_classes(variable, patterns, schema) & class_iris:
                if variable not in typed:
                    tree = _insert_pattern(
                        tree, variable, ast.Pattern(variable, _TYPE, NamedNode(cls))
                    )
        return tree

    def _drop_summed(self, tree: ast.Query) -> ast.Query:
        """Return a query without the single values of a measure that it sums up."""
        summed = {
            value.arguments[0]
            for _, value in tree.columns
            if isinstance(value, ast.Call) and value.name == "SUM" and value.arguments
        }
        patterns = [item for item in tree.where.elements if isinstance(item, ast.Pattern)]
        carriers = {item.subject for item in patterns if item.object in summed}
        typed = {item.subject for item in patterns if item.predicate == _TYPE}
        dropped = summed | (carriers - typed)
        if not self.touched or not dropped:
            return tree
        columns = tuple((name, value) for name, value in tree.columns if name not in dropped)
        groups = tuple((key, name) for key, name in tree.group_by if key not in dropped)
        return replace(tree, columns=columns, group_by=groups)

    def _add_filters(self, tree: ast.Query, schema: Schema) -> ast.Query:
        """Add the default filters of the classes that a query asks for, counts or measures."""
        added = []
        for entry in self.glossary.definitions:
            if not entry.definition.default or entry in self.lifted:
                continue
            term = self.terms[entry.iri]
            patterns = [node for node in ast.walk(tree) if isinstance(node, ast.Pattern)]
            for variable in self._list_asked(tree, schema, term.cls):
                if not any(
                    self._is_decided(item, term) for item in patterns if item.subject == variable
                ):
                    added.append((variable, entry.iri))
        for variable, iri in added:
            tree = _insert_pattern(tree, variable, ast.Pattern(variable, _TYPE, NamedNode(iri)))
        return tree

    def _is_decided(self, pattern: ast.Pattern, term: DefinedTerm) -> bool:
        """Return whether a pattern of a query already decides what a default filter does."""
        names = (node.value for node in ast.walk(pattern) if isinstance(node, NamedNode))
        terms = {name: self.terms.get(name) for name in names}
        plain = [term for term in terms.values() if term is not None and term.value is None]
        iris = {*terms, *(iri for term in plain for iri in term.conditions)}
        return term.iri in iris or not iris.isdisjoint(term.predicates - {RDF_TYPE})

    def _list_asked(self, tree: ast.Query, schema: Schema, cls: str) -> Iterator[Variable]:
        """Yield the variables of a class that a query asks for, counts, ranks or measures."""
        patterns = [node for node in ast.walk(tree) if isinstance(node, ast.Pattern)]
        targets: set[ast.Term] = {
            node for node in ast.walk((tree.columns, tree.group_by)) if isinstance(node, Variable)
        }
        targets |= {
            item.subject
            for item in patterns
            if isinstance(item.predicate, NamedNode) and item.predicate.value in self.terms
        }
        if tree.form == "ASK":
            targets |= {item.subject for item in patterns if item.predicate == _TYPE}
        for variable in dict.fromkeys(
            node for node in ast.walk(tree) if isinstance(node, Variable)
        ):
            if variable in targets and cls in self._find_classes(variable, patterns, schema):
                yield variable

    def _find_classes(
        self, variable: Variable, patterns: Sequence[ast.Pattern], schema: Schema
    ) -> frozenset[str]:
        """Return the classes that a variable surely has: stated, or the only one of an edge."""
        classes = set()
        for item in patterns:
            is_typed = item.predicate == _TYPE or isinstance(item.predicate, ast.Path)
            if is_typed and item.subject == variable and isinstance(item.object, NamedNode):
                iri = item.object.value
                classes.add(self.terms[iri].cls if iri in self.terms else iri)
            if not isinstance(item.predicate, NamedNode):
                continue
            profile = schema.predicates_by_iri.get(item.predicate.value)
            if profile is None:
                continue
            ends = (item.subject, profile.subject_classes), (item.object, profile.object_classes)
            for end, counts in ends:
                if end == variable and len(counts) == 1:
                    classes.add(counts[0][0])
        return frozenset(classes)

    def _apply_row_rules(self, tree: ast.Query) -> ast.Query:
        """Return a list with the order and number of rows that its class has by definition."""
        variables = [name for name, value in tree.columns if value is None]
        is_list = tree.form == "SELECT" and len(variables) == len(tree.columns)
        if not is_list or tree.order or tree.limit is not None or tree.group_by:
            return tree
        types = {
            item.object.value
            for item in tree.where.elements
            if isinstance(item, ast.Pattern)
            and (item.subject, item.predicate) == (variables[0], _TYPE)
            and isinstance(item.object, NamedNode)
        }
        for entry in self.glossary.definitions:
            rule = entry.definition
            if rule.kind != "rows" or rule.of not in types:
                continue
            if rule.order:
                key = Variable("order_key")
                pattern = ast.Pattern(variables[0], NamedNode(rule.order.lstrip("-")), key)
                elements = (*tree.where.elements, ast.Nested("OPTIONAL", ast.Group((pattern,))))
                order = ((key, rule.order.startswith("-")),)
                tree = replace(tree, where=ast.Group(elements), order=order, distinct=False)
            tree = replace(tree, limit=rule.limit or None)
        return tree


def _insert_pattern(tree: ast.Query, variable: Variable, pattern: ast.Pattern) -> ast.Query:
    """Insert a pattern into the first group that has a pattern of a variable."""
    is_inserted = False

    def insert(node: Any) -> Any:
        nonlocal is_inserted
        if (
            isinstance(node, ast.Group)
            and not is_inserted
            and any(
                isinstance(x, ast.Pattern) and variable in (x.subject, x.object)
                for x in node.elements
            )
        ):
            is_inserted = True
            return replace(node, elements=(pattern, *node.elements))
        return node

    changed: ast.Query = ast.transform(tree, insert)
    return changed


@lru_cache(maxsize=16)
def parse_definitions(
    glossary: Glossary, prefixes: tuple[tuple[str, str], ...]
) -> Mapping[str, DefinedTerm]:
    """Return the measures, conditions and filters of a glossary by their virtual IRIs.

    Raises:
        QuerySyntaxError: A pattern or value is not SPARQL.
    """
    return {
        entry.iri: DefinedTerm.parse(
            entry.iri,
            entry.definition.of,
            entry.definition.pattern,
            entry.definition.value,
            AGGREGATES[entry.definition.aggregate],
            dict(prefixes),
        )
        for entry in glossary.definitions
        if entry.definition.pattern
    }


def load_definitions(graph: KnowledgeGraph) -> DefinitionSearch | None:
    """Return the definitions of a graph's glossary, or None without any."""
    glossary = graph.glossary
    if not glossary or not glossary.definitions:
        return None
    prefixes = PrefixMap(dict(graph.profile.prefixes)).namespaces
    return DefinitionSearch(glossary, parse_definitions(glossary, tuple(prefixes.items())))


_WORD: Final = re.compile(r"\w+|[,;.?!]")
_MAX_WORDS_BETWEEN: Final = 3  # words between those of a phrase that lifts a filter


def remove_lifting_words(text: str, glossary: Glossary) -> tuple[str, tuple[GlossaryEntry, ...]]:
    """Return a question without the words that lift default filters, and the lifted filters.

    These are the phrases of the definitions, and clauses such as "including …" with their names.
    """
    lifted = []
    for entry in glossary.definitions:
        span = _find_lifting_words(text, entry) if entry.definition.default else None
        if span is not None:
            text = text[: span[0]].rstrip(" ,;") + text[span[1] :]
            lifted.append(entry)
    return text, tuple(lifted)


def _find_lifting_words(text: str, entry: GlossaryEntry) -> tuple[int, int] | None:
    tokens = [(match[0].casefold(), *match.span()) for match in _WORD.finditer(text)]
    words = [word for word, *_ in tokens]
    for phrase in entry.definition.unless:
        sought = [match[0].casefold() for match in _WORD.finditer(phrase)]
        for start in range(len(words)):
            at, positions = start, list[int]()
            for word in sought:
                window = words[at : at + 1 + (_MAX_WORDS_BETWEEN if positions else 0)]
                if word not in window:
                    break
                at += window.index(word)
                positions.append(at)
                at += 1
            else:
                return tokens[start][1], tokens[positions[-1]][2]
    return None


_SUMMING_OPERATORS = frozenset(
    "sum average minimum maximum superlative more_than less_than at_least at_most top most fewest"
    " exactly order share ratio difference count".split()
)


def add_implied_sums(frame: QuestionOperators, linked: LinkedQuestion) -> QuestionOperators:
    """Add the sum that a measure implies: "net revenue per region" is that of all its lines."""
    measures = [word for word in linked.glossary_words if word.aggregate]
    firsts = [(word.mask & -word.mask).bit_length() - 1 for word in measures]
    adjectives = [item for item in frame.operators if item.name == "measure"]
    heard = tuple(
        item
        for item in frame.operators
        if item not in adjectives or not any(item.last < first for first in firsts)
    )
    if not firsts or any(item.name in _SUMMING_OPERATORS for item in heard):
        return replace(frame, operators=heard)
    sums = []
    for word, first in zip(measures, firsts, strict=True):
        if word.aggregate == "sum":  # without words, but for "how high is the net revenue"
            before = [item for item in adjectives if item.last < first]
            span = (before[-1].first, before[-1].last) if before else (first, first - 1)
            sums.append(Operator("sum", *span))
    operators = sorted((*heard, *sums), key=lambda operator: operator.first)
    return replace(frame, operators=tuple(operators))
