"""Queries that list things, and queries that group and count them: columns, sort keys, counts."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from pyoxigraph import Literal, NamedNode, Variable

from askgraph import sparql as ast
from askgraph.answers.verbalize.clauses import ClauseWriter
from askgraph.answers.verbalize.labels import NO_FACTS
from askgraph.answers.verbalize.lexicon import Head, LexicalEntry, is_gerund, make_forms
from askgraph.answers.verbalize.names import Names, strip_article, without_article
from askgraph.answers.verbalize.phrases import is_date
from askgraph.answers.verbalize.scope import Scope, make_scope, unwrap
from askgraph.sparql.vocabulary import RDF_TYPE
from askgraph.sparql.windows import Window

_AGGREGATE_PHRASES = {"SUM": "sum", "AVG": "avg", "MIN": "min", "MAX": "max", "SAMPLE": "sample"}
_HUNDRED = Literal(100)
_MEDIAN_PERCENT = "50"
_SYMBOLS = frozenset(["||", "&&", "=", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/"])
_COUNTED = frozenset(["=", "<", ">", "<=", ">="])


class Listing(ABC):
    """A query whose rows are things and their values; what its columns and keys are called."""

    def __init__(self, query: ast.Query, names: Names) -> None:
        types = names.facts.types
        self.query = _count_values(ast.rename_iris(query, types) if types else query, names)
        self.names = names
        self.phrases = names.phrases
        self.say, self.join_list = self.phrases.say, self.phrases.join_list
        self.forms = make_forms(names.phrases)
        query = self.query
        self.scope: Scope = make_scope(query.where)
        self.values = {name.value: value for name, value in query.columns if value is not None}
        self.keys = [self.resolve(name or value) for value, name in query.group_by]
        for value, name in query.group_by:
            if name is not None:
                self.scope.binds[name.value] = value
        self.writer = ClauseWriter(
            self.scope, names, silent=self.find_silent(), write_select=self.write_select
        )
        self.window: Window | None = None  # what the numbers of the groups are made into
        self.is_single = False  # one row, told in the singular
        self.names_many = False  # the values of several things, in the plural
        self.shows_measure = False  # the rows come with the measure that sorts them
        self.root_said = False
        self.cuts_done = False
        self.having_done = False

    @property
    def is_singular(self) -> bool:
        """Whether one thing answers, and nothing beside it."""
        return self.is_single and self.list_asked() == [self.find_root()]

    def resolve(self, expression: ast.Expression) -> ast.Expression:
        """Return the variable that a name stands for; other expressions as they are."""
        return self.scope.resolve(expression) if isinstance(expression, Variable) else expression

    def list_asked(self) -> list[Variable]:
        """The plain columns: variables of the patterns, by their first names, each once."""
        if self.query.columns:
            names = [name for name, value in self.query.columns if value is None]
            names += [v for v in self.values.values() if isinstance(v, Variable)]
        else:
            names = [
                name for name in ast.find_variables(self.query.where) if name.value[:2] != "__"
            ]
        return list(dict.fromkeys(self.scope.resolve(name) for name in names))

    def list_computed(self) -> list[ast.Expression]:
        """The columns that are computed."""
        keys = [value for value, _ in self.query.group_by]
        return [
            value
            for value in self.values.values()
            if not isinstance(value, Variable) and value not in keys
        ]

    def find_silent(self) -> set[str]:
        """Variables that need no clause of their own, as the sentence names them anyway."""
        query, scope = self.query, self.scope
        parts = (*self.values.values(), *query.having, *self.keys, *query.order)
        parts = (*parts, *scope.binds.values(), *scope.filters)
        spoken = {*self.list_asked(), *map(scope.resolve, ast.find_variables(parts))}
        for inner in (*scope.without, *scope.present):
            spoken |= {*ast.find_variables(tuple(inner.filters))}
        return {name.value for name in spoken}

    def find_root(self) -> ast.Term | None:
        """Return the subject of the sentence."""
        aggregated = [v for value in self.list_computed() for v in ast.find_variables(value)]
        having = [v for value in self.query.having for v in ast.find_variables(value)]
        asked = [] if self.query.is_aggregate else self.list_asked()
        for variable in [*aggregated, *asked, *having]:
            variable = self.scope.resolve(variable)
            owners = [p for p in self.scope.patterns if p.object == variable]
            is_joined = len(owners) > 1 and all(isinstance(p.subject, Variable) for p in owners)
            if self.is_subject(variable) or (is_joined and not self.query.is_aggregate):
                return variable
            owner = self.writer.find_owner(variable)
            if owner is not None and variable.value not in self.scope.binds:
                return owner.subject
        return self.find_source() or next(iter(self.list_asked()), None)

    def is_subject(self, variable: Variable) -> bool:
        """Return whether a variable is the subject of a pattern."""
        patterns = [p for scope in self.list_scopes() for p in scope.patterns]
        return any(pattern.subject == variable for pattern in patterns)

    def list_scopes(self) -> list[Scope]:
        """Return the scope and those of its unions."""
        return [self.scope, *(inner for scopes in self.scope.unions for inner in scopes)]

    def find_source(self) -> ast.Term | None:
        """The first subject that is nobody's object: counting all rows counts it."""
        subjects = [p.subject for scope in self.list_scopes() for p in scope.patterns]
        objects = {p.object for scope in self.list_scopes() for p in scope.patterns}
        variables = [subject for subject in subjects if isinstance(subject, Variable)]
        free = [subject for subject in variables if subject not in objects]
        return next(iter([*free, *variables, *subjects]), None)

    def is_wrapper(self) -> bool:
        """Whether there is nothing but sub-selects around which others are taken away or joined."""
        return bool(self.scope.selects) and not self.scope.patterns and not self.scope.unions

    def name_the(self, nouns: Sequence[str]) -> str:
        """Return nouns as a list after "the"."""
        return self.say("the", self.join_list(list(dict.fromkeys(map(self.names.unquote, nouns)))))

    def cuts_root(self) -> bool:
        """Whether the first rows of an order are taken, and the order is one of the root's."""
        query = self.query
        if not query.order or not query.limit or self.is_wrapper():
            return False
        is_counted = self.keys == [self.find_root()] and self.is_count(query.order[0][0])
        return not query.is_aggregate or (is_counted and not self.list_computed())

    def write_superlative(self, root: ast.Term | None) -> tuple[str, str]:
        """Return the words before and behind a noun: `largest`, `with the highest mass`."""
        value, is_down = self.query.order[0]
        places = self.write_places() or ""
        if (entry := self.find_order_entry(value)) is not None:
            if adjective := entry.most if is_down else entry.least:
                tail = "" if entry.is_exact or self.shows_measure else f"by {entry.text}"
                return f"{places}{adjective}", tail
            if entry.kind == "dated" and not places:
                earliest = "earliest" if entry.text.startswith("first ") else "first"
                most_recently = f"most recently {entry.text}"
                return (most_recently, "") if is_down else ("", f"{entry.text} {earliest}")
            if entry.kind == "count":
                return "", f"with the {places}{'most' if is_down else 'fewest'} {entry.plural}"
            adjective = entry.high if is_down else "earliest" if entry.is_dated else entry.low
            is_word = not entry.is_dated or entry.high == "most recent"
            is_word &= not isinstance(value, ast.Call)  # texts that are numbers or dates
            if is_word and entry.kind == "noun":
                return "", entry.describe_extreme(f"{places}{adjective}")
        noun = self.name_order(value, root)
        return "", self.say(f"by {self.choose_extreme(value, noun, down=is_down)}", noun, places)

    def find_order_entry(self, value: ast.Expression) -> LexicalEntry | None:
        """Return the entry of the plain property whose values sort the rows; English only."""
        owner = self.find_order_owner(value)
        return None if owner is None else self.names.find_entry(owner.predicate)

    def find_order_owner(self, value: ast.Expression) -> ast.Pattern | None:
        """Return the pattern of the values that sort the rows; English only."""
        value = self.find_order_value(value)
        if not self.phrases.is_english or not isinstance(value, Variable):
            return None
        value = self.scope.resolve(value)
        return None if value.value in self.scope.binds else self.writer.find_owner(value)

    def write_places(self) -> str | None:
        """The first and the last place of an order: `third- to fifth-`; None if too far down."""
        first, words = (self.query.offset or 0) + 1, self.say("ordinals").split()
        last = first + (self.query.limit or 1) - 1
        if first == 1:
            return ""
        if last > len(words):
            return None
        if first == last:
            return self.say("nth place", words[first - 1])
        return self.say("nth to mth place", words[first - 1], words[last - 1])

    def choose_extreme(self, value: ast.Expression, noun: str, *, down: bool) -> str:
        """Return the adjective of the first or last row of an order."""
        if self.is_count(value):
            return "most" if down else "fewest"
        computed = isinstance(value, Variable) and value.value in self.scope.binds
        entry = self.find_order_entry(value)
        if (is_date(noun) or (entry and entry.is_dated)) and not computed:
            return "latest" if down else "earliest"
        return "highest" if down else "lowest"

    def counts(self, value: ast.Expression, root: ast.Term | None) -> bool:
        """Return whether an expression counts the rows or the subject of the sentence."""
        if not isinstance(value, ast.Call) or not value.name.startswith("COUNT"):
            return False
        return not value.arguments or [*map(self.resolve, value.arguments)] == [root]

    def name_aggregate(self, value: ast.Expression) -> str | None:
        """`the average age`; None if it is no aggregate of one thing."""
        if not isinstance(value, ast.Call) or value.name.split()[0] not in ast.AGGREGATE_NAMES:
            return None
        name, _, distinct = value.name.partition(" ")
        if not value.arguments:
            return self.say("number", self.say("things"))
        noun = self.name_value(self.resolve(unwrap(value.arguments[0])))
        if len(value.arguments) > 1:
            nouns = [self.name_value(one) for one in value.arguments]
            return self.say(
                "the", self.say("number", self.say("combinations", self.join_list(nouns)))
            )
        if name == "COUNT":
            key = "number distinct" if distinct else "number"
            return self.say("the", self.say(key, self.phrases.pluralize(noun)))
        if name == "GROUP_CONCAT":
            return self.say("group_concat", self.phrases.pluralize(noun))
        if name == "AVG" and self.window is not None and self.window.percent:
            return self.say_percentile("", noun)
        dated = name in ("MIN", "MAX") and is_date(noun)
        key = {"MIN": "first", "MAX": "last"}[name] if dated else _AGGREGATE_PHRASES[name]
        return self.say(key, noun)

    def say_percentile(self, suffix: str, *parts: str) -> str:
        """Return `the median mass`, `the 90th percentile of the mass`."""
        percent = self.window.percent if self.window is not None else ""
        if percent == _MEDIAN_PERCENT:
            return self.say("median" + suffix, *parts)
        return self.say("nth percentile" + suffix, *parts, percent)

    def name_result(self, name: str) -> str:
        """Return the noun of a column of the result, without its article."""
        if name in self.values and (noun := self.name_aggregate(self.values[name])):
            return without_article(noun)
        return self.writer.find_noun(Variable(name))

    def name_value(self, value: ast.Expression) -> str:
        """What a value is called, without whose it is."""
        if not isinstance(value, Variable) or value.value in self.scope.binds:
            return self.writer.write(value)
        for select in self.scope.selects:
            if value.value in {name.value for name in ast.find_variables(select)}:
                return without_article(self.write_select(select, value.value))
        for inner in self.scope.optional:
            if any(value == pattern.object for pattern in inner.patterns):
                return self.writer.enter(inner).find_noun(value)
        return self.writer.find_noun(value)

    def write_expression(self, value: ast.Expression, root: ast.Term | None = None) -> str:
        """An expression in which aggregates may stand."""
        match value:
            case Variable() if value.value in self.values:
                return self.write_expression(self.values[value.value], root)
            case ast.Call(name=name) if name.split()[0] in ast.AGGREGATE_NAMES:
                if self.counts(value, root) or not value.arguments:
                    source = root or self.find_root()
                    noun = self.writer.find_noun(source) if isinstance(source, Variable) else ""
                    counted = self.phrases.pluralize(noun) if noun else self.say("things")
                    return self.say("the", self.say("number", counted))
                return self.name_aggregate(value) or ""
            case ast.Call(
                name="/", arguments=(ast.Call(name="*", arguments=(part, whole)), total)
            ) if _HUNDRED in (part, whole):
                share = whole if part == _HUNDRED else part
                texts = (self.write_expression(share, root), self.write_expression(total, root))
                return self.say("percent", *texts)
            case ast.Call(name=name, arguments=(left, right)) if name in _SYMBOLS:
                sides = (self.write_expression(left, root), self.write_expression(right, root))
                if name in ("&&", "||"):
                    return self.join_list(sides, "and" if name == "&&" else "or")
                if name in ("+", "-", "*", "/"):
                    return self.say(name, *sides)
                return f"{sides[0]} {self.say(name, sides[1])}"
            case _:
                return self.writer.write(value)

    def find_order_value(self, value: ast.Expression) -> ast.Expression:
        """Return the expression that an order sorts by."""
        if isinstance(value, Variable) and value.value in self.values:
            return self.values[value.value]
        return unwrap(value)

    def is_count(self, value: ast.Expression) -> bool:
        """Return whether an expression is a count."""
        value = self.find_order_value(value)
        return isinstance(value, ast.Call) and value.name.startswith("COUNT")

    def name_order(self, value: ast.Expression, root: ast.Term | None) -> str:
        """Return the noun of the sort key without its owner."""
        value = self.find_order_value(value)
        if isinstance(value, Variable):
            return strip_article(self.name_value(self.scope.resolve(value)), self.phrases)
        if self.is_count(value) and isinstance(value, ast.Call):
            over = self.resolve(value.arguments[0]) if value.arguments else root
            noun = self.name_value(over) if isinstance(over, Variable) else self.say("thing")
            return self.phrases.pluralize(noun)
        return without_article(self.write_expression(value, root))

    @abstractmethod
    def write_select(self, select: ast.Query, column: str) -> str:
        """A column of a sub-select as a noun phrase."""

    def write_listing(self, root: ast.Term | None) -> str:
        """The columns asked for, and the clauses on what they are columns of."""
        if root is None:
            return self.say("values")
        asked = self.list_asked()
        if self.is_everything():
            self.writer.done.add(self.scope.patterns[0])
            return self.say("all triples")
        if isinstance(root, Variable):
            self.writer.known[root.value] = self.writer.find_noun(root)
        columns = [(self.name_own_column(one, root), one) for one in asked if one != root]
        own, far = [noun for noun, _ in columns if noun], [one for noun, one in columns if not noun]
        if len(own) == 1 and not far and not isinstance(root, Variable):
            if asked[0].value in self.scope.binds:
                return self.writer.write(asked[0])
            return self.write_lookup(asked[0], root, own[0])
        has_clauses = self.phrases.is_english and any(map(_is_possessed, own))
        if own and not far and root not in asked and self.is_nameless(root) and not has_clauses:
            nouns = own if self.is_single else [self.phrases.pluralize(noun) for noun in own]
            self.names_many = not self.is_single
            return self.write_node(self.name_the(nouns), root)
        text = self.write_subject(root)
        if root in asked or not own:
            text = self.say("with columns", text, self.name_their(own)) if own else text
        else:
            text = self.write_far_lookup(asked, root, text) or self.add_subject(own, text, root)
        extra = self.join_list([self.name_far_column(variable) for variable in far])
        return self.say("with columns", text, extra) if extra else text

    def is_everything(self) -> bool:
        """Whether any triple at all is asked for."""
        match self.scope.patterns:
            case [ast.Pattern(Variable() as one, Variable() as two, Variable() as three)]:
                return len({one, two, three} & set(self.list_asked())) == 3
            case _:
                return False

    def write_subject(self, root: ast.Term) -> str:
        """Return the subject of the sentence with its clauses; a constant by its name."""
        if not isinstance(root, Variable):
            clauses = self.writer.list_clauses(root, many=True)
            return " ".join([self.names.name_term(root), *clauses])
        if not self.cuts_root():
            if self.is_singular and self.phrases.is_english:
                return self.say("the", self.describe_single(root))
            return self.say("the", self.writer.describe(root, many=True))
        lead, tail = self.write_superlative(root)
        self.cuts_done = True
        if self.query.limit == 1:
            owner = self.find_order_owner(self.query.order[0][0])
            far = root if owner is None else owner.subject
            classes = [p.subject for p in self.scope.patterns if p.predicate == NamedNode(RDF_TYPE)]
            is_joined = any({p.subject, p.object} == {root, far} for p in self.scope.patterns)
            if isinstance(far, Variable) and far in classes and is_joined:  # not the root's size
                self.writer.extremes[far.value], lead, tail = (lead, tail), "", ""
            return self.say("the", self.describe_single(root, lead=lead, tail=tail))
        phrase = self.writer.describe(root, many=True, lead=lead, tail=tail)
        return self.say("the", self.say("some", self.query.limit, phrase))

    def describe_single(self, root: Variable, *, lead: str = "", tail: str = "") -> str:
        """Return a variable with its clauses in the singular, without its article."""
        text = self.writer.describe(root, many=False, lead=lead, tail=tail)
        text = strip_article(text, self.phrases)
        if self.phrases.is_english and text.startswith("someone"):
            return "person" + text.removeprefix("someone")
        return self.writer.replace_something(text)

    def add_subject(self, nouns: Sequence[str], subject: str, root: ast.Term | None = None) -> str:
        """Return values and what they are of: `the name of the singers and, where known, …`."""
        if self.phrases.is_english and any(map(_is_possessed, nouns)):
            return f"for {subject}: {self.name_their(nouns)}"
        required, optional = self.split_optional(nouns)
        nouns = self.pluralize_nouns(required or optional, subject, root)
        text = self.add_root(self.name_the(nouns), subject, root)
        if required and optional:
            return self.say("where known", text, self.name_their(optional, plain=True))
        return self.say("only where known", text) if optional else text

    def pluralize_nouns(
        self, nouns: Sequence[str], subject: str, root: ast.Term | None
    ) -> Sequence[str]:
        """Return nouns of several things in the plural, in English."""
        if not self.phrases.is_english or not isinstance(root, Variable) or self.is_single:
            return nouns
        many = self.phrases.pluralize(self.writer.find_noun(root))
        if not re.match(rf"the (?:\d+ )?{re.escape(many)}\b", subject):
            return nouns
        self.names_many = True
        return [self.phrases.pluralize(noun) for noun in nouns]

    def add_root(self, nouns: str, subject: str, root: ast.Term | None) -> str:
        """Return a noun with the root as its owner: `Masse von Mars`, `Masse der Planeten`."""
        one = not isinstance(root, Variable) or (self.cuts_root() and self.query.limit == 1)
        key = "of" if one or not self.phrases.has_phrase("of the") else "of the"
        return self.say(key, nouns, subject)

    def write_lookup(self, variable: Variable, root: ast.Term, noun: str) -> str:
        """Return `the mass of Mars`, `what Mars orbits`, `the label of Mars in English`."""
        owner = self.writer.find_owner(variable)
        if owner is None:
            return self.add_subject([noun], self.write_subject(root))
        entry, condition = self.names.find_entry(owner.predicate), ""
        self.writer.done.add(owner)
        if text := self.writer.describe_conditions(variable):
            clause = self.writer.write_condition(text) if self.phrases.is_english else text
            condition = f" {clause}".replace(" that is in ", " in ")
        subject = self.write_subject(root)
        flag = self.names.describe_flag(entry, f"is {self.say('yes')}")
        if flag and entry.values == "boolean":
            return f"whether {subject} {flag}"
        if not self.phrases.is_english:
            is_place = entry.kind == "place"
            text = self.say("place of", subject) if is_place else self.add_subject([noun], subject)
            return text + condition
        what = self.write_what(entry, subject)
        return (what or self.add_subject([self.writer.name_object(owner)], subject)) + condition

    def write_far_lookup(self, asked: Sequence[Variable], root: ast.Term, subject: str) -> str:
        """Return `the cities that the authors of Emma live in`; empty for nouns."""
        owner = self.writer.find_owner(asked[0])
        if len(asked) > 1 or owner is None or not self.phrases.is_english:
            return ""
        noun = self.writer.find_noun(root) if isinstance(root, Variable) else ""
        entry = self.names.find_entry(owner.predicate)
        if owner.subject != root:
            return ""
        if subject.startswith(f"the {noun} of "):
            return self.write_what(entry, subject)
        if entry.is_noun or entry.kind in ("any", "dated") or not entry.value_noun:
            return ""
        nouns = entry.value_noun if self.is_single else self.phrases.pluralize(entry.value_noun)
        if entry.kind == "verb" or entry.past:
            head = Head(is_person=entry.leads_to_person)
            return f"the {nouns} {self.forms.relate_back(entry, subject, head)}"
        return f"the {nouns} {self.forms.relate_many(entry, subject)}"

    def write_what(self, entry: LexicalEntry, subject: str) -> str:
        """Return `what Mars orbits`, `when Emma was published`; empty for nouns."""
        match entry.kind:
            case "noun":
                return ""
            case "count":
                is_named = "number" in entry.text
                return "" if is_named else f"the number of {entry.plural} of {subject}"
            case "dated":
                return f"when {self.forms.state(entry, subject, '').rstrip()}"
            case "place":
                return self.say("place of", subject)
            case "any" | "participle" if entry.kind == "any" or is_gerund(entry.text):
                return ""
        what = f"the {entry.value_noun} that" if entry.value_noun else "what"
        if not entry.value_noun and entry.leads_to_person:
            what = "whom"
        return f"{what} {self.forms.state(entry, subject, '').rstrip()}"

    def write_statement(self, values: str, *, is_many: bool) -> str:
        """Return a statement of the values of one thing: `Saturn orbits the Sun`.

        Empty if the query is no lookup of one value, or for other languages than English.
        """
        scope, query = self.scope, self.query
        rest = (scope.filters, scope.optional, scope.without, scope.present, scope.unions)
        if not self.phrases.is_english or any(rest) or scope.values or scope.selects or query.limit:
            return ""
        match scope.patterns, query.columns:
            case [ast.Pattern(subject, NamedNode() as predicate, value)], ((column, None),):
                is_lookup = value == column and not isinstance(subject, Variable)
                entry = self.names.find_entry(predicate)
                if not is_lookup or entry.steps or predicate.value == RDF_TYPE:
                    return ""
                name = self.names.name_term(subject)
                if flag := self.names.describe_flag(entry, f"is {values}"):
                    return f"{name} {flag}"
                if is_many and entry.kind == "noun":
                    return f"the {entry.plural or entry.text} of {name} are {values}"
                if is_many and entry.object_noun:
                    entry = replace(entry, object_noun=self.phrases.pluralize(entry.object_noun))
                return self.forms.state(entry, name, values)
        return ""

    def is_nameless(self, root: ast.Term | None) -> bool:
        """Whether the root has no noun of its own, as the nodes of n-ary relations have none."""
        return (
            isinstance(root, Variable)
            and (self.writer.find_noun(root) == self.say("thing") or self.writer.is_nameless(root))
            and not self.cuts_root()
        )

    def write_node(self, nouns: str, root: ast.Term | None) -> str:
        """`the crew members if the mission is Apollo 11`."""
        assert isinstance(root, Variable)
        self.writer.known[root.value] = self.say("thing")
        return self.writer.write_of_node(nouns, root)

    def name_their(self, nouns: Sequence[str], *, plain: bool = False) -> str:
        """Return columns of the subject: `their mass and the city they live in`."""
        required, optional = ([*nouns], []) if plain else self.split_optional(nouns)
        text = self.possess(required) if required else ""
        if not optional:
            return text
        listed = self.possess(optional)
        return self.say(*(("where known", text) if text else ("only where known",)), listed)

    def possess(self, nouns: Sequence[str]) -> str:
        """Return nouns with "their", except those with a clause or a possessive of their own."""
        plain = [noun for noun in nouns if not _is_possessed(noun)]
        listed = [self.say("their", self.join_list(plain))] if plain else []
        return self.join_list([*listed, *(f"the {n}" for n in nouns if _is_possessed(n))])

    def split_optional(self, nouns: Sequence[str]) -> tuple[list[str], list[str]]:
        """Return the nouns of columns that every row has, and of those that some rows have."""
        optional = {
            self.name_column(pattern) for scope in self.scope.optional for pattern in scope.patterns
        }
        unique = list(dict.fromkeys(nouns))
        return [n for n in unique if n not in optional], [n for n in unique if n in optional]

    def name_column(self, pattern: ast.Pattern) -> str:
        """Return the column of a pattern's object: `mass`, `city they live in`."""
        if self.phrases.is_english:
            return self.forms.name_column(self.names.find_entry(pattern.predicate))
        return self.writer.name_object(pattern)

    def name_own_column(self, variable: Variable, root: ast.Term) -> str:
        """Return a column of the root: `name`, `name of their country`; empty if it is far."""
        if variable.value in self.scope.binds:
            return without_article(self.writer.write(variable))
        owner = self.writer.find_owner(variable)
        for pattern in self.scope.patterns:
            if pattern.predicate == variable and pattern.subject == root:
                self.writer.done.add(pattern)
                return self.writer.find_noun(variable)
        if owner is None:
            return ""
        is_type = owner.predicate == NamedNode(RDF_TYPE)
        noun = self.writer.find_noun(variable) if is_type else self.name_column(owner)
        if owner.subject == root:
            return noun if self.is_plain(variable) else ""
        middle = owner.subject
        if not isinstance(middle, Variable):
            return self.say("of", noun, self.names.name_term(middle))
        link = self.writer.find_owner(middle)
        if link is None or link.subject != root or not self.is_plain(middle):
            return ""
        noun = self.writer.name_object(owner)
        far = self.name_column(link)
        is_beside = root in self.list_asked() or len(self.list_asked()) > 1
        if self.phrases.is_english and isinstance(root, Variable) and is_beside:
            return f"{noun} of {'the' if _is_possessed(far) else 'their'} {far}"
        return self.say("of", noun, self.say("the", far))

    def is_plain(self, variable: Variable) -> bool:
        """Return whether a value has only a class and columns, and mark these as done.

        The column then covers the class and the link to it.
        """
        touching = [p for p in self.scope.patterns if variable in (p.subject, p.object)]
        objects = [pattern for pattern in touching if pattern.subject == variable]
        types = [pattern for pattern in objects if pattern.predicate == NamedNode(RDF_TYPE)]
        silent = [pattern for pattern in objects if self.is_silent(pattern.object)]
        if len(touching) > 1 + len(types) + len(silent) or self.writer.is_filtered(variable):
            return not objects
        if objects:
            self.writer.done.update(touching)
        return True

    def is_silent(self, term: ast.Term) -> bool:
        """Whether the sentence names a value anyway, and nothing restricts it."""
        return (
            isinstance(term, Variable)
            and term.value in self.writer.silent
            and not self.writer.is_filtered(term)
        )

    def name_far_column(self, variable: Variable) -> str:
        """A column of something that the clauses have spoken of."""
        owner = self.writer.find_owner(variable)
        if owner is None or self.is_subject(variable):
            return self.say("the", self.writer.find_noun(variable))
        if not isinstance(owner.subject, Variable):
            return self.writer.write_value_of(owner, variable)
        entry = self.names.find_entry(owner.predicate)
        subject = self.writer.find_noun(owner.subject)
        if self.phrases.is_english and (what := self.write_what(entry, f"that {subject}")):
            return what
        return self.say("own", self.say("the", self.writer.name_object(owner)), subject)


