"""The headline of an answer: its result as a sentence, with the values that decided.

It is made from the query and its rows, without a language model. The result often lacks the values
by which rows were compared or sorted: `deciding` makes one small query for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from askgraph.answers.verbalize import Sentence, phrases
from askgraph.answers.verbalize.labels import SchemaFacts, find_unit
from askgraph.answers.verbalize.names import Names, without_article
from askgraph.answers.verbalize.scope import unwrap
from askgraph.errors import QuerySyntaxError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import GraphArrays
from askgraph.graph.measures import Unit
from askgraph.sparql import Bind, Call, Expression, Filter, Group, Pattern, Query, walk
from askgraph.sparql import Values as ValuesClause
from askgraph.sparql import vocabulary as v
from askgraph.sparql.results import Row, SelectResult, Term, get_term_sort_key, to_plain_value

_MAX_COMPARED_ROWS = 100  # rows for which a query fetches what decided
_MAX_DECIDING_ROWS = 400
_MAX_LISTED, _MAX_SHOWN = 10, 8
"""Items that are all listed; of more than these, the first of them that are shown."""
_COUNT_REDUCTION_WITH_VALUES = 3  # items fewer where each has values beside it
_MAX_VALUES = 3  # values beside one item
_MAX_CHARACTERS = 220  # characters of a reading, above which the sentence leaves it out
_MIN_COUNTED_ITEMS = 4  # items from which on the sentence begins with their number
_BOUNDS = frozenset(["<", ">", "<=", ">="])
_DATE_PARTS = frozenset(["YEAR", "MONTH", "DAY"])
_MEASURES = frozenset(["SUM", "AVG", "MIN", "MAX", "SAMPLE"])


def make_deciding_query(query: Query, result: SelectResult | bool) -> Query | None:
    """Return the query for the values by which a result was compared or sorted.

    Its columns are the plain ones of the query, then those values. None if the result shows them
    itself, has no row or too many, or if nothing was compared.
    """
    if isinstance(result, bool):
        compared = [name for name in _list_compared(query) if name in _list_bound(query)]
        patterns = tuple(part for part in query.where.elements if not isinstance(part, Filter))
        columns = tuple((name, None) for name in compared)
        values = Query("SELECT", Group(patterns), columns, distinct=True, limit=2)
        return values if query.form == "ASK" and compared else None
    plain = [name for name, value in query.columns if value is None]
    if query.form != "SELECT" or not plain or not 0 < len(result.rows) <= _MAX_COMPARED_ROWS:
        return None
    if any(value is not None for _, value in query.columns):
        return None
    extra: Sequence[tuple[Variable, Expression | None]]
    if query.group_by:
        extra = [(_name_aggregate(call, query), call) for call in _list_counted(query)]
    else:
        bound = _list_bound(query) - set(plain)
        extra = [(name, None) for name in _list_compared(query) if name in bound]
    rows = [
        tuple(term for term in row if isinstance(term, NamedNode | Literal))
        for row in dict.fromkeys(result.rows)
    ]
    names = tuple(map(Variable, result.variables))
    if not extra or any(len(row) < len(names) for row in rows):
        return None
    return replace(
        query,
        where=Group((ValuesClause(names, tuple(rows)), *query.where.elements)),
        columns=(*((name, None) for name in names), *extra),
        distinct=True,
        order=(),
        limit=_MAX_DECIDING_ROWS,
        offset=None,
    )


def find_deciding_values(
    query: Query, result: SelectResult, decided: SelectResult | None
) -> dict[str, dict[Row, Term | None]]:
    """Return the variables that decided on rows, each with its value for each row.

    Those of the rows' own things come first, and those of things that the query names are omitted.
    A variable has no values if a row has several, unless the query sorts by them.

    Args:
        decided: the result of `make_deciding_query`.
    """
    if decided is None:
        return {}
    width, columns = len(result.variables), dict[str, dict[Row, Term | None]]()
    for at, name in enumerate(decided.variables[width:], width):
        if isinstance(_find_owner(query, name), NamedNode):
            continue
        terms = dict[Row, list[Term | None]]()
        for row in decided.rows:
            terms.setdefault(row[:width], []).append(row[at])
        is_clear = query.order or all(len(values) == 1 for values in terms.values())
        last = -1 if query.order and query.order[0][1] else 0
        columns[name] = {
            row: sorted(values, key=get_term_sort_key)[last]
            for row, values in terms.items()
            if is_clear
        }
    names = sorted(columns, key=lambda name: not is_shown_owner(query, result, name))
    return {name: columns[name] for name in names}


def is_shown_owner(query: Query, result: SelectResult, name: str) -> bool:
    """Return whether a variable is the value of a thing in the result."""
    owner = _find_owner(query, name)
    return isinstance(owner, Variable) and owner.value in result.variables


def _find_owner(query: Query, name: str) -> Term | Variable | None:
    return next((p.subject for p in _list_patterns(query) if p.object == Variable(name)), None)


def _name_aggregate(call: Call, query: Query) -> Variable:
    """Return a new variable for a count or a measure: `?number_of_mission`."""
    names = (node.value for node in walk(call) if isinstance(node, Variable))
    function = call.name.partition(" ")[0].lower()
    function = {"count": "number_of", "avg": "average", "sum": "total"}.get(function, function)
    name = f"{function}_{next(names, 'rows')}"
    bound = {variable.value for variable in _list_bound(query)}
    return Variable(name if name not in bound else f"{name}_2")


def _list_patterns(query: Query) -> list[Pattern]:
    return [part for part in query.where.elements if isinstance(part, Pattern)]


def _list_bound(query: Query) -> set[Variable]:
    ends = {end for p in _list_patterns(query) for end in (p.subject, p.object)}
    binds = {part.variable for part in query.where.elements if isinstance(part, Bind)}
    return binds | {end for end in ends if isinstance(end, Variable)}


def _list_compared(query: Query) -> list[Variable]:
    compared = [unwrap(value) for value, _ in query.order[:1]]
    filters = tuple(part.condition for part in query.where.elements if isinstance(part, Filter))
    for call in walk(filters):
        if isinstance(call, Call) and call.name in {*_BOUNDS, "="}:
            sides = [unwrap(side) for side in call.arguments]
            parts = [s for s in sides if isinstance(s, Call) and s.name in _DATE_PARTS]
            compared.extend(unwrap(part.arguments[0]) for part in parts)
            if call.name in _BOUNDS or all(isinstance(side, Variable) for side in sides):
                compared.extend(sides)
    return list(dict.fromkeys(term for term in compared if isinstance(term, Variable)))


def _list_counted(query: Query) -> list[Call]:
    bounds = [condition for condition in query.having if isinstance(condition, Call)]
    values = [value for value, _ in query.order[:1]]
    values += [side for condition in bounds for side in condition.arguments]
    return list(dict.fromkeys(v for v in values if isinstance(v, Call) and v.is_aggregate))


def find_query_units(
    query: Query, graph: KnowledgeGraph, near: GraphArrays | None = None
) -> dict[str, Unit]:
    """Return the units of a query's variables, by name, as far as the graph has any.

    Averages and the like have the unit of their argument. The endpoint gets no request.
    """
    measured = {
        pattern.object.value: pattern.predicate.value
        for pattern in walk(query.where)
        if isinstance(pattern, Pattern)
        and isinstance(pattern.object, Variable)
        and isinstance(pattern.predicate, NamedNode)
    }
    for clause in walk(query.where):
        if isinstance(clause, ValuesClause):  # VALUES of a description keep their own names
            terms = (term for row in clause.rows for term in row if isinstance(term, NamedNode))
            measured |= {term.value: term.value for term in terms}
    for name, value in query.columns:
        match value:
            case Call(name=function, arguments=(Variable() as argument, *_)):
                if function.partition(" ")[0] in _MEASURES and argument.value in measured:
                    measured[name.value] = measured[argument.value]
    arrays = near if graph.arrays is None else graph.arrays
    used = set(measured.values())
    units = {p.iri: find_unit(p, arrays) for p in graph.profile.predicates if p.iri in used}
    return {name: unit for name, iri in measured.items() if (unit := units.get(iri)) is not None}


def name_property_units(
    predicates: Iterable[str], graph: KnowledgeGraph, language: str
) -> dict[str, str]:
    """Return the words behind the numbers of some predicates, by their IRIs."""
    profiles = {p.iri: p for p in graph.profile.predicates}
    units = {iri: find_unit(profiles[iri], graph.arrays) for iri in predicates if iri in profiles}
    return name_units({iri: unit for iri, unit in units.items() if unit is not None}, language)


def name_units(units: Mapping[str, Unit], language: str) -> dict[str, str]:
    """Return the signs or names of those units that have one, by the same keys."""
    writer = Names({}, phrases.load_phrases(language)).writer
    return {key: text for key, unit in units.items() if (text := writer.name_unit(unit))}


@dataclass(frozen=True)
class Headline:
    """A query and its result on their way into a sentence."""

    query: Query
    result: SelectResult | bool
    labels: Mapping[str, str]  # the labels of its resources, by their IRIs
    language: str  # the language of the sentence
    nouns: str | None = None  # the language of the labels if it is another one
    units: Mapping[str, Unit] | None = None  # the units of the query's variables, by name
    decided: SelectResult | None = None  # result of the query for what decided
    facts: SchemaFacts | None = None  # knowledge of the query's terms from the graph

    def write(self) -> str:
        """Return the sentence; empty if the result has no words, or too many columns."""
        try:
            text = self._judge() if isinstance(self.result, bool) else self._tell(self.result)
        except (QuerySyntaxError, RecursionError):
            return ""
        text = phrases.remove_controls(text)
        sentence = self._names.phrases.punctuate(text) if text else ""
        rows = () if isinstance(self.result, bool) else self.result.rows
        first = rows[0][0] if rows and rows[0] else None
        name = self._write_value(first) if isinstance(first, NamedNode) else ""
        is_name = bool(name) and text.startswith(name)
        return text[:1] + sentence[1:] if is_name else sentence

    @cached_property
    def _names(self) -> Names:
        """Names with the values of constants: `the diameter of Mercury (4,879 km)`."""
        decided = self.decided or SelectResult((), ())
        constants = {
            name: self._write_value(terms[0], name)
            for name in decided.variables
            if len(terms := list(dict.fromkeys(decided.get_column(name)))) == 1
            and isinstance(_find_owner(self.query, name), NamedNode)
        }
        return Names(self.labels, self._phrases, facts=self.facts, values=constants)

    @cached_property
    def _phrases(self) -> phrases.Phrases:
        return phrases.load_phrases(self.language, self.nouns)

    @cached_property
    def _writer(self) -> phrases.ValueWriter:
        return phrases.ValueWriter(self._phrases)

    @cached_property
    def _years(self) -> set[str]:
        """The names of variables whose integers are years."""
        names = Names(self.labels, self._phrases, facts=self.facts)
        return {
            pattern.object.value
            for pattern in walk(self.query)
            if isinstance(pattern, Pattern)
            and isinstance(pattern.object, Variable)
            and names.find_entry(pattern.predicate).is_dated
        }

    def _write_value(self, term: Term | None, variable: str = "") -> str:
        if variable in self._years:
            variable = "year"
        return write_term(
            term, self._writer, self.labels, (self.units or {}).get(variable), variable
        )

    def say(self, key: str, *parts: object) -> str:
        """Return a phrase of the language with its parts."""
        return self._phrases.say(key, *parts)

    def _judge(self) -> str:
        """Return the answer of a yes-no question: `Yes, Titan orbits Saturn`."""
        key, claim = Sentence(self.query, self._names).make_claim()
        compares = any(isinstance(part, Filter) for part in self.query.where.elements)
        answer = "said yes" if self.result else "said no"
        if key in ("is there", "is there none"):
            if self._phrases.is_english and self.result is (key == "is there none"):
                claim = _negate(claim)
            return self.say(f"{answer} {key.removeprefix('is ')}", claim)
        if not self.result and compares and self._phrases.is_english and claim.count(" is ") == 1:
            return f"no, {claim.replace(' is ', ' is not ')}"
        return self.say(answer if self.result or compares else "said no fact", claim)

    def _tell(self, result: SelectResult) -> str:
        if self.query.form != "SELECT" or not self.query.columns:
            return ""
        query = self._drop_names(result)
        if query.order and query.limit and 0 < len(result.rows) < query.limit:
            query = replace(query, limit=len(result.rows))
        sentence = Sentence(query, self._names)
        sentence.is_single = len(set(result.rows)) == 1
        by = unwrap(self.query.order[0][0]) if self.query.order else None
        is_named = isinstance(by, Variable) and by.value in (self.units or {})
        sentence.shows_measure = (
            is_named and len(result.variables) == 1 and bool(self._find_deciding())
        )
        phrase = " ".join(sentence.write().split()).rstrip(",")
        phrase = phrase if len(phrase) <= _MAX_CHARACTERS else ""
        if not result.rows:
            return self._tell_nothing(phrase)
        count = "" if any(s.limit for s in sentence.scope.selects) else self._count(phrase)
        if count:
            return count
        if len(result.rows) == 1 < len(result.variables) and isinstance(
            result.rows[0][0], Literal | BlankNode
        ):
            thing = self.say("thing") + " "
            values = [
                f"{sentence.name_result(name)} {self._write_value(term, name)}".removeprefix(thing)
                for name, term in zip(result.variables, result.rows[0], strict=True)
                if term is not None and not isinstance(term, BlankNode)
            ]
            return self.say("said list", self._phrases.join_list(values), phrase)
        if sentence.write_described() is not None:
            return self._describe(result)
        items = self._list_items(result)
        things = {row[0] for row in result.rows if isinstance(row[0], NamedNode)}
        if not items or "" in items or len(things) > len(items):  # several things share one name
            is_whole = len(things) == len(result.rows) > 1 and result.truncated is None
            if not is_whole or not sentence.is_plain_list(phrase):
                return ""
            number = self._writer.write_number(len(things))
            return self.say("said number", number, phrase.removeprefix("the "))
        if self.query.group_by and len(result.variables) == 2 and len(items) > 1:
            return self._rank(result, items)
        articles = {
            self._write_value(row[0]): self._names.name_thing(row[0].value)
            for row in result.rows
            if isinstance(row[0], NamedNode)
        }
        items_by_phrase = {articles.get(name, name): values for name, values in items.items()}
        statement = sentence.write_statement(
            self._join_items(items_by_phrase), is_many=len(items) > 1
        )
        if statement and query is self.query:
            return statement
        is_subject = sentence.find_root() in sentence.list_asked()
        if len(items_by_phrase) == 1 and len(result.variables) == 1 and not is_subject:
            items = items_by_phrase
        return self._combine(sentence, phrase, items, result)

    def _tell_nothing(self, phrase: str) -> str:
        """Return that there is no row: `The graph has no moons that orbit Venus`."""
        if not phrase:
            return ""
        sentence = Sentence(self.query, self._names)
        if phrase.startswith(("when ", "where ", "what ", "whom ", "whether ")):
            return self.say("said no answer", phrase)
        if sentence.is_plain_list(phrase) and phrase.startswith("the "):
            key = "said nothing" if ", with " in phrase else "said has none"
            return self.say(key, phrase.removeprefix("the "))
        is_value = phrase.startswith("the ") and not self.query.order and not self.query.having
        return self.say("said no value" if is_value else "said nothing", phrase)

    def _describe(self, result: SelectResult) -> str:
        """Return the classes of one thing, then its values by their predicates."""
        values: dict[str, list[str]] = {}
        rows = sorted(result.rows, key=lambda row: to_plain_value(row[0]) != v.RDF_TYPE)
        for predicate, value, *_ in rows:
            if isinstance(predicate, NamedNode):
                is_class = predicate.value == v.RDF_TYPE
                noun = "" if is_class else self._names.name_class(predicate.value)
                values.setdefault(noun, []).append(self._write_value(value, predicate.value))
        if not values:
            return ""
        subject = _list_patterns(self.query)[0].subject
        texts = {noun: ", ".join(dict.fromkeys(filter(None, of))) for noun, of in values.items()}
        pairs = (": ".join(filter(None, pair)) for pair in texts.items())
        name = self._names.name_term(subject) if not isinstance(subject, Variable) else ""
        return self.say("said of", name.removeprefix("the "), "; ".join(pairs))

    def _drop_names(self, result: SelectResult) -> Query:
        """Return the query without the things that it names if these are all of its answer."""
        # So "only the first five" names its things once.
        first, where = Variable(result.variables[0]), self.query.where
        named = [
            part
            for part in where.elements
            if isinstance(part, ValuesClause) and part.variables == (first,)
        ]
        kept = tuple(part for part in where.elements if part not in named)
        rows = {row[0] for row in result.rows}
        is_all = len(named) == 1 and {row[0] for row in named[0].rows} == rows
        if not is_all or not any(isinstance(p, Pattern) and p.subject == first for p in kept):
            return self.query
        return replace(self.query, where=replace(where, elements=kept))

    def _count(self, phrase: str) -> str:
        """Return `There are 12 crewed missions`; empty if the query is no mere count."""
        assert isinstance(self.result, SelectResult)
        match self.query.columns, self.result.rows:
            case [(_, Call(name=name) as call)], [(Literal() as value,)] if name.startswith(
                "COUNT"
            ):
                marks = ("\0", "a\0")  # before a vowel: "nombre d’"
                before, _, after = self.say("the", self.say("number", marks[0])).partition("\0")
                elided = self.say("number", marks[1]).partition("a\0")[0]
                if not phrase.startswith((before, elided)) or not phrase.endswith(after):
                    return ""
                before = before if phrase.startswith(before) else elided
                things = phrase[len(before) : len(phrase) - len(after)].rstrip(",")
                if value.value == "0":
                    return self.say("said none", things)
                if value.value == "1":
                    return self._count_one(call)
                return self.say("said number", self._write_value(value), things)
        return ""

    def _count_one(self, call: Call) -> str:
        """Return `There is 1 moon that orbits Earth`; empty if the count is of something else."""
        match call.arguments:
            case (Variable() as counted,):
                single = Sentence(replace(self.query, columns=((counted, None),)), self._names)
                single.is_single = True
                phrase = single.write()
                if self._phrases.is_english and single.find_root() == counted:
                    return f"there is 1 {phrase.removeprefix('the ')}"
        return ""

    def _list_items(self, result: SelectResult) -> dict[str, list[str]]:
        """Return the values of each thing, or what decided on it, in the order of the rows."""
        decided = self._find_deciding() if len(result.variables) == 1 else {}
        items: dict[str, list[str]] = {}
        things = (at for at, term in enumerate(result.rows[0]) if isinstance(term, NamedNode))
        first = next(things, None)
        if first is None:  # a blank node has no name
            first = next((at for at, x in enumerate(result.rows[0]) if isinstance(x, Literal)), 0)
        for row in result.rows:
            values = [*map(self._write_value, row, result.variables)]
            name = values.pop(first)
            items.setdefault(name, []).extend([*values, decided.get(row, "")])
        return {name: list(dict.fromkeys(filter(None, values))) for name, values in items.items()}

    def _find_deciding(self) -> dict[Row, str]:
        """Return what decided on each row, in words; nothing if a row has several such values."""
        if isinstance(self.result, bool):
            return {}
        columns = find_deciding_values(self.query, self.result, self.decided)
        name, values = next(iter(columns.items()), ("", {}))
        return {row: self._write_value(value, name) for row, value in values.items()}

    def _rank(self, result: SelectResult, items: Mapping[str, list[str]]) -> str:
        """Return `Most: NASA (83), then ESA (12) and 9 more`: groups, the greatest first."""
        name, call = self.query.columns[-1]
        is_last = isinstance(call, Call) and call.is_aggregate and result.variables[1] == name.value
        if not is_last or not isinstance(call, Call) or not any(items.values()):
            return self._join_items(items)
        rows = sorted(result.rows, key=lambda row: get_term_sort_key(row[1]), reverse=True)
        variable = result.variables[0]
        names = list(dict.fromkeys(self._write_value(row[0], variable) for row in rows))
        if len({tuple(values) for values in items.values()}) == 1:
            return self.say("said alike", self._join_cut(names), items[names[0]][0])
        texts = [_add_values(name, items[name]) for name in names]
        key = "said most" if call.name.startswith(("COUNT", "SUM")) else "said highest"
        rest = self._join_cut(texts[1:], _COUNT_REDUCTION_WITH_VALUES)
        return self.say(key, self.say("said then", texts[0], rest))

    def _combine(
        self, sentence: Sentence, phrase: str, items: Mapping[str, list[str]], result: SelectResult
    ) -> str:
        """Return the things and the reading in one sentence: `… are the moons whose …`."""
        listed = self._join_items(items)
        if not phrase:
            return listed
        number = self._writer.write_number(len(items))
        if len(sentence.query.where.elements) < len(self.query.where.elements):
            return self.say("said some", listed, phrase, number)
        query, begins = sentence.query, phrase.startswith(self.say("the", ""))
        is_whole, noun = not query.limit and result.truncated is None, phrase.removeprefix("the ")
        is_long = is_whole and len(items) > _MAX_LISTED and begins and not query.group_by
        counted = f"{self._write_count(len(items))} {noun}" if is_long else ""
        selects = [s for s in sentence.scope.selects if not s.is_aggregate or s.group_by]
        are_things = isinstance(result.rows[0][0], NamedNode) and not selects
        is_listed = sentence.find_root() in sentence.list_asked() and len(result.variables) == 1
        is_first = query.limit == 1 and bool(query.order) and not query.is_aggregate
        if self._phrases.is_english and is_first and is_listed and begins and len(items) == 1:
            return self.say("said first", listed, phrase)
        is_single = not are_things or query.limit == 1 or self._is_value(sentence, phrase)
        is_group = query.is_aggregate and not (query.group_by and query.limit != 1)
        if len(items) == 1 and begins and (is_single or is_group):
            return self.say("said is", phrase, listed)
        if is_listed and begins and not query.group_by and not is_single:
            if len(items) == 1:
                return self.say("said only", listed, noun)
            is_counted = len(items) >= _MIN_COUNTED_ITEMS or " " not in noun
            is_counted &= "," not in phrase and is_whole
            if self._phrases.is_english and is_counted and sentence.is_plain_list(phrase):
                return self.say("said counted", listed, noun, number)
            return self.say(
                *(("said list", listed, counted) if counted else ("said are", listed, phrase))
            )
        if counted:
            return self.say("said list", listed, counted)
        is_column = begins and not is_listed and len(result.variables) == 1 and not query.group_by
        if self._phrases.is_english and is_column and not selects:
            if len(items) == 1 and "," not in phrase:
                return self.say("said is", phrase, listed)
            if sentence.names_many and "," not in phrase:
                return self.say("said is many", phrase, listed)
        return self.say("said list", listed, noun if sentence.is_plain_list(phrase) else phrase)

    def _write_count(self, count: int) -> str:
        """Return the number of things, and of how many if some lack a column: `34 of 52`."""
        patterns, columns = _list_patterns(self.query), [name for name, _ in self.query.columns]
        types = [p for p in patterns if p.predicate == NamedNode(v.RDF_TYPE)]
        objects = [p.object for p in patterns if p not in types]
        text, total = self._writer.write_number(count), 0
        is_plain = len(types) == 1 and len(patterns) == len(self.query.where.elements)
        if is_plain and columns == [types[0].subject, *objects] and self.facts:
            total = self.facts.instance_counts.get(getattr(types[0].object, "value", ""), 0)
        return self.say("of all", text, self._writer.write_number(total)) if total > count else text

    def _is_value(self, sentence: Sentence, phrase: str) -> bool:
        """Return whether the result is a value by a noun: `the launch site of Apollo 11`."""
        root = sentence.find_root()
        if not isinstance(root, Variable):
            return True
        return any(
            isinstance(p.subject, NamedNode)
            and p.object == root
            and phrase.startswith(self.say("the", self._names.find_entry(p.predicate).text) + " ")
            for p in _list_patterns(self.query)
        )

    def _join_items(self, items: Mapping[str, list[str]]) -> str:
        fewer = _COUNT_REDUCTION_WITH_VALUES if any(items.values()) else 0
        return self._join_cut([_add_values(*item) for item in items.items()], fewer)

    def _join_cut(self, texts: Sequence[str], fewer: int = 0) -> str:
        """Return texts as a list, a long one cut with its number: `…, Io and 9 more`."""
        is_cut = isinstance(self.result, SelectResult) and self.result.truncated is not None
        if len(texts) <= _MAX_LISTED - fewer and not is_cut:
            return self._phrases.join_list(texts)
        number = self._writer.write_number(len(texts) - _MAX_SHOWN + fewer)
        more = self.say("said many more") if is_cut else self.say("said more", number)
        return self._phrases.join_list([*texts[: _MAX_SHOWN - fewer], more])


def _negate(claim: str) -> str:
    """Return an English phrase of one thing as one of none: `no moon that orbits Venus`."""
    for some, none in (("something", "nothing"), ("someone", "no one")):
        if claim.startswith(some):
            return none + claim.removeprefix(some)
    return f"no {without_article(claim)}"


def _add_values(name: str, values: Sequence[str]) -> str:
    """Return a name with values beside it: `Ganymede (5,268 km)`."""
    more = ", …" if len(values) > _MAX_VALUES else ""
    return f"{name} ({', '.join(values[:_MAX_VALUES])}{more})" if values else name


def write_term(
    term: Term | None,
    writer: phrases.ValueWriter,
    labels: Mapping[str, str],
    unit: Unit | None = None,
    variable: str = "",
) -> str:
    """Return a term in words: a resource by its label, a value as people write it.

    Empty for a blank node, a triple or None.
    """
    match term:
        case NamedNode():
            return phrases.shorten_line(Names(labels, writer.phrases).name_iri(term.value))
        case Literal():
            return writer.write_literal(term, unit, variable)
        case _:
            return ""
