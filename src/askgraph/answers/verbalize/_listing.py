"""Nouns for the columns, sort keys and counts of a query, and a query that lists."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.answers.verbalize._noun_phrases import Teller
from askgraph.answers.verbalize._nouns import unwrapped
from askgraph.answers.verbalize.phrases import Names, Phrases, Scope, is_date, scope_of
from askgraph.sparql import AGGREGATE_NAMES, Call, Expression, Pattern, Query, Term, find_variables
from askgraph.sparql.vocabulary import RDF_TYPE

_AGGREGATE_PHRASES = {"SUM": "sum", "AVG": "avg", "MIN": "min", "MAX": "max", "SAMPLE": "sample"}
_HUNDRED = Literal(100)
_SYMBOLS = frozenset(["||", "&&", "=", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/"])


class Listing(ABC):
    """A query whose rows are things and their values; what its columns and keys are called."""

    def __init__(self, query: Query, names: Names) -> None:
        self.query = query
        self.names = names
        self.phrases = names.phrases
        self.say, self.listed = self.phrases.say, self.phrases.listed
        self.scope: Scope = scope_of(query.where)
        self.values = {name.value: value for name, value in query.columns if value is not None}
        self.keys = [self.resolved(name or value) for value, name in query.group_by]
        for value, name in query.group_by:
            if name is not None:
                self.scope.binds[name.value] = value
        self.teller = Teller(self.scope, names, silent=self.spoken_of(), of_select=self.of_select)
        self.is_of_one = False  # whether there is one row, which is told in the singular
        self.root_said = False
        self.cuts_done = False
        self.having_done = False

    def resolved(self, expression: Expression) -> Expression:
        return self.scope.resolved(expression) if isinstance(expression, Variable) else expression

    def asked(self) -> list[Variable]:
        """The plain columns: variables of the patterns, by their first names, each once."""
        if self.query.columns:
            names = [name for name, value in self.query.columns if value is None]
            names += [v for v in self.values.values() if isinstance(v, Variable)]
        else:
            names = [name for name in find_variables(self.query.where) if name.value[:2] != "__"]
        return list(dict.fromkeys(self.scope.resolved(name) for name in names))

    def computed(self) -> list[Expression]:
        """The columns that are computed."""
        keys = [value for value, _ in self.query.group_by]
        return [
            value
            for value in self.values.values()
            if not isinstance(value, Variable) and value not in keys
        ]

    def spoken_of(self) -> set[str]:
        """Variables that need no clause of their own, as the sentence names them anyway."""
        query, scope = self.query, self.scope
        parts = (*self.values.values(), *query.having, *self.keys, *query.order)
        parts = (*parts, *scope.binds.values(), *scope.filters)
        spoken = {*self.asked(), *map(scope.resolved, find_variables(parts))}
        for inner in (*scope.without, *scope.present):
            spoken |= {*find_variables(tuple(inner.filters))}
        return {name.value for name in spoken}

    def root(self) -> Term | None:
        """What the sentence is about."""
        aggregated = [v for value in self.computed() for v in find_variables(value)]
        having = [v for value in self.query.having for v in find_variables(value)]
        for variable in [*aggregated, *([] if self.query.is_aggregate else self.asked()), *having]:
            variable = self.scope.resolved(variable)
            if self.is_subject(variable):
                return variable
            owner = self.teller.owner(variable)
            if owner is not None and variable.value not in self.scope.binds:
                return owner.subject
        return self.source() or next(iter(self.asked()), None)

    def is_subject(self, variable: Variable) -> bool:
        patterns = [p for scope in self.all_scopes() for p in scope.patterns]
        return any(pattern.subject == variable for pattern in patterns)

    def all_scopes(self) -> list[Scope]:
        return [self.scope, *(inner for scopes in self.scope.unions for inner in scopes)]

    def source(self) -> Term | None:
        """The first subject that is nobody's object: counting all rows counts it."""
        subjects = [p.subject for scope in self.all_scopes() for p in scope.patterns]
        objects = {p.object for scope in self.all_scopes() for p in scope.patterns}
        variables = [subject for subject in subjects if isinstance(subject, Variable)]
        free = [subject for subject in variables if subject not in objects]
        return next(iter([*free, *variables, *subjects]), None)

    def is_wrapper(self) -> bool:
        """Whether there is nothing but sub-selects around which others are taken away or joined."""
        return bool(self.scope.selects) and not self.scope.patterns and not self.scope.unions

    def the(self, nouns: Sequence[str]) -> str:
        return self.say("the", self.listed(list(dict.fromkeys(nouns))))

    def cuts_root(self) -> bool:
        """Whether the first rows of an order are taken, and the order is one of the root's."""
        query = self.query
        return (
            bool(query.order and query.limit) and not query.is_aggregate and not self.is_wrapper()
        )

    def superlative(self, root: Term | None) -> str:
        """`with the highest mass`, `with the second-highest mass`."""
        value, down = self.query.order[0]
        noun = self.order_noun(value, root)
        key = f"by {self.extreme(value, noun, down=down)}"
        return self.say(key, noun, self.places() or "")

    def places(self) -> str | None:
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

    def extreme(self, value: Expression, noun: str, *, down: bool) -> str:
        if self.is_count(value):
            return "most" if down else "fewest"
        computed = isinstance(value, Variable) and value.value in self.scope.binds
        if is_date(noun) and not computed:
            return "latest" if down else "earliest"
        return "highest" if down else "lowest"

    def counts(self, value: Expression, root: Term | None) -> bool:
        """Whether an expression is the number of rows, or of what the sentence is about."""
        if not isinstance(value, Call) or not value.name.startswith("COUNT"):
            return False
        return not value.arguments or self.resolved(value.arguments[0]) == root

    def aggregate_noun(self, value: Expression) -> str | None:
        """`the average age`; None if it is no aggregate of one thing."""
        if not isinstance(value, Call) or value.name.split()[0] not in AGGREGATE_NAMES:
            return None
        name, _, distinct = value.name.partition(" ")
        if not value.arguments:
            return self.say("number", self.say("things"))
        over = self.resolved(unwrapped(value.arguments[0]))
        noun = self.value_noun(over)
        if name == "COUNT":
            key = "number distinct" if distinct else "number"
            return self.say("the", self.say(key, self.phrases.plural(noun)))
        if name == "GROUP_CONCAT":
            return self.say("group_concat", self.phrases.plural(noun))
        dated = name in ("MIN", "MAX") and is_date(noun)
        key = {"MIN": "first", "MAX": "last"}[name] if dated else _AGGREGATE_PHRASES[name]
        return self.say(key, noun)

    def value_noun(self, value: Expression) -> str:
        """What a value is called, without whose it is."""
        if not isinstance(value, Variable):
            return self.teller.words(value)
        if value.value in self.scope.binds:
            return self.teller.words(value)
        for select in self.scope.selects:
            if value.value in {name.value for name in find_variables(select)}:
                return without_article(self.of_select(select, value.value))
        for inner in self.scope.optional:
            if any(value == pattern.object for pattern in inner.patterns):
                return self.teller.inside(inner).noun(value)
        return self.teller.noun(value)

    def expression(self, value: Expression, root: Term | None = None) -> str:
        """An expression in which aggregates may stand."""
        match value:
            case Variable() if value.value in self.values:
                return self.expression(self.values[value.value], root)
            case Call(name=name) if name.split()[0] in AGGREGATE_NAMES:
                if self.counts(value, root) or not value.arguments:
                    source = root or self.root()
                    noun = self.teller.noun(source) if isinstance(source, Variable) else ""
                    counted = self.phrases.plural(noun) if noun else self.say("things")
                    return self.say("the", self.say("number", counted))
                return self.aggregate_noun(value) or ""
            case Call(name="/", arguments=(Call(name="*", arguments=(part, whole)), total)) if (
                _HUNDRED in (part, whole)
            ):
                share = whole if part == _HUNDRED else part
                texts = (self.expression(share, root), self.expression(total, root))
                return self.say("percent", *texts)
            case Call(name=name, arguments=(left, right)) if name in _SYMBOLS:
                sides = (self.expression(left, root), self.expression(right, root))
                if name in ("&&", "||"):
                    return self.listed(sides, "and" if name == "&&" else "or")
                if name in ("+", "-", "*", "/"):
                    return self.say(name, *sides)
                return f"{sides[0]} {self.say(name, sides[1])}"
            case _:
                return self.teller.words(value)

    def order_value(self, value: Expression) -> Expression:
        if isinstance(value, Variable) and value.value in self.values:
            return self.values[value.value]
        return unwrapped(value)

    def is_count(self, value: Expression) -> bool:
        value = self.order_value(value)
        return isinstance(value, Call) and value.name.startswith("COUNT")

    def order_noun(self, value: Expression, root: Term | None) -> str:
        """What is sorted by, without whose it is."""
        value = self.order_value(value)
        if isinstance(value, Variable):
            return bare(self.value_noun(self.scope.resolved(value)), self.phrases)
        if self.is_count(value) and isinstance(value, Call):
            over = self.resolved(value.arguments[0]) if value.arguments else root
            noun = self.value_noun(over) if isinstance(over, Variable) else self.say("thing")
            return self.phrases.plural(noun)
        return without_article(self.expression(value, root))

    @abstractmethod
    def of_select(self, select: Query, column: str) -> str:
        """A column of a sub-select as a noun phrase."""

    def listing(self, root: Term | None) -> str:
        """The columns asked for, and the clauses on what they are columns of."""
        if root is None:
            return self.say("values")
        asked = self.asked()
        if self.is_everything():
            self.teller.told.add(self.scope.patterns[0])
            return self.say("all triples")
        if isinstance(root, Variable):
            self.teller.known[root.value] = self.teller.noun(root)
        own, far = self.columns([variable for variable in asked if variable != root], root)
        if len(own) == 1 and not far and not isinstance(root, Variable):
            if asked[0].value in self.scope.binds:
                return self.teller.words(asked[0])
            return self.of_constant(asked[0], root, own[0])
        if own and not far and root not in asked and self.is_nameless(root):
            nouns = own if self.is_of_one else [self.phrases.plural(noun) for noun in own]
            return self.where_they(self.the(nouns), root)
        text = self.subject_text(root)
        if root in asked or not own:
            text = self.say("with columns", text, self.their(own)) if own else text
        else:
            text = self.of_subject(own, text, root)
        extra = self.listed([self.far_column(variable) for variable in far])
        return self.say("with columns", text, extra) if extra else text

    def is_everything(self) -> bool:
        """Whether any triple at all is asked for."""
        match self.scope.patterns:
            case [Pattern(Variable() as one, Variable() as two, Variable() as three)]:
                return len({one, two, three} & set(self.asked())) == 3
            case _:
                return False

    def subject_text(self, root: Term) -> str:
        """What the sentence is about, in the plural, with its clauses; a constant by its name."""
        if not isinstance(root, Variable):
            return " ".join([self.names.term(root), *self.teller.clauses(root, many=True)])
        if not self.cuts_root():
            return self.say("the", self.teller.phrase(root, many=True))
        self.teller.superlative = self.superlative(root)
        self.cuts_done = True
        if self.query.limit == 1:
            text = bare(self.teller.phrase(root, many=False), self.phrases)
            something = self.say("something")
            if text.startswith(f"{something} "):
                text = self.say("thing") + text[len(something) :]
        else:
            phrase = self.teller.phrase(root, many=True)
            text = self.say("some", self.query.limit, phrase)
        return self.say("the", text)

    def of_subject(self, nouns: Sequence[str], subject: str, root: Term | None = None) -> str:
        known, optional = self.split_optional(nouns)
        text = self.of_root_text(self.the(known or optional), subject, root)
        if known and optional:
            return self.say("where known", text, self.their(optional, plain=True))
        return self.say("only where known", text) if optional else text

    def of_root_text(self, nouns: str, subject: str, root: Term | None) -> str:
        """What is of the root: `Masse von Mars`, `Masse der Planeten`."""
        one = not isinstance(root, Variable) or (self.cuts_root() and self.query.limit == 1)
        key = "of" if one or not self.phrases.knows("of the") else "of the"
        return self.say(key, nouns, subject)

    def of_constant(self, variable: Variable, root: Term, noun: str) -> str:
        """`the mass of Mars`, `what Mars orbits`."""
        owner = self.teller.owner(variable)
        relation = self.names.relation(owner.predicate) if owner is not None else None
        subject = self.subject_text(root)
        if relation is not None and relation.kind == "place":
            return self.say("place of", subject)
        if relation is not None and self.phrases.language == "en":
            if relation.kind == "verb":
                return self.say("what verb", subject, relation.text)
            if relation.kind == "relation":
                return self.say("what is", subject, relation.text)
        return self.of_subject([noun], subject)

    def is_nameless(self, root: Term | None) -> bool:
        """Whether the root has no noun of its own, as the nodes of n-ary relations have none."""
        return (
            isinstance(root, Variable)
            and self.teller.noun(root) == self.say("thing")
            and not self.cuts_root()
        )

    def where_they(self, nouns: str, root: Term | None) -> str:
        """`the crew members if the mission is Apollo 11`."""
        assert isinstance(root, Variable)
        self.teller.known[root.value] = self.say("thing")
        return self.teller.where_they(nouns, root)

    def their(self, nouns: Sequence[str], *, plain: bool = False) -> str:
        known, optional = ([*nouns], []) if plain else self.split_optional(nouns)
        text = self.say("their", self.listed(known)) if known else ""
        if not optional:
            return text
        listed = self.say("their", self.listed(optional))
        return (
            self.say("where known", text, listed) if text else self.say("only where known", listed)
        )

    def split_optional(self, nouns: Sequence[str]) -> tuple[list[str], list[str]]:
        """Nouns of columns that every row has, and of those that some rows have."""
        optional = {
            self.names.relation(pattern.predicate).text
            for scope in self.scope.optional
            for pattern in scope.patterns
        }
        unique = list(dict.fromkeys(nouns))
        return [n for n in unique if n not in optional], [n for n in unique if n in optional]

    def columns(
        self, variables: Sequence[Variable], root: Term
    ) -> tuple[list[str], list[Variable]]:
        """The columns that are nouns of the root, and the variables of the others."""
        nouns = [(self.own_column(variable, root), variable) for variable in variables]
        return [noun for noun, _ in nouns if noun], [one for noun, one in nouns if not noun]

    def own_column(self, variable: Variable, root: Term) -> str:
        """What a column is to the root: `name`, `name of the country`; empty if it is far."""
        if variable.value in self.scope.binds:
            return without_article(self.teller.words(variable))
        owner = self.teller.owner(variable)
        for pattern in self.scope.patterns:
            if pattern.predicate == variable and pattern.subject == root:
                self.teller.told.add(pattern)
                return self.teller.noun(variable)
        if owner is None:
            return ""
        is_type = owner.predicate == NamedNode(RDF_TYPE)
        noun = self.teller.noun(variable) if is_type else self.teller.noun_of(owner)
        if owner.subject == root:
            return noun if self.is_plain(variable) else ""
        middle = owner.subject
        if not isinstance(middle, Variable):
            return self.say("of", noun, self.names.term(middle))
        link = self.teller.owner(middle)
        if link is None or link.subject != root or not self.is_plain(middle):
            return ""
        return self.say("of", noun, self.say("the", self.teller.noun_of(link)))

    def is_plain(self, variable: Variable) -> bool:
        """Whether a value is only asked for: nothing but its class and its columns is said of it.

        Then its class counts as told, and the link to it, as the column tells of both.
        """
        touching = [p for p in self.scope.patterns if variable in (p.subject, p.object)]
        objects = [pattern for pattern in touching if pattern.subject == variable]
        types = [pattern for pattern in objects if pattern.predicate == NamedNode(RDF_TYPE)]
        silent = [pattern for pattern in objects if self.is_silent(pattern.object)]
        if len(touching) > 1 + len(types) + len(silent) or self.teller.is_filtered(variable):
            return not objects
        if objects:
            self.teller.told.update(touching)
        return True

    def is_silent(self, term: Term) -> bool:
        """Whether the sentence names a value anyway, and nothing restricts it."""
        return (
            isinstance(term, Variable)
            and term.value in self.teller.silent
            and not self.teller.is_filtered(term)
        )

    def far_column(self, variable: Variable) -> str:
        """A column of something that the clauses have spoken of."""
        owner = self.teller.owner(variable)
        if owner is None or self.is_subject(variable):
            return self.say("the", self.teller.noun(variable))
        if not isinstance(owner.subject, Variable):
            return self.teller.value_of_owner(owner, variable)
        noun = self.say("the", self.teller.noun_of(owner))
        return self.say("own", noun, self.teller.noun(owner.subject))


def bare(text: str, phrases: Phrases) -> str:
    """A phrase without the article before it."""
    return without_article(text) if phrases.language == "en" else text


def without_article(text: str) -> str:
    return re.sub(r"^(?:the|an?) ", "", text)
