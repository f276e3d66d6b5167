"""Find misread steps: relations against the direction of the grammar, and needless steps."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from pyoxigraph import Literal, NamedNode, Variable

from askgraph.index.names import ItemKind
from askgraph.search import query_pieces as pieces
from askgraph.search.expand import FULL_NAME_SHARE
from askgraph.search.expand.schema import Schema, is_mirrored
from askgraph.search.link import Link, LinkedQuestion
from askgraph.search.operators.query_builder import QueryCandidate
from askgraph.search.tokenize.word_lists import get_shared_words
from askgraph.sparql import Pattern, Term, walk
from askgraph.sparql.vocabulary import RDF_TYPE

_MIN_OWN_WORD_QUALITY = 0.95  # minimum quality of a relation's own words, apart from an ending
_MAX_FUNCTION_WORDS = 2  # function words between a verb and its object


@dataclass(frozen=True)
class EdgeDirections:
    """Compares the directions of relations with the grammar of one question."""

    linked: LinkedQuestion
    schema: Schema

    def count_reversed(self, candidate: QueryCandidate) -> float:
        """Return the number of relations that are read against the grammar."""
        # Only relations that a thing has in both directions count, or, if the answer may be no,
        # those of which words say so: "a teacher of X", "X has a teacher". "Who taught X" asks for
        # the teacher, "whom did X teach" for the person who was taught.
        if not self._predicate_links:
            return 0.0
        where = candidate.tree.where
        groups = [
            pieces.list_patterns(group) for group in (where, *pieces.list_negated_groups(where))
        ]
        count = sum(self._count_in_group(group, candidate.is_ask) for group in groups)
        # "Which concepts have no narrower concept" asks for the subjects of `narrower`. Only
        # relations between things of one stated class count.
        classes = _find_classes(candidate.root, groups[0])
        for patterns in groups[1:]:
            for triple in patterns:
                relation = self._predicate_links.get(pieces.get_predicate(triple))
                if relation is not None and triple.object == candidate.root:
                    same_classes = classes & _find_classes(triple.subject, patterns)
                    count += self._follows_has(relation) and bool(same_classes)
        return count

    def _count_in_group(self, patterns: Sequence[Pattern], is_ask: bool) -> int:
        links_by_name = {
            triple.subject: link
            for triple in patterns
            if isinstance(triple.object, Literal)
            and (link := self._thing_links.get(str(triple.object))) is not None
            and self.schema.get_predicate_number(pieces.get_predicate(triple))
            in self.schema.naming_predicates
        }
        count = 0
        for triple in patterns:
            relation = self._predicate_links.get(pieces.get_predicate(triple))
            if relation is None or relation.target == RDF_TYPE:
                continue
            for term in (triple.subject, triple.object):
                link = links_by_name.get(term)
                if isinstance(term, NamedNode):
                    link = self._thing_links.get(term.value)
                if link is not None:
                    may_lack_it = is_ask and (
                        relation.positions < link.positions or self._follows_has(relation)
                    )
                    count += self._is_reversed(relation, link, term is triple.subject, may_lack_it)
        return count

    def _follows_has(self, relation: Link) -> bool:
        """Return whether a word for "has" is before those of a relation."""
        reading = self.linked.reading
        before = reading.folded_words[: relation.positions[0]]
        return not reading.word_list.text_words["has"].isdisjoint(before)

    @cached_property
    def _predicate_links(self) -> Mapping[str, Link]:
        return {link.target: link for link in reversed(self.linked.get_links(ItemKind.PREDICATE))}

    @cached_property
    def _thing_links(self) -> Mapping[str, Link]:
        """Best link to each entity and each value."""
        links = self.linked.get_links(ItemKind.ENTITY, ItemKind.VALUE)
        return {link.target: link for link in reversed(links)}

    def _is_reversed(self, relation: Link, link: Link, is_subject: bool, may_lack_it: bool) -> bool:
        schema = self.schema
        number = schema.get_predicate_number(relation.target)
        node_id = schema.find_link_node(link)
        if number is None or node_id is None or is_mirrored(schema, number):
            return False
        nodes = np.array([node_id], dtype=np.int32)
        if link.kind is ItemKind.VALUE:
            steps = (schema.graph.step(nodes, at, inverse=True) for at in schema.naming_predicates)
            nodes = np.unique(np.concatenate([*steps]))
        ends, starts = (schema.graph.step(nodes, number, inverse=at) for at in (False, True))
        if np.array_equal(ends, starts) if len(ends) and len(starts) else not may_lack_it:
            return False  # both directions mean the same, or there is only one
        is_grammatical_subject = is_thing_subject(
            relation, link, self.linked, schema.get_folded_names(number)
        )
        return is_grammatical_subject is not None and is_grammatical_subject != is_subject


def _find_classes(term: Term, patterns: Iterable[Pattern]) -> set[Term]:
    return {
        triple.object
        for triple in patterns
        if triple.subject == term and pieces.get_predicate(triple) == RDF_TYPE
    }


def is_thing_subject(
    relation: Link, thing: Link, linked: LinkedQuestion, names: tuple[str, ...]
) -> bool | None:
    """Return whether grammar makes a thing the subject of a relation; None if it is unclear."""
    # Relations called "taught by" or "teacher of" have the opposite direction.
    if relation.quality < _MIN_OWN_WORD_QUALITY:
        return None
    question, agent_words = linked.reading, get_shared_words().agents
    last_words = [name.split()[-1] for name in names if name]
    of_words = {phrase[0] for phrase in question.word_list.follow_up_phrases["of"]}
    is_inverse_name = any(
        word in agent_words or word in get_shared_words().names["subject"] for word in last_words
    )
    start, end = relation.positions[0], relation.positions[-1]
    words_between = [
        question.tokens[position].folded for position in range(end + 1, thing.positions[0])
    ]
    if thing.positions[-1] < start:  # "X's teacher", "whom did X teach"
        return not is_inverse_name
    gap_positions = range(end + 1, thing.positions[0])
    if len(words_between) > _MAX_FUNCTION_WORDS or not all(map(question.is_stop, gap_positions)):
        return None
    relation_words = {question.tokens[position].folded for position in relation.positions}
    if agent_words & (relation_words | set(words_between)):  # "taught by X"
        return not is_inverse_name
    if of_words & (relation_words | set(words_between)):  # "the teacher of X"
        return not is_inverse_name
    articles = {
        phrase[0] for name in ("the", "one") for phrase in question.word_list.time_phrases[name]
    }
    if not articles.issuperset(words_between) or get_shared_words().names["subject"] & set(
        last_words
    ):
        return None  # "which moons has X"
    return is_inverse_name  # "who taught X"


def count_needless_steps(
    candidate: QueryCandidate, links: Iterable[Link], linked: LinkedQuestion, schema: Schema
) -> float:
    """Return the number of steps to something that no other pattern uses and no word asks for.

    They only require that such a step exists. A noun for the class of the start or the end of a
    step does not ask for the other end. A class beside an unnamed connection between two things
    also counts.

    Args:
        links: Links that the candidate is based on.
    """
    if candidate.is_ask:
        return 0.0
    patterns = pieces.list_patterns(candidate.tree.where)
    occurrences = Counter(
        term
        for entry in patterns
        for term in (entry.subject, entry.object)
        if isinstance(term, Variable)
    )
    shown_variables = set(map(pieces.get_value_variable, candidate.shown))
    if not any(count < 3 and term not in shown_variables for term, count in occurrences.items()):
        return 0.0
    query = candidate.tree
    parts = tuple(node for node in query.where.elements if not isinstance(node, Pattern))
    nodes = walk((parts, query.columns, query.order, query.having, query.group_by))
    other_variables = {node for node in nodes if isinstance(node, Variable)}
    steps = [
        entry
        for entry in patterns
        if isinstance(entry.subject, Variable) and isinstance(entry.object, Variable)
    ]
    loose_steps = [
        (entry, term is entry.subject)
        for entry in steps
        for term in (entry.subject, entry.object)
        if isinstance(term, Variable) and occurrences[term] == 1 and term not in other_variables
    ]
    type_triples = [entry for entry in patterns if pieces.get_predicate(entry) == RDF_TYPE]
    single_step_types = [  # the class and one step are given
        entry
        for entry in type_triples
        if isinstance(entry.subject, Variable)
        and occurrences[entry.subject] == 2
        and entry.subject not in other_variables
    ]
    if not loose_steps and not single_step_types:
        return 0.0
    classes = {
        entry.positions
        for entry in linked.get_links(ItemKind.CLASS)
        if entry.similarity > FULL_NAME_SHARE
    }
    link_targets = {(entry.target, entry.positions in classes) for entry in links}
    unnamed_count = sum(
        not _is_step_named(entry, at_start, link_targets, schema) for entry, at_start in loose_steps
    )
    return float(
        unnamed_count
        + (
            bool(single_step_types)
            and _has_bypass(single_step_types, type_triples, steps, link_targets, schema)
        )
    )


def _is_step_named(
    triple: Pattern, at_start: bool, names: set[tuple[str, bool]], schema: Schema
) -> bool:
    """Return whether words name a step, and not only the class of the end that it starts from."""
    iri = pieces.get_predicate(triple)
    number = schema.get_predicate_number(iri)
    is_end_named = number is not None and schema.is_subject_name(number) == at_start
    return (iri, False) in names or ((iri, True) in names and is_end_named)


def _has_bypass(
    single_step_types: Sequence[Pattern],
    type_triples: Sequence[Pattern],
    steps: Sequence[Pattern],
    names: set[tuple[str, bool]],
    schema: Schema,
) -> bool:
    """Return whether a thing hangs beside an unnamed connection between two other things."""
    typed_terms = {triple.subject for triple in type_triples}
    side_terms = {triple.subject for triple in single_step_types}
    directed_steps = [(triple, triple.subject, triple.object) for triple in steps]
    directed_steps += [(triple, triple.object, triple.subject) for triple in steps]
    side_neighbours = {target for _, start, target in directed_steps if start in side_terms}
    connectors = {
        target
        for _, start, target in directed_steps
        if start in side_neighbours and target not in typed_terms
    }
    return any(
        sum(start == node for _, start, _ in directed_steps) > 1
        and not any(
            _is_step_named(triple, triple.subject == node, names, schema)
            for triple, start, _ in directed_steps
            if start == node
        )
        for node in connectors
    )
