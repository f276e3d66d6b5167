"""A query that lists: columns, and the clauses on what they are columns of."""

from __future__ import annotations

from collections.abc import Sequence

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.explanation._asked import Asked, bare, without_article
from askgraph.rdf.vocabulary import RDF_TYPE
from askgraph.sparql.tree import (
    Call,
    Expression,
    Pattern,
    Term,
)


class Listing(Asked):
    """A query whose rows are things and their values."""

    def listing(self, root: Term | None) -> str:
        """The columns asked for, and the clauses on what they are columns of."""
        if root is None:
            return self.phrases.say("values")
        asked = self.asked()
        if self.is_everything():
            self.teller.told.add(0)
            return self.phrases.say("all triples")
        if isinstance(root, Variable):
            self.teller.known[root.value] = self.teller.noun(root)
        own, far = self.columns([variable for variable in asked if variable != root], root)
        if len(own) == 1 and not far and not isinstance(root, Variable):
            if asked[0].value in self.scope.binds:
                return self.teller.words(asked[0])
            return self.of_constant(asked[0], root, own[0])
        if own and not far and root not in asked and self.is_nameless(root):
            nouns = [self.phrases.plural(noun) for noun in own]
            return self.where_they(self.the(nouns), root)
        text = self.subject_text(root)
        if root in asked or not own:
            text = self.phrases.say("with columns", text, self.their(own)) if own else text
        else:
            text = self.of_subject(own, text)
        extra = self.phrases.listed([self.far_column(variable) for variable in far])
        return self.phrases.say("with columns", text, extra) if extra else text

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
            return self.phrases.say("the", self.teller.phrase(root, many=True))
        self.teller.superlative = self.superlative(root)
        self.cuts_done = True
        if self.query.limit == 1:
            text = bare(self.teller.phrase(root, many=False), self.phrases)
        else:
            phrase = self.teller.phrase(root, many=True)
            text = self.phrases.say("some", self.query.limit, phrase)
        return self.phrases.say("the", text)

    def of_subject(self, nouns: Sequence[str], subject: str) -> str:
        known, optional = self.split_optional(nouns)
        text = self.phrases.say("of", self.the(known or optional), subject)
        if known and optional:
            return self.phrases.say("where known", text, self.their(optional, plain=True))
        return self.phrases.say("only where known", text) if optional else text

    def of_constant(self, variable: Variable, root: Term, noun: str) -> str:
        """`the mass of Mars`, `what Mars orbits`."""
        owner = self.teller.owner(variable)
        relation = self.names.relation(owner.predicate) if owner is not None else None
        subject = self.subject_text(root)
        if relation is not None and self.phrases.language == "en":
            if relation.kind == "verb":
                return self.phrases.say("what verb", subject, relation.text)
            if relation.kind == "relation":
                return self.phrases.say("what is", subject, relation.text)
        return self.of_subject([noun], subject)

    def is_nameless(self, root: Term | None) -> bool:
        """Whether the root has no noun of its own, as the nodes of n-ary relations have none."""
        return (
            isinstance(root, Variable)
            and self.teller.noun(root) == self.phrases.say("thing")
            and not self.cuts_root()
        )

    def where_they(self, nouns: str, root: Term | None) -> str:
        """`the crew members if the mission is Apollo 11`."""
        assert isinstance(root, Variable)
        self.teller.known[root.value] = self.phrases.say("thing")
        return self.teller.where_they(nouns, root)

    def their(self, nouns: Sequence[str], *, plain: bool = False) -> str:
        known, optional = ([*nouns], []) if plain else self.split_optional(nouns)
        text = self.phrases.say("their", self.phrases.listed(known)) if known else ""
        if not optional:
            return text
        listed = self.phrases.say("their", self.phrases.listed(optional))
        if not text:
            return self.phrases.say("only where known", listed)
        return self.phrases.say("where known", text, listed)

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
        own: list[str] = []
        far: list[Variable] = []
        for variable in variables:
            noun = self.own_column(variable, root)
            if noun:
                own.append(noun)
            else:
                far.append(variable)
        return own, far

    def own_column(self, variable: Variable, root: Term) -> str:
        """What a column is to the root: `name`, `name of the country`; empty if it is far."""
        if variable.value in self.scope.binds:
            return without_article(self.teller.words(variable))
        owner = self.teller.owner(variable)
        for number, pattern in enumerate(self.scope.patterns):
            if pattern.predicate == variable and pattern.subject == root:
                self.teller.told.add(number)
                return self.teller.noun(variable)
        if owner is None:
            return ""
        is_type = owner.predicate == NamedNode(RDF_TYPE)
        noun = self.teller.noun(variable) if is_type else self.teller.noun_of(owner)
        if owner.subject == root:
            return noun if self.is_plain(variable) else ""
        middle = owner.subject
        if not isinstance(middle, Variable):
            return self.phrases.say("of", noun, self.names.term(middle))
        link = self.teller.owner(middle)
        if link is None or link.subject != root or not self.is_plain(middle):
            return ""
        return self.phrases.say("of", noun, self.phrases.say("the", self.teller.noun_of(link)))

    def is_plain(self, variable: Variable) -> bool:
        """Whether a value is only asked for: nothing but its class and its columns is said of it.

        Then its class counts as told, and the link to it, as the column tells of both.
        """
        touching = [
            (number, pattern)
            for number, pattern in enumerate(self.scope.patterns)
            if variable in (pattern.subject, pattern.object)
        ]
        objects = [pattern for _, pattern in touching if pattern.subject == variable]
        types = [pattern for pattern in objects if pattern.predicate == NamedNode(RDF_TYPE)]
        silent = [
            pattern
            for pattern in objects
            if isinstance(pattern.object, Variable)
            and pattern.object.value in self.teller.silent
            and not self.teller.is_filtered(pattern.object)
        ]
        if len(touching) > 1 + len(types) + len(silent) or self.teller.is_filtered(variable):
            return not objects
        if objects:
            self.teller.told |= {number for number, _ in touching}
        return True

    def far_column(self, variable: Variable) -> str:
        """A column of something that the clauses have spoken of."""
        owner = self.teller.owner(variable)
        if owner is None or self.is_subject(variable):
            return self.phrases.say("the", self.teller.noun(variable))
        if not isinstance(owner.subject, Variable):
            return self.teller.value_of_owner(owner, variable)
        noun = self.phrases.say("the", self.teller.noun_of(owner))
        return self.phrases.say("own", noun, self.teller.noun(owner.subject))