class Grouping(Listing):
    """A query whose rows are groups, or computed."""

    def write_computed(self, root: ast.Term | None) -> str:
        """Aggregates over everything, or expressions beside plain columns."""
        if not self.list_asked() or self.query.is_aggregate:
            return self.write_aggregates(root)
        texts = [self.write_expression(value, root) for value in self.list_computed()]
        return self.say("with columns", self.write_listing(root), self.join_list(texts))

    def write_groups(self, root: ast.Term | None) -> str:
        """`for each country: the number of singers`."""
        if isinstance(root, Variable):
            self.writer.known[root.value] = self.writer.find_noun(root)
        keys = self.name_keys(root)
        shown = [self.writer.find_noun(v) for v in self.list_asked() if v not in self.keys]
        texts = [self.name_the(shown)] if shown else []
        if self.list_computed():
            texts.append(self.write_aggregates(root))
        if texts:
            return self.say("each", self.join_list(keys), self.join_list(texts))
        if root in self.keys:
            return self.write_root(root)
        if owner := self.find_unshown_key(root):
            return self.write_unshown(owner, root)
        link, done = self.find_key_link(root), set(self.writer.done)
        self.writer.done |= set(filter(None, [link]))
        if counted := self.write_counted(root):
            single = len(self.keys) == 1 and len(keys[0].split()) < 3
            nouns = [self.phrases.pluralize(keys[0])] if single and self.query.limit != 1 else keys
            counted = counted if link is None else self.relate_count(counted, link)
            if self.query.limit and self.query.limit > 1:
                nouns[0] = self.say("some", self.query.limit, nouns[0])
            return " ".join([self.name_the(nouns), counted])
        self.writer.done = done
        return self.add_subject(keys, self.write_root(root))

    def find_key_link(self, root: ast.Term | None) -> ast.Pattern | None:
        """Return the link of the root to the only key; English only."""
        owner = self.writer.find_owner(self.keys[0]) if isinstance(self.keys[0], Variable) else None
        is_link = self.phrases.is_english and len(self.keys) == 1 and owner is not None
        return owner if is_link and owner is not None and owner.subject == root else None

    def relate_count(self, counted: str, link: ast.Pattern) -> str:
        """Return `that the most players play for` in the place of `with the most players`.

        The noun of a property keeps "with", or "of" between people; others are in full: `the writer
        who is the author of the most books`.
        """
        entry, quantity = self.names.find_entry(link.predicate), counted.removeprefix("with ")
        if entry.is_noun and self.writer.list_classes(link.object) not in ([], [entry.text]):
            head = Head(self.query.limit != 1, entry.leads_to_person)
            return self.forms.relate_back(entry, quantity, head)
        if entry.is_noun or quantity == counted or entry.kind == "any":
            is_kin = entry.leads_to_person and entry.is_of_person
            return f"of {quantity}" if is_kin and entry.kind == "noun" else counted
        return self.forms.relate_many(entry, quantity)

    def find_unshown_key(self, root: ast.Term | None) -> Variable | None:
        """The one thing whose values are shown in its place: `the name of the buildings with …`."""
        keys = [key for key in self.keys if isinstance(key, Variable)]
        things = [key for key in keys if self.is_subject(key)]
        if len(things) != 1 or things[0] == root or things[0] in self.list_asked():
            return None
        owners = [self.writer.find_owner(key) for key in keys if key != things[0]]
        values = [one for one in owners if one is not None and one.subject == things[0]]
        return things[0] if len(values) == len(self.keys) - 1 > 0 else None

    def write_unshown(self, thing: Variable, root: ast.Term | None) -> str:
        """The values of a thing by which the groups are made, and what decides on it."""
        keys = [key for key in self.keys if isinstance(key, Variable) and key != thing]
        many = self.query.limit != 1
        phrase = strip_article(self.write_key(thing, root, many=many), self.phrases)
        if many and self.query.limit:
            phrase = self.say("some", self.query.limit, phrase)
        text = " ".join([self.say("the", phrase), self.write_counted(root)]).strip()
        return self.add_subject([self.writer.find_noun(key) for key in keys], text)

    def write_counted(self, root: ast.Term | None) -> str:
        """`with the most missions`, `with more than 10 missions`; empty if no count decides."""
        query = self.query
        if query.order and query.limit and not query.offset and self.is_count(query.order[0][0]):
            self.cuts_done = True
            about = self.name_counted(query.order[0][0], root)
            return self.say("by most" if query.order[0][1] else "by fewest", about)
        match query.having:
            case (ast.Call(name=name, arguments=(left, Literal() as number)),) if name in _COUNTED:
                if self.is_count(left):
                    self.having_done = True
                    about = self.name_counted(left, root, many=number.value != "1")
                    key = f"count {name}" if self.phrases.has_phrase(f"count {name}") else name
                    bound = self.say(key, self.names.name_term(number)).removeprefix("is ")
                    return self.say("with count", f"{bound} {about}")
        return ""

    def name_counted(
        self, value: ast.Expression, root: ast.Term | None, *, many: bool = True
    ) -> str:
        """Return the counted noun with its clauses, in the plural if `many`."""
        if self.counts(self.find_order_value(value), root):
            if not many and isinstance(root, Variable) and not self.root_said:
                self.root_said = True
                text = strip_article(self.writer.describe(root, many=False), self.phrases)
                return self.writer.replace_something(text)
            return strip_article(self.write_root(root), self.phrases)
        noun = self.name_order(value, root)
        if self.is_nameless(root):
            return self.write_node(noun, root)
        about = strip_article(self.write_root(root), self.phrases)
        plain = isinstance(root, Variable) and about == self.phrases.pluralize(
            self.writer.find_noun(root)
        )
        return noun if plain else self.say("of", noun, self.say("the", about))

    def write_root(self, root: ast.Term | None) -> str:
        """The root with its clauses the first time, then by its name."""
        if root is None:
            return self.say("values")
        if self.root_said:
            if not isinstance(root, Variable):
                return self.names.name_term(root)
            return self.say("the", self.phrases.pluralize(self.writer.find_noun(root)))
        self.root_said = True
        return self.write_subject(root)

    def write_aggregates(self, root: ast.Term | None) -> str:
        """Return all computed columns; name their common argument once."""
        texts, nouns = [], []
        for value in self.list_computed():
            if self.counts(value, root):
                about = strip_article(self.write_root(root), self.phrases)
                texts.append(self.say("the", self.say("number", about)))
            elif text := self.count_linked(value, root):
                texts.append(text)
            elif (noun := self.name_aggregate(value)) is not None:
                nouns.append(noun)
            else:
                texts.append(self.write_of_root(value, root))
        listed = self.join_list(nouns)
        if nouns and (root is None or root in self.keys):
            texts.insert(0, listed)
        elif nouns and self.is_nameless(root) and not self.root_said:
            texts.insert(0, self.write_node(listed, root))
        elif nouns:
            texts.insert(0, self.add_root(listed, self.write_root(root), root))
        text = self.join_list(texts)
        is_wrapped = self.window is not None and self.phrases.has_phrase(self.window.kind)
        return self.say(self.window.kind, text) if self.window and is_wrapped else text

    def count_linked(self, value: ast.Expression, root: ast.Term | None) -> str:
        """Return `the number of different cities that customers live in`; empty for nouns."""
        match value:
            case ast.Call(
                name="COUNT" | "COUNT DISTINCT" as name, arguments=(Variable() as variable,)
            ):
                owner = self.writer.find_owner(self.scope.resolve(variable))
                if owner is None or owner.subject != root or not self.phrases.is_english:
                    return ""
                entry = self.names.find_entry(owner.predicate)
                if entry.is_noun or entry.kind in ("any", "dated") or root in self.keys:
                    return ""
                self.writer.done.add(owner)
                key = "number distinct" if name.endswith("DISTINCT") else "number"
                noun = self.phrases.pluralize(entry.value_noun or self.say("thing"))
                about = strip_article(self.write_root(root), self.phrases)
                return self.say(
                    "the", self.say(key, f"{noun} {self.forms.relate_many(entry, about)}")
                )
        return ""

    def write_of_root(self, value: ast.Expression, root: ast.Term | None) -> str:
        """Return a computation on aggregates, with their argument unless it is already named."""
        text = self.write_expression(value, root)
        told = root is None or root in self.keys or self.root_said
        calls = [one for one in ast.walk(value) if isinstance(one, ast.Call) and one.is_aggregate]
        told = told or not calls or any(self.counts(one, root) for one in calls)
        return text if told else self.add_root(text, self.write_root(root), root)

    def name_keys(self, root: ast.Term | None) -> list[str]:
        """Return the keys of the groups; join values of one thing."""
        nouns: list[str] = []
        far: dict[Variable, list[str]] = {}
        given = {name for select in self.scope.selects for name, _ in select.columns}
        for key in self.keys:
            if key in given:
                continue
            owner = self.writer.find_owner(key) if isinstance(key, Variable) else None
            if not isinstance(key, Variable) or key.value in self.scope.binds:
                nouns.append(strip_article(self.writer.write(key), self.phrases))
            elif key == root and self.list_computed():
                self.root_said = True
                nouns.append(self.strip_key(self.writer.describe(key, many=False)))
            elif self.is_subject(key) and key != root:
                nouns.append(self.strip_key(self.write_key(key, root)))
            elif owner is None or owner.subject == root or not isinstance(owner.subject, Variable):
                noun = self.writer.find_noun(key)
                nouns.append(noun)
                is_noun = owner is None or self.names.find_entry(owner.predicate).is_noun
                if self.phrases.is_english and not is_noun and self.list_computed():
                    self.writer.known[key.value] = noun
            else:
                far.setdefault(owner.subject, []).append(self.writer.find_noun(key))
        nouns += [self.name_key_values(thing, values, root) for thing, values in far.items()]
        return list(dict.fromkeys(nouns))

    def name_key_values(self, thing: Variable, values: Sequence[str], root: ast.Term | None) -> str:
        """`first name and age of the student`."""
        whose = self.writer.find_noun(thing)
        if self.is_only_key(thing, root):
            self.writer.known[thing.value] = whose
        listed = self.join_list(list(dict.fromkeys(values)))
        return (
            listed
            if whose in (listed, self.say("thing"))
            else self.say("of", listed, self.name_the([whose]))
        )

    def strip_key(self, phrase: str) -> str:
        """A phrase as it stands after `for each`."""
        return strip_article(self.writer.replace_something(phrase), self.phrases)

    def write_key(self, key: Variable, root: ast.Term | None, *, many: bool = False) -> str:
        """A key that is a thing of its own; how the root hangs on it is left for the root."""
        links = set(self.writer.list_open(root))
        self.writer.done |= links
        phrase = self.writer.describe(key, many=many)
        self.writer.done -= links
        return phrase

    def is_only_key(self, variable: Variable, root: ast.Term | None) -> bool:
        """Return whether a thing has only a class, columns and the link of the root."""
        return all(
            pattern.predicate == NamedNode(RDF_TYPE)
            or root in (pattern.subject, pattern.object)
            or self.is_silent(pattern.object)
            for pattern in self.scope.patterns
            if variable in (pattern.subject, pattern.object)
        )


