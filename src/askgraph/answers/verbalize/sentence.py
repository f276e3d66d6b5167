"""A whole query as a sentence: its groups and form, its order, and the remaining parts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.answers.verbalize.conditions import unwrap
from askgraph.answers.verbalize.forms import make_forms
from askgraph.answers.verbalize.listing import Listing
from askgraph.answers.verbalize.names import Names, strip_article
from askgraph.answers.verbalize.scope import Scope
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

_MAX_LISTED_NOUNS = 6
"""So many properties of a description are named."""
_COUNTED = frozenset(["=", "<", ">", "<=", ">="])


class Grouping(Listing):
    """A query whose rows are groups, or computed."""

    def write_computed(self, root: Term | None) -> str:
        """Aggregates over everything, or expressions beside plain columns."""
        if not self.list_asked() or self.query.is_aggregate:
            return self.write_aggregates(root)
        texts = [self.write_expression(value, root) for value in self.list_computed()]
        return self.say("with columns", self.write_listing(root), self.join_list(texts))

    def write_groups(self, root: Term | None) -> str:
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
        if counted := self.write_counted(root):
            single = len(self.keys) == 1 and len(keys[0].split()) < 3
            nouns = [self.phrases.pluralize(keys[0])] if single and self.query.limit != 1 else keys
            counted = self.relate_count(counted, root)
            if self.query.limit and self.query.limit > 1:
                nouns[0] = self.say("some", self.query.limit, nouns[0])
            return " ".join([self.name_the(nouns), counted])
        return self.add_subject(keys, self.write_root(root))

    def relate_count(self, counted: str, root: Term | None) -> str:
        """Return `that the most players play for` in the place of `with the most players`.

        A key that is the noun of a property keeps "with"; one of people among people has "of".
        """
        key = self.keys[0]
        owner = self.writer.find_owner(key) if isinstance(key, Variable) else None
        if not self.phrases.is_english or len(self.keys) > 1 or owner is None:
            return counted
        entry, quantity = self.names.find_entry(owner.predicate), counted.removeprefix("with ")
        if owner.subject != root or entry.is_noun or quantity == counted or entry.kind == "any":
            is_kin = entry.leads_to_person and entry.is_of_person and owner.subject == root
            return f"of {quantity}" if is_kin and entry.kind == "noun" else counted
        return self.forms.relate_many(entry, quantity)

    def find_unshown_key(self, root: Term | None) -> Variable | None:
        """The one thing whose values are shown in its place: `the name of the buildings with …`."""
        keys = [key for key in self.keys if isinstance(key, Variable)]
        things = [key for key in keys if self.is_subject(key)]
        if len(things) != 1 or things[0] == root or things[0] in self.list_asked():
            return None
        owners = [self.writer.find_owner(key) for key in keys if key != things[0]]
        values = [one for one in owners if one is not None and one.subject == things[0]]
        return things[0] if len(values) == len(self.keys) - 1 > 0 else None

    def write_unshown(self, thing: Variable, root: Term | None) -> str:
        """The values of a thing by which the groups are made, and what decides on it."""
        keys = [key for key in self.keys if isinstance(key, Variable) and key != thing]
        many = self.query.limit != 1
        phrase = strip_article(self.write_key(thing, root, many=many), self.phrases)
        if many and self.query.limit:
            phrase = self.say("some", self.query.limit, phrase)
        text = " ".join([self.say("the", phrase), self.write_counted(root)]).strip()
        return self.add_subject([self.writer.find_noun(key) for key in keys], text)

    def write_counted(self, root: Term | None) -> str:
        """`with the most missions`, `with more than 10 missions`; empty if no count decides."""
        query = self.query
        if query.order and query.limit and not query.offset and self.is_count(query.order[0][0]):
            self.cuts_done = True
            about = self.name_counted(query.order[0][0], root)
            return self.say("by most" if query.order[0][1] else "by fewest", about)
        match query.having:
            case (Call(name=name, arguments=(left, Literal() as number)),) if name in _COUNTED:
                if self.is_count(left):
                    self.having_done = True
                    about = self.name_counted(left, root, many=number.value != "1")
                    key = f"count {name}" if self.phrases.has_phrase(f"count {name}") else name
                    bound = self.say(key, self.names.name_term(number)).removeprefix("is ")
                    return self.say("with count", f"{bound} {about}")
        return ""

    def name_counted(self, value: Expression, root: Term | None, *, many: bool = True) -> str:
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

    def write_root(self, root: Term | None) -> str:
        """The root with its clauses the first time, then by its name."""
        if root is None:
            return self.say("values")
        if self.root_said:
            noun = (
                self.writer.find_noun(root)
                if isinstance(root, Variable)
                else self.names.name_term(root)
            )
            return self.say("the", self.phrases.pluralize(noun))
        self.root_said = True
        return self.write_subject(root)

    def write_aggregates(self, root: Term | None) -> str:
        """Return all computed columns; name their common argument once."""
        texts, nouns = [], []
        for value in self.list_computed():
            if self.counts(value, root):
                about = self.write_root(root)
                texts.append(
                    self.say("the", self.say("number", strip_article(about, self.phrases)))
                )
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
        return self.join_list(texts)

    def count_linked(self, value: Expression, root: Term | None) -> str:
        """Return `the number of different cities that customers live in`; empty for nouns."""
        match value:
            case Call(name="COUNT" | "COUNT DISTINCT" as name, arguments=(Variable() as variable,)):
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

    def write_of_root(self, value: Expression, root: Term | None) -> str:
        """Return a computation on aggregates, with their argument unless it is already named."""
        text = self.write_expression(value, root)
        told = root is None or root in self.keys or self.root_said
        calls = [one for one in walk(value) if isinstance(one, Call) and one.is_aggregate]
        told = told or not calls or any(self.counts(one, root) for one in calls)
        return text if told else self.add_root(text, self.write_root(root), root)

    def name_keys(self, root: Term | None) -> list[str]:
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

    def name_key_values(self, thing: Variable, values: Sequence[str], root: Term | None) -> str:
        """`first name and age of the student`."""
        whose = self.writer.find_noun(thing)
        if self.is_only_key(thing, root):
            self.writer.known[thing.value] = whose
        listed = self.join_list(list(dict.fromkeys(values)))
        return listed if whose == listed else self.say("of", listed, self.name_the([whose]))

    def strip_key(self, phrase: str) -> str:
        """A phrase as it stands after `for each`."""
        return strip_article(self.writer.replace_something(phrase), self.phrases)

    def write_key(self, key: Variable, root: Term | None, *, many: bool = False) -> str:
        """A key that is a thing of its own; how the root hangs on it is left for the root."""
        links = set(self.writer.list_open(root))
        self.writer.done |= links
        phrase = self.writer.describe(key, many=many)
        self.writer.done -= links
        return phrase

    def is_only_key(self, variable: Variable, root: Term | None) -> bool:
        """Return whether a thing has only a class, columns and the link of the root."""
        return all(
            pattern.predicate == NamedNode(RDF_TYPE)
            or root in (pattern.subject, pattern.object)
            or self.is_silent(pattern.object)
            for pattern in self.scope.patterns
            if variable in (pattern.subject, pattern.object)
        )


class Sentence(Grouping):
    """One SELECT, ASK, CONSTRUCT or DESCRIBE on its way into words."""

    def write_title(self) -> str:
        """Return the query in words; a list of things without "the" before its plural."""
        text = self.write()
        return text.removeprefix("the ") if self.is_plain_list(text) else text

    def is_plain_list(self, text: str) -> bool:
        """Return whether English words name all things of a kind, without an order that cuts."""
        root = self.find_root()
        if not self.phrases.is_english or not isinstance(root, Variable):
            return False
        return (
            text.startswith("the ")
            and not text.startswith(f"the {self.writer.find_noun(root)} of ")
            and self.query.form == "SELECT"
            and root in self.list_asked()
            and not self.is_single
            and not self.keys
            and not self.cuts_root()
            and not self.is_union()
            and all(_is_mean(select) for select in self.scope.selects)
            and not self.query.is_aggregate
        )

    def write(self) -> str:
        """Return the query in words, as a phrase."""
        match self.query.form:
            case "ASK":
                return self.write_ask()
            case "DESCRIBE":
                return self.write_description()
            case "CONSTRUCT":
                return self.write_construct()
            case _:
                return self.write_select_query()

    def write_select_query(self) -> str:
        """Return a SELECT query in words."""
        self.names.count_replacement()
        if self.is_wrapper():
            return self.add_order(self.write_group_count() or self.write_wrapped(), None)
        if (
            told := self.write_described()
            or self.write_picked()
            or self.write_crowned()
            or self.write_few()
        ) is not None:
            return told
        if self.is_union():
            return self.add_order(self.write_alternatives(), None)
        root = self.find_root()
        if self.keys:
            text = self.write_groups(root)
        elif self.query.is_aggregate or self.list_computed():
            text = self.write_computed(root)
        else:
            text = self.write_listing(root)
        text = self.add_leftovers(text)
        for condition in () if self.having_done else self.query.having:
            text = self.say("having", text, self.write_expression(condition))
        return self.add_order(text, root)

    def write_described(self) -> str | None:
        """Describe one thing by some properties, one row per value; None for other queries."""
        match self.scope.patterns, self.scope.values:
            case [Pattern(subject, Variable() as name, Variable() as value)], [
                Values((given,), rows)
            ]:
                shown = {column for column, _ in self.query.columns}
                if name == given and not isinstance(subject, Variable) and shown == {name, value}:
                    iris = [row[0] for row in rows if isinstance(row[0], NamedNode)]
                    nouns = [self.names.find_entry(iri).text.strip("“”„«» ") for iri in iris]
                    more = " …" if len(nouns) > _MAX_LISTED_NOUNS else ""
                    about = self.say("describe", self.names.name_term(subject))
                    return f"{about}: {', '.join(nouns[:_MAX_LISTED_NOUNS])}{more}"
        return None

    def write_picked(self) -> str | None:
        """The one of some named things that has the most or the least of a value; else None."""
        match self.scope.values:
            case [Values((given,), rows)] if self.cuts_root() and self.query.limit == 1:
                if given == self.find_root() and not self.query.offset:
                    things = [self.names.name_term(row[0]) for row in rows if row[0] is not None]
                    lead, tail = self.write_superlative(given)
                    best = f"{lead} one {tail}".strip() if self.phrases.is_english else tail
                    return self.say("picked", self.join_list(things), best)
        return None

    def write_group_count(self) -> str | None:
        """How many things a sub-query finds, if that is all; else None."""
        match self.query.columns, self.query.where.elements:
            case [(_, Call("COUNT DISTINCT", (Variable() as one,)))], [Query() as inner]:
                alone = ((one, None),)
                if self.query.group_by or alone[0] not in inner.columns:
                    return None
                if inner.limit:
                    first = Sentence(replace(inner, columns=alone), self.names)
                    return self.say("number of those", first.write().rstrip(","))
                if inner.columns == alone and inner.having:
                    things = strip_article(self.write_select(inner, one.value), self.phrases)
                    return self.say("the", self.say("number", things))
        return None

    def write_crowned(self) -> str | None:
        """Describe the things with the highest or lowest count of sub-queries; else None.

        Phrase them as the first of an order, or as owned by the first.
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
                same = dict(zip(_list_variables(mine.where), _list_variables(rest), strict=False))
                if call is None or len(rest.elements) != len(mine.where.elements):
                    return None
                counted = transform(call, lambda node: same.get(node, node))
                order = ((counted, function == "MAX"),)
                first = replace(
                    mine, where=rest, columns=((key, None),), group_by=((key, None),),
                    order=order, limit=1,
                )  # fmt: skip
                return self.write_first(first, {number: counted})
        return None

    def write_few(self) -> str | None:
        """Groups that have at most so many of what need not be there: `…, or none`; else None."""
        elements = self.query.where.elements
        match self.query.having, [one for one in elements if isinstance(one, Nested)]:
            case (Call("<" | "<=", (Call() as call, Literal())),), [
                Nested("OPTIONAL", group) as one
            ]:
                if call.arguments[0] in _list_variables(group) and self.is_count(call):
                    kept = tuple(part for part in elements if part is not one)
                    plain = replace(self.query, where=Group((*kept, *group.elements)))
                    return self.say("or none", Sentence(plain, self.names).write())
        return None

    def write_first(self, first: Query, counts: Mapping[Variable, Expression]) -> str:
        """Describe the columns of the first group by a number."""
        key = first.columns[0][0]
        columns = tuple((name, counts.get(name, value)) for name, value in self.query.columns)
        plain = [name for name, value in columns if value is None]
        owned = {one.object for one in self.scope.patterns if one.subject == key}
        if all(name == key or name in owned for name in plain):
            keys = ((key, None), *((name, None) for name in plain if name != key))
            return Sentence(replace(first, columns=columns, group_by=keys), self.names).write()
        listed = Sentence(replace(self.query, where=first.where), self.names).write()
        return self.say("of winner", listed, Sentence(first, self.names).write())

    def is_union(self) -> bool:
        """Whether there is nothing but a union of parts that do not speak of one thing alike."""
        scope = self.scope
        if scope.patterns or scope.selects or len(scope.unions) != 1 or self.query.is_aggregate:
            return False
        asked = {name.value for name in self.list_asked()}
        return any(
            inner.selects or inner.aliases or not asked <= inner.list_names() or len(asked) > 1
            for inner in scope.unions[0]
        )

    def write_alternatives(self) -> str:
        """Each part of a union as a sentence of its own."""
        part = replace(self.query, order=(), limit=None, offset=None)
        parts = [replace(part, where=group) for group in self.scope.union_groups[0]]
        texts = [Sentence(one, self.names).write() for one in parts]
        return self.join_list(list(dict.fromkeys(texts)))

    def write_wrapped(self) -> str:
        """Return sub-selects that are joined or reduced."""
        groups = {key for select in self.scope.selects for key, _ in select.group_by}
        asked = [name for name in self.list_asked() if name not in groups]
        binds = [self.scope.binds.get(name.value) for name in asked]
        if binds and all(one is not None for one in binds):
            return self.join_list([self.write_expression(one) for one in binds if one is not None])
        if mean := self.write_mean():
            return mean
        texts = [Sentence(select, self.names).write() for select in self.scope.selects]
        text = self.join_list(texts)
        computed = [self.write_expression(value) for value in self.list_computed()]
        if computed:
            return self.say("also", self.join_list(computed), text)
        return self.add_leftovers(text)

    def write_mean(self) -> str:
        """`the average, over each planet, of the number of its moons`; empty if it is no such."""
        match self.scope.selects, self.list_computed():
            case [select], [Call("AVG", (Variable() as number,))] if select.group_by:
                inner = Sentence(select, self.names)
                root, keys = (
                    inner.find_root(),
                    {name for name, value in select.columns if value is None},
                )
                if (
                    number in keys
                    or len(inner.list_computed()) != 1
                    or select.having
                    or select.limit
                ):
                    return ""
                over = self.join_list(inner.name_keys(root))
                return self.say("average of each", over, inner.write_aggregates(root))
        return ""

    def write_select(self, select: Query, column: str) -> str:
        """A column of a sub-select as a noun phrase."""
        inner = Sentence(select, self.names)
        if len(select.columns) > 1:
            kept = tuple(pair for pair in select.columns if pair[0].value == column)
            inner = Sentence(replace(select, columns=kept), self.names)
        if select.group_by and inner.list_computed() and not (select.having or select.order):
            named = [key for key in inner.keys if isinstance(key, Variable)]
            keys = self.join_list([inner.writer.find_noun(key) for key in named])
            return self.say("for each", inner.write_aggregates(inner.find_root()), keys)
        text = inner.write_select_query()
        is_whole = inner.query.is_aggregate and all(
            isinstance(pattern.object, Variable) or pattern.predicate == NamedNode(RDF_TYPE)
            for pattern in inner.scope.patterns
        )
        if self.phrases.is_english and is_whole and not inner.scope.filters:
            return re.sub(r"^(the \S+ .+?) of the ", r"\1 of all ", text)
        return text

    def add_leftovers(self, text: str) -> str:
        """Add the remaining parts: unlinked patterns, free conditions, other alternatives."""
        for variable in self.list_open_subjects():
            if variable.value not in self.writer.known:
                about = self.writer.describe(variable, many=False)
                text = self.say("also", text, about)
        for number, condition in enumerate(self.scope.filters):
            if number not in self.writer.done_filters:
                text = self.say("where", text, self.writer.write(condition))
        for number, scopes in enumerate(self.scope.unions):
            if number not in self.writer.done_unions:
                options = [self.write_group(inner) for inner in scopes]
                text = self.say("also", text, self.join_list(options, "or"))
        for inner in self.scope.without:
            text = self.say("except", text, self.write_group(inner, self.find_linked(inner)))
        return text

    def list_open_subjects(self) -> list[Variable]:
        """Return the variables of pending patterns that are no columns."""
        known, silent = (
            set(map(Variable, self.writer.known)),
            set(map(Variable, self.writer.silent)),
        )
        found = list[Term]()
        for pattern in self.scope.patterns:
            is_column = pattern.object in silent and pattern.subject in known
            if pattern not in self.writer.done and not is_column:
                found += [pattern.subject, pattern.object]
        return list(dict.fromkeys(term for term in found if isinstance(term, Variable)))

    def find_linked(self, inner: Scope) -> Variable | None:
        """The variable of a group that stands for one of this group by another name."""
        shared = inner.aliases.keys() & (self.scope.aliases.keys() | self.scope.list_names())
        return inner.resolve(Variable(min(shared))) if shared else None

    def write_group(self, inner: Scope, about: Variable | None = None) -> str:
        """A group on its own."""
        if inner.selects and not inner.patterns:
            texts = [Sentence(select, self.names).write() for select in inner.selects]
            return self.join_list(texts)
        writer = self.writer.enter(inner)
        subjects = [p.subject for p in inner.patterns if isinstance(p.subject, Variable)]
        if about is not None and about not in subjects:
            owner = writer.find_owner(about)
            if owner is not None:
                writer.silent.add(about.value)
                writer.known.pop(about.value, None)
                return writer.write_value_of(owner, about)
        start = about or next(iter(subjects), None)
        if start is None:
            return self.join_list([_state(p, self.names) for p in inner.patterns])
        writer.known.pop(start.value, None)
        return writer.describe(start, many=about is not None)

    def add_order(self, text: str, root: Term | None) -> str:
        """The text with its order and its cut."""
        query = self.query
        if self.cuts_done and self.write_places() is not None:
            return text
        if query.offset:
            text = self.say("nth", text, query.offset)
        names = self.scope.list_names() | self.values.keys()
        order = [
            (value, down)
            for value, down in query.order
            if not isinstance(value, Variable) or value.value in names
        ]
        if not order:
            return self.say("at most", text, query.limit) if query.limit else text
        if query.limit:
            value, down = order[0]
            return self.write_cut(text, value, down=down, root=root)
        nouns = []
        for at, (value, down) in enumerate(order):
            if at and value == root:
                continue  # it only keeps the order of equal ones
            noun = self.name_order(value, root)
            if self.is_count(value):
                noun = strip_article(
                    self.write_expression(self.find_order_value(value), root), self.phrases
                )
            nouns.append(self.describe_direction(value, noun) if down else noun)
        is_shown = len(order) == 1 and len(self.list_asked()) == 2 and not self.query.is_aggregate
        if self.phrases.is_english and is_shown and (first := nouns[0].rpartition(", ")[2]):
            is_column = order[0][1] and unwrap(order[0][0]) in self.list_asked()
            if is_column and first.endswith(" first"):
                return f"{text}, {first}"
        return self.say("sorted", text, self.join_list(nouns))

    def describe_direction(self, value: Expression, noun: str) -> str:
        """Return a noun by which rows are sorted downwards: `mass, largest first`."""
        entry = self.find_order_entry(value)
        if entry is None:
            return self.say("down", noun)
        noun = f"date {entry.text}" if entry.kind == "dated" else noun
        if entry.is_dated:
            return f"{noun}, latest first"
        high = "most" if entry.kind == "count" else entry.high
        if entry.values in ("text", "thing"):
            return f"{noun} in descending order"
        is_number = entry.values in ("integer", "number")
        return f"{noun}, {high} first" if is_number else self.say("down", noun)

    def write_cut(self, text: str, value: Expression, *, down: bool, root: Term | None) -> str:
        """The first rows of an order: `only the 3 with the highest mass`."""
        noun, limit = self.name_order(value, root), self.query.limit or 1
        few = "one" if limit == 1 else "some"
        return self.say(f"{few} {self.choose_extreme(value, noun, down=down)}", text, noun, limit)

    def write_ask(self) -> str:
        """Return a question about facts, or about what there is."""
        key, claim = self.make_claim()
        if not self.phrases.is_english or key == "is there":
            return self.say(key, claim)
        match self.scope.patterns, self.scope.filters, self.scope.without:
            case [Pattern(subject, NamedNode() as predicate, value)], [], []:
                name = self.names.name_term(subject)
                entry = self.names.find_entry(predicate)
                flag = self.names.describe_flag(entry, f"is {self.names.name_term(value)}")
                if flag and isinstance(value, Literal):
                    return f"is {name} {flag.removeprefix('is ')}?"
                if predicate.value == RDF_TYPE and isinstance(value, NamedNode):
                    noun = self.names.name_type(value.value)
                    return f"is {name} {self.phrases.add_article(noun)}?"
                if not entry.steps:
                    return self.forms.ask(entry, name, self.writer.write_value(value, entry))
        if claim.count(" is ") == 1 and claim.startswith("the ") and " and " not in claim:
            about, _, rest = claim.partition(" is ")
            return f"is {about} {rest}?"
        return self.say(key, claim)

    def make_claim(self) -> tuple[str, str]:
        """Return the key of the question and its parts."""
        patterns = self.scope.patterns
        if patterns and not any(True for p in patterns for _ in find_variables(p)):
            facts = [_state(p, self.names) for p in patterns]
            for inner in self.scope.without:
                facts += [self.say("not fact", _state(p, self.names)) for p in inner.patterns]
            return "is true", self.join_list(facts)
        root = self.find_source()
        if isinstance(root, Variable):
            phrase = self.writer.describe(root, many=False)
            if phrase != strip_article(phrase, self.phrases):
                phrase = self.phrases.add_article(strip_article(phrase, self.phrases))
            return "is there", self.add_leftovers(phrase)
        statements = self.list_statements()
        if not statements:
            return "is there", self.say("something")
        return "is true", self.join_list(statements)

    def list_statements(self) -> list[str]:
        """Return the statements of an ASK query without unknown subjects."""
        texts = [
            self.describe_flag_of(condition) or self.writer.write(condition)
            for condition in self.scope.filters
        ]
        untold = (one for one in self.scope.patterns if one not in self.writer.done)
        return [*texts, *(_state(pattern, self.names) for pattern in untold)]

    def describe_flag_of(self, expression: Expression) -> str:
        """What a known thing is of which something is true or false: `measles is contagious`."""
        condition = self.writer.tests.parse(expression)
        owner = condition and self.writer.find_owner(condition.variable)
        if not (condition and owner) or isinstance(owner.subject, Variable):
            return ""
        relation = self.names.find_entry(owner.predicate)
        said = self.names.describe_flag(relation, self.writer.tests.describe([condition]))
        if not said:
            return ""
        self.writer.done.add(owner)
        return f"{self.names.name_term(owner.subject)} {said}"

    def write_description(self) -> str:
        """Return what a DESCRIBE query asks."""
        terms = [t for t in self.query.resources if not isinstance(t, Variable)]
        if terms:
            return self.say("describe", self.join_list([self.names.name_term(t) for t in terms]))
        return self.say("describe", self.write_source())

    def write_construct(self) -> str:
        """Return what a CONSTRUCT query makes."""
        nouns = [self.names.find_entry(p.predicate).text for p in self.query.template]
        return self.say("triples", self.join_list(list(dict.fromkeys(nouns))), self.write_source())

    def write_source(self) -> str:
        """Return the subject of the patterns of a query."""
        root = self.find_source()
        about = self.write_subject(root) if root is not None else self.say("things")
        return self.add_leftovers(about)


