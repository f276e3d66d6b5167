"""Choose columns for the names, values and kinds that a question asks for, and find their owners.

A question word asks for a value that no other word names: the date, the place, the person.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from pyoxigraph import Literal, NamedNode, Variable

from askgraph.graph.literals import ValueKind, split_literal
from askgraph.graph.names import NAME_WORDS
from askgraph.graph.profile import get_standard_role
from askgraph.index.names import ItemKind, stem_name, stem_word
from askgraph.search.expand import GainWeight, Penalty
from askgraph.search.expand.schema import (
    KINDS,
    find_question_word_links,
    get_node_kinds,
    get_predicate_kinds,
    sample_evenly,
)
from askgraph.search.operators.query_builder import (
    DATE_SORTS,
    Attachment,
    QueryBuilder,
    Slot,
    Vertex,
    build_unnamed_attachment,
)
from askgraph.search.query_pieces import Value, build_filter, build_pattern
from askgraph.search.tokenize.question_operators import Operator
from askgraph.search.tokenize.word_lists import get_shared_words, get_word_list, load_kind_words
from askgraph.sparql import Call, Element, Filter, Group
from askgraph.sparql.vocabulary import RDF_TYPE

_MAX_CLASS_SAMPLE = 200  # things to sample for whether they have several classes
_MAX_OWNER_DISTANCE = 9
"""Maximum number of words between a property and its owner: "name and date of birth of the …"."""
_MIN_OWNER_SCORE = 0.8  # minimum score of a place to report on
_MAX_LABEL_NODES = 5  # things to sample for whether labels are numbers
_NOUN_OPERATORS = ("count", "average", "sum", "minimum", "maximum", "most", "fewest", "superlative")
"""Operators that have their own noun: "the name and the number of reservations"."""
_MIN_PREDICATE_SCORE = 0.9  # minimum score of a predicate for the words for a name
_TEXT_KINDS = {"place": "places", "person": "persons"}
"""Kind of thing whose name a text holds, by what the question word asks for."""


def show_names(query: QueryBuilder) -> None:
    """Show the names that words ask for; for a thing with a label, show the thing itself.

    "The names and ages of the pilots" shows the pilots. If first and last names are two predicates,
    both are shown. If exactly these words name a predicate of the thing, they are left to it.
    """
    for position in query.lookups.name_positions:
        if query.question.tokens[position].quote is not None:
            continue
        if query.used >> position & 1 or not query.zones.is_head(position):
            continue
        slot = next((slot for slot in query.slots if slot.first <= position <= slot.last), None)
        earlier = (query.find_attachment(x) for x in query.slots if x.last == position - 1)
        is_text = any(  # "director names": its texts are names
            x and not x.inverse and query.schema.get_sort(x.predicate) is ValueKind.TEXT
            for x in earlier
        )
        if is_text and (slot is None or slot.first == slot.last):
            query.consume_words(1 << position, query.weights[position] * GainWeight.NAME_WORD)
            query.used_slots |= set() if slot is None else {slot}
            continue
        vertex = find_owner_vertex(query, position, position)
        if vertex is None or _is_reserved(query, slot, vertex):
            continue
        if not isinstance(vertex.term, Variable):
            continue
        names = _find_name_variables(query, vertex) or (
            _find_linked_name(query, vertex) if slot is None else []
        )
        if not names:
            continue
        query.projections += [(position, variable) for variable in names]
        query.consume_words(1 << position, query.weights[position] * GainWeight.NAME_WORD)
        query.shown_words |= 1 << position
        if slot is not None:
            query.used_slots.add(slot)


def find_owner_vertex(query: QueryBuilder, first: int, last: int) -> Vertex | None:
    """Return the vertex whose property the words from `first` to `last` name.

    Its words stand right before them ("the pilot's name", "pilot names"), or after them and a
    preposition as "of" ("the names and ages of all pilots"), with other properties between.
    """
    starts, ends = find_named_vertices(query)
    if first - 1 in ends:
        return ends[first - 1]
    if any(slot.first <= first - 1 <= slot.last for slot in query.slots):
        return None
    has_preposition = False
    for position in range(last + 1, min(last + _MAX_OWNER_DISTANCE, len(query.question.tokens))):
        if position in starts and has_preposition:
            return starts[position]
        has_preposition = (
            has_preposition
            or query.question.tokens[position].folded in query.question.word_list.clauses["weak"]
        )
        if not _can_stand_between(query, position, starts):
            return None
    return None


def find_named_vertices(query: QueryBuilder) -> tuple[dict[int, Vertex], dict[int, Vertex]]:
    """Return the vertices that words name well, by the first and the last token of the name."""
    starts: dict[int, Vertex] = {}
    ends: dict[int, Vertex] = {}
    for vertex in query.draft.vertices:
        for link in query.draft.find_naming_links(vertex.node, vertex.edge):
            if link.score * link.quality >= _MIN_OWNER_SCORE and link.kind is not ItemKind.VALUE:
                starts.setdefault(link.positions[0], vertex)
                ends.setdefault(link.positions[-1], vertex)
    return starts, ends


def _can_stand_between(query: QueryBuilder, position: int, starts: Mapping[int, Vertex]) -> bool:
    """Return whether a word may stand between a property and its owner."""
    question = query.question
    if any(position in span.positions for span in query.operators.get_operators(*_NOUN_OPERATORS)):
        return False
    if question.is_stop(position):
        return question.tokens[position].folded not in question.word_list.clauses["restrict"] or (
            question.tokens[position].folded in question.word_list.clauses["weak"]
        )
    if (
        query.operators.mask >> position & 1
        or question.tokens[position].stem in question.word_list.naming
    ):
        return True
    start_stems = {question.tokens[first].stem for first in starts}
    if (
        position + 1 in starts and question.tokens[position].stem in start_stems
    ):  # "parties … of the party hosts"
        return True
    return any(span.first <= position <= span.last for span in query.slots)


def _is_reserved(query: QueryBuilder, slot: Slot | None, vertex: Vertex) -> bool:
    """Return whether an operator uses the words, or they name a predicate of the thing."""
    if slot is None:
        return False
    if not query.is_unused(slot):
        return True
    question = query.question
    class_positions = vertex.node.cls_link.positions if vertex.node.cls_link is not None else ()
    if any(
        position not in class_positions
        and not question.is_stop(position)
        and question.tokens[position].stem not in question.word_list.naming
        for position in range(slot.first, slot.last + 1)
    ):
        return True
    predicates = query.lookups.find_predicates(query.get_vertex_ids(vertex))
    return any(
        link.score * link.quality >= _MIN_PREDICATE_SCORE
        and query.schema.get_predicate_number(link.target) in predicates
        for link in slot.links
    )


def _find_name_variables(query: QueryBuilder, vertex: Vertex) -> list[Variable]:
    """Return the thing itself if it has a label, else its names; empty without names."""
    schema, ids = query.schema, query.get_vertex_ids(vertex)
    labels = sorted(
        schema.naming_predicates & schema.hidden_predicates & query.lookups.find_predicates(ids)
    )
    if labels and not _has_numbering_labels(query, vertex, labels):
        return [query.choose_name_variable(vertex)]
    parts = _find_name_parts(query, vertex)
    if parts:
        return [query.draft.attach_predicate(vertex, number) for number in parts]
    name_predicate = schema.find_custom_name_predicate(ids)
    if name_predicate is not None and _is_name_predicate(query, name_predicate, vertex):
        is_distinct = query.operators.get_operators("distinct")
        attach = query.draft.attach_predicate if is_distinct else query.draft.attach_name
        return [attach(vertex, name_predicate)]
    return []


def _has_numbering_labels(query: QueryBuilder, vertex: Vertex, labels: Sequence[int]) -> bool:
    """Return whether labels only number the things: "visit 7" is no name of a visit."""
    schema, terms = query.schema, query.graph.terms
    ids = query.get_vertex_ids(vertex)[:_MAX_LABEL_NODES]
    class_stems = frozenset[str]().union(
        *map(schema.get_lineage_stems, schema.get_classes(int(ids[0])))
    )
    label_nodes = [
        node_id for number in labels for node_id in query.graph.step(ids, number).tolist()
    ]
    texts = [
        stem_name(terms.get_value(node_id)) for node_id in label_nodes if node_id < terms.first_iri
    ]
    words = [{word for word in text if not word[0].isdigit()} for text in texts]
    return all(
        label_words <= class_stems and len(label_words) < len(set(text))
        for label_words, text in zip(words, texts, strict=True)
    )


def _find_linked_name(query: QueryBuilder, vertex: Vertex) -> list[Variable]:
    """Return the labelled thing that each nameless thing is linked to, if there is exactly one."""
    # A nameless nomination node gets the name of the nominated person. The link must be one-to-one,
    # so that both stand for the same thing.
    schema, ids = query.schema, query.get_vertex_ids(vertex)
    predicates = []
    for number in sorted(schema.resource_predicates & query.lookups.find_predicates(ids)):
        if schema.is_functional(number) and schema.is_functional(number, inverse=True):
            linked_ids = query.graph.step(ids, number)
            if not schema.naming_predicates.isdisjoint(
                schema.hidden_predicates & query.lookups.find_predicates(linked_ids)
            ):
                predicates.append(number)
    return [query.draft.attach_predicate(vertex, predicates[0])] if len(predicates) == 1 else []


def _is_name_predicate(query: QueryBuilder, predicate: int, vertex: Vertex) -> bool:
    """Return whether a predicate is called a name, or like the class of the things it names."""
    words = query.schema.get_name_stems(predicate)
    classes = query.schema.get_classes(int(vertex.node.ids[0]))
    return not words.isdisjoint(NAME_WORDS) or any(
        words <= query.schema.get_lineage_stems(cls) for cls in classes
    )


def _find_name_parts(query: QueryBuilder, vertex: Vertex) -> tuple[int, ...]:
    """Return the predicates of the first and last name of things without a full name."""
    schema, ids = query.schema, query.get_vertex_ids(vertex)
    predicates = sorted(query.lookups.find_predicates(ids))
    first, last = (
        [
            number
            for number in predicates
            if number in schema.open_predicates and _has_part_ending(query, number, part)
        ]
        for part in ("first_names", "last_names")
    )
    return (first[0], last[0]) if first and last else ()


def _has_part_ending(query: QueryBuilder, number: int, part: str) -> bool:
    """Return whether the name of a predicate ends in a word for a part of a name."""
    texts = ("".join(text.split()) for text in query.schema.get_folded_names(number))
    return any(
        text.endswith(ending) for text in texts for ending in get_shared_words().name_parts[part]
    )


def find_asked_value(query: QueryBuilder) -> Attachment | None:
    """Find the value that the question word asks for: a date for "when".

    Places and persons are values as well if only their name is known, as text.
    """
    if query.operators.asks in ("date", "year"):
        return query.find_only_predicate(DATE_SORTS)
    question_word = query.operators.question_word
    kind = _TEXT_KINDS.get(question_word[0]) if question_word is not None else None
    for vertex in query.draft.vertices if kind is not None else ():
        if kind is None or not query.lookups.is_resource(vertex.node.ids):
            continue
        schema = query.schema
        name_predicate = schema.find_custom_name_predicate(vertex.node.ids)
        numbers = [
            number
            for number in query.list_predicates(vertex)
            if number in schema.open_predicates
            and number != name_predicate
            and schema.get_sort(number) is ValueKind.TEXT
            and kind in get_predicate_kinds(schema, number)
        ]
        is_class = vertex is query.root and not vertex.node.terms
        if is_class and kind in get_node_kinds(query.schema, vertex.node.ids):
            return None  # the answer itself
        if numbers:
            generic = load_kind_words().generic[kind]
            generic_numbers = [
                number for number in numbers if query.schema.get_name_stems(number) & generic
            ]
            query.unknown += Penalty.OTHER_PREDICATE * (len(numbers) - 1)
            return build_unnamed_attachment(vertex, (generic_numbers or numbers)[0])
    return None


def iterate_further_values(query: QueryBuilder) -> Iterator[Variable]:
    """Yield the values of further question words: "when and where was X launched".

    They belong to the same thing as the value of the first word, named by the same words.
    """
    for question_word, position in query.operators.further_question_words:
        links = (
            find_question_word_links(query.linked, query.schema, question_word, position)
            if question_word in KINDS
            else ()
        )
        for link in sorted(links, key=lambda candidate: -candidate.quality):
            number = query.schema.get_predicate_number(link.target)
            if number is None:
                continue
            has_predicate = query.lookups.has_predicate
            bearers = (
                candidate
                for candidate in _iterate_entities(query)
                if has_predicate(query.get_vertex_ids(candidate), number, False)
            )
            if (vertex := next(bearers, None)) is not None:
                yield query.draft.attach_predicate(vertex, number)
                query.shown_words |= 1 << position
                break


def _iterate_entities(query: QueryBuilder) -> Iterator[Vertex]:
    """Yield the vertices of a draft and the named things that they are linked to."""
    for vertex in query.draft.vertices:
        yield vertex
        for _, child in vertex.node.edges:
            constant = query.draft.get_constant(child)
            if constant is not None:
                yield Vertex(constant, child)


def build_label_key(query: QueryBuilder, column: Value) -> Value:
    """Return the sort key of a column: for things their labels, in one language."""
    labels = _find_labels(query, column) if isinstance(column, Variable) else None
    if labels is None or not isinstance(column, Variable):
        return column
    number, languages = labels
    label = query.draft.create_variable("label")
    elements: list[Element] = [build_pattern(column, query.graph.get_predicate_iri(number), label)]
    if len(languages) > 1:
        languages_by_preference = (query.question.language, "en", *sorted(languages))
        chosen_language = next(
            language
            for prefix in languages_by_preference
            for language in sorted(languages)
            if language.startswith(prefix)
        )
        elements.append(Filter(Call("=", (Call("LANG", (label,)), Literal(chosen_language)))))
    query.draft.optionals.append(Group(tuple(elements)))
    return label


def _find_labels(query: QueryBuilder, column: Variable) -> tuple[int, set[str]] | None:
    """Return the label predicate of the things in a column, and the languages of the labels."""
    graph, schema = query.graph, query.schema
    vertex = query.draft.find_vertex(column)
    ids = None if vertex is None else query.get_vertex_ids(vertex)
    for (_, predicate, inverse), value in query.draft.edge_variables.items() if ids is None else ():
        ids = graph.get_ends(predicate, inverse=not inverse) if value == column else ids
    if ids is None or not query.lookups.is_resource(ids):
        return None
    predicates = query.lookups.find_predicates(ids)
    label_predicates = [
        number
        for number in predicates
        if get_standard_role(graph.get_predicate_iri(number)) == "name"
    ]
    if not label_predicates:
        return None
    number = max(label_predicates, key=lambda candidate: schema.predicates[candidate].triples)
    texts = (
        graph.terms.get_text(int(candidate)) for candidate in graph.step(sample_evenly(ids), number)
    )
    return number, {split_literal(text)[2] or "" for text in texts if text.startswith('"')}


def group_by_kind(query: QueryBuilder, operator: Operator) -> bool:
    """Group things by their kind: by a property for it, else by their class.

    The graph may have another word for it: "software per category" is by "software type".
    """
    position, root, schema = operator.last + 1, query.root, query.schema
    kinds, following = query.question.word_list.clauses["kinds"], query.question.folded_words
    if not isinstance(root.term, Variable) or kinds.isdisjoint(following[position : position + 1]):
        return False
    if root not in query.find_vertices_before(operator):
        return False
    stems = {stem_word(word) for word in kinds | get_word_list("en").clauses["kinds"]}
    ids, sizes = query.get_vertex_ids(root), []
    for number in query.list_predicates(root):
        is_kind = number != schema.type_predicate and stems & set(schema.get_name_stems(number))
        if is_kind and schema.get_sort(number) in (ValueKind.NONE, ValueKind.TEXT):
            subjects, objects = query.graph.get_edges(ids, number)
            if len(np.unique(objects)) < len(np.unique(subjects)):
                sizes.append((len(np.unique(objects)), number))
    if sizes:  # by the property with the fewest values
        kind = query.attach(build_unnamed_attachment(root, min(sizes)[1]))
    elif root.node.cls is not None and _has_several_classes(query, root):
        kind = query.draft.create_variable("kind")
        query.draft.patterns.append(build_pattern(root.term, RDF_TYPE, kind))
        query.draft.filters.append(build_filter(kind, "!=", NamedNode(root.node.cls)))
    else:
        return False
    query.consume_tokens([position])
    query.group_by_value(kind, position, is_shown_word=False)
    return True


def _has_several_classes(query: QueryBuilder, vertex: Vertex) -> bool:
    """Return whether most things at a vertex have a class besides that of the vertex."""
    ids = query.get_vertex_ids(vertex)
    classes = [query.schema.get_classes(int(number)) for number in ids[:_MAX_CLASS_SAMPLE]]
    further = [set(names) - {vertex.node.cls} for names in classes]
    return 2 * sum(map(bool, further)) > len(further) and len(set().union(*further)) > 1