def _count_values(query: ast.Query, names: Names) -> ast.Query:
    """Return a query that counts rows as one that counts what each row has another of."""
    # The rows of things that are joined with others are as many as those, not as the things.
    rows = ast.Call("COUNT")
    if rows not in ast.walk(tuple(value for _, value in query.columns)):
        return query
    match query.where.elements:
        case (ast.Query(columns=((Variable() as name, None),), distinct=True) as inner,):
            query, counted = replace(query, where=inner.where), ast.Call("COUNT DISTINCT", (name,))
        case _:
            joined = _list_joined(make_scope(query.where), names)
            counted = ast.Call(
                "COUNT", tuple(one for one in joined if (one, None) not in query.group_by)
            )
    return cast("ast.Query", ast.transform(query, lambda node: counted if node == rows else node))


def _list_joined(scope: Scope, names: Names) -> list[Variable]:
    """Return the things that others have several of, if nothing but a class restricts them."""
    joined = dict[Variable, None]()
    for pattern in scope.patterns:
        value, predicate = pattern.object, pattern.predicate
        if isinstance(value, Variable) and isinstance(predicate, NamedNode):
            facts = names.facts.properties.get(predicate.value, NO_FACTS)
            if facts.values == "thing" and facts.has_several:
                joined[value] = None
    conditions = (*scope.filters, *(values.variables for values in scope.values))
    restricted: set[object] = {*ast.find_variables(conditions)}
    restricted |= {p.subject for p in scope.patterns if p.predicate != NamedNode(RDF_TYPE)}
    return [value for value in joined if value not in restricted]


def _is_possessed(noun: str) -> bool:
    """Return whether a column names its owner itself: `city they live in`."""
    return bool(re.search(r"\b(?:they|their)\b", noun))