_COUNTED = frozenset(["=", "<", ">", "<=", ">="])


class Grouping(Listing):
    """A query whose rows are groups, or computed."""

    def computed_text(self, root: Term | None) -> str:
        """Aggregates over everything, or expressions beside plain columns."""
        if not self.asked() or self.query.is_aggregate:
            return self.aggregates(root)
        texts = [self.expression(value, root) for value in self.computed()]
        return self.phrases.say("with columns", self.listing(root), self.phrases.listed(texts))

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
            listed = self.phrases.listed(texts)
            return self.phrases.say("each", self.phrases.listed(keys), listed)
        if root in self.keys:
            return self.root_phrase(root)
        counted = self.counted(root)
        if counted:
            single = len(self.keys) == 1 and len(keys[0].split()) < 3
            nouns = [self.phrases.plural(keys[0])] if single and self.query.limit != 1 else keys
            if self.query.limit and self.query.limit > 1:
                nouns[0] = self.phrases.say("some", self.query.limit, nouns[0])
            return " ".join([self.the(nouns), counted])
        return self.of_subject(keys, self.root_phrase(root))

    def counted(self, root: Term | None) -> str:
        """`with the most missions`, `with more than 10 missions`; empty if no count decides."""
        query = self.query
        if query.order and query.limit and not query.offset and self.is_count(query.order[0][0]):
            self.cuts_done = True
            about = self.counted_things(query.order[0][0], root)
            return self.phrases.say("by most" if query.order[0][1] else "by fewest", about)
        match query.having:
            case (Call(name=name, arguments=(left, Literal() as number)),) if name in _COUNTED:
                if self.is_count(left):
                    self.having_done = True
                    about = self.counted_things(left, root)
                    bound = self.phrases.say(name, self.names.term(number)).removeprefix("is ")
                    return self.phrases.say("with count", f"{bound} {about}")
        return ""

    def counted_things(self, value: Expression, root: Term | None) -> str:
        """What is counted, in the plural, with all that holds of it."""
        if self.counts(self.order_value(value), root):
            return bare(self.root_phrase(root), self.phrases)
        noun = self.order_noun(value, root)
        if self.is_nameless(root):
            return self.where_they(noun, root)
        about = bare(self.root_phrase(root), self.phrases)
        plain = isinstance(root, Variable) and about == self.phrases.plural(self.teller.noun(root))
        return noun if plain else self.phrases.say("of", noun, self.phrases.say("the", about))

    def root_phrase(self, root: Term | None) -> str:
        """The root with its clauses the first time, then by its name."""
        if root is None:
            return self.phrases.say("values")
        if self.root_said:
            noun = self.teller.noun(root) if isinstance(root, Variable) else self.names.term(root)
            return self.phrases.say("the", self.phrases.plural(noun))
        self.root_said = True
        return self.subject_text(root)

    def aggregates(self, root: Term | None) -> str:
        """All computed columns; what they are taken over is told once."""
        texts, nouns = [], []
        for value in self.computed():
            if self.counts(value, root):
                about = self.root_phrase(root)
                texts.append(
                    self.phrases.say("the", self.phrases.say("number", bare(about, self.phrases)))
                )
            elif (noun := self.aggregate_noun(value)) is not None:
                nouns.append(noun)
            else:
                texts.append(self.expression(value, root))
        listed = self.phrases.listed(nouns)
        if nouns and (root is None or root in self.keys):
            texts.insert(0, listed)
        elif nouns and self.is_nameless(root) and not self.root_said:
            texts.insert(0, self.where_they(listed, root))
        elif nouns:
            texts.insert(0, self.phrases.say("of", listed, self.root_phrase(root)))
        return self.phrases.listed(texts)

    def key_nouns(self, root: Term | None) -> list[str]:
        """What the groups are made by; values of one thing together."""
        nouns: list[str] = []
        far: dict[Variable, list[str]] = {}
        for key in self.keys:
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
        listed = self.phrases.listed(list(dict.fromkeys(values)))
        return listed if whose == listed else self.phrases.say("of", listed, self.the([whose]))

    def key_text(self, phrase: str) -> str:
        """A phrase as it stands after `for each`."""
        something = self.phrases.say("something")
        if phrase.startswith(something):
            return self.phrases.say("thing") + phrase[len(something) :]
        return bare(phrase, self.phrases)

    def key_phrase(self, key: Variable, root: Term | None) -> str:
        """A key that is a thing of its own; how the root hangs on it is left for the root."""
        links = {
            number
            for number, pattern in enumerate(self.scope.patterns)
            if number not in self.teller.told and root in (pattern.subject, pattern.object)
        }
        self.teller.told |= links
        phrase = self.teller.phrase(key, many=False)
        self.teller.told -= links
        return phrase

    def is_only_key(self, variable: Variable, root: Term | None) -> bool:
        """Whether nothing is said of a thing but its class, its columns and the root's link."""
        return all(
            pattern.predicate == NamedNode(RDF_TYPE)
            or root in (pattern.subject, pattern.object)
            or (
                isinstance(pattern.object, Variable)
                and pattern.object.value in self.teller.silent
                and not self.teller.is_filtered(pattern.object)
            )
            for pattern in self.scope.patterns
            if variable in (pattern.subject, pattern.object)
        )
