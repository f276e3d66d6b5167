"""`list`: the triples that match a pattern, the informative ones first, all predicates by name.

A local graph takes them from its arrays. A remote graph is queried for the predicates with counts,
over a limited number of triples, and then for a few triples of each predicate that is shown.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from pyoxigraph import Literal, NamedNode

from askgraph.answers.validation.graph_knowledge import NameScope
from askgraph.errors import QueryError
from askgraph.graph.arrays import GraphArrays, Ids
from askgraph.methods.tools import Context
from askgraph.methods.tools.hits import PropertyVariants, parse_count
from askgraph.methods.tools.rendering import RenderedText, TermWriter
from askgraph.methods.tools.term_text import expand_name
from askgraph.methods.tools.terms import resolve_iri
from askgraph.sparql import vocabulary as v
from askgraph.sparql.lexer import tokenize, unquote_string
from askgraph.sparql.results import Term
from askgraph.sparql.vocabulary import RDF_TYPE
from askgraph.trace import Observation

__all__ = ["list_triples"]

_MAX_LANGUAGES = 6
_NAME = re.compile(r"[A-Za-z][\w.-]*:[^\s/]\S*")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_DATE = re.compile(r"-?\d{4,}-\d\d-\d\d")


async def list_triples(
    context: Context,
    subject: Annotated[str | None, "IRI"] = None,
    predicate: Annotated[str | None, "IRI"] = None,
    object: Annotated[str | None, "IRI, or a literal's text"] = None,
) -> Observation:
    """List triples by subject, predicate or object; give at least one.

    At most `limits.triples` are shown, a few of each predicate: frequent predicates first, those
    already shown last. The other predicates are listed by name, unlike `LST` of the GRASP paper
    (section 3.2). Predicates that are one property share one line.

    Raises:
        QueryError: a blank node, or an IRI that the graph does not contain.
    """
    if not any(text and text.strip() for text in (subject, predicate, object)):
        raise QueryError("give a subject, a predicate or an object: prefix:name or <http://…>")
    pattern = TriplePattern(
        await _resolve_node(context, subject, "entities"),
        await _resolve_node(context, predicate, "properties"),
        await _resolve_objects(context, (object or "").strip()),
    )
    arrays, max_triples = context.graph.arrays, context.limits.triples
    local_arrays = arrays if arrays is not None and arrays.complete else None
    if local_arrays is not None:
        groups = await asyncio.to_thread(lambda: list(list_local_groups(local_arrays, pattern)))
    else:
        groups = await fetch_groups(context, pattern)
    head = await describe_pattern(context, pattern)
    if not groups:
        return Observation(f"no triple {head.text}", head.iris, rows=0)
    count = sum(group.count for group in groups)
    qualifier = "at least " if any(group.is_cut for group in groups) else ""
    merged_groups = merge_variants(context, groups)
    shown_groups, omitted_groups = merged_groups[:max_triples], merged_groups[max_triples:]
    if local_arrays is None:
        shown_groups = await fetch_examples(
            context, pattern, shown_groups, pairs_per_group=2 * -(-max_triples // len(shown_groups))
        )
    shown_groups = choose_pairs(context, shown_groups, max_triples)
    ends = [term for group in shown_groups for pair in group.pairs for term in pair]
    iris = [group.predicate for group in merged_groups]
    iris += [term.value for term in ends if isinstance(term, NamedNode)]
    writer = await TermWriter.from_iris(context, iris)
    lines = [f"{qualifier}{count:,} triple{'' if count == 1 else 's'} {head.text}:"]
    lines += [_format_group(writer, pattern, group) for group in shown_groups]
    if omitted_groups:
        lines.append(f"also: {_join_names(writer, omitted_groups)}")
    all_iris = tuple(dict.fromkeys([*head.iris, *writer.written_iris]))
    return Observation("\n".join(lines), all_iris, rows=count)


async def _resolve_node(context: Context, text: str | None, sort: NameScope) -> NamedNode | None:
    if text is None or not text.strip():
        return None
    return NamedNode(await resolve_iri(context, text, sort=sort))


async def _resolve_objects(context: Context, text: str) -> tuple[NamedNode | Literal, ...]:
    """Return the IRI of a text, or the literals of the graph that it may stand for."""
    if not text:
        return ()
    first_token = next(iter(tokenize(text).all_tokens), None)
    if first_token is not None and first_token.kind == "string":
        return _list_literals(context, unquote_string(first_token.text))
    full_iri = expand_name(text.split()[0], context.graph.prefixes)
    if full_iri or _NAME.fullmatch(text) or text.startswith("<") or "://" in text.split()[0]:
        return (NamedNode(await resolve_iri(context, text)),)
    if text.startswith("_:"):
        await resolve_iri(context, text)
    return _list_literals(context, text)


def _list_literals(context: Context, text: str) -> tuple[Literal, ...]:
    arrays = context.graph.arrays
    if arrays is not None and arrays.complete:
        term_ids = arrays.terms.find_prefix(str(Literal(text)))
        terms = [arrays.terms.get_term(at) for at in term_ids[: context.limits.candidates]]
        return tuple(term for term in terms if isinstance(term, Literal)) or (Literal(text),)
    languages = [language for language, _ in context.graph.profile.languages if language]
    tags = dict.fromkeys([context.language, "en", *languages[:_MAX_LANGUAGES]])
    datatypes: list[str] = []
    if _NUMBER.fullmatch(text):
        datatypes += [v.XSD_DECIMAL if "." in text else v.XSD_INTEGER, v.XSD_DOUBLE, v.XSD_FLOAT]
        datatypes += [v.XSD_G_YEAR] if text.isdigit() and len(text) == 4 else []
    elif _DATE.fullmatch(text):
        datatypes.append(v.XSD_DATE)
    return (
        Literal(text),
        *(Literal(text, language=tag) for tag in tags),
        *(Literal(text, datatype=NamedNode(iri)) for iri in datatypes),
    )


_MAX_COUNTED_TRIPLES = 10_000
_MAX_PREDICATES = 300
_SAMPLE_SIZE = 200
_MAX_PAIRS_PER_PREDICATE = 20

Pair = tuple[Term, Term]
"""A subject and an object."""

_MAX_NAMES_CHARACTERS = 2_000  # characters for the names of predicates


@dataclass(frozen=True)
class TriplePattern:
    """The constraints on a triple; `objects` are the terms that one text may stand for."""

    subject: NamedNode | None = None
    predicate: NamedNode | None = None
    objects: tuple[NamedNode | Literal, ...] = ()


@dataclass(frozen=True)
class PredicateTriples:
    """The triples of one predicate: their number, a lower bound if `is_cut`, and some of them.

    `variants` are predicates that are the same property; see `askgraph.graph.names`.
    """

    predicate: str
    count: int
    pairs: tuple[Pair, ...] = ()
    is_cut: bool = False
    variants: tuple[str, ...] = ()


def list_local_groups(arrays: GraphArrays, pattern: TriplePattern) -> Iterator[PredicateTriples]:
    """Yield the groups of a local graph, with the most connected pairs of at most 200 triples."""

    def find_ids(terms: Iterable[NamedNode | Literal]) -> Ids:
        term_ids = [arrays.terms.find(str(term)) for term in terms]
        return np.array(sorted({at for at in term_ids if at is not None}), dtype=np.int32)

    subjects = find_ids([pattern.subject] if pattern.subject else [])
    objects = find_ids(pattern.objects)
    if (pattern.subject and not len(subjects)) or (pattern.objects and not len(objects)):
        return
    if pattern.predicate is not None:
        number = arrays.get_predicate_number(pattern.predicate.value)
        numbers = [] if number is None else [number]
    elif pattern.subject is not None:
        numbers = arrays.count_predicates(subjects)[0].tolist()
    else:
        numbers = arrays.count_predicates(objects, inverse=True)[0].tolist()
    for number in numbers:
        if pattern.subject is not None:
            sources, targets = arrays.get_edges(subjects, number)
            if pattern.objects:
                matches = np.isin(targets, objects)
                sources, targets = sources[matches], targets[matches]
        elif pattern.objects:
            targets, sources = arrays.get_edges(objects, number, inverse=True)
        else:
            start, end = arrays.predicate_offsets[number : number + 2]
            sources, targets = arrays.subjects[start:end], arrays.objects[start:end]
        if len(sources):
            iri = arrays.get_predicate_iri(number)
            # Prefer rare classes: general superclasses are connected to everything.
            yield PredicateTriples(
                iri, len(sources), _select_pairs(arrays, sources, targets, rare=iri == RDF_TYPE)
            )


async def fetch_groups(context: Context, pattern: TriplePattern) -> list[PredicateTriples]:
    """Return the groups of a remote graph without triples, counted over the first 10,000.

    Raises:
        ServiceError: the endpoint fails.
    """
    has_only_predicate = pattern.predicate and not pattern.subject and not pattern.objects
    for profile in context.graph.profile.predicates if has_only_predicate else ():
        if pattern.predicate and profile.iri == pattern.predicate.value:
            return [PredicateTriples(profile.iri, profile.triples)]
    column = f"({pattern.predicate} AS ?p)" if pattern.predicate else "?p"
    query = (
        f"SELECT ?p (COUNT(*) AS ?n) WHERE {{ {{ SELECT {column} WHERE {{ "
        f"{_build_pattern(pattern, str(pattern.predicate or '?p'))} }} LIMIT "
        f"{_MAX_COUNTED_TRIPLES} }} }} GROUP BY ?p ORDER BY DESC(?n) LIMIT {_MAX_PREDICATES}"
    )
    result = await context.graph.endpoint.select(
        query, timeout=context.limits.timeout, limit=_MAX_PREDICATES
    )
    counts = [
        (predicate.value, parse_count(n))
        for predicate, n in result.rows
        if isinstance(predicate, NamedNode)
    ]
    is_cut = sum(number for _, number in counts) >= _MAX_COUNTED_TRIPLES
    return [PredicateTriples(iri, number, is_cut=is_cut) for iri, number in counts if number]


async def fetch_examples(
    context: Context,
    pattern: TriplePattern,
    groups: Sequence[PredicateTriples],
    *,
    pairs_per_group: int,
) -> list[PredicateTriples]:
    """Return groups of a remote graph with some of their triples, fetched in one request.

    Raises:
        ServiceError: the endpoint fails.
    """
    columns = (
        f"{_build_column('s', pattern.subject)} {_build_column('o', _get_single(pattern.objects))}"
    )
    parts = [
        f"{{ SELECT ({at} AS ?n) {columns} "
        f"WHERE {{ {_build_pattern(pattern, f'<{group.predicate}>')} }} "
        f"LIMIT {min(pairs_per_group, group.count)} }}"
        for at, group in enumerate(groups)
    ]
    if not parts:
        return []
    max_rows = pairs_per_group * len(parts)
    result = await context.graph.endpoint.select(
        f"SELECT ?n ?s ?o WHERE {{ {' UNION '.join(parts)} }} LIMIT {max_rows}",
        timeout=context.limits.timeout,
        limit=max_rows,
    )
    pairs: dict[int, list[Pair]] = {}
    for number, subject, end in result.rows:
        if subject is not None and end is not None:
            pairs.setdefault(parse_count(number), []).append((subject, end))
    return [replace(group, pairs=tuple(pairs.get(at, ()))) for at, group in enumerate(groups)]


def _select_pairs(
    arrays: GraphArrays, sources: Ids, targets: Ids, *, rare: bool
) -> tuple[Pair, ...]:
    """Return pairs of the most (or least) connected nodes; those that repeat a node come later."""
    indices = np.unique(
        np.linspace(0, len(sources) - 1, min(_SAMPLE_SIZE, len(sources))).astype(int)
    )
    pairs = [(int(sources[at]), int(targets[at])) for at in indices]

    def get_degree(node: int) -> int:
        return 0 if arrays.terms.is_literal(node) else arrays.get_degree(node)

    pairs.sort(key=lambda pair: (1 if rare else -1) * max(map(get_degree, pair)))
    counts: Counter[int] = Counter()
    turns = []
    for pair in pairs:
        turns.append(max(counts[pair[0]], counts[pair[1]]))
        counts.update(pair)
    order = sorted(range(len(pairs)), key=lambda at: turns[at])[:_MAX_PAIRS_PER_PREDICATE]
    term = arrays.terms.get_term
    return tuple((term(pairs[at][0]), term(pairs[at][1])) for at in order)


def _get_single(objects: tuple[NamedNode | Literal, ...]) -> NamedNode | Literal | None:
    return objects[0] if len(objects) == 1 else None


def _build_column(name: str, term: NamedNode | Literal | None) -> str:
    return f"({term} AS ?{name})" if term is not None else f"?{name}"


def _build_pattern(pattern: TriplePattern, predicate: str) -> str:
    values_clause = f"VALUES ?o {{ {' '.join(map(str, pattern.objects))} }} "
    end = _get_single(pattern.objects)
    prefix = values_clause if len(pattern.objects) > 1 else ""
    return f"{prefix}{pattern.subject or '?s'} {predicate} {'?o' if end is None else end}"


def merge_variants(context: Context, groups: Sequence[PredicateTriples]) -> list[PredicateTriples]:
    """Return one group per property: frequent ones first, those already shown last."""
    variants = PropertyVariants(context.graph.profile)
    by_iri = {group.predicate: group for group in groups}
    merged = [
        replace(by_iri[first], variants=tuple(variant_iris))
        for first, *variant_iris in variants.group(by_iri)
    ]

    def get_sort_key(group: PredicateTriples) -> tuple[bool, int, str]:
        profile = variants.profiles.get(group.predicate)
        frequency = profile.triples if profile else group.count
        return group.predicate in context.shown_iris, -frequency, group.predicate

    return sorted(merged, key=get_sort_key)


def choose_pairs(
    context: Context, groups: Sequence[PredicateTriples], max_pairs: int
) -> list[PredicateTriples]:
    """Choose the pairs to show: one of each group, then one more of each in turn.

    Pairs with unseen IRIs come first, then texts in the user's language.
    """

    def get_sort_key(pair: Pair) -> tuple[int, bool]:
        shown_count = sum(
            isinstance(term, NamedNode) and term.value in context.shown_iris for term in pair
        )
        language = pair[1].language if isinstance(pair[1], Literal) else None
        return shown_count, bool(language) and language not in (context.language, "en")

    sizes = [len(group.pairs) for group in groups]
    turns = [(turn, at) for at, size in enumerate(sizes) for turn in range(size)]
    pair_counts = Counter(at for _, at in sorted(turns)[:max_pairs])
    return [
        replace(group, pairs=tuple(sorted(group.pairs, key=get_sort_key)[: pair_counts[at]]))
        for at, group in enumerate(groups)
    ]


def _join_names(writer: TermWriter, groups: Sequence[PredicateTriples]) -> str:
    """Return the names of the predicates, as many as fit."""
    names: list[str] = []
    characters_left = _MAX_NAMES_CHARACTERS
    for group in groups:
        if characters_left < 0:
            return f"{', '.join(names)}, and {len(groups) - len(names)} more"
        names.append(writer.write_iri(group.predicate))
        characters_left -= len(names[-1]) + 2
    return ", ".join(names)


async def describe_pattern(context: Context, pattern: TriplePattern) -> RenderedText:
    """Return the pattern in words."""
    terms_by_role = [
        ("subject", pattern.subject),
        ("predicate", pattern.predicate),
        *(("object", object_node) for object_node in pattern.objects[:1]),
    ]
    iris = [term.value for _, term in terms_by_role if isinstance(term, NamedNode)]
    writer = await TermWriter.from_iris(context, iris)
    parts = [
        f"{role} "
        f"{writer.write_text(term.value) if isinstance(term, Literal) else writer.write_term(term)}"
        for role, term in terms_by_role
        if term is not None
    ]
    return RenderedText("with " + " and ".join(parts), tuple(writer.written_iris))


def _format_group(writer: TermWriter, pattern: TriplePattern, group: PredicateTriples) -> str:
    """Return a predicate with its number of triples and the free ends of some of them."""
    name = writer.write_iri(group.predicate)
    notes = [f"{'≥' if group.is_cut else ''}{group.count:,}"]
    if group.variants:
        notes.append("also " + ", ".join(map(writer.write_short, group.variants)))
    shows_all = len(group.pairs) == group.count and not group.variants
    note = "" if shows_all else f" ({'; '.join(notes)})"
    if pattern.subject and pattern.objects:
        return name + note
    if pattern.subject:
        return f"{name} → {', '.join([writer.write_term(end) for _, end in group.pairs])}{note}"
    if len(pattern.objects) == 1:
        return f"{name} ← {', '.join([writer.write_term(start) for start, _ in group.pairs])}{note}"
    pairs = [f"{writer.write_term(start)} → {writer.write_term(end)}" for start, end in group.pairs]
    return f"{name}{note}: {'; '.join(pairs)}"
