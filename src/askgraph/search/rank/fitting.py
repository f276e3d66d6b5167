"""Score the fit between a candidate and its question: the kind, the nouns and the number of rows.

Kinds come from the words of classes and predicates, see `askgraph.search.expand.schema`. Without
any knowledge a candidate neither fits nor mismatches.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import or_

from pyoxigraph import NamedNode, Variable

from askgraph.graph.literals import ValueKind
from askgraph.graph.names import NAME_WORDS
from askgraph.graph.profile import get_standard_role
from askgraph.index.names import ItemKind, split_tokens
from askgraph.search.expand.schema import (
    Schema,
    get_class_kinds,
    get_node_kinds,
    get_object_kinds,
    get_predicate_kinds,
    has_kind,
    has_years,
)
from askgraph.search.link import LinkedQuestion
from askgraph.search.operators.query_builder import (
    LISTED_NOTE,
    NUMERIC_SORTS,
    PAIRED_NOTE,
    TEMPORAL_SORTS,
    TOP_NOTE,
    QueryCandidate,
)
from askgraph.search.query_pieces import (
    Value,
    get_function,
    get_predicate,
    get_value_variable,
    list_column_values,
    list_group_variables,
    list_patterns,
)
from askgraph.search.rank.expected_answer_type import (
    AGGREGATE_OPERATORS,
    ExpectedAnswer,
    RequestedNoun,
    find_owner_noun,
    find_question_word,
    find_requested_nouns,
)
from askgraph.search.tokenize import to_bit_mask
from askgraph.search.tokenize.question_operators import QuestionOperators
from askgraph.search.tokenize.word_lists import NO_KINDS, Kinds
from askgraph.sparql import Bind, Call, Pattern, Query, Term
from askgraph.sparql.vocabulary import RDF_TYPE

_BODY_FOR_PERSON_SCORE = 0.4  # score of an organisation for "who"
_UNKNOWN_KIND_SCORE = -0.5  # a thing of unknown kind in a graph with things of the requested kind
_YEAR_NUMBER_SCORE = 0.9  # score of whole numbers that may be years for "when"
_MAX_OPENING_WORDS = 3
"""Number of words among which a question opens with a form of "do": "what did", "what all does"."""
_POSSIBLE_COLUMN_SCORE = 0.5  # a column that a noun may ask for
_MAX_END_CLASSES = 3  # classes that describe the ends of a predicate
_MAX_FEW_ROWS, _FEW_ROWS_PENALTY = 3, 0.5  # a few rows instead of one are half a mismatch
_SINGLE_ROW_PENALTY = 0.3  # one row instead of several counts less: there may be only one
_OWN_COLUMN_NOTES = frozenset((LISTED_NOTE, PAIRED_NOTE, TOP_NOTE, "share", "describe"))
"""Notes of candidates with columns that no noun of the question names."""
_AGGREGATE_FUNCTIONS = {"average": "AVG", "sum": "SUM", "minimum": "MIN", "maximum": "MAX"}


@dataclass(frozen=True)
class ColumnContent:
    """The content of one column.

    Attributes:
        sort: Sort of its literals, or `Sort.NONE` for things.
        predicate: Number of the predicate that leads to it.
        classes: Classes of its things; for names the classes of their owners.
        owners: Classes of the subjects of the predicate.
        names: Whether it holds names of things.
    """

    sort: ValueKind
    kinds: Kinds = NO_KINDS
    predicate: int | None = None
    function: str = ""
    classes: frozenset[str] = frozenset()
    owners: frozenset[str] = frozenset()
    names: bool = False


@dataclass(frozen=True)
class _NounMeaning:
    """A requested noun with its meanings; `owner_classes` has it as a property.

    Other words name `separate_predicates` than its classes. If it `is_vague`, a word names neither.
    """

    noun: RequestedNoun
    separate_predicates: frozenset[str]
    is_vague: bool
    owner_classes: frozenset[str] = frozenset()


class FitScorer:
    """Scores the fit between candidates and one question."""

    def __init__(
        self,
        linked: LinkedQuestion,
        operators: QuestionOperators,
        schema: Schema,
        expected: ExpectedAnswer,
    ) -> None:
        self.linked, self.operators, self.schema = linked, operators, schema
        self.expected = expected

    @cached_property
    def nouns(self) -> tuple[RequestedNoun, ...]:
        """The nouns that are requested side by side."""
        return find_requested_nouns(self.linked, self.operators)

    def describe_columns(self, candidate: QueryCandidate) -> list[ColumnContent]:
        """Return the content of the answer columns of a candidate."""
        patterns = list_patterns(candidate.tree.where)
        return [
            self._describe_column(shown_value, candidate, patterns)
            for shown_value in candidate.shown
        ]

    def _describe_column(
        self, shown_value: Value, candidate: QueryCandidate, patterns: Sequence[Pattern]
    ) -> ColumnContent:
        content = self._describe_variable(get_value_variable(shown_value), candidate, patterns)
        if not isinstance(shown_value, Call):
            return content
        function = get_function(shown_value)
        if function == "COUNT":
            return replace(
                content, sort=ValueKind.NUMBER, kinds=NO_KINDS, function=function, names=False
            )
        return replace(content, function=function)

    def _describe_variable(
        self, variable: Variable, candidate: QueryCandidate, patterns: Sequence[Pattern]
    ) -> ColumnContent:
        schema = self.schema
        incoming = next((element for element in patterns if element.object == variable), None)
        predicate = (
            None if incoming is None else schema.get_predicate_number(get_predicate(incoming))
        )
        if incoming is not None and predicate is not None:
            owner = self._describe_thing(incoming.subject, candidate, patterns)
            content = self._describe_object(predicate, variable, owner, patterns)
            key = (incoming.subject, incoming.predicate)
            outer_triples = (part for part in patterns if (part.object, part.predicate) == key)
            outer_triple = next(outer_triples, None)
            if outer_triple is None:
                return content
            outer = self._describe_thing(outer_triple.subject, candidate, patterns)
            owners = owner.classes | outer.classes
            return replace(content, classes=owner.classes, owners=owners, names=True)
        elements = candidate.tree.where.elements
        if any(isinstance(element, Bind) and element.variable == variable for element in elements):
            return ColumnContent(ValueKind.NUMBER, function="=")
        return self._describe_thing(variable, candidate, patterns)

    def _describe_object(
        self, predicate: int, variable: Variable, owner: ColumnContent, patterns: Sequence[Pattern]
    ) -> ColumnContent:
        schema = self.schema
        sort, owners = schema.get_sort(predicate), owner.classes
        if any(triple.subject == variable for triple in patterns):
            # A predicate that leads to numbers of things, and elsewhere to things.
            sort = ValueKind.NONE
        if sort is not ValueKind.NONE:
            kinds = get_predicate_kinds(schema, predicate)
            if predicate not in schema.naming_predicates:
                return ColumnContent(sort, kinds, predicate, owners=owners)
            return ColumnContent(
                sort, kinds | owner.kinds, predicate, "", owners, owners, names=True
            )
        stated_classes = _get_stated_classes(variable, patterns)
        profile_classes = schema.predicates[predicate].object_classes[:_MAX_END_CLASSES]
        classes = stated_classes or frozenset(cls for cls, _ in profile_classes)
        kinds = get_object_kinds(schema, predicate).union(*self._iterate_kinds(stated_classes))
        return ColumnContent(sort, kinds, predicate, "", classes, owners)

    def _describe_thing(
        self, term: Term, candidate: QueryCandidate, patterns: Sequence[Pattern]
    ) -> ColumnContent:
        """Describe a subject of patterns by its stated classes, else by its nodes or predicates."""
        schema, stated_classes = self.schema, _get_stated_classes(term, patterns)
        if term == candidate.root and len(candidate.ids):
            node_classes = schema.get_classes(int(candidate.ids[0]))
            kinds = get_node_kinds(schema, candidate.ids).union(
                *self._iterate_kinds(stated_classes)
            )
            return ColumnContent(
                ValueKind.NONE, kinds, None, "", stated_classes.union(node_classes)
            )
        if not stated_classes and isinstance(term, Variable):
            # The classes that all predicates around a variable have in common.
            for triple in patterns:
                number = self.schema.get_predicate_number(get_predicate(triple))
                if number is None or term not in (triple.subject, triple.object):
                    continue
                profile = self.schema.predicates[number]
                profile_classes = (
                    profile.object_classes if triple.object == term else profile.subject_classes
                )
                end_classes = frozenset(cls for cls, _ in profile_classes[:_MAX_END_CLASSES])
                stated_classes = stated_classes & end_classes or stated_classes or end_classes
        elif isinstance(term, NamedNode) and not stated_classes:
            node_id = schema.find_node(term.value)
            stated_classes = (
                frozenset(schema.get_classes(node_id)) if node_id is not None else stated_classes
            )
        return ColumnContent(
            ValueKind.NONE,
            NO_KINDS.union(*self._iterate_kinds(stated_classes)),
            None,
            "",
            stated_classes,
        )

    def _iterate_kinds(self, classes: frozenset[str]) -> Iterator[Kinds]:
        return (get_class_kinds(self.schema, cls) for cls in classes)

    # Kinds

    @property
    def has_kind_question(self) -> bool:
        """Whether the question word asks for persons, places or times."""
        described = bool(self.operators.get_operators("describe"))
        return self.expected.kind in ("who", "where", "when") and not described

    def score_kind(self, columns: Sequence[ColumnContent]) -> float:
        """Return how well the columns fit the question word: 1 fit, 0 unknown, -1 mismatch."""
        expected_kind = self.expected.kind
        if not self.has_kind_question or not columns:
            return 0.0
        return max(self._score_column_kind(expected_kind, column) for column in columns)

    def _score_column_kind(self, expected_kind: str, column: ColumnContent) -> float:
        if expected_kind == "when":
            if column.function == "COUNT":
                return -1.0
            if column.sort in TEMPORAL_SORTS or "times" in column.kinds:
                return 1.0
            if column.predicate is not None and column.sort in NUMERIC_SORTS:
                return _YEAR_NUMBER_SCORE if has_years(self.schema, column.predicate) else -1.0
            return 0.0 if column.sort is ValueKind.TEXT else -1.0
        if column.function == "COUNT" or column.sort not in (ValueKind.NONE, ValueKind.TEXT):
            return -1.0
        sought = "persons" if expected_kind == "who" else "places"
        if sought in column.kinds:
            return 1.0
        if "bodies" in column.kinds:
            return _BODY_FOR_PERSON_SCORE if expected_kind == "who" else 0.0
        if column.kinds:
            return -1.0
        return _UNKNOWN_KIND_SCORE if column.classes and has_kind(self.schema, sought) else 0.0

    # Nouns

    @cached_property
    def _has_column_nouns(self) -> bool:
        """Whether the nouns name columns; in "how old are the players" they do not."""
        if not self.nouns or self.has_kind_question or self._is_verb_question:
            return False
        return not (
            self.operators.get_operators("measure")
            or (self.expected.kind == "number" and "count" not in self.nouns[0].operators)
        )

    @cached_property
    def _is_verb_question(self) -> bool:
        """Whether a form of "do" opens the question: "what did X find"."""
        question = self.linked.reading
        do_words = question.word_list.yes_or_no["doing"]
        opening = range(1, min(_MAX_OPENING_WORDS, self.nouns[0].first_position))
        return any(question.folded_words[position] in do_words for position in opening)

    @cached_property
    def _noun_meanings(self) -> list[_NounMeaning]:
        links = self.linked.get_links(ItemKind.CLASS, ItemKind.PREDICATE)
        meanings: list[_NounMeaning] = []
        owner_classes = frozenset[str]()
        for count in range(len(self.nouns), 0, -1):  # "the names and ages of the players"
            owner_noun = find_owner_noun(self.linked, self.operators, self.nouns[:count])
            owner_classes = owner_classes if owner_noun is None else frozenset(owner_noun.classes)
            positions = {position for entry in self.nouns[:count] for position in entry.positions}
            named_classes = frozenset(  # "the color descriptions of the products"
                entry.target
                for entry in links
                if entry.kind is ItemKind.CLASS and positions >= {*entry.positions}
            )
            noun = self.nouns[count - 1]
            question = self.linked.reading
            masks = {link.target: link.mask for link in reversed(links) if link.target in noun.iris}
            classes = _combine_masks(masks.get(iri, 0) for iri in noun.classes)
            separate_predicates = {
                iri for iri in noun.predicates if not masks.get(iri, 0) & classes
            }
            naming = to_bit_mask(
                position
                for position in noun.positions
                if question.tokens[position].stem in question.word_list.naming
            )
            explained_words = _combine_masks(masks.values()) | naming
            is_operator_only = bool(noun.operators) and not noun.iris
            meanings.append(
                _NounMeaning(
                    noun,
                    frozenset(separate_predicates),
                    bool(to_bit_mask(noun.positions) & ~explained_words) and not is_operator_only,
                    owner_classes and owner_classes | named_classes,
                )
            )
        return meanings[::-1]

    def score_nouns(
        self, columns: Sequence[ColumnContent], candidate: QueryCandidate
    ) -> tuple[float, float]:
        """Compare the requested nouns with the columns.

        Returns:
            The share of nouns without a column; the number of columns without a noun, at most 1.
        """
        if not self._has_column_nouns or not columns or _OWN_COLUMN_NOTES & {*candidate.notes}:
            return 0.0, 0.0
        # The columns of context: the things whose values are the answer.
        patterns = list_patterns(candidate.tree.where)
        has_context = len(candidate.tree.columns) != len(candidate.shown)
        context_columns = [
            self._describe_column(column, candidate, patterns)
            for column in (list_column_values(candidate.tree) if has_context else ())
            if column not in candidate.shown
        ]
        scores = [
            [self._score_noun(noun, column, candidate) for column in (*columns, *context_columns)]
            for noun in self._noun_meanings
        ]
        missing = sum(1 - max(row) for row in scores)
        keys = list_group_variables(candidate.tree) if self.operators.get_operators("each") else []
        unnamed_shares = [
            (1 - max(row[index] for row in scores), shown_value in keys)
            for index, shown_value in enumerate(candidate.shown)
        ]
        key_shares = sorted(share for share, is_key in unnamed_shares if is_key)
        unnamed_columns = sum(share for share, is_key in unnamed_shares if not is_key)
        groupings = self.operators.get_operators("each")  # each may add one column, and "and" one
        first = min((operator.last for operator in groupings), default=0)
        joined = [item for item in self.operators.get_operators("and") if item.first > first]
        unnamed_columns += sum(key_shares[: -len(groupings) - len(joined) or None])
        if self.expected.has_second_question:
            unnamed_columns -= 1.0  # "…, and how many are there?"
        return missing / len(scores), min(1.0, max(0.0, unnamed_columns))

    def _score_noun(
        self, noun: _NounMeaning, column: ColumnContent, candidate: QueryCandidate
    ) -> float:
        if column.function == "COUNT" and "rate" in candidate.notes:
            return 1.0  # "animals per year": their number
        score = self._score_function(column, noun)
        if not noun.is_vague or score == 1:
            return score
        return (
            1.0 if candidate.shown_words >> noun.noun.first_position & 1 else _POSSIBLE_COLUMN_SCORE
        )

    def _score_function(self, column: ColumnContent, noun: _NounMeaning) -> float:
        operators = noun.noun.operators
        functions = {
            _AGGREGATE_FUNCTIONS[name] for name in operators if name in AGGREGATE_OPERATORS
        }
        if functions and column.function:
            if column.function not in functions or not noun.noun.predicates:
                return float(column.function in functions)
            return max(_POSSIBLE_COLUMN_SCORE, self._score_name(column, noun))
        if "count" in operators and not functions:
            if column.function == "COUNT":
                return 1.0
            return self._score_name(column, noun) if column.sort in NUMERIC_SORTS else 0.0
        return 0.0 if column.function == "COUNT" else self._score_name(column, noun)

    def _score_name(self, column: ColumnContent, noun: _NounMeaning) -> float:
        """Return how well a noun names a column; half if it is a property of something else."""
        requested, holds_things = noun.noun, column.names or column.sort is ValueKind.NONE
        if holds_things and any(
            self._is_subclass_of(cls, requested.classes) for cls in column.classes
        ):
            return 1.0
        if (
            column.predicate is not None
            and (iri := self.schema.graph.get_predicate_iri(column.predicate))
            in requested.predicates
        ):
            if iri in noun.separate_predicates:  # "staff name"
                return float(self._is_owned(column.owners, requested.classes or noun.owner_classes))
            return (
                1.0 if self._is_owned(column.owners, noun.owner_classes) else _POSSIBLE_COLUMN_SCORE
            )
        is_name = holds_things and requested.is_name and len(requested.positions) == 1
        if not is_name or not self._is_owned(column.classes, noun.owner_classes):
            return 0.0
        return 1.0 if self._is_named_name(column.predicate) else _POSSIBLE_COLUMN_SCORE

    def _is_named_name(self, predicate: int | None) -> bool:
        """Return whether the name of a predicate says that it is a name, not only an identifier."""
        if (
            predicate is None
            or predicate not in self.schema.naming_predicates
            or get_standard_role(self.schema.graph.get_predicate_iri(predicate))
        ):
            return True
        return any(
            not NAME_WORDS.isdisjoint(split_tokens(text))
            for text in self.schema.get_folded_names(predicate)
        )

    def _is_owned(self, classes: frozenset[str], owner_classes: Collection[str]) -> bool:
        """Return whether things may be of the classes whose property a noun is."""
        return (
            not owner_classes
            or not classes
            or any(self._is_subclass_of(cls, owner_classes) for cls in classes)
        )

    def _is_subclass_of(self, cls: str, superclasses: Collection[str]) -> bool:
        return not {cls, *self.schema.get_lineage(cls)}.isdisjoint(superclasses)

    # Rows

    @cached_property
    def is_plural_expected(self) -> bool | None:
        """Whether the question asks for several things rather than one; None if unknown."""
        question = self.linked.reading
        nouns = self.nouns
        expected = self.expected
        if (
            not nouns
            or len(nouns) > 1
            or expected.is_grouped
            or expected.is_counted
            or expected.has_second_question
        ):
            return None
        if expected.limit is not None or expected.kind in ("yes_no", "count", "number"):
            return None
        words, head = question.word_list.agreement, nouns[0]
        folded = question.folded_words
        if any(word in words["each"] for word in folded):
            return None
        question_word = find_question_word(question)
        verbs = [
            *range(head.first_position),
            *range(head.positions[-1] + 1, head.positions[-1] + 2),
        ]
        verb_words = [folded[position] for position in verbs if position < len(folded)]
        is_plural = any(
            question.tokens[position].stem != folded[position] for position in head.positions
        )
        if any(word in words["several"] for word in verb_words):
            return True if is_plural or question.language != "en" else None
        if question_word is None or is_plural or expected.kind == "who":
            return None
        return False if any(word in words["one"] for word in verb_words) else None

    def score_row_mismatch(self, candidate: QueryCandidate) -> float:
        """Return a penalty for several rows where one is expected, or one row where several are."""
        if self.is_plural_expected is None or candidate.is_ask:
            return 0.0
        rows = self._estimate_rows(candidate)
        if rows is None or (rows > 1) == self.is_plural_expected:
            return 0.0
        if self.is_plural_expected:
            return _SINGLE_ROW_PENALTY
        return 1.0 if rows > _MAX_FEW_ROWS else _FEW_ROWS_PENALTY

    def _estimate_rows(self, candidate: QueryCandidate) -> int | None:
        """Estimate the number of rows; None if unknown before a run."""
        tree = candidate.tree
        if tree.limit is not None:
            return tree.limit
        if all(isinstance(element, Call) for element in candidate.shown) and not tree.group_by:
            return 1
        if tree.group_by or tree.having or len(candidate.shown) != 1:
            return None
        if any(isinstance(element, Query) for element in tree.where.elements):
            return None  # those with the most, or the least: there may be ties
        if isinstance(candidate.root, Variable):
            return len(candidate.ids) if candidate.shown[0] == candidate.root else None
        shown_variable = get_value_variable(candidate.shown[0])
        for element in list_patterns(candidate.tree.where):
            if element.object == shown_variable and element.subject == candidate.root:
                number = self.schema.get_predicate_number(get_predicate(element))
                if number is not None and isinstance(element.predicate, NamedNode):
                    return len(self.schema.graph.step(candidate.ids, number))
        return None

    def score_missing_group(self, candidate: QueryCandidate) -> float:
        """Return 1 if a value per thing is expected and there is only one column, else 0."""
        if not self.expected.is_grouped or candidate.is_ask or self._is_property_of_each(candidate):
            return 0.0
        return float(len(candidate.tree.columns) < 2 and not candidate.tree.group_by)

    def _is_property_of_each(self, candidate: QueryCandidate) -> bool:
        """Return whether the answer is itself a property of each thing: "the name of each club"."""
        owner = find_owner_noun(self.linked, self.operators, self.nouns)
        aggregates = self.operators.get_operators("count", *AGGREGATE_OPERATORS)
        if owner is None or "each" not in owner.operators or not owner.classes or aggregates:
            return False
        return any(
            not column.function
            and any(self._is_subclass_of(cls, owner.classes) for cls in column.owners)
            for column in self.describe_columns(candidate)
        )


def _combine_masks(masks: Iterable[int]) -> int:
    return reduce(or_, masks, 0)


def _get_stated_classes(term: Term, patterns: Sequence[Pattern]) -> frozenset[str]:
    return frozenset(
        triple.object.value
        for triple in patterns
        if triple.subject == term
        and isinstance(triple.object, NamedNode)
        and get_predicate(triple) == RDF_TYPE
    )
