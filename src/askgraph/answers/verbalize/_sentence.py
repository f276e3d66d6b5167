"""A whole query as a sentence: its groups and form, its order, and what no clause has told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.answers.verbalize._listing import Listing, bare
from askgraph.answers.verbalize.phrases import Names, Scope
from askgraph.sparql import (
    Call,
    Expression,
    Filter,
    Group,
    Nested,
    Pattern,
    Query,
    Term,
    Values,
    find_variables,
    transform,
    walk,
)
from askgraph.sparql.vocabulary import RDF_TYPE

_LISTED = 6
"""So many properties of a description are named."""
_COUNTED = frozenset(["=", "<", ">", "<=", ">="])


class Grouping(Listing):
    """A query whose rows are groups, or computed."""

    def computed_text(self, root: Term | None) -> str:
        """Aggregates over everything, or expressions beside plain columns."""
        if not self.asked() or self.query.is_aggregate:
            return self.aggregates(root)
        texts = [self.expression(value, root) for value in self.computed()]
        return self.say("with columns", self.listing(root), self.listed(texts))

    def grouped(self, root: Term | None) -> str:
        """`for each country: the number of singers`."""
        if isinstance(root, Variable):
            self.teller.known[root.value] = self.teller.noun(root)
        keys = self.key_nouns(root)
        shown = [self.teller.noun(v) for v in self.asked() if v not in self.keys]
        texts = [self.the(shown)] if shown else []
        if self.computed():
            texts.append(self.aggregates(root))
        if texts:
            return self.say("each", self.listed(keys), self.listed(texts))
        if root in self.keys:
            return self.root_phrase(root)
        if owner := self.unshown_key(root):
            return self.of_unshown(owner, root)
        if counted := self.counted(root):
            single = len(self.keys) == 1 and len(keys[0].split()) < 3
            nouns = [self.phrases.plural(keys[0])] if single and self.query.limit != 1 else keys
            if self.query.limit and self.query.limit > 1:
                nouns[0] = self.say("some", self.query.limit, nouns[0])
            return " ".join([self.the(nouns), counted])
        return self.of_subject(keys, self.root_phrase(root))

    def unshown_key(self, root: Term | None) -> Variable | None:
        """The one thing whose values are shown in its place: `the name of the buildings with …`."""
        keys = [key for key in self.keys if isinstance(key, Variable)]
        things = [key for key in keys if self.is_subject(key)]
        if len(things) != 1 or things[0] == root or things[0] in self.asked():
            return None
        owners = [self.teller.owner(key) for key in keys if key != things[0]]
        values = [one for one in owners if one is not None and one.subject == things[0]]
        return things[0] if len(values) == len(self.keys) - 1 > 0 else None

    def of_unshown(self, thing: Variable, root: Term | None) -> str:
        """The values of a thing by which the groups are made, and what decides on it."""
        keys = [key for key in self.keys if isinstance(key, Variable) and key != thing]
        many = self.query.limit != 1
        phrase = bare(self.key_phrase(thing, root, many=many), self.phrases)
        if many and self.query.limit:
            phrase = self.say("some", self.query.limit, phrase)
        text = " ".join([self.say("the", phrase), self.counted(root)]).strip()
        return self.of_subject([self.teller.noun(key) for key in keys], text)

    def counted(self, root: Term | None) -> str:
        """`with the most missions`, `with more than 10 missions`; empty if no count decides."""
        query = self.query
        if query.order and query.limit and not query.offset and self.is_count(query.order[0][0]):
            self.cuts_done = True
            about = self.counted_things(query.order[0][0], root)
            return self.say("by most" if query.order[0][1] else "by fewest", about)
        match query.having:
            case (Call(name=name, arguments=(left, Literal() as number)),) if name in _COUNTED:
                if self.is_count(left):
                    self.having_done = True
                    about = self.counted_things(left, root, many=number.value != "1")
                    key = f"count {name}" if self.phrases.knows(f"count {name}") else name
                    bound = self.say(key, self.names.term(number)).removeprefix("is ")
                    return self.say("with count", f"{bound} {about}")
        return ""

    def counted_things(self, value: Expression, root: Term | None, *, many: bool = True) -> str:
        """What is counted, in the plural if `many`, with all that holds of it."""
        if self.counts(self.order_value(value), root):
            if not many and isinstance(root, Variable) and not self.root_said:
                self.root_said = True
                return bare(self.teller.phrase(root, many=False), self.phrases)
            return bare(self.root_phrase(root), self.phrases)
        noun = self.order_noun(value, root)
        if self.is_nameless(root):
            return self.where_they(noun, root)
        about = bare(self.root_phrase(root), self.phrases)
        plain = isinstance(root, Variable) and about == self.phrases.plural(self.teller.noun(root))
        return noun if plain else self.say("of", noun, self.say("the", about))

    def root_phrase(self, root: Term | None) -> str:
        """The root with its clauses the first time, then by its name."""
        if root is None:
            return self.say("values")
        if self.root_said:
            noun = self.teller.noun(root) if isinstance(root, Variable) else self.names.term(root)
            return self.say("the", self.phrases.plural(noun))
        self.root_said = True
        return self.subject_text(root)

    def aggregates(self, root: Term | None) -> str:
        """All computed columns; what they are taken over is told once."""
        texts, nouns = [], []
        for value in self.computed():
            if self.counts(value, root):
                about = self.root_phrase(root)
                texts.append(self.say("the", self.say("number", bare(about, self.phrases))))
            elif (noun := self.aggregate_noun(value)) is not None:
                nouns.append(noun)
            else:
                texts.append(self.of_root(value, root))
        listed = self.listed(nouns)
        if nouns and (root is None or root in self.keys):
            texts.insert(0, listed)
        elif nouns and self.is_nameless(root) and not self.root_said:
            texts.insert(0, self.where_they(listed, root))
        elif nouns:
            texts.insert(0, self.of_root_text(listed, self.root_phrase(root), root))
        return self.listed(texts)

    def of_root(self, value: Expression, root: Term | None) -> str:
        """What is computed of aggregates, with what these are taken over if that is not told."""
        text = self.expression(value, root)
        told = root is None or root in self.keys or self.root_said
        calls = [one for one in walk(value) if isinstance(one, Call) and one.is_aggregate]
        told = told or not calls or any(self.counts(one, root) for one in calls)
        return text if told else self.of_root_text(text, self.root_phrase(root), root)

    def key_nouns(self, root: Term | None) -> list[str]:
        """What the groups are made by; values of one thing together."""
        nouns: list[str] = []
        far: dict[Variable, list[str]] = {}
        given = {name for select in self.scope.selects for name, _ in select.columns}
        for key in self.keys:
            if key in given:
                continue
            owner = self.teller.owner(key) if isinstance(key, Variable) else None
            if not isinstance(key, Variable) or key.value in self.scope.binds:
                nouns.append(bare(self.teller.words(key), self.phrases))
            elif key == root and self.computed():
                self.root_said = True
                nouns.append(self.key_text(self.teller.phrase(key, many=False)))
            elif self.is_subject(key) and key != root:
                nouns.append(self.key_text(self.key_phrase(key, root)))
            elif owner is None or owner.subject == root or not isinstance(owner.subject, Variable):
                nouns.append(self.teller.noun(key))
            else:
                far.setdefault(owner.subject, []).append(self.teller.noun(key))
        nouns += [self.key_values(thing, values, root) for thing, values in far.items()]
        return list(dict.fromkeys(nouns))

    def key_values(self, thing: Variable, values: Sequence[str], root: Term | None) -> str:
        """`first name and age of the student`."""
        whose = self.teller.noun(thing)
        if self.is_only_key(thing, root):
            self.teller.known[thing.value] = whose
        listed = self.listed(list(dict.fromkeys(values)))
        return listed if whose == listed else self.say("of", listed, self.the([whose]))

    def key_text(self, phrase: str) -> str:
        """A phrase as it stands after `for each`."""
        return bare(self.phrases.of_thing(phrase), self.phrases)

    def key_phrase(self, key: Variable, root: Term | None, *, many: bool = False) -> str:
        """A key that is a thing of its own; how the root hangs on it is left for the root."""
        links = set(self.teller.untold(root))
        self.teller.told |= links
        phrase = self.teller.phrase(key, many=many)
        self.teller.told -= links
        return phrase

    def is_only_key(self, variable: Variable, root: Term | None) -> bool:
        """Whether nothing is said of a thing but its class, its columns and the root's link."""
        return all(
            pattern.predicate == NamedNode(RDF_TYPE)
            or root in (pattern.subject, pattern.object)
            or self.is_silent(pattern.object)
            for pattern in self.scope.patterns
            if variable in (pattern.subject, pattern.object)
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
        self.names.follow()
        if self.is_wrapper():
            return self.ordered(self.number_of_groups() or self.wrapped(), None)
        if (told := self.described() or self.picked() or self.crowned() or self.few()) is not None:
            return told
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
            text = self.say("having", text, self.expression(condition))
        return self.ordered(text, root)

    def described(self) -> str | None:
        """All that is said of one thing by some properties, a row for each value; else None."""
        match self.scope.patterns, self.scope.values:
            case [Pattern(subject, Variable() as name, Variable() as value)], [
                Values((given,), rows)
            ]:
                shown = {column for column, _ in self.query.columns}
                if name == given and not isinstance(subject, Variable) and shown == {name, value}:
                    iris = [row[0] for row in rows if isinstance(row[0], NamedNode)]
                    nouns = [self.names.relation(iri).text.strip("“”„«» ") for iri in iris]
                    more = " …" if len(nouns) > _LISTED else ""
                    about = self.say("describe", self.names.term(subject))
                    return f"{about}: {', '.join(nouns[:_LISTED])}{more}"
        return None

    def picked(self) -> str | None:
        """The one of some named things that has the most or the least of a value; else None."""
        match self.scope.values:
            case [Values((given,), rows)] if self.cuts_root() and self.query.limit == 1:
                if given == self.root() and not self.query.offset:
                    things = [self.names.term(row[0]) for row in rows if row[0] is not None]
                    return self.say("picked", self.listed(things), self.superlative(given))
        return None

    def number_of_groups(self) -> str | None:
        """How many things a sub-query finds, if that is all; else None."""
        match self.query.columns, self.query.where.elements:
            case [(_, Call("COUNT DISTINCT", (Variable() as one,)))], [Query() as inner]:
                alone = ((one, None),)
                if self.query.group_by or alone[0] not in inner.columns:
                    return None
                if inner.limit:
                    first = Sentence(replace(inner, columns=alone), self.names)
                    return self.say("number of those", first.text().rstrip(","))
                if inner.columns == alone and inner.having:
                    things = bare(self.of_select(inner, one.value), self.phrases)
                    return self.say("the", self.say("number", things))
        return None

    def crowned(self) -> str | None:
        """All that have the most or the fewest of what is counted in sub-queries; else None.

        They are told as the first of an order, or as what belongs to the first.
        """
        match self.scope.selects, self.query.where.elements:
            case [
                Query(group_by=((Variable() as key, None),)) as mine,
                Query(columns=((most, Call("MAX" | "MIN" as function)),)),
            ], elements:
                number, call = mine.columns[0]
                is_most = Filter(Call("=", (number, most)))
                rest = Group(
                    tuple(
                        one for one in elements if one not in self.scope.selects and one != is_most
                    )
                )
                same = dict(zip(_every(mine.where), _every(rest), strict=False))
                if call is None or len(rest.elements) != len(mine.where.elements):
                    return None
                counted = transform(call, lambda node: same.get(node, node))
                order = ((counted, function == "MAX"),)
                first = replace(
                    mine, where=rest, columns=((key, None),), group_by=((key, None),),
                    order=order, limit=1,
                )  # fmt: skip
                return self.of_first(first, {number: counted})
        return None

    def few(self) -> str | None:
        """Groups that have at most so many of what need not be there: `…, or none`; else None."""
        elements = self.query.where.elements
        match self.query.having, [one for one in elements if isinstance(one, Nested)]:
            case (Call("<" | "<=", (Call() as call, Literal())),), [
                Nested("OPTIONAL", group) as one
            ]:
                if call.arguments[0] in _every(group) and self.is_count(call):
                    kept = tuple(part for part in elements if part is not one)
                    plain = replace(self.query, where=Group((*kept, *group.elements)))
                    return self.say("or none", Sentence(plain, self.names).text())
        return None

    def of_first(self, first: Query, counts: Mapping[Variable, Expression]) -> str:
        """What is asked of the first of some groups, which have numbers."""
        key = first.columns[0][0]
        columns = tuple((name, counts.get(name, value)) for name, value in self.query.columns)
        plain = [name for name, value in columns if value is None]
        owned = {one.object for one in self.scope.patterns if one.subject == key}
        if all(name == key or name in owned for name in plain):
            keys = ((key, None), *((name, None) for name in plain if name != key))
            return Sentence(replace(first, columns=columns, group_by=keys), self.names).text()
        listed = Sentence(replace(self.query, where=first.where), self.names).text()
        return self.say("of winner", listed, Sentence(first, self.names).text())

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
        part = replace(self.query, order=(), limit=None, offset=None)
        parts = [replace(part, where=group) for group in self.scope.union_groups[0]]
        texts = [Sentence(one, self.names).text() for one in parts]
        return self.listed(list(dict.fromkeys(texts)))

    def wrapped(self) -> str:
        groups = {key for select in self.scope.selects for key, _ in select.group_by}
        asked = [name for name in self.asked() if name not in groups]
        binds = [self.scope.binds.get(name.value) for name in asked]
        if binds and all(one is not None for one in binds):
            return self.listed([self.expression(one) for one in binds if one is not None])
        if mean := self.mean_of_groups():
            return mean
        texts = [Sentence(select, self.names).text() for select in self.scope.selects]
        text = self.listed(texts)
        computed = [self.expression(value) for value in self.computed()]
        if computed:
            return self.say("also", self.listed(computed), text)
        return self.with_leftovers(text)

    def mean_of_groups(self) -> str:
        """`the average, over each planet, of the number of its moons`; empty if it is no such."""
        match self.scope.selects, self.computed():
            case [select], [Call("AVG", (Variable() as number,))] if select.group_by:
                inner = Sentence(select, self.names)
                root, keys = inner.root(), {name for name, value in select.columns if value is None}
                if number in keys or len(inner.computed()) != 1 or select.having or select.limit:
                    return ""
                over = self.listed(inner.key_nouns(root))
                return self.say("average of each", over, inner.aggregates(root))
        return ""

    def of_select(self, select: Query, column: str) -> str:
        """A column of a sub-select as a noun phrase."""
        inner = Sentence(select, self.names)
        if len(select.columns) > 1:
            kept = tuple(pair for pair in select.columns if pair[0].value == column)
            inner = Sentence(replace(select, columns=kept), self.names)
        if select.group_by and inner.computed() and not (select.having or select.order):
            named = [key for key in inner.keys if isinstance(key, Variable)]
            keys = self.listed([inner.teller.noun(key) for key in named])
            return self.say("for each", inner.aggregates(inner.root()), keys)
        return inner.select()

    def with_leftovers(self, text: str) -> str:
        """What no clause has told: parts without a link, free conditions, other alternatives."""
        for variable in self.untold_subjects():
            if variable.value not in self.teller.known:
                about = self.teller.phrase(variable, many=False)
                text = self.say("also", text, about)
        for number, condition in enumerate(self.scope.filters):
            if number not in self.teller.told_filters:
                text = self.say("where", text, self.teller.words(condition))
        for number, scopes in enumerate(self.scope.unions):
            if number not in self.teller.told_unions:
                options = [self.group_phrase(inner) for inner in scopes]
                text = self.say("also", text, self.listed(options, "or"))
        for inner in self.scope.without:
            text = self.say("except", text, self.group_phrase(inner, self.linked_to(inner)))
        return text

    def untold_subjects(self) -> list[Variable]:
        """Variables of patterns that no clause has told, and no column either."""
        known, silent = (
            set(map(Variable, self.teller.known)),
            set(map(Variable, self.teller.silent)),
        )
        found = list[Term]()
        for pattern in self.scope.patterns:
            is_column = pattern.object in silent and pattern.subject in known
            if pattern not in self.teller.told and not is_column:
                found += [pattern.subject, pattern.object]
        return list(dict.fromkeys(term for term in found if isinstance(term, Variable)))

    def linked_to(self, inner: Scope) -> Variable | None:
        """The variable of a group that stands for one of this group by another name."""
        shared = inner.aliases.keys() & (self.scope.aliases.keys() | self.scope.names())
        return inner.resolved(Variable(min(shared))) if shared else None

    def group_phrase(self, inner: Scope, about: Variable | None = None) -> str:
        """A group on its own."""
        if inner.selects and not inner.patterns:
            texts = [Sentence(select, self.names).text() for select in inner.selects]
            return self.listed(texts)
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
            return self.listed([_fact(p, self.names) for p in inner.patterns])
        teller.known.pop(start.value, None)
        return teller.phrase(start, many=about is not None)

    def ordered(self, text: str, root: Term | None) -> str:
        """The text with its order and its cut."""
        query = self.query
        if self.cuts_done and self.places() is not None:
            return text
        if query.offset:
            text = self.say("nth", text, query.offset)
        names = self.scope.names() | self.values.keys()
        order = [
            (value, down)
            for value, down in query.order
            if not isinstance(value, Variable) or value.value in names
        ]
        if not order:
            return self.say("at most", text, query.limit) if query.limit else text
        if query.limit:
            value, down = order[0]
            return self.cut(text, value, down=down, root=root)
        nouns = []
        for at, (value, down) in enumerate(order):
            if at and value == root:
                continue  # it only keeps the order of equal ones
            noun = self.order_noun(value, root)
            if self.is_count(value):
                noun = bare(self.expression(self.order_value(value), root), self.phrases)
            nouns.append(self.say("down", noun) if down else noun)
        return self.say("sorted", text, self.listed(nouns))

    def cut(self, text: str, value: Expression, *, down: bool, root: Term | None) -> str:
        """The first rows of an order: `only the 3 with the highest mass`."""
        noun, limit = self.order_noun(value, root), self.query.limit or 1
        few = "one" if limit == 1 else "some"
        return self.say(f"{few} {self.extreme(value, noun, down=down)}", text, noun, limit)

    def ask(self) -> str:
        """A question: about facts if it has no variable, else about what there is."""
        return self.say(*self.claim())

    def claim(self) -> tuple[str, str]:
        """What is asked, as the key of the question and what stands in it."""
        patterns = self.scope.patterns
        if patterns and not any(True for p in patterns for _ in find_variables(p)):
            facts = [_fact(p, self.names) for p in patterns]
            for inner in self.scope.without:
                facts += [self.say("not fact", _fact(p, self.names)) for p in inner.patterns]
            return "is true", self.listed(facts)
        root = self.source()
        if isinstance(root, Variable):
            phrase = self.teller.phrase(root, many=False)
            if phrase != bare(phrase, self.phrases):
                phrase = self.phrases.one(bare(phrase, self.phrases))
            return "is there", self.with_leftovers(phrase)
        statements = self.statements()
        if not statements:
            return "is there", self.say("something")
        return "is true", self.listed(statements)

    def statements(self) -> list[str]:
        """What an ASK query without unknown subjects says."""
        texts = [
            self.said_of(condition) or self.teller.words(condition)
            for condition in self.scope.filters
        ]
        untold = (one for one in self.scope.patterns if one not in self.teller.told)
        return [*texts, *(_fact(pattern, self.names) for pattern in untold)]

    def said_of(self, expression: Expression) -> str:
        """What a known thing is of which something is true or false: `measles is contagious`."""
        condition = self.teller.tests.on(expression)
        owner = condition and self.teller.owner(condition.variable)
        if not (condition and owner) or isinstance(owner.subject, Variable):
            return ""
        relation = self.names.relation(owner.predicate)
        said = self.names.said_of(relation, self.teller.tests.text([condition]))
        if not said:
            return ""
        self.teller.told.add(owner)
        return f"{self.names.term(owner.subject)} {said}"

    def describe(self) -> str:
        terms = [t for t in self.query.resources if not isinstance(t, Variable)]
        if terms:
            return self.say("describe", self.listed([self.names.term(t) for t in terms]))
        return self.say("describe", self.source_text())

    def construct(self) -> str:
        nouns = [self.names.relation(p.predicate).text for p in self.query.template]
        return self.say("triples", self.listed(list(dict.fromkeys(nouns))), self.source_text())

    def source_text(self) -> str:
        root = self.source()
        about = self.subject_text(root) if root is not None else self.say("things")
        return self.with_leftovers(about)


def _every(part: Group) -> list[Variable]:
    """All variables of a group, each time that they stand there."""
    return [one for one in walk(part) if isinstance(one, Variable)]


def _fact(pattern: Pattern, names: Names) -> str:
    """A pattern as a statement."""
    subject, value = names.term(pattern.subject), names.term(pattern.object)
    if pattern.predicate == NamedNode(RDF_TYPE) and isinstance(pattern.object, NamedNode):
        noun = names.type_noun(pattern.object.value)
        return names.phrases.say("fact class", subject, names.phrases.one(noun))
    relation = names.relation(pattern.predicate)
    said = names.said_of(relation, f"is {value}")
    if said and isinstance(pattern.object, Literal):
        return f"{subject} {said}"
    kinds = {"noun": "fact", "verb": "fact verb", "place": "fact place", "any": "fact any"}
    key = kinds.get(relation.kind, "fact relation")
    return names.phrases.stepped(names.phrases.say(key, subject, relation.text, value), relation)
