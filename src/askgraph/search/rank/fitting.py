"""The fit of a candidate to what a question asks for: its kind, its nouns, its rows.

Kinds come from the words of classes and predicates, see `askgraph.search.expand.schema`;
what nothing is known of neither fits nor is a misfit.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import or_

from pyoxigraph import NamedNode, Variable

from askgraph.graph.literals import Sort
from askgraph.graph.names import NAME_WORDS
from askgraph.graph.profile import standard_naming
from askgraph.index.names import Kind, tokens
from askgraph.search.expand.schema import (
    Schema,
    has_kind,
    holds_years,
    kinds_of_class,
    kinds_of_nodes,
    kinds_of_objects,
    kinds_of_predicate,
)
from askgraph.search.link import Link, LinkedQuestion
from askgraph.search.operators.query_builder import DATED, LISTED, NUMERIC, PAIRED, Candidate
from askgraph.search.query_pieces import (
    Value,
    function_of,
    groups_of,
    patterns_in,
    predicate_of,
    values_of,
    variable_of,
)
from askgraph.search.rank.expected_answer_type import (
    AGGREGATING,
    ExpectedAnswer,
    Item,
    interrogative,
    items_of,
    owner_of,
)
from askgraph.search.tokenize import bits
from askgraph.search.tokenize.question_operators import QuestionOperators
from askgraph.search.tokenize.word_lists import NONE, Kinds
from askgraph.sparql import Bind, Call, Pattern, Query, Term
from askgraph.sparql.vocabulary import RDF_TYPE

_BODY = 0.4  # how well a body fits where a person is asked for: "who" may mean it
_ODD = -0.5  # a thing of unknown kind, in a graph that has things of the kind that is asked for
_YEARS = 0.9  # how well whole numbers that may be years fit where a time is asked for
_OPENING = 3
"""Among so many words a verb of doing stands that opens a question: "what did", "what all does"."""
_PERHAPS = 0.5  # a column that a noun may ask for
_CLASSES = 3  # so many classes tell what a predicate leads from or to
_FEW, _SOME = 3, 0.5  # a few rows where one is asked for are half a misfit
_ONLY = 0.3  # one row where several are asked for is less: there may be no more
_OWN_COLUMNS = frozenset((LISTED, PAIRED, "share", "describe"))
"""Notes on candidates that show what no noun of the question asks for."""
_FUNCTIONS = {"average": "AVG", "sum": "SUM", "minimum": "MIN", "maximum": "MAX"}


@dataclass(frozen=True)
class Column:
    """What one column holds: literals of a sort or things, of which kinds; `function` if computed.

    `step` is the predicate that leads to it, `owners` are the classes of what it leads from,
    `classes` those that the column is said or known to be of; of a name these are its owner's.
    """

    sort: Sort
    kinds: Kinds = NONE
    step: int | None = None
    function: str = ""
    classes: frozenset[str] = frozenset()
    owners: frozenset[str] = frozenset()
    names: bool = False


@dataclass(frozen=True)
class _Noun:
    """A noun that is asked for.

    `aside` are predicates that other words name than those of its classes; it is `vague` if
    some of its words name neither. `owner` are the classes of which it is said.
    """

    item: Item
    aside: frozenset[str]
    vague: bool
    owner: frozenset[str] = frozenset()


class Fitting:
    """Tells how the candidates for one question fit it."""

    def __init__(
        self,
        linked: LinkedQuestion,
        frame: QuestionOperators,
        schema: Schema,
        expected: ExpectedAnswer,
    ) -> None:
        self.linked, self.frame, self.schema = linked, frame, schema
        self.expected = expected
        self._upwards: dict[str, set[str]] = {}

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """What is asked for side by side."""
        return items_of(self.linked, self.frame)

    def columns(self, candidate: Candidate) -> list[Column]:
        """What the answer columns of a candidate hold."""
        patterns = patterns_in(candidate.tree.where)
        return [self._column(one, candidate, patterns) for one in candidate.shown]

    def _column(self, shown: Value, candidate: Candidate, patterns: Sequence[Pattern]) -> Column:
        found = self._of_variable(variable_of(shown), candidate, patterns)
        if not isinstance(shown, Call):
            return found
        function = function_of(shown)
        if function == "COUNT":
            return replace(found, sort=Sort.NUMBER, kinds=NONE, function=function, names=False)
        return replace(found, function=function)

    def _of_variable(
        self, variable: Variable, candidate: Candidate, patterns: Sequence[Pattern]
    ) -> Column:
        schema = self.schema
        into = next((one for one in patterns if one.object == variable), None)
        step = None if into is None else schema.number(predicate_of(into))
        if into is not None and step is not None:
            owner = self._thing(into.subject, candidate, patterns)
            found = self._object(step, variable, owner, patterns)
            key = (into.subject, into.predicate)
            outer = next((one for one in patterns if (one.object, one.predicate) == key), None)
            if outer is None:
                return found
            owners = owner.classes | self._thing(outer.subject, candidate, patterns).classes
            return replace(found, classes=owner.classes, owners=owners, names=True)
        elements = candidate.tree.where.elements
        if any(isinstance(one, Bind) and one.variable == variable for one in elements):
            return Column(Sort.NUMBER, function="=")
        return self._thing(variable, candidate, patterns)

    def _object(
        self, step: int, variable: Variable, owner: Column, patterns: Sequence[Pattern]
    ) -> Column:
        """A column of what a predicate leads to."""
        schema = self.schema
        sort, owners = schema.sort(step), owner.classes
        if any(one.subject == variable for one in patterns):
            sort = Sort.NONE  # a predicate that leads to numbers of things, and elsewhere to things
        if sort is not Sort.NONE:
            kinds = kinds_of_predicate(schema, step)
            if step not in schema.naming:
                return Column(sort, kinds, step, owners=owners)
            return Column(sort, kinds | owner.kinds, step, "", owners, owners, names=True)
        said = _said_of(variable, patterns)
        known = schema.predicates[step].object_classes[:_CLASSES]
        classes = said or frozenset(cls for cls, _ in known)
        kinds = kinds_of_objects(schema, step).union(*self._kinds(said))
        return Column(sort, kinds, step, "", classes, owners)

    def _thing(self, end: Term, candidate: Candidate, patterns: Sequence[Pattern]) -> Column:
        """What a subject of patterns is, by what is said of it, else by its nodes or predicates."""
        schema, said = self.schema, _said_of(end, patterns)
        if end == candidate.root and len(candidate.ids):
            own = schema.classes_of(int(candidate.ids[0]))
            kinds = kinds_of_nodes(schema, candidate.ids).union(*self._kinds(said))
            return Column(Sort.NONE, kinds, None, "", said.union(own))
        if not said and isinstance(end, Variable):
            said = self._around(end, patterns)
        elif isinstance(end, NamedNode) and not said:
            at = schema.node(end.value)
            said = frozenset(schema.classes_of(at)) if at is not None else said
        return Column(Sort.NONE, NONE.union(*self._kinds(said)), None, "", said)

    def _around(self, end: Variable, patterns: Sequence[Pattern]) -> frozenset[str]:
        """The classes of what all predicates around a variable lead from or to."""
        found: frozenset[str] = frozenset()
        for one in patterns:
            number = self.schema.number(predicate_of(one))
            if number is None or end not in (one.subject, one.object):
                continue
            profile = self.schema.predicates[number]
            known = profile.object_classes if one.object == end else profile.subject_classes
            classes = frozenset(cls for cls, _ in known[:_CLASSES])
            found = found & classes or found or classes
        return found

    def _kinds(self, classes: frozenset[str]) -> Iterator[Kinds]:
        return (kinds_of_class(self.schema, cls) for cls in classes)

    # Kinds

    @property
    def asks_kind(self) -> bool:
        """Whether the question word asks for persons, places or times."""
        described = bool(self.frame.of("describe"))
        return self.expected.kind in ("who", "where", "when") and not described

    def kind(self, columns: Sequence[Column]) -> float:
        """How well the columns fit the question word: 1 fit, 0 unknown, -1 a misfit."""
        asked = self.expected.kind
        if not self.asks_kind or not columns:
            return 0.0
        return max(self._graded(asked, one) for one in columns)

    def _graded(self, asked: str, column: Column) -> float:
        if asked == "when":
            if column.function == "COUNT":
                return -1.0
            if column.sort in DATED or "times" in column.kinds:
                return 1.0
            if column.step is not None and column.sort in NUMERIC:
                return _YEARS if holds_years(self.schema, column.step) else -1.0
            return 0.0 if column.sort is Sort.TEXT else -1.0
        if column.function == "COUNT" or column.sort not in (Sort.NONE, Sort.TEXT):
            return -1.0
        if asked == "who":
            if "persons" in column.kinds:
                return 1.0
            if "bodies" in column.kinds:
                return _BODY
            if column.kinds:
                return -1.0
            return _ODD if column.classes and has_kind(self.schema, "persons") else 0.0
        return self._place(column)

    def _place(self, column: Column) -> float:
        if "places" in column.kinds:
            return 1.0
        if "bodies" in column.kinds:
            return 0.0
        if column.kinds:
            return -1.0
        return _ODD if column.classes and has_kind(self.schema, "places") else 0.0

    # Nouns

    @cached_property
    def _names_columns(self) -> bool:
        """Whether nouns tell what to show: in "how old are the players" they only say whose."""
        if not self.items or self.asks_kind or self._asks_by_verb:
            return False
        counted = "count" in self.items[0].operators
        return not (self.frame.of("measure") or (self.expected.kind == "number" and not counted))

    @cached_property
    def _asks_by_verb(self) -> bool:
        """ "What did X discover?": what follows the verb of doing is a thing and its own verb."""
        reading = self.linked.reading
        doing = reading.words.yes_or_no["doing"]
        opening = range(1, min(_OPENING, self.items[0].first))
        return any(reading.folded[at] in doing for at in opening)

    @cached_property
    def _nouns(self) -> list[_Noun]:
        """The nouns that are asked for, with what they may mean."""
        links = self.linked.of(Kind.CLASS, Kind.PREDICATE)
        found: list[_Noun] = []
        owner = frozenset[str]()
        for count in range(len(self.items), 0, -1):  # "the names and ages of the players"
            said_of = owner_of(self.linked, self.frame, self.items[:count])
            owner = owner if said_of is None else frozenset(said_of.classes)
            said = {at for one in self.items[:count] for at in one.positions}
            own = frozenset(  # "the color descriptions of the products"
                one.target for one in links if one.kind is Kind.CLASS and said >= {*one.positions}
            )
            found.append(self._noun(self.items[count - 1], links, owner and owner | own))
        return found[::-1]

    def _noun(self, item: Item, links: Sequence[Link], owner: frozenset[str]) -> _Noun:
        reading = self.linked.reading
        at = {one.target: one.mask for one in reversed(links) if one.target in item.iris}
        classes = _together(at.get(iri, 0) for iri in item.classes)
        aside = {iri for iri in item.predicates if not at.get(iri, 0) & classes}
        naming = bits(p for p in item.positions if reading.tokens[p].stem in reading.words.naming)
        told = _together(at.values()) | naming
        bare = bool(item.operators) and not item.iris
        return _Noun(item, frozenset(aside), bool(bits(item.positions) & ~told) and not bare, owner)

    def nouns(self, columns: Sequence[Column], candidate: Candidate) -> tuple[float, float]:
        """The share of nouns asked for that lack a column, and up to one column that none names."""
        if not self._names_columns or not columns or _OWN_COLUMNS & {*candidate.notes}:
            return 0.0, 0.0
        held = [[self._held(noun, one, candidate) for one in columns] for noun in self._nouns]
        # The columns of context: the things whose values are the answer.
        if len(candidate.tree.columns) == len(candidate.shown):
            beside: list[Column] = []
        else:
            patterns = patterns_in(candidate.tree.where)
            context = [one for one in values_of(candidate.tree) if one not in candidate.shown]
            beside = [self._column(one, candidate, patterns) for one in context]
        aside = [
            max((self._held(noun, one, candidate) for one in beside), default=0.0)
            for noun in self._nouns
        ]
        missing = sum(1 - max(*row, found) for row, found in zip(held, aside, strict=True))
        keys = groups_of(candidate.tree) if self.frame.of("each") else []
        idle = [
            (1 - max(row[at] for row in held), shown in keys)
            for at, shown in enumerate(candidate.shown)
        ]
        extra = sorted(left for left, is_key in idle if is_key)[: -self._grouped_by or None]
        unasked = sum(left for left, is_key in idle if not is_key) + sum(extra)
        if self.expected.again:
            unasked -= 1.0  # "…, and how many are there?"
        return missing / len(held), min(1.0, max(0.0, unasked))

    @cached_property
    def _grouped_by(self) -> int:
        """How many columns "for each" may add: one, and one for each "and" behind it."""
        first = min((one.last for one in self.frame.of("each")), default=0)
        behind = [one for one in self.frame.of("and") if one.first > first]
        return len(self.frame.of("each")) + len(behind)

    def _held(self, noun: _Noun, column: Column, candidate: Candidate) -> float:
        if column.function == "COUNT" and "rate" in candidate.notes:
            return 1.0  # "animals per year": their number
        found = self._holds(column, noun)
        if not noun.vague or found == 1:
            return found
        return 1.0 if candidate.shown_words >> noun.item.first & 1 else _PERHAPS

    def _holds(self, column: Column, noun: _Noun) -> float:
        operators = noun.item.operators
        wanted = {_FUNCTIONS[name] for name in operators if name in AGGREGATING}
        if wanted and column.function:
            if column.function not in wanted or not noun.item.predicates:
                return float(column.function in wanted)
            return max(_PERHAPS, self._named(column, noun))
        if "count" in operators and not wanted:
            if column.function == "COUNT":
                return 1.0
            return self._named(column, noun) if column.sort in NUMERIC else 0.0
        return 0.0 if column.function == "COUNT" else self._named(column, noun)

    def _named(self, column: Column, noun: _Noun) -> float:
        """Whether a noun names a column; half if it is said of something else."""
        item, thing = noun.item, column.names or column.sort is Sort.NONE
        if thing and any(self._is_of(cls, item.classes) for cls in column.classes):
            return 1.0
        if column.step is not None and (iri := self._iri(column.step)) in item.predicates:
            if iri in noun.aside:  # "staff name"
                return float(self._is_owned(column.owners, item.classes or noun.owner))
            return 1.0 if self._is_owned(column.owners, noun.owner) else _PERHAPS
        if thing and item.naming and len(item.positions) == 1:
            owned = self._is_owned(column.classes, noun.owner)
            return (1.0 if self._says_name(column.step) else _PERHAPS) if owned else 0.0
        return 0.0

    def _says_name(self, step: int | None) -> bool:
        """Whether what names things says so, and is not only different for each of them."""
        if step is None or step not in self.schema.naming or standard_naming(self._iri(step)):
            return True
        return any(not NAME_WORDS.isdisjoint(tokens(text)) for text in self.schema.texts(step))

    def _is_owned(self, classes: frozenset[str], owner: Collection[str]) -> bool:
        """Whether things may be of the classes of which a noun is said."""
        return not owner or not classes or any(self._is_of(cls, owner) for cls in classes)

    def _iri(self, predicate: int) -> str:
        return self.schema.graph.iri_of(predicate)

    def _is_of(self, cls: str, wanted: Collection[str]) -> bool:
        return cls in wanted or not self._above(cls).isdisjoint(wanted)

    def _above(self, cls: str) -> set[str]:
        if cls in self._upwards:
            return self._upwards[cls]
        found = self._upwards[cls] = set[str]()
        listed = [cls]
        for one in listed:
            if one in self.schema.classes:
                listed += [up for up in self.schema.classes[one].parents if up not in found]
                found.update(self.schema.classes[one].parents)
        return found

    # Rows

    @cached_property
    def several(self) -> bool | None:
        """Whether several things are asked for rather than one; None if no word tells."""
        reading = self.linked.reading
        items = self.items
        expected = self.expected
        if not items or len(items) > 1 or expected.grouped or expected.counted or expected.again:
            return None
        if expected.limit is not None or expected.kind in ("yes_no", "count", "number"):
            return None
        words, head = reading.words.agreement, items[0]
        folded = reading.folded
        if any(word in words["each"] for word in folded):
            return None
        asking = interrogative(reading)
        verbs = [*range(head.first), *range(head.positions[-1] + 1, head.positions[-1] + 2)]
        said = [folded[at] for at in verbs if at < len(folded)]
        plural = any(reading.tokens[at].stem != folded[at] for at in head.positions)
        if any(word in words["several"] for word in said):
            return True if plural or reading.language != "en" else None
        if asking is None or plural or expected.kind == "who":
            return None
        return False if any(word in words["one"] for word in said) else None

    def disagrees(self, candidate: Candidate) -> float:
        """Whether there are several rows where one is asked for, or one where several are."""
        if self.several is None or candidate.asks:
            return 0.0
        rows = self._rows(candidate)
        if rows is None or (rows > 1) == self.several:
            return 0.0
        if self.several:
            return _ONLY
        return 1.0 if rows > _FEW else _SOME

    def _rows(self, candidate: Candidate) -> int | None:
        """About how many rows there are; None if that cannot be told without a query."""
        tree = candidate.tree
        if tree.limit is not None:
            return tree.limit
        if all(isinstance(one, Call) for one in candidate.shown) and not tree.group_by:
            return 1
        if tree.group_by or tree.having or len(candidate.shown) != 1:
            return None
        if any(isinstance(one, Query) for one in tree.where.elements):
            return None  # those with the most, or the least: there may be ties
        if isinstance(candidate.root, Variable):
            return len(candidate.ids) if candidate.shown[0] == candidate.root else None
        shown = variable_of(candidate.shown[0])
        for one in patterns_in(candidate.tree.where):
            if one.object == shown and one.subject == candidate.root:
                number = self.schema.number(predicate_of(one))
                if number is not None and isinstance(one.predicate, NamedNode):
                    return len(self.schema.graph.step(candidate.ids, number))
        return None

    def ungrouped(self, candidate: Candidate) -> float:
        """Whether a value for each of something is asked for, and there is but one column."""
        if not self.expected.grouped or candidate.asks or self._is_of_each(candidate):
            return 0.0
        return float(len(candidate.tree.columns) < 2 and not candidate.tree.group_by)

    def _is_of_each(self, candidate: Candidate) -> bool:
        """Whether what is shown is itself said of each: "the name of each club"."""
        owner = owner_of(self.linked, self.frame, self.items)
        aggregates = self.frame.of("count", *AGGREGATING)
        if owner is None or "each" not in owner.operators or not owner.classes or aggregates:
            return False
        return any(
            not one.function and any(self._is_of(cls, owner.classes) for cls in one.owners)
            for one in self.columns(candidate)
        )


def _together(masks: Iterable[int]) -> int:
    return reduce(or_, masks, 0)


def _said_of(end: Term, patterns: Sequence[Pattern]) -> frozenset[str]:
    """The classes that patterns say something is of."""
    return frozenset(
        one.object.value
        for one in patterns
        if one.subject == end
        and isinstance(one.object, NamedNode)
        and predicate_of(one) == RDF_TYPE
    )
