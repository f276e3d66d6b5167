"""Clauses for the variables of one group: what they are, and all that holds of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.answers.verbalize.labels import NO_FACTS
from askgraph.answers.verbalize.lexicon import Head, LexicalEntry, is_event
from askgraph.answers.verbalize.names import Nouns, ValueWords, shorten_repeated_noun
from askgraph.answers.verbalize.scope import Scope, make_scope
from askgraph.sparql import Call, Pattern, Predicate, Query, Term, english, find_variables
from askgraph.sparql.vocabulary import RDF_TYPE

_MAX_DEPTH = 12
_FULL_CLAUSES = ("whose ", "that ", "who ", "whom ")
_COMPLETE = (*_FULL_CLAUSES, "without ", "for ", "but ", "to ", "from ", "about ")
_VAGUE_ROLES = frozenset("type kind role status position category".split())


class ClauseWriter(ValueWords):
    """Writes a group of patterns, each of them once."""

    def describe(self, variable: Variable, *, many: bool, lead: str = "", tail: str = "") -> str:
        """Return a variable with all that holds of it: `singers whose country is France`.

        `lead` stands before its noun and `tail` behind it: `largest moon by diameter`.
        """
        noun = self.find_noun(variable)
        head = self.write_head(variable, noun, many=many, lead=lead)
        self.known.setdefault(variable.value, noun)
        parts = [tail, *self.list_clauses(variable, many=many)]
        if self.phrases.is_english and " for the " in head:  # of the same node
            parts = [re.sub(r"^who (?=\W?[a-z]+ed\W)", "who also ", part) for part in parts]
        elif tail[:4] in ("mit ", "con ", "avec") and len(parts) > 1:
            comma = "" if parts[1].endswith(")") else ","
            is_like = parts[1].startswith(tail[:4])
            parts = [self.join_list(parts[::-1])] if is_like else [parts[1], comma, tail]
        return " ".join(filter(None, [head, *parts]))

    def write_head(self, variable: Variable, noun: str, *, many: bool, lead: str = "") -> str:
        """Return the noun with its article or in the plural; with its owner if it has one."""
        if noun == self.say("thing"):
            is_person = self.is_person(variable)
            if lead:
                person = "people" if many else "person"
                plain = person if is_person else self.say("things") if many else noun
                return f"{lead} {plain}" if many else self.phrases.add_article(f"{lead} {plain}")
            if is_person:
                return "people" if many else "someone"
            return self.say("things" if many else "something")
        owner = self.take_owner(variable, noun)
        own = f"{lead} {noun}".strip()
        if owner is None:
            return self.pluralize(own, variable) if many else self.name_some(variable, own)
        text = self.write_owned_head(owner, own, many=many)
        return self.add_steps(text, self.names.find_entry(owner.predicate))

    def name_some(self, variable: Variable, noun: str) -> str:
        """Return `a moon`, or `the largest moon by diameter` if it sorts the rows."""
        if variable.value not in self.extremes:
            return self.phrases.add_article(noun)
        lead, tail = self.extremes[variable.value]
        return " ".join(filter(None, ["the", lead, noun, tail]))

    def pluralize(self, noun: str, variable: Term | None = None) -> str:
        """Return the plural of a noun; a quoted one stays as it is."""
        return self.phrases.pluralize(noun)

    def add_steps(self, text: str, entry: LexicalEntry) -> str:
        """Return a text with how many steps of a property it may be.

        What lies in a place lies in those around it.
        """
        has_steps = entry.steps and (entry.kind, entry.steps) != ("place", "+")
        return self.say("path " + entry.steps, text) if has_steps else text

    def write_owned_head(self, pattern: Pattern, noun: str, *, many: bool) -> str:
        """Return `discoverer of Pluto`, `suppliers for the customer Intel`."""
        source = pattern.subject
        own = self.phrases.pluralize(noun) if many else noun
        if not isinstance(source, Variable):
            text = self.say("of", noun, self.names.name_term(source))
            return text if many else self.say("the", text)
        if source.value in self.known:
            owner = self.find_noun(source)
            is_vague = owner == self.say("thing")
            return own if is_vague else self.say("of", own, self.say("that", owner))
        if self.find_noun(source) != self.say("thing") and not self.is_nameless(source):
            return self.say("of", own, self.describe(source, many=False))
        self.known[source.value] = self.say("thing")
        article = self.phrases.pluralize(noun) if many else self.phrases.add_article(noun)
        text = self.write_of_node(article, source)
        return text if text == article or self.phrases.is_english else text + ","

    def is_nameless(self, variable: Term) -> bool:
        """Return whether a variable without a class stands for nodes that only link others."""
        links = [p for p in self.scope.patterns if p.subject == variable]
        facts = self.names.facts.properties
        return not any(p.predicate == NamedNode(RDF_TYPE) for p in links) and any(
            facts.get(p.predicate.value, NO_FACTS).is_of_node
            for p in links
            if isinstance(p.predicate, NamedNode)
        )

    def list_clauses(self, variable: Term, *, many: bool) -> list[str]:
        """Return the clauses on a variable as one text in a list, or an empty list."""
        self.depth += 1
        clauses: list[str] = []
        if self.depth <= _MAX_DEPTH:
            clauses += self.list_own_conditions(variable)
            clauses += self.list_link_clauses(variable, many=many)
            clauses += self.list_union_clauses(variable, many=many)
            clauses += self.list_scope_clauses(variable, many=many)
        self.depth -= 1
        if self.phrases.is_english:
            clauses = sorted(clauses, key=_is_nested)
            if any(clause.startswith(_FULL_CLAUSES) for clause in clauses):
                full = {c: self.expand(c, variable, many=many) for c in clauses if _is_reduced(c)}
                clauses = [full.get(clause, clause) for clause in clauses]
            for at, clause in enumerate(clauses[1:], start=1):
                is_loose = _is_nested(clause) or clause.startswith("with ")
                if is_loose and clauses[at - 1].startswith(_FULL_CLAUSES):
                    clauses[at] = self.expand(clause, variable, many=many)
        if not many and self.phrases.is_english:
            clauses = [re.sub("^(that|who) are ", r"\1 is ", text) for text in clauses]
            clauses = [re.sub("^(that|who) have ", r"\1 has ", text) for text in clauses]
        return [self.join_clauses(clauses)] if clauses else []

    def join_clauses(self, clauses: Iterable[str]) -> str:
        """Return clauses as a list: reduced ones first, those on exceptions last."""
        start = self.say("not those", "")
        unique = list(dict.fromkeys(clauses))
        exceptions = [clause for clause in unique if clause.startswith(start)]
        plain_clauses = [clause for clause in unique if clause not in exceptions]
        lead = ""
        if self.phrases.is_english:
            plain_clauses = _merge_same_starts(plain_clauses)
            if len(plain_clauses) > 1 and _PREPOSITIONAL.match(plain_clauses[0]):
                lead, *plain_clauses = plain_clauses
        return " ".join(filter(None, [lead, self.join_list(plain_clauses), *exceptions]))

    def write_of_node(self, nouns: str, source: Variable) -> str:
        """Return values of a node without a name by its other values.

        `customers for the supplier Intel`, `customers where the price is more than 5`,
        `discoverers of the things that orbit Mars`.
        """
        self.list_classes(source)
        if not self.has_values_only(source):
            text = self.say("of those", nouns, " ".join(self.list_clauses(source, many=True)))
            return text.replace("the things who", "the people who")
        if self.phrases.is_english and (values := self.take_plain_values(source)):
            return f"{nouns} for {self.join_list(values)}"
        statements = self.list_statements(source)
        return self.say("where they", nouns, statements) if statements else nouns

    def take_plain_values(self, source: Variable) -> list[str]:
        """Return `the mission Apollo 11` for all values of a node; none if one has no such form."""
        patterns = [p for p in self.list_open(source) if not self.is_silent_end(p.object)]
        scopes = [inner for scopes in self.scope.unions for inner in scopes]
        scopes += [*self.scope.without, *self.scope.present]
        if any(source.value in inner.list_names() for inner in scopes):
            return []
        ends = [pattern.object for pattern in patterns if isinstance(pattern.object, Variable)]
        if any(len(self.list_open(end)) < 2 or self.is_filtered(end) for end in ends):
            return []
        self.done.update(patterns)
        values = []
        for pattern in patterns:
            entry = self.names.find_entry(pattern.predicate)
            values.append(self.add_steps(self.write_joined(pattern.object, entry), entry))
        return values

    def is_silent_end(self, term: Term) -> bool:
        """Return whether the sentence speaks of a variable already."""
        return isinstance(term, Variable) and term.value in self.silent | set(self.known)

    def has_values_only(self, variable: Variable) -> bool:
        """Return whether a variable has no other open patterns than values by their nouns."""
        for pattern in self.list_open(variable):
            target = pattern.object
            is_noun = self.names.find_entry(pattern.predicate).is_noun
            if target == variable or (not is_noun and not self.is_silent_end(target)):
                return False
        groups = (*self.scope.without, *self.scope.present)
        return not any(variable.value in inner.list_names() for inner in groups)

    def list_statements(self, variable: Variable) -> str:
        """Return all that holds of a node without a name: `the mission is Apollo 11 and …`."""
        clauses = [
            *self.list_link_clauses(variable, many=False, is_plain=True),
            *self.list_union_clauses(variable, many=False),
            *self.list_scope_clauses(variable, many=False),
        ]
        clauses = [re.sub("^whose ", self.say("the", ""), text) for text in clauses]
        clauses = [re.sub(r"^with (the \w+est) (.*)", r"the \2 is \1", text) for text in clauses]
        return self.join_list([re.sub(r"^with (?=an? )", "there is ", text) for text in clauses])

    def list_own_conditions(self, variable: Term) -> list[str]:
        """Return filters, VALUES and sub-selects on the variable itself."""
        text = self.describe_conditions(variable)
        if not text or not isinstance(variable, Variable):
            return []
        if variable.value not in self.known and self.find_owner(variable) is not None:
            return []
        return [self.write_condition(text, many=True)]

    def write_condition(self, condition: str, *, many: bool = False, person: bool = False) -> str:
        """Return a condition as a clause: `that is more than 5`, `that contains “a”`."""
        if not self.phrases.is_english:
            return self.say("that are", condition)
        verb, _, rest = condition.partition(" ")
        if many:
            verb = {"is": "are", "has": "have", "does": "do"}.get(verb, verb.removesuffix("s"))
        return f"{'who' if person else 'that'} {verb} {rest}"

    def list_link_clauses(self, variable: Term, *, many: bool, is_plain: bool = False) -> list[str]:
        """Return a clause for every pending pattern at the variable.

        If `is_plain`, all have the form "whose noun is value".
        """
        clauses = []
        for pattern in self.list_open(variable):
            if pattern in self.done:  # within another clause meanwhile
                continue
            self.done.add(pattern)
            entry = self.names.find_entry(pattern.predicate)
            if is_plain and entry.is_noun:
                entry = LexicalEntry("noun", entry.text, entry.plural, steps=entry.steps)
            if pattern.subject == variable:
                text = self.write_forward(pattern, entry, many=many)
            else:
                text = self.write_backward(pattern, entry, many=many)
            if text:
                clauses.append(self.add_steps(text, entry))
        return clauses

    def write_forward(self, pattern: Pattern, entry: LexicalEntry, *, many: bool) -> str:
        """Return the clause of a pattern on its subject; empty if it needs none."""
        target, head = pattern.object, self.make_head(pattern.subject, many=many)
        if not isinstance(target, Variable):
            value = self.write_value(target, entry)
            flag = isinstance(target, Literal) and self.names.describe_flag(entry, f"is {value}")
            if flag:
                return self.write_condition(flag, many=many, person=head.is_person)
            return self.forms.relate(entry, value, head)
        if target.value in self.known:
            if entry.is_noun and self.find_noun(target) in (entry.text, entry.bare):
                return ""  # "for each country … whose country is that country"
            if not self.phrases.is_english:
                return f"({entry.bare or entry.text})"  # "dieser" or "diese" would need its gender
            return self.forms.relate(entry, self.say("that", self.find_noun(target)), head)
        conditions = self.describe_conditions(target)
        if self.list_open(target):
            return self.relate_target(target, entry, conditions, head)
        if conditions:
            extreme = self.write_extreme(pattern, entry, conditions)
            return extreme or self.compare(entry, conditions, head)
        return "" if target.value in self.silent else self.forms.have(entry, head)

    def write_value(self, term: Term, entry: LexicalEntry) -> str:
        """Return a term as the value of a property, a number with its unit."""
        is_number = isinstance(term, Literal) and re.fullmatch(r"-*[\d.]+", term.value)
        if is_number and isinstance(term, Literal) and entry.unit:
            return f"{self.names.name_literal(term, is_measure=True)} {entry.unit}"
        return self.names.name_term(term)

    def write_extreme(self, pattern: Pattern, entry: LexicalEntry, conditions: str) -> str:
        """Return `with the largest mass` of a value that is the highest of its kind; else empty."""
        keys = {"max": "highest", "min": "lowest", "last": "latest", "first": "earliest"}
        if len(self.scope.selects) > 1:
            return self.write_both_extremes(entry, conditions)
        for aggregate, key in keys.items():
            start = self.say("=", self.say(aggregate, entry.text))
            if not entry.is_noun or not conditions.startswith(start):
                continue
            rest = conditions[len(start) :].strip()
            high = {"highest": entry.high, "lowest": entry.low}.get(key, "")
            text = self.say(f"by {key}", entry.text, "")
            if self.phrases.is_english and high:
                text = entry.describe_extreme(high)
            if self.repeats_scope(self.scope.selects[0]):
                return text
            subject = pattern.subject
            noun = self.find_noun(subject) if isinstance(subject, Variable) else ""
            key, things = "of the", self.phrases.pluralize(noun)
            if not self.phrases.has_phrase(key):
                key, things = "of", self.say("the", things)
            return f"{text} {rest.removeprefix(self.say(key, '', things).strip()).strip()}"
        return ""

    def write_both_extremes(self, entry: LexicalEntry, conditions: str) -> str:
        """Return `with the highest or the lowest mass`, of all that is spoken of; else empty."""
        values = [value for select in self.scope.selects for _, value in select.columns]
        functions = sorted(value.name for value in values if isinstance(value, Call))
        is_same = all(self.repeats_scope(select) for select in self.scope.selects)
        if not entry.is_noun or functions != ["MAX", "MIN"] or not is_same:
            return ""
        keys = {"max": "highest or lowest", "min": "highest or lowest"}
        keys |= {"last": "latest or earliest", "first": "latest or earliest"}
        for name, key in keys.items():
            if conditions.startswith(self.say("=", self.say(name, entry.text))):
                return self.say(f"by {key}", entry.text)
        return ""

    def repeats_scope(self, select: Query) -> bool:
        """Return whether a sub-select looks at the very things that are spoken of."""
        if select.group_by:
            return False
        inner = make_scope(select.where)

        def list_links(scope: Scope) -> set[tuple[Predicate, Term | None]]:
            ends = ((p.predicate, p.object) for p in scope.patterns)
            return {(link, None if isinstance(end, Variable) else end) for link, end in ends}

        here, there = list_links(self.scope), list_links(inner)
        return there <= here and len(inner.filters) == len(self.scope.filters) - 1

    def compare(self, entry: LexicalEntry, conditions: str, head: Head) -> str:
        """Return a value with a condition: `whose age is more than 20`, `directed by A or B`."""
        if flag := self.names.describe_flag(entry, conditions):
            return self.write_condition(flag, many=head.is_many, person=head.is_person)
        if not self.phrases.is_english and not entry.is_noun and conditions in self.value_texts:
            return self.forms.relate(entry, conditions, head)
        if self.phrases.is_english:
            conditions = shorten_repeated_noun(entry.text, conditions)
        return self.forms.compare(entry, conditions, head)

    def relate_target(
        self, target: Variable, entry: LexicalEntry, conditions: str, head: Head
    ) -> str:
        """Return the clause of a link whose other end has clauses of its own."""
        classes = self.list_classes(target)
        noun = " ".join(classes)
        is_chain = entry.is_noun and not entry.passive and not classes and not conditions
        if self.phrases.is_english and is_chain and (text := self.write_possessive(target, entry)):
            return text
        is_person = self.is_person(target)
        own = entry.text if entry.is_noun and not (entry.passive and entry.value_noun) else ""
        introduced = noun or own or entry.value_noun or self.say("thing")
        self.known.setdefault(target.value, introduced)
        clauses = self.list_clauses(target, many=False)
        if conditions:
            clauses = [self.write_condition(conditions), *clauses]
        some = self.say("something")
        if self.phrases.is_english and not noun:
            noun = "" if entry.is_noun and not entry.passive else introduced
            noun = "" if noun == self.say("thing") else noun
            some = "someone" if is_person else some
        is_plain = entry.is_noun and not entry.passive
        if noun and (noun != entry.text or entry.passive):
            value = " ".join([self.name_some(target, noun), *clauses])
        elif clauses and (entry.kind == "verb" or (self.phrases.is_english and not is_plain)):
            value = " ".join([some, *clauses])
        elif clauses and self.phrases.is_english:
            return f"with {self.phrases.add_article(entry.text)} {self.join_list(clauses)}"
        elif clauses:
            value = self.say("one that", self.join_list(clauses))
        else:
            value = self.phrases.add_article(noun) if noun else some
        return self.forms.relate(entry, value, head)

    def write_possessive(self, target: Variable, entry: LexicalEntry) -> str:
        """Return `whose site's city is Graz` for one value of a value; else empty."""
        patterns = self.list_open(target)
        if len(patterns) != 1 or patterns[0].subject != target or entry.steps:
            return ""
        inner = self.names.find_entry(patterns[0].predicate)
        groups = (*self.scope.without, *self.scope.present, *self.scope.optional)
        is_used = any(target.value in inner.list_names() for inner in groups)
        is_used |= any(target.value in one.list_names() for u in self.scope.unions for one in u)
        is_plain = inner.kind == "noun" and not inner.steps and not entry.text.endswith("”")
        far = patterns[0].object
        if isinstance(far, Variable):
            is_used |= self.list_open(far) != patterns or self.is_silent_end(far)
        if not is_plain or is_used:
            return ""
        self.done.add(patterns[0])
        possessive = f"{entry.text}{'’' if entry.text.endswith('s') else '’s'} {inner.text}"
        if not isinstance(far, Variable):
            return f"whose {possessive} is {self.write_value(far, inner)}"
        conditions = self.describe_conditions(far)
        return f"whose {possessive} {conditions}" if conditions else f"whose {possessive} is known"

    def write_backward(self, pattern: Pattern, entry: LexicalEntry, *, many: bool) -> str:
        """Return the clause of a pattern on its object."""
        source, head = pattern.subject, self.make_head(pattern.object, many=many)
        if not isinstance(source, Variable):
            return self.forms.relate_back(entry, self.names.name_term(source), head)
        if source.value in self.known:
            return self.forms.relate_back(entry, self.say("that", self.find_noun(source)), head)
        own = self.find_noun(pattern.object) if isinstance(pattern.object, Variable) else ""
        is_node = self.find_noun(source) == self.say("thing") or self.is_nameless(source)
        if is_node and entry.is_noun and (text := self.join_node(pattern, entry, head)):
            return text
        if self.phrases.is_english:
            is_typed = isinstance(pattern.object, Variable) and bool(
                self.list_classes(pattern.object)
            )
            if entry.is_noun and not is_node and entry.text == own and is_typed:
                return f"with {self.describe(source, many=False)}"
        return self.forms.relate_back(entry, self.describe(source, many=False), head)

    def join_node(self, pattern: Pattern, entry: LexicalEntry, head: Head) -> str:
        """Return the clause of a node without a name that joins a thing with others.

        `who crewed the mission Apollo 11`, `who crewed a mission to the Moon`; empty if the node
        has more to it.
        """
        node = pattern.subject
        assert isinstance(node, Variable)
        patterns = [p for p in self.list_open(node) if p.predicate != NamedNode(RDF_TYPE)]
        patterns = [p for p in patterns if not self.is_silent_end(p.object)]
        groups = (*self.scope.without, *self.scope.present)
        is_used = any(node.value in inner.list_names() for inner in groups)
        entries = [self.names.find_entry(p.predicate) for p in patterns]
        is_joined = all(e.is_noun for e in entries) and all(p.subject == node for p in patterns)
        if not patterns or is_used or not is_joined or self.is_filtered(node):
            return ""
        self.list_classes(node)
        self.known[node.value] = self.say("thing")
        values = []
        for other, inner in sorted(
            zip(patterns, entries, strict=True), key=lambda pair: pair[1].text in _VAGUE_ROLES
        ):
            self.done.add(other)
            values.append(self.add_steps(self.write_joined(other.object, inner), inner))
        if entry.past:
            first, *rest = values
            clause = f"{'who' if head.is_person else 'that'} {entry.past} {first}"
            return f"{clause} with {self.join_list(rest)}" if rest else clause
        own = self.find_noun(pattern.object) if isinstance(pattern.object, Variable) else ""
        is_typed = isinstance(pattern.object, Variable) and bool(self.list_classes(pattern.object))
        if not self.phrases.is_english:
            return self.say("joined", entry.text, self.join_list(values))
        if entry.text == own and is_typed:
            return f"for {self.join_list(values)}"
        noun = entry.plural if head.is_many and entry.plural else f"the {entry.text}"
        who, be = "who" if head.is_person else "that", "are" if head.is_many else "is"
        return f"{who} {be} {noun} for {self.join_list(values)}"

    def write_joined(self, term: Term, entry: LexicalEntry) -> str:
        """Return what a node joins: `the mission Apollo 11`, `a mission to the Moon`."""
        if not isinstance(term, Variable):
            value = self.write_value(term, entry).removeprefix("the ")
            return f"{self.say('the', entry.text)} {value}"
        if term.value in self.known:
            return self.say("that", self.find_noun(term))
        conditions = self.describe_conditions(term)
        noun = " ".join(self.list_classes(term)) or entry.text
        self.known[term.value] = noun
        clauses = self.list_clauses(term, many=False)
        if conditions:
            clauses = [self.write_condition(conditions), *clauses]
        return " ".join([self.name_some(term, noun), *clauses])

    def list_union_clauses(self, variable: Term, *, many: bool) -> list[str]:
        """Return the clauses of unions whose every part is about the variable."""
        clauses = []
        for number, scopes in enumerate(self.scope.unions):
            if number in self.done_unions or not isinstance(variable, Variable):
                continue
            if not all(variable.value in inner.list_names() for inner in scopes):
                continue
            self.done_unions.add(number)
            texts = []
            for inner in scopes:
                writer = self.enter(inner)
                about = inner.resolve(variable)
                writer.known.setdefault(about.value, self.find_noun(variable))
                classes = writer.list_classes(about)
                texts += [
                    self.say("that are", self.phrases.pluralize(noun) if many else noun)
                    for noun in classes
                    if noun not in self.phrases.split_alternatives(self.find_noun(variable))
                ]
                texts += writer.list_clauses(about, many=many)
            if texts:
                if self.phrases.is_english and any(t.startswith(_FULL_CLAUSES) for t in texts):
                    texts = [self.expand(text, variable, many=many) for text in texts]
                clauses.append(self.join_list(list(dict.fromkeys(texts)), "or"))
        return clauses

    def expand(self, clause: str, variable: Term, *, many: bool) -> str:
        """Return a reduced clause in full: `that were directed by Ann`, `that have a member`."""
        who = "who" if self.is_person(variable) else "that"
        if clause.startswith("with "):
            return f"{who} {'have' if many else 'has'} {clause.removeprefix('with ')}"
        if clause.startswith(_COMPLETE):
            return clause
        are, is_ = ("were", "was") if is_event(clause.split(" by ")[0]) else ("are", "is")
        return f"{who} {are if many else is_} {clause}"

    def enter(self, inner: Scope) -> ClauseWriter:
        """Return a writer of a group within this one, with the same nouns."""
        return ClauseWriter(
            inner, self.names, silent=self.silent, known=self.known, write_select=self.write_select
        )

    def list_scope_clauses(self, variable: Term, *, many: bool) -> list[str]:
        """Return clauses of NOT EXISTS, MINUS and EXISTS groups that hold this very variable."""
        clauses = []
        for scopes, is_negative in ((self.scope.without, True), (self.scope.present, False)):
            for inner in list(scopes):
                if text := self.write_inner(inner, variable, is_negative=is_negative, many=many):
                    scopes.remove(inner)
                    clauses.append(text)
        return clauses

    def write_inner(self, inner: Scope, variable: Term, *, is_negative: bool, many: bool) -> str:
        """Return the clause of one inner group; empty if it is not about the variable."""
        if not isinstance(variable, Variable):
            return ""
        if variable.value in inner.list_names():
            return self.write_shared(inner, variable, is_negative=is_negative, many=many)
        names = {name.value for name in find_variables(tuple(inner.filters))}
        ends = [variable, *(p.object for p in self.scope.patterns if p.subject == variable)]
        outside = names & {end.value for end in ends if isinstance(end, Variable)}
        if not outside - inner.list_names():
            return ""
        writer = self.enter(inner)
        for name in outside - inner.list_names():
            writer.known[name] = self.find_noun(Variable(name))
        # The variable that a group is mainly about: the first subject that is nobody's object.
        subjects = [p.subject for p in inner.patterns if isinstance(p.subject, Variable)]
        objects = {p.object for p in inner.patterns}
        free = [subject for subject in subjects if subject not in objects]
        start = next(iter([*free, *subjects]), None)
        if start is None:
            return ""
        return self.write_existence(writer.describe(start, many=False), is_negative=is_negative)

    def write_existence(self, text: str, *, is_negative: bool) -> str:
        """Return `for which there is a concert …`."""
        if not is_negative:
            return self.say("there is", text)
        if self.phrases.is_english:
            text = re.sub(r"^(?:an? |some(?=thing\b))", "", text)
        return self.say("there is no", self.replace_something(text))

    def replace_something(self, text: str) -> str:
        """Return a phrase with "thing" in the place of the "something" that it starts with."""
        something = self.say("something")
        starts = text.startswith(something)
        return self.say("thing") + text.removeprefix(something) if starts else text

    def write_shared(
        self, inner: Scope, variable: Variable, *, is_negative: bool, many: bool
    ) -> str:
        """Return the clause of an inner group in which the variable stands."""
        writer = self.enter(inner)
        about = inner.resolve(variable)
        noun = self.find_noun(variable)
        writer.known[about.value] = noun
        head = self.make_head(variable, many=many)
        at = [p for p in inner.patterns if about in (p.subject, p.object)]
        if len(inner.patterns) == 1 and at and at[0].subject == about and not inner.filters:
            return self.write_plain(at[0], head, is_negative=is_negative)
        if len(at) == 1 and at[0].object == about and isinstance(at[0].subject, Variable):
            if is_negative and (text := writer.write_lack_back(at[0], noun, head)):
                return text
            text = writer.describe(at[0].subject, many=False)
            return self.write_existence(text, is_negative=is_negative)
        clauses = writer.list_clauses(about, many=many or is_negative)
        nouns = [
            self.say("that are", self.phrases.pluralize(found))
            for found in Nouns(inner, self.names).list_classes(about)
            if found != noun
        ]
        text = self.join_list([*nouns, *clauses])
        if not text:
            return ""
        return self.say("not those", text) if is_negative else text

    def write_lack_back(self, pattern: Pattern, own: str, head: Head) -> str:
        """Return `that no moon orbits`, `without any climber`; empty without a fitting phrase."""
        source, entry = pattern.subject, self.names.find_entry(pattern.predicate)
        if entry.steps or entry.kind == "any" or not isinstance(source, Variable):
            return ""
        if not self.phrases.is_english and (
            not self.phrases.has_phrase("of no") or entry.kind == "place"
        ):
            return ""
        noun = self.find_noun(source)
        is_thing = noun == self.say("thing")
        self.known[source.value] = noun
        self.done.add(pattern)
        rest = " ".join(self.list_clauses(source, many=False))
        if is_thing and not rest:
            return self.forms.lack_back(entry, "", own, head)
        return self.forms.lack_back(entry, f"{noun} {rest}".strip(), own, head)

    def write_plain(self, pattern: Pattern, head: Head, *, is_negative: bool) -> str:
        """Return the clause of an inner group of one pattern on the variable."""
        entry = self.names.find_entry(pattern.predicate)
        if isinstance(pattern.object, Variable):
            form = self.forms.lack if is_negative else self.forms.have
            if text := form(entry, head):
                return text
            return self.say("not those", self.forms.have(entry, head))
        value = self.write_value(pattern.object, entry)
        if pattern.predicate == NamedNode(RDF_TYPE) and isinstance(pattern.object, NamedNode):
            noun = self.phrases.pluralize(self.names.name_type(pattern.object.value))
            text = self.say("that are", noun)
        else:
            if is_negative and (text := self.forms.differ(entry, value, head)):
                return text
            text = self.forms.relate(entry, value, head)
        return self.say("not those", text) if is_negative else text


_PREPOSITIONAL = re.compile(r"\W?(?:to|from|about|in)\W? ?(?!.* (?:that(?! of)|who|whose|whom) )")
_NESTED = re.compile(r".+ (?:that(?! of)|who|whose|whom) ")


def _is_nested(clause: str) -> bool:
    """Return whether a clause has another in it, to which one behind it would seem to belong."""
    return _NESTED.match(clause) is not None


def _is_reduced(clause: str) -> bool:
    """Return whether a clause begins with a participle: `first climbed by Ann`."""
    words = re.findall(r"\w+", clause)[:2]
    return words[0] not in ("with", "in") and any(map(english.is_past_participle, words))


_SAME_START = re.compile(r"(.+ (?:by|to|in|at|for|of)) ((?:the )?[A-Z][^,]*|“[^”]*”)")


def _merge_same_starts(clauses: Sequence[str]) -> list[str]:
    """Return clauses, `operated by both A and B` for two of one start, those with "whose" last."""
    merged: dict[str, list[str]] = {}
    for clause in clauses:
        match = None if clause.startswith("whose ") else _SAME_START.fullmatch(clause)
        merged.setdefault(match[1] if match else clause, []).append(match[2] if match else "")
    texts = []
    for start, ends in merged.items():
        if len(ends) == 2:
            texts.append(f"{start} both {ends[0]} and {ends[1]}")
        else:
            texts += [f"{start} {end}".strip() for end in ends]
    late = ("whose ", "for which ")
    texts.sort(key=lambda text: (_is_nested(text), text.startswith(late)))
    return sorted(texts, key=lambda text: not _PREPOSITIONAL.match(text))
