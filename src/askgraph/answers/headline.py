"""The headline of an answer: its result as a sentence, with the values that decided.

It is made from the query and its rows, without a model. What was compared or sorted by is often
not in the result: `deciding` is the one small query that gives it for a few rows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import cached_property

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.answers.verbalize import own_texts
from askgraph.answers.verbalize._nouns import unwrapped
from askgraph.answers.verbalize._sentence import Sentence
from askgraph.answers.verbalize.phrases import Names, Phrases, phrases_in
from askgraph.errors import QuerySyntaxError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import GraphArrays
from askgraph.graph.measures import Unit, detect_unit, parse_unit
from askgraph.graph.profile import PredicateProfile
from askgraph.sparql import Bind, Call, Expression, Filter, Group, Pattern, Query, walk
from askgraph.sparql import Values as Given
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import split_local_name
from askgraph.sparql.results import Row, SelectResult, Term, get_term_sort_key, to_plain_value

_LONGEST = 120  # characters of a text
_DECIMALS = 4
_ENDLESS = 9  # decimals from which on a number was computed: of an average two are told
_SCIENTIFIC = (1e15, 1e-6)  # from such a size on, and below, a number is a power of ten
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_SHORT = re.compile(r"[-+]?\d{1,4}")
_DATE = re.compile(r"(-?\d{4,})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?)?)?)?")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_FEW = 20  # rows for which it is asked what decided
_ROWS = 200  # of what decided
_ALL, _SOME = 10, 8  # items that are all listed, and of more so many
_MEASURED = 3  # fewer of those that have values
_WIDE = 3  # values of one item
_LONG = 220  # characters of a query in words, from which on it is left out
_BOUNDS = frozenset(["<", ">", "<=", ">="])
_PARTS = frozenset(["YEAR", "MONTH", "DAY"])
_MEASURES = frozenset(["SUM", "AVG", "MIN", "MAX", "SAMPLE"])


def deciding(query: Query, given: SelectResult | bool) -> Query | None:
    """Return the query for the values by which a result was compared or sorted.

    Its columns are the plain ones of the query, then what decided. None if the result shows that
    itself, has no row or too many, or if nothing was compared.
    """
    if isinstance(given, bool):
        wanted = [name for name in _compared(query) if name in _bound(query)]
        kept = [one for one in query.where.elements if not isinstance(one, Filter)]
        columns = tuple((name, None) for name in wanted)
        bare = Query("SELECT", Group(tuple(kept)), columns, distinct=True, limit=2)
        return bare if query.form == "ASK" and wanted else None
    plain = [name for name, value in query.columns if value is None]
    if query.form != "SELECT" or not plain or not 0 < len(given.rows) <= _FEW:
        return None
    if any(value is not None for _, value in query.columns):
        return None
    extra: list[tuple[Variable, Expression | None]]
    if query.group_by:
        extra = [(Variable(f"decides{n}"), call) for n, call in enumerate(_counted(query))]
    else:
        bound, own = _bound(query), set(plain)
        extra = [(n, None) for n in _compared(query) if n in bound and n not in own]
    rows = [
        tuple(one for one in row if isinstance(one, NamedNode | Literal))
        for row in dict.fromkeys(given.rows)
    ]
    named = tuple(map(Variable, given.variables))
    if not extra or any(len(row) < len(named) for row in rows):
        return None
    return replace(
        query,
        where=Group((Given(named, tuple(rows)), *query.where.elements)),
        columns=(*((name, None) for name in named), *extra),
        distinct=True,
        order=(),
        limit=_ROWS,
        offset=None,
    )


def _bound(query: Query) -> set[Variable]:
    """The variables that the patterns of a query itself bind, or that it computes."""
    patterns = [one for one in query.where.elements if isinstance(one, Pattern)]
    ends = {end for one in patterns for end in (one.subject, one.object)}
    binds = {one.variable for one in query.where.elements if isinstance(one, Bind)}
    return binds | {end for end in ends if isinstance(end, Variable)}


def _compared(query: Query) -> list[Variable]:
    """The variables by which the rows are sorted first, or that filters compare."""
    found = [unwrapped(value) for value, _ in query.order[:1]]
    elements = query.where.elements
    conditions = (one.condition for one in elements if isinstance(one, Filter))
    for call in walk(tuple(conditions)):
        if isinstance(call, Call) and call.name in {*_BOUNDS, "="}:
            sides = [unwrapped(side) for side in call.arguments]
            parts = [one for one in sides if isinstance(one, Call) and one.name in _PARTS]
            found.extend(unwrapped(one.arguments[0]) for one in parts)
            if call.name in _BOUNDS or all(isinstance(side, Variable) for side in sides):
                found.extend(sides)
    return list(dict.fromkeys(one for one in found if isinstance(one, Variable)))


def _counted(query: Query) -> list[Call]:
    """The aggregates by which groups are sorted first, or bounded."""
    bounds = [condition for condition in query.having if isinstance(condition, Call)]
    found = [value for value, _ in query.order[:1]]
    found += [side for condition in bounds for side in condition.arguments]
    return list(dict.fromkeys(one for one in found if isinstance(one, Call) and one.is_aggregate))


def units_of(
    query: Query, graph: KnowledgeGraph, near: GraphArrays | None = None
) -> dict[str, Unit]:
    """Return the units of a query's variables, by name, as far as the graph says any.

    Averages and the like have that of what they are taken of. Nothing is asked.
    """
    measured = {
        one.object.value: one.predicate.value
        for one in walk(query.where)
        if isinstance(one, Pattern)
        and isinstance(one.object, Variable)
        and isinstance(one.predicate, NamedNode)
    }
    for one in walk(query.where):
        if isinstance(one, Given):  # of a description, by their own names
            terms = (term for row in one.rows for term in row if isinstance(term, NamedNode))
            measured |= {term.value: term.value for term in terms}
    for name, value in query.columns:
        match value:
            case Call(name=function, arguments=(Variable() as of, *_)):
                if function.partition(" ")[0] in _MEASURES and of.value in measured:
                    measured[name.value] = measured[of.value]
    arrays = near if graph.arrays is None else graph.arrays
    wanted = set(measured.values())
    said = {p.iri: unit_of(p, arrays) for p in graph.profile.predicates if p.iri in wanted}
    return {name: unit for name, iri in measured.items() if (unit := said.get(iri)) is not None}


def unit_of(predicate: PredicateProfile, arrays: GraphArrays | None) -> Unit | None:
    """Return the unit of a predicate's values; None if nothing says it, or if it has none."""
    if not predicate.datatypes:
        return None
    names = [*(text for text, _ in predicate.names), predicate.iri]
    return detect_unit(names, descriptions_of(predicate.iri, arrays))