def _is_mean(select: Query) -> bool:
    """Return whether a sub-select gives one number, which is no extreme."""
    calls = [value for _, value in select.columns if isinstance(value, Call)]
    is_extreme = any(call.name in ("MAX", "MIN") for call in calls)
    return select.is_aggregate and not select.group_by and not is_extreme


def _list_variables(part: Group) -> list[Variable]:
    """All variables of a group, each time that they stand there."""
    return [one for one in walk(part) if isinstance(one, Variable)]


def _state(pattern: Pattern, names: Names) -> str:
    """Return a pattern as a statement."""
    subject, value = names.name_term(pattern.subject), names.name_term(pattern.object)
    if pattern.predicate == NamedNode(RDF_TYPE) and isinstance(pattern.object, NamedNode):
        noun = names.name_type(pattern.object.value)
        return names.phrases.say("fact class", subject, names.phrases.add_article(noun))
    entry = names.find_entry(pattern.predicate)
    flag = names.describe_flag(entry, f"is {value}")
    if flag and isinstance(pattern.object, Literal):
        return f"{subject} {flag}"
    if isinstance(pattern.object, Literal) and entry.unit and value[-1:].isdigit():
        value = f"{names.name_literal(pattern.object, is_measure=True)} {entry.unit}"
    text = make_forms(names.phrases).state(entry, subject, value)
    if entry.steps and (entry.kind, entry.steps) != ("place", "+"):
        return names.phrases.say("path " + entry.steps, text)
    return text
