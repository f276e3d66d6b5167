"""Group things by their kind: "per category", "of each type"."""

import numpy as np
from pyoxigraph import NamedNode, Variable

from askgraph.graph.literals import ValueKind
from askgraph.index.names import stem_word
from askgraph.search.operators.query_builder import QueryBuilder, Vertex, build_unnamed_attachment
from askgraph.search.query_pieces import build_filter, build_pattern
from askgraph.search.tokenize.question_operators import Operator
from askgraph.search.tokenize.word_lists import get_word_list
from askgraph.sparql.vocabulary import RDF_TYPE

_MAX_CLASS_SAMPLE = 200  # so many things tell whether they have several classes


def group_by_kind(query: QueryBuilder, operator: Operator) -> bool:
    """Group things by their kind: by a property for it, else by their class.

    The graph may have another word for it: "software per category" is by "software type".
    """
    position, words = operator.last + 1, query.question.folded_words
    root, lists = query.root, query.question.word_list
    if not isinstance(root.term, Variable) or position >= len(words):
        return False
    if words[position] not in lists.clauses["kinds"]:
        return False
    if root not in query.find_vertices_before(operator):
        return False
    predicate = _find_kind_predicate(query)
    if predicate is not None:
        kind = query.attach(build_unnamed_attachment(root, predicate))
    elif root.node.cls is not None and _has_several_classes(query, root):
        kind = query.draft.create_variable("kind")
        query.draft.patterns.append(build_pattern(root.term, RDF_TYPE, kind))
        query.draft.filters.append(build_filter(kind, "!=", NamedNode(root.node.cls)))
    else:
        return False
    query.consume_tokens([position])
    query.group_by_value(kind, position, is_shown_word=False)
    return True


def _find_kind_predicate(query: QueryBuilder) -> int | None:
    """Return the predicate of the root for its kind, with the fewest values."""
    lists, schema, root = query.question.word_list, query.schema, query.root
    words = lists.clauses["kinds"] | get_word_list("en").clauses["kinds"]
    stems = {stem_word(word) for word in words}
    ids, sizes = query.get_vertex_ids(root), []
    for number in query.list_predicates(root):
        is_kind = number != schema.type_predicate and stems & set(schema.get_name_stems(number))
        if is_kind and schema.get_sort(number) in (ValueKind.NONE, ValueKind.TEXT):
            subjects, objects = query.graph.get_edges(ids, number)
            if len(np.unique(objects)) < len(np.unique(subjects)):
                sizes.append((len(np.unique(objects)), number))
    return min(sizes)[1] if sizes else None


def _has_several_classes(query: QueryBuilder, vertex: Vertex) -> bool:
    """Return whether most things at a vertex have a class besides that of the vertex."""
    ids = query.get_vertex_ids(vertex)
    classes = [query.schema.get_classes(int(number)) for number in ids[:_MAX_CLASS_SAMPLE]]
    further = [set(names) - {vertex.node.cls} for names in classes]
    return 2 * sum(map(bool, further)) > len(further) and len(set().union(*further)) > 1