def units_of_properties(
    predicates: Iterable[str], graph: KnowledgeGraph, language: str
) -> dict[str, str]:
    """Return what stands behind the numbers of some predicates, by their IRIs."""
    phrases, known = phrases_in(language), {p.iri: p for p in graph.profile.predicates}
    units = {iri: unit_of(known[iri], graph.arrays) for iri in predicates if iri in known}
    texts = {iri: unit_text(unit, phrases) for iri, unit in units.items() if unit is not None}
    return {iri: text for iri, text in texts.items() if text}


def descriptions_of(iri: str, arrays: GraphArrays | None) -> list[str]:
    """Return what a graph says of a term in sentences."""
    if arrays is None:
        return []
    numbers = [arrays.get_predicate_number(one) for one in v.DESCRIPTION_PREDICATES]
    known = [number for number in numbers if number is not None]
    return [text for text, _ in own_texts(iri, arrays, known)]


@dataclass(frozen=True)
class Headline:
    """The result of a query on its way into a sentence.

    `labels` (IRI -> label) name its resources, `units` are those of its variables, and `decided` is
    the result of the query for what decided, None if there is none. `nouns` is the language of the
    labels if it is another one than that of the sentence.
    """

    query: Query
    given: SelectResult | bool
    labels: Mapping[str, str]
    language: str
    nouns: str | None = None
    units: Mapping[str, Unit] | None = None
    decided: SelectResult | None = None

    def text(self) -> str:
        """Return the sentence; empty if the result has no words, or too many columns."""
        try:
            text = self._holds() if isinstance(self.given, bool) else self._table(self.given)
        except (QuerySyntaxError, RecursionError):
            return ""
        text = visible(text)
        said = self._names.phrases.punctuated(text) if text else ""
        rows = () if isinstance(self.given, bool) else self.given.rows
        first = self.labels.get(str(to_plain_value(rows[0][0]))) if rows and rows[0] else None
        return text[:1] + said[1:] if bool(first) and text.startswith(str(first)) else said

    @cached_property
    def _values(self) -> Values:
        plain = Names(self.labels, phrases_in(self.language, self.nouns))
        return Values(plain, self.units or {})

    @cached_property
    def _names(self) -> Names:
        """Names that say what is known of constants: `the diameter of Mercury (4,879 km)`."""
        phrases = self._values.names.phrases
        constants = {
            name: self._values.text(terms[0], name)
            for name, terms in self._columns().items()
            if len(terms) == 1 and isinstance(self._owner(name), NamedNode)
        }
        return Names(self.labels, phrases, values=constants, written=self._values.bound)

    def _columns(self) -> dict[str, list[Term | None]]:
        """The different values of each variable that decided."""
        result = self.decided or SelectResult((), ())
        return {name: list(dict.fromkeys(result.get_column(name))) for name in result.variables}

    def _owner(self, name: str) -> Term | Variable | None:
        """What a variable is a value of."""
        patterns = [one for one in self.query.where.elements if isinstance(one, Pattern)]
        return next((one.subject for one in patterns if one.object == Variable(name)), None)

    def say(self, key: str, *parts: object) -> str:
        """Return a phrase of the language with its parts."""
        return self._names.phrases.say(key, *parts)

    def _holds(self) -> str:
        key, claim = Sentence(self.query, self._names).claim()
        compares = any(isinstance(one, Filter) for one in self.query.where.elements)
        said = "said yes" if self.given else "said no"
        if key == "is there":
            return self.say(f"{said} there", claim)
        return self.say(said if self.given or compares else "said no fact", claim)

    def _table(self, given: SelectResult) -> str:
        if self.query.form != "SELECT" or not self.query.columns:
            return ""
        told = Sentence(self._whole(given), self._names)
        told.is_of_one = len(given.rows) == 1
        phrase = " ".join(told.text().split()).rstrip(",")
        phrase = phrase if len(phrase) <= _LONG else ""
        if not given.rows:
            return self.say("said nothing", phrase) if phrase else ""
        number = "" if any(one.limit for one in told.scope.selects) else self._count(phrase)
        if number:
            return number
        if len(given.rows) == 1 < len(given.variables) and isinstance(given.rows[0][0], Literal):
            return self.say("said list", self._each(told, given), phrase)
        if told.described() is not None:
            return self._description(given)
        items = self._items(given)
        if not items or "" in items:
            return ""
        if self.query.group_by and len(given.variables) == 2 and len(items) > 1:
            return self._ranked(given, items)
        return self._listed(told, phrase, items, given)

    def _description(self, given: SelectResult) -> str:
        """What is said of one thing: its classes, then its values by their predicates."""
        found: dict[str, list[str]] = {}
        rows = sorted(given.rows, key=lambda row: to_plain_value(row[0]) != v.RDF_TYPE)
        for predicate, value, *_ in rows:
            if isinstance(predicate, NamedNode):
                is_class = predicate.value == v.RDF_TYPE
                noun = "" if is_class else self._names.relation(predicate).text.strip("“”„«» ")
                found.setdefault(noun, []).append(self._values.text(value, predicate.value))
        if not found:
            return ""
        subject = next(p.subject for p in self.query.where.elements if isinstance(p, Pattern))
        values = {noun: ", ".join(dict.fromkeys(filter(None, of))) for noun, of in found.items()}
        said = (": ".join(filter(None, pair)) for pair in values.items())
        return self.say("said of", self._names.term(subject), "; ".join(said))

    def _whole(self, given: SelectResult) -> Query:
        """The query, without the things that it gives if these are all of its answer.

        So "only the first five" names its things once.
        """
        one, where = Variable(given.variables[0]), self.query.where
        kept = [e for e in where.elements if not (isinstance(e, Given) and e.variables == (one,))]
        named = [e for e in where.elements if e not in kept and isinstance(e, Given)]
        rows = {row[0] for row in given.rows}
        is_all = len(named) == 1 and {row[0] for row in named[0].rows} == rows
        if not is_all or not any(isinstance(e, Pattern) and e.subject == one for e in kept):
            return self.query
        return replace(self.query, where=replace(where, elements=tuple(kept)))

    def _count(self, phrase: str) -> str:
        """`There are 12 crewed missions`; empty if the query is no mere count."""
        assert isinstance(self.given, SelectResult)
        match self.query.columns, self.given.rows:
            case [(_, Call(name=name))], [(Literal() as value,)] if name.startswith("COUNT"):
                before, _, after = self.say("the", self.say("number", "\0")).partition("\0")
                if phrase.startswith(before) and phrase.endswith(after) and value.value != "1":
                    things = phrase[len(before) : len(phrase) - len(after)].rstrip(",")
                    if value.value == "0":
                        return self.say("said none", things)
                    return self.say("said number", self._values.text(value), things)
        return ""

    def _items(self, given: SelectResult) -> dict[str, list[str]]:
        """The values of each thing, or what decided on it, in the order of the rows."""
        decided = self._deciding() if len(given.variables) == 1 else {}
        found: dict[str, list[str]] = {}
        things = (at for at, term in enumerate(given.rows[0]) if isinstance(term, NamedNode))
        first = next(things, 0)
        for row in given.rows:
            said = [*map(self._values.text, row, given.variables)]
            name = said.pop(first)
            found.setdefault(name, []).extend([*said, decided.get(row, "")])
        return {name: list(dict.fromkeys(filter(None, said))) for name, said in found.items()}

    def _each(self, told: Sentence, given: SelectResult) -> str:
        """The values of one row by what they are: `diameter 6,792 km and mass …`."""
        said = [
            f"{told.teller.noun(Variable(name))} {self._values.text(term, name)}"
            for name, term in zip(given.variables, given.rows[0], strict=True)
            if term is not None
        ]
        return self._names.phrases.listed(said)

    def _deciding(self) -> dict[Row, str]:
        """What decided on each row, in words; nothing if a row has several such values."""
        if self.decided is None or isinstance(self.given, bool):
            return {}
        wide = len(self.given.variables)
        own = {Variable(name) for name in self.given.variables}
        owners = {name: self._owner(name) for name in self.decided.variables[wide:]}
        names = [name for name, owner in owners.items() if not isinstance(owner, NamedNode)]
        names.sort(key=lambda name: owners[name] not in own)
        if not names:
            return {}
        at, found = self.decided.variables.index(names[0]), dict[Row, list[Term | None]]()
        for row in self.decided.rows:
            found.setdefault(row[:wide], []).append(row[at])
        if not self.query.order and any(len(terms) > 1 for terms in found.values()):
            return {}
        last = -1 if self.query.order and self.query.order[0][1] else 0
        return {
            row: self._values.text(sorted(terms, key=get_term_sort_key)[last], names[0])
            for row, terms in found.items()
        }

    def _ranked(self, given: SelectResult, items: Mapping[str, list[str]]) -> str:
        """`Most: NASA (83), then ESA (12) and 9 more`: groups, the greatest first."""
        name, call = self.query.columns[-1]
        if not isinstance(call, Call) or not call.is_aggregate or given.variables[1] != name.value:
            return self._listing(items)
        if not any(items.values()):
            return self._listing(items)  # groups of nothing that can be added up
        rows = sorted(given.rows, key=lambda row: get_term_sort_key(row[1]), reverse=True)
        names = list(dict.fromkeys(self._values.text(row[0], given.variables[0]) for row in rows))
        said = [_beside(one, items[one]) for one in names]
        if len({tuple(values) for values in items.values()}) == 1:
            return self.say("said alike", self._enumerated(names), items[names[0]][0])
        key = "said most" if call.name.startswith(("COUNT", "SUM")) else "said highest"
        return self.say(key, self.say("said then", said[0], self._enumerated(said[1:], _MEASURED)))

    def _listed(
        self, told: Sentence, phrase: str, items: Mapping[str, list[str]], given: SelectResult
    ) -> str:
        """The things, and what they are: `… are the moons whose …`."""
        listed = self._listing(items)
        if not phrase:
            return listed
        if told.query is not self.query:
            return self.say("said some", listed, phrase, self._values.number(len(items)))
        begins = phrase.startswith(self.say("the", ""))
        are_things = isinstance(given.rows[0][0], NamedNode) and not told.scope.selects
        is_of_one = not are_things or self.query.limit == 1 or self._is_value(told, phrase)
        is_listed = told.root() in told.asked() and len(given.variables) == 1
        if len(items) == 1 and begins and (is_of_one or self.query.is_aggregate):
            return self.say("said is", phrase, listed)
        if is_listed and begins and not self.query.group_by and not is_of_one:
            return self.say("said are" if len(items) > 1 else "said only", listed, phrase)
        return self.say("said list", listed, phrase)

    def _is_value(self, told: Sentence, phrase: str) -> bool:
        """Whether it is what a thing has, by a noun: `the launch site of Apollo 11`."""
        if not isinstance(told.root(), Variable):
            return True
        return any(
            isinstance(one, Pattern)
            and isinstance(one.subject, NamedNode)
            and one.object == told.root()
            and phrase.startswith(self.say("the", self._names.relation(one.predicate).text) + " ")
            for one in self.query.where.elements
        )

    def _listing(self, items: Mapping[str, list[str]]) -> str:
        fewer = _MEASURED if any(items.values()) else 0
        said = [_beside(name, values) for name, values in items.items()]
        return self._enumerated(said, fewer)

    def _enumerated(self, said: Sequence[str], fewer: int = 0) -> str:
        """Texts as a list, many cut with their number: `…, Io and 9 more`."""
        phrases = self._names.phrases
        cut = isinstance(self.given, SelectResult) and self.given.truncated is not None
        if len(said) <= _ALL - fewer and not cut:
            return phrases.listed(said)
        left = self._values.number(len(said) - _SOME + fewer)
        more = self.say("said many more") if cut else self.say("said more", left)
        return phrases.listed([*said[: _SOME - fewer], more])


