"""A query that counts: aggregates, groups, and what the groups are made by."""

from __future__ import annotations

from collections.abc import Sequence

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.explanation._asked import bare
from askgraph.explanation._listing import Listing
from askgraph.rdf.vocabulary import RDF_TYPE
from askgraph.sparql.tree import (
    Call,
    Expression,
    Term,
)

__all__ = ["Grouping"]

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
        """`with the most missions`, `with more than 10 missions`; empty where no count decides."""
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
