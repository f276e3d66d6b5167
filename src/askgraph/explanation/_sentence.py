"""A whole query as a sentence: its form, its order, and what no clause has told."""

from __future__ import annotations

from dataclasses import replace

from pyoxigraph import NamedNode, Variable

from askgraph.explanation._asked import ORDINALS, bare
from askgraph.explanation._listing import Grouping
from askgraph.explanation._names import Names
from askgraph.explanation._scope import Scope
from askgraph.rdf.vocabulary import RDF_TYPE
from askgraph.sparql.tree import (
    Expression,
    Pattern,
    Query,
    Term,
    variables_of,
)


class Sentence(Grouping):
    """One SELECT, ASK, CONSTRUCT or DESCRIBE on its way into words."""

    def text(self) -> str:
        match self.query.form:
            case "ASK":
                return self.ask()
            case "DESCRIBE":
                return self.describe()
            case "CONSTRUCT":
                return self.construct()
            case _:
                return self.select()

    def select(self) -> str:
        if self.is_wrapper():
            return self.ordered(self.wrapped(), None)
        if self.is_union():
            return self.ordered(self.alternatives(), None)
        root = self.root()
        if self.keys:
            text = self.grouped(root)
        elif self.query.is_aggregate or self.computed():
            text = self.computed_text(root)
        else:
            text = self.listing(root)
        text = self.with_leftovers(text)
        for condition in () if self.having_done else self.query.having:
            text = self.phrases.say("having", text, self.expression(condition))
        return self.ordered(text, root)

    def is_union(self) -> bool:
        """Whether there is nothing but a union of parts that do not speak of one thing alike."""
        scope = self.scope
        if scope.patterns or scope.selects or len(scope.unions) != 1 or self.query.is_aggregate:
            return False
        asked = {name.value for name in self.asked()}
        return any(
            inner.selects or inner.aliases or not asked <= inner.names() or len(asked) > 1
            for inner in scope.unions[0]
        )

    def alternatives(self) -> str:
        """Each part of a union as a sentence of its own."""
        texts = []
        for group in self.scope.union_groups[0]:
            part = replace(self.query, where=group, order=(), limit=None, offset=None)
            texts.append(Sentence(part, self.names).text())
        return self.phrases.listed(list(dict.fromkeys(texts)), "or")

    def wrapped(self) -> str:
        texts = [Sentence(select, self.names).text() for select in self.scope.selects]
        text = self.phrases.listed(texts)
        computed = [self.expression(value) for value in self.computed()]
        if computed:
            return self.phrases.say("also", self.phrases.listed(computed), text)
        return self.with_leftovers(text)

    def of_select(self, select: Query, column: str) -> str:
        """A column of a sub-select as a noun phrase."""
        inner = Sentence(select, self.names)
        named = [name for name, _ in select.columns]
        if len(named) > 1:
            kept = tuple(pair for pair in select.columns if pair[0].value == column)
            inner = Sentence(replace(select, columns=kept), self.names)
        return inner.select()

    def with_leftovers(self, text: str) -> str:
        """What no clause has told: parts without a link, free conditions, other alternatives."""
        for variable in self.untold_subjects():
            if variable.value not in self.teller.known:
                about = self.teller.phrase(variable, many=False)
                text = self.phrases.say("also", text, about)
        for number, condition in enumerate(self.scope.filters):
            if number not in self.teller.told_filters:
                text = self.phrases.say("where", text, self.teller.words(condition))
        for number, scopes in enumerate(self.scope.unions):
            if number not in self.teller.told_unions:
                options = [self.group_phrase(inner) for inner in scopes]
                text = self.phrases.say("also", text, self.phrases.listed(options, "or"))
        for inner in self.scope.without:
            text = self.phrases.say("except", text, self.group_phrase(inner, self.linked_to(inner)))
        return text

    def untold_subjects(self) -> list[Variable]:
        """Variables of patterns that no clause has told, and no column either."""
        found = []
        for number, pattern in enumerate(self.scope.patterns):
            value = pattern.object
            is_column = isinstance(value, Variable) and value.value in self.teller.silent
            if number not in self.teller.told and not (
                is_column and self.is_known(pattern.subject)
            ):
                found += [pattern.subject, value]
        return list(dict.fromkeys(term for term in found if isinstance(term, Variable)))

    def is_known(self, term: Term) -> bool:
        return isinstance(term, Variable) and term.value in self.teller.known

    def linked_to(self, inner: Scope) -> Variable | None:
        """The variable of a group that stands for one of this group by another name."""
        shared = inner.aliases.keys() & (self.scope.aliases.keys() | self.scope.names())
        return inner.resolved(Variable(min(shared))) if shared else None

    def group_phrase(self, inner: Scope, about: Variable | None = None) -> str:
        """A group on its own."""
        if inner.selects and not inner.patterns:
            texts = [Sentence(select, self.names).text() for select in inner.selects]
            return self.phrases.listed(texts)
        teller = self.teller.inside(inner)
        subjects = [p.subject for p in inner.patterns if isinstance(p.subject, Variable)]
        if about is not None and about not in subjects:
            owner = teller.owner(about)
            if owner is not None:
                teller.silent.add(about.value)
                teller.known.pop(about.value, None)
                return teller.value_of_owner(owner, about)
        start = about or next(iter(subjects), None)
        if start is None:
            return self.phrases.listed([_fact(p, self.names) for p in inner.patterns])
        teller.known.pop(start.value, None)
        return teller.phrase(start, many=about is not None)

    def ordered(self, text: str, root: Term | None) -> str:
        """The text with its order and its cut."""
        query = self.query
        if self.cuts_done and query.offset in (None, 0, *(place - 1 for place in ORDINALS)):
            return text
        if query.offset:
            text = self.phrases.say("nth", text, query.offset)
        names = self.scope.names() | self.values.keys()
        order = [
            (value, down)
            for value, down in query.order
            if not isinstance(value, Variable) or value.value in names
        ]
        if not order:
            return self.phrases.say("at most", text, query.limit) if query.limit else text
        if query.limit:
            value, down = order[0]
            return self.cut(text, value, down=down, root=root)
        nouns = []
        for value, down in order:
            noun = self.order_noun(value, root)
            nouns.append(self.phrases.say("down", noun) if down else noun)
        return self.phrases.say("sorted", text, self.phrases.listed(nouns))

    def cut(self, text: str, value: Expression, *, down: bool, root: Term | None) -> str:
        """The first rows of an order: `only the 3 with the highest mass`."""
        noun = self.order_noun(value, root)
        key = self.extreme(value, noun, down=down)
        limit = self.query.limit or 1
        if limit == 1:
            return self.phrases.say(f"one {key}", text, noun)
        return self.phrases.say(f"some {key}", text, noun, limit)

    def ask(self) -> str:
        """A question: about facts if it has no variable, else about what there is."""
        patterns = self.scope.patterns
        if patterns and not any(True for p in patterns for _ in variables_of(p)):
            facts = [_fact(p, self.names) for p in patterns]
            for inner in self.scope.without:
                facts += [
                    self.phrases.say("not fact", _fact(p, self.names)) for p in inner.patterns
                ]
            return self.phrases.say("is true", self.phrases.listed(facts))
        root = self.source()
        if isinstance(root, Variable):
            phrase = self.teller.phrase(root, many=False)
            if phrase != bare(phrase, self.phrases):
                phrase = self.phrases.one(bare(phrase, self.phrases))
            return self.phrases.say("is there", self.with_leftovers(phrase))
        statements = self.statements()
        if not statements:
            return self.phrases.say("is there", self.phrases.say("something"))
        return self.phrases.say("is true", self.phrases.listed(statements))

    def statements(self) -> list[str]:
        """What an ASK query without unknown subjects says."""
        texts = [self.teller.words(condition) for condition in self.scope.filters]
        for number, pattern in enumerate(self.scope.patterns):
            if number not in self.teller.told:
                texts.append(_fact(pattern, self.names))
        return texts

    def describe(self) -> str:
        terms = [t for t in self.query.resources if not isinstance(t, Variable)]
        if terms:
            return self.phrases.say(
                "describe", self.phrases.listed([self.names.term(t) for t in terms])
            )
        root = self.source()
        about = self.subject_text(root) if root is not None else self.phrases.say("things")
        return self.phrases.say("describe", self.with_leftovers(about))

    def construct(self) -> str:
        nouns = [self.names.relation(p.predicate).text for p in self.query.template]
        root = self.source()
        about = self.subject_text(root) if root is not None else self.phrases.say("things")
        listed = self.phrases.listed(list(dict.fromkeys(nouns)))
        return self.phrases.say("triples", listed, self.with_leftovers(about))


def _fact(pattern: Pattern, names: Names) -> str:
    """A pattern as a statement."""
    subject, value = names.term(pattern.subject), names.term(pattern.object)
    if pattern.predicate == NamedNode(RDF_TYPE) and isinstance(pattern.object, NamedNode):
        noun = names.type_noun(pattern.object.value)
        return names.phrases.say("fact class", subject, names.phrases.one(noun))
    relation = names.relation(pattern.predicate)
    key = {"noun": "fact", "verb": "fact verb", "any": "fact any"}.get(
        relation.kind, "fact relation"
    )
    text = names.phrases.say(key, subject, relation.text, value)
    return names.phrases.say("path " + relation.steps, text) if relation.steps else text