def _beside(name: str, values: Sequence[str]) -> str:
    """`Ganymede (5,268 km)`."""
    more = ", …" if len(values) > _WIDE else ""
    return f"{name} ({', '.join(values[:_WIDE])}{more})" if values else name


@dataclass(frozen=True)
class Values:
    """Writes terms in the language of the names; `units` are those of variables, by their names."""

    names: Names
    units: Mapping[str, Unit]

    def text(self, term: Term | None, variable: str = "") -> str:
        """Return a term in words: a resource by its label, a value as people write it.

        Empty for what has no words: a blank node, a triple, nothing.
        """
        match term:
            case NamedNode():
                return _short(self.names.iri(term.value))
            case Literal():
                return self._literal(term, variable)
            case _:
                return ""

    def bound(self, literal: Literal) -> str:
        """Return a value that things are compared with; four digits may be a year."""
        return literal.value if _SHORT.fullmatch(literal.value) else self._literal(literal, "")

    def number(self, value: float | Decimal) -> str:
        """Return a number with the separators of the language; a huge or a tiny one as a power."""
        size = abs(float(value))
        if size and not _SCIENTIFIC[1] <= size < _SCIENTIFIC[0]:
            digits, _, exponent = f"{float(value):.6e}".partition("e")
            return f"{self._plain(Decimal(digits))} × 10{str(int(exponent)).translate(_RAISED)}"
        return self._plain(Decimal(value))

    def _plain(self, value: Decimal) -> str:
        least = _DECIMALS if abs(value) >= 1 else 9
        if abs(value) >= 1 and value != round(value, _ENDLESS):
            least = 2
        text = f"{round(value, least):,f}"
        whole, _, rest = text.partition(".")
        if len(whole.lstrip("-").replace(",", "")) <= int(self._said("ungrouped")):
            whole = whole.replace(",", "")
        rest = rest.rstrip("0")
        return whole.replace(",", self._said("group")) + (
            self._said("point") + rest if rest else ""
        )

    def _said(self, key: str) -> str:
        return self.names.phrases.written[key]

    def _literal(self, term: Literal, variable: str) -> str:
        datatype = term.datatype.value
        if datatype == v.XSD_BOOLEAN:
            return self.names.literal(term)
        if datatype in v.DATE_DATATYPES:
            return self._date(term.value)
        own = "" if datatype.startswith(v.XSD) or term.language else datatype
        unit = parse_unit(split_local_name(own)) if own else self.units.get(variable)
        if datatype in v.NUMERIC_DATATYPES or unit is not None:
            found = _number(term.value)
            is_year = datatype in v.INTEGER_DATATYPES and "year" in variable.lower()
            if found is not None and is_year:
                return str(found)
            if found is not None:
                return self.with_unit(self.number(found), unit)
        return _short(term.value)

    def with_unit(self, number: str, unit: Unit | None) -> str:
        """Return a number with its unit, as far as that has a sign or a name in the language."""
        sign = unit_text(unit, self.names.phrases) if unit is not None else ""
        return f"{number} {sign}" if sign else number

    def _date(self, text: str) -> str:
        found = _DATE.match(text)
        if found is None or found[1].startswith("-"):
            return text
        year, month, day, time = found.groups()
        named = self._said("months").split()
        if month is None or not 1 <= int(month) <= len(named):
            return year.lstrip("0") or year
        if day is None:
            return self._said("month").format(named[int(month) - 1], int(year))
        first = self.names.phrases.written.get("first day", "{0}") if int(day) == 1 else "{0}"
        said = self._said("day").format(first.format(int(day)), named[int(month) - 1], int(year))
        return f"{said}, {time}" if time and time != "00:00" else said


def unit_text(unit: Unit, phrases: Phrases) -> str:
    """Return the sign or the name of a unit, with how many it is of; empty if it has none."""
    sign = unit.sign or phrases.written.get(f"unit {unit.name}", "")
    if unit.scale != 1.0 and sign:
        many = phrases.written.get(f"times {unit.scale:.0f}", "")
        return many.format(sign) if many else ""
    return sign


def _number(text: str) -> Decimal | None:
    try:
        found = Decimal(text)
    except InvalidOperation:
        return None
    return found if found.is_finite() and math.isfinite(float(found)) else None


def visible(text: str) -> str:
    """Return a text on one line, without characters that would hide or turn around others."""
    return " ".join(_CONTROLS.sub(" ", text).split())


def _short(text: str) -> str:
    line = visible(text)
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1].rstrip()}…"
