"""Words for terms and nouns for the variables of a group, with the conditions on them."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from askgraph import sparql as ast
from askgraph.answers.verbalize.labels import NO_FACTS, SchemaFacts
from askgraph.answers.verbalize.lexicon import Head, LexicalEntry, is_gerund, make_entry, make_forms
from askgraph.answers.verbalize.phrases import (
    Phrases,
    ValueWriter,
    is_date,
    is_person_noun,
    load_phrases,
    to_adjective,
    trim_definition,
)
from askgraph.answers.verbalize.scope import (
    Condition,
    Conditions,
    Scope,
    make_scope,
    unwrap,
    unwrap_year,
)
from askgraph.errors import QuerySyntaxError
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import split_local_name
from askgraph.sparql.vocabulary import RDF_TYPE

_MAX_REPLACEMENTS = 300
"""Variables that expressions replace by what they stand for, in the words of one query."""
_WITH_THE = re.compile(
    r"(?:Moon|Sun|Netherlands|Philippines|Maldives|Bahamas|Seychelles|Gambia|Vatican|Czech Republic"
    r"|(?:United|Soviet) .+|.+ (?:Republic|Kingdom|Union|Federation|Emirates|Islands|Sea|Ocean"
    r"|River|Desert|Administration|Agency|Organi[sz]ation|Commission|Alps|Museum|Bridge|Party))"
)
_OWN_ARTICLE = re.compile(r"(?:The|A|An|European Union)\b")
_COMPARED = frozenset(["=", "!=", "<", ">", "<=", ">="])
_FUNCTIONS = {
    **{name: name.lower() for name in "YEAR MONTH DAY STRLEN LANG ABS ROUND".split()},
    **dict.fromkeys(["CEIL", "FLOOR"], "round"),
}


class Names:
    """Words for terms, by labels, else by the IRIs themselves.

    Attributes:
        labels: The label of each IRI that has one.
        phrases: The phrases of the reader's language.
        facts: Knowledge of the terms from the graph.
        values: Values of variables, in words, that stand behind their nouns.
        keeps_case: Whether labels keep their first letters.
    """

    def __init__(
        self,
        labels: Mapping[str, str],
        phrases: Phrases,
        *,
        facts: SchemaFacts | None = None,
        keeps_case: bool = False,
        values: Mapping[str, str] | None = None,
    ) -> None:
        self.labels = labels
        self.phrases = phrases
        self.facts = facts or SchemaFacts()
        self.values = values or {}
        self.keeps_case = keeps_case
        self.writer = ValueWriter(phrases)
        self._entries: dict[ast.Predicate, LexicalEntry] = {}
        self._replacements = 0

    def count_replacement(self) -> None:
        """Count a variable that its definition replaces; raise `QuerySyntaxError` for too many."""
        self._replacements += 1
        if self._replacements > _MAX_REPLACEMENTS:
            raise QuerySyntaxError(
                "the query has too many names that stand for other names to describe it"
            )

    def name_iri(self, iri: str) -> str:
        """Return the label of an IRI, or the words in it."""
        return " ".join((self.labels.get(iri) or split_local_name(iri)).split()) or iri

    def name_term(self, term: ast.Term) -> str:
        """Return an IRI or a literal in words; text in quotation marks."""
        match term:
            case NamedNode():
                return self.name_thing(term.value)
            case Literal():
                return self.name_literal(term)
            case _:
                return self.phrases.say("something")

    def name_thing(self, iri: str) -> str:
        """Return the name of a thing, in English with the article that some names have."""
        name = self.name_iri(iri)
        is_named = self.phrases.is_english and not self.keeps_case and iri in self.labels
        has_article = is_named and _WITH_THE.fullmatch(name) and not _OWN_ARTICLE.match(name)
        return f"the {name}" if has_article else name

    def name_literal(self, literal: Literal, *, is_measure: bool = False) -> str:
        """Return a value: numbers and dates as people write them, text in quotation marks."""
        datatype = literal.datatype.value
        if datatype == v.XSD_BOOLEAN:
            return self.phrases.say("yes" if literal.value in ("true", "1") else "no")
        if datatype in {*v.NUMERIC_DATATYPES, *v.DATE_DATATYPES, *v.DURATION_DATATYPES, v.XSD_TIME}:
            return self.writer.write_bound(literal, is_measure=is_measure)
        return self.phrases.quote(" ".join(literal.value.split()))

    def describe_flag(self, entry: LexicalEntry, condition: str) -> str:
        """Return the predicate of a true or false property: `is (not) contagious`.

        `condition` is `is true` or `is false` in words. Empty for any other property or condition.
        """
        label = entry.label or entry.text
        adjective = to_adjective(label) if self.phrases.is_english else ""
        is_true, is_false = (f"is {self.phrases.say(key)}" for key in ("yes", "no"))
        if label.startswith("is "):
            condition = condition.replace("“", "").replace("”", "")
        if not adjective or entry.steps or condition not in (is_true, is_false):
            return ""
        return f"is {adjective}" if condition == is_true else f"is not {adjective}"

    def is_foreign(self, iri: str) -> bool:
        """Return whether the name of a class or property is in a language not asked for."""
        phrases = self.phrases
        return phrases.nouns != phrases.language or (
            not phrases.is_english and iri not in self.labels
        )

    def name_class(self, iri: str) -> str:
        """Return a class in words: lower case at its start, but for names and German nouns."""
        noun = self.name_iri(iri)
        noun = noun if self.keeps_case else trim_definition(noun)
        word = noun.split(" ")[0]
        keeps = self.phrases.language == "de" or (self.keeps_case and iri in self.labels)
        is_plain = not keeps and word[1:].islower() and word[0].isupper()
        return noun[0].lower() + noun[1:] if is_plain else noun

    def name_type(self, iri: str) -> str:
        """Return a class in words, in the singular; quoted if its language has no plural here."""
        noun = self.name_class(iri)
        if not self.phrases.is_english and self.is_foreign(iri) and self.phrases.nouns != "en":
            return self.phrases.quote(noun)
        is_phrase = noun.rpartition(" ")[2][:1].isupper()  # "bemannte Mission"
        if self.phrases.language == "de" and not is_phrase:
            noun = noun[:1].upper() + noun[1:]
        return self.phrases.singularize(noun)

    def is_person(self, iri: str) -> bool:
        """Return whether the instances of a class are people."""
        return iri in self.facts.persons or (
            self.phrases.is_english and is_person_noun(self.name_class(iri))
        )

    def find_entry(self, predicate: ast.Predicate) -> LexicalEntry:
        """Return the lexical entry of a predicate or path."""
        if predicate not in self._entries:
            match predicate:
                case Variable():
                    entry = LexicalEntry("any", self.phrases.say("any property"))
                case NamedNode():
                    entry = self._make_entry(predicate.value)
                case ast.Path():
                    entry = self._make_path_entry(predicate)
            self._entries[predicate] = entry
        return self._entries[predicate]

    def _make_entry(self, iri: str) -> LexicalEntry:
        if iri == RDF_TYPE:
            return LexicalEntry("noun", self.phrases.say("type"), self.phrases.say("type") + "s")
        return make_entry(
            self.name_class(iri),
            self.phrases.language,
            is_own=not self.is_foreign(iri),
            facts=self.facts.properties.get(iri, NO_FACTS),
            wording=self.facts.wordings.get(iri),
        )

    def unquote(self, noun: str) -> str:
        """Return a noun that begins a sentence: one word of another language without quotes."""
        entries = self._entries.values()
        return next((entry.bare for entry in entries if entry.text == noun), "") or noun

    def _make_path_entry(self, path: ast.Path) -> LexicalEntry:
        say, join = self.phrases.say, self.phrases.join_list
        match path:
            case ast.Path(operator="+" | "*" | "?" as steps, parts=(inner,)):
                return replace(self.find_entry(inner), steps=steps)
            case ast.Path(operator="!", parts=parts):
                nouns = join([self.find_entry(part).text for part in parts], "or")
                return LexicalEntry("noun", say("path !", nouns))
            case ast.Path(operator="/", parts=parts):
                texts = [self.find_entry(part).text for part in parts]
                while len(texts) > 1:
                    last = texts.pop()
                    texts[-1] = say("of", last, texts[-1])
                return LexicalEntry("noun", texts[0], self.phrases.pluralize(texts[0]))
            case ast.Path(operator="|", parts=(one, ast.Path(operator="^", parts=(back,)))) if (
                one == back
            ):
                return self.find_entry(one)  # holds in both directions
            case ast.Path(operator="^", parts=(inner,)):
                return LexicalEntry("noun", say("back", self.find_entry(inner).text))
            case ast.Path(parts=parts):
                entries = [self.find_entry(part) for part in parts]
                kinds = {entry.kind for entry in entries}
                text = join([entry.text for entry in entries], "or")
                plural = join([entry.plural or entry.text for entry in entries], "or")
                return LexicalEntry(kinds.pop() if len(kinds) == 1 else "noun", text, plural)


def without_article(text: str) -> str:
    """Return an English phrase without the article before it."""
    return re.sub(r"^(?:the|an?) ", "", text)


def strip_article(text: str, phrases: Phrases) -> str:
    """Return a phrase without its article in English; other languages have none in phrases."""
    return without_article(text) if phrases.is_english else text


class Nouns:
    """Nouns for the variables of one group.

    Attributes:
        silent: The names of variables that the sentence around speaks of already (columns, keys,
            sort keys): a plain link to one of those needs no clause.
        known: The nouns by which the sentence has introduced variables.
        write_select: Puts a column of a sub-select into words.
        done: The patterns that the sentence covers.
    """

    def __init__(
        self,
        scope: Scope,
        names: Names,
        *,
        silent: Iterable[str] = (),
        known: dict[str, str] | None = None,
        write_select: Callable[[ast.Query, str], str] = lambda _select, name: name,
    ) -> None:
        self.scope = scope
        self.names = names
        self.phrases = names.phrases
        self.forms = make_forms(names.phrases)
        self.say, self.join_list = self.phrases.say, self.phrases.join_list
        self.silent = set(silent)
        self.known = dict(known or {})
        self.extremes: dict[str, tuple[str, str]] = {}  # words around nouns that sort the rows
        self.write_select = write_select
        self.done: set[ast.Pattern] = set()
        self.done_filters: set[int] = set()
        self.done_unions: set[int] = set()
        self.value_texts: set[str] = set()
        self.depth = 0

    def list_classes(self, variable: ast.Term) -> list[str]:
        """Return the classes of a variable in words and mark their patterns as done."""
        classes = []
        for pattern in self.scope.patterns:
            is_type = pattern.predicate == NamedNode(RDF_TYPE)
            if is_type and pattern.subject == variable and isinstance(pattern.object, NamedNode):
                classes.append(self.names.name_type(pattern.object.value))
                self.done.add(pattern)
        return list(dict.fromkeys(classes))

    def find_noun(self, variable: Variable) -> str:
        """Return a singular noun for a variable: its class, or its role for another term."""
        if variable.value in self.known:
            return self.known[variable.value]
        if classes := self.list_classes(variable):
            return " ".join(classes)
        value_noun = ""
        for pattern in self.scope.patterns:
            if pattern.predicate == variable:
                return self.say("property")
            if pattern.object == variable:
                if noun := self._name_as_object(pattern):
                    return noun
                value_noun = value_noun or self.names.find_entry(pattern.predicate).value_noun
        for scopes in self.scope.unions:
            options = (Nouns(inner, self.names).list_classes(variable) for inner in scopes)
            if classes := [noun for option in options for noun in option]:
                return self.join_list(list(dict.fromkeys(classes)), "or")
        return value_noun or self.say("thing")

    def is_person(self, variable: ast.Term) -> bool:
        """Return whether a variable is known to be a person."""
        if not self.phrases.is_english:
            return False
        types = [
            pattern.object
            for pattern in self.scope.patterns
            if pattern.predicate == NamedNode(RDF_TYPE) and pattern.subject == variable
        ]
        if types:
            return any(isinstance(t, NamedNode) and self.names.is_person(t.value) for t in types)
        for pattern in self.scope.patterns:
            entry = self.names.find_entry(pattern.predicate)
            if pattern.object == variable and entry.leads_to_person:
                return True
            if pattern.subject == variable and entry.is_of_person:
                return True
        noun = self.known.get(variable.value, "") if isinstance(variable, Variable) else ""
        return bool(noun) and is_person_noun(noun)

    def make_head(self, variable: ast.Term, *, many: bool) -> Head:
        """Return the grammar of a variable's noun."""
        noun = self.known.get(variable.value) if isinstance(variable, Variable) else ""
        return Head(many, self.is_person(variable), noun == self.say("thing"))

    def _name_as_object(self, pattern: ast.Pattern) -> str:
        """Return a noun for the object of a pattern; empty if a phrase would be a poor one."""
        if pattern.predicate == NamedNode(RDF_TYPE):
            return self.say("class")
        is_subject = any(other.subject == pattern.object for other in self.scope.patterns)
        entry = self.names.find_entry(pattern.predicate)
        if entry.kind == "any" or (not entry.is_noun and (is_subject or entry.value_noun)):
            return ""
        return self.name_object(pattern)

    def name_object(self, pattern: ast.Pattern) -> str:
        """Return the role of the object of a pattern for its subject."""
        entry = self.names.find_entry(pattern.predicate)
        if entry.kind == "any":
            return self.say("thing")
        if entry.kind == "place":
            return self.say("place noun")
        if entry.is_noun:
            return (entry.values == "thing" and entry.bare) or entry.text
        if entry.kind == "dated" or is_gerund(entry.text):
            return self.name_of_kind(entry)
        return entry.value_noun or self.phrases.quote(entry.text)

    def name_of_kind(self, entry: LexicalEntry) -> str:
        """Return a noun for the values of a property that is no noun."""
        if entry.kind == "dated" and self.phrases.is_english:
            return f"date {entry.text}"
        return entry.text if entry.kind == "place" else self.phrases.quote(entry.text)

    def find_owner(self, variable: Variable) -> ast.Pattern | None:
        """Return the first pattern in which a variable is the object."""
        patterns = [*self.scope.patterns, *(p for o in self.scope.optional for p in o.patterns)]
        return next((pattern for pattern in patterns if pattern.object == variable), None)

    def take_owner(self, variable: Variable, noun: str) -> ast.Pattern | None:
        """Return the pattern by which a variable is the `noun` of another; mark it as done."""
        for pattern in self.list_open(variable):
            entry = self.names.find_entry(pattern.predicate)
            if pattern.object == variable and entry.is_noun and noun in (entry.text, entry.bare):
                self.done.add(pattern)
                return pattern
        return None

    def list_open(self, term: ast.Term | None) -> list[ast.Pattern]:
        """Return the pending patterns with a term at an end."""
        ends = ((pattern, (pattern.subject, pattern.object)) for pattern in self.scope.patterns)
        return [pattern for pattern, both in ends if term in both and pattern not in self.done]


class ValueWords(Nouns, ABC):
    """Phrases for the values that variables must have, or that are computed of them."""

    @abstractmethod
    def describe(self, variable: Variable, *, many: bool) -> str:
        """Return a variable with all that holds of it."""

    @property
    def tests(self) -> Conditions:
        """The parser of conditions."""
        return Conditions(self.write, self.phrases)

    def describe_conditions(self, variable: ast.Term) -> str:
        """Return all conditions on one variable, to follow "is", and mark them as done."""
        if not isinstance(variable, Variable):
            return ""
        conditions = []
        for number, expression in enumerate(self.scope.filters):
            if number in self.done_filters or not self.mentions(expression, variable):
                continue
            self.done_filters.add(number)
            condition = self.tests.parse(expression)
            if condition is not None and condition.variable == variable:
                conditions.append(self.refine(condition))
            else:
                self.done_filters.discard(number)
        for values in self.scope.values:
            if variable in values.variables:
                at = values.variables.index(variable)
                cells = [row[at] for row in values.rows]
                if options := [cell for cell in cells if cell is not None]:
                    text = self.tests.join_options(options)
                    conditions.append(self.refine(Condition(variable, "in", text)))
        conditions += [
            Condition(variable, "=", self.write_select(select, variable.value))
            for select in self.scope.selects
            if variable.value in {name.value for name in ast.find_variables(select)}
            and variable not in [key for key, _ in select.group_by]
        ]
        text = self.tests.describe(conditions)
        if all(condition.key in ("=", "in") for condition in conditions):
            self.value_texts.add(text)
        return text

    def refine(self, condition: Condition) -> Condition:
        """Return a comparison in the words for dates, or with the unit of the property."""
        owner = self.find_owner(condition.variable)
        if owner is None:
            return condition
        entry, value = self.names.find_entry(owner.predicate), condition.value
        compares = condition.key in ("<", ">", "<=", ">=")
        is_date_text = entry.values == "text" and is_date(entry.text)
        if compares and (entry.is_dated or (is_date_text and re.search(r"\d{4}", value))):
            return replace(condition, key=f"date {condition.key}")
        if entry.is_dated or not (compares or condition.key in ("=", "!=", "in", "not in")):
            return condition
        if entry.unit or entry.kind == "count" or entry.values == "integer":
            write = self.names.writer.write_number
            year_like = r"(?<![\d.,])\d{4}(?![\d.,])"
            value = re.sub(year_like, lambda digits: write(int(digits[0])), value)
        if not entry.unit:
            return replace(condition, value=value)
        is_number = re.search(r"\d[\ue000-\uf8ff]*$", value)
        return replace(condition, value=f"{value} {entry.unit}") if is_number else condition

    def is_filtered(self, variable: Variable) -> bool:
        """Return whether any filter, VALUES or sub-select restricts a variable."""
        names = {name.value for values in self.scope.values for name in values.variables}
        names |= {
            name.value for select in self.scope.selects for name in ast.find_variables(select)
        }
        return variable.value in names or any(
            self.mentions(condition, variable) for condition in self.scope.filters
        )

    def mentions(self, expression: ast.Expression, variable: Variable) -> bool:
        """Return whether a filter is about this variable, not merely compared with it."""
        plain = Conditions(lambda _: "", self.phrases).parse(expression)
        return plain is not None and plain.variable == variable

    def write(self, expression: ast.Expression) -> str:
        """Return an expression as a noun phrase."""
        match unwrap(expression):
            case Variable() as variable:
                return self.refer(self.scope.resolve(variable))
            case ast.Call() as call:
                return self.write_elapsed(call) or self.write_call(call)
            case ast.Group():
                return self.say("something")
            case term:
                return self.names.name_term(term)

    def write_call(self, call: ast.Call) -> str:
        """Return a function of some arguments as a noun phrase."""
        match call:
            case ast.Call(
                "*", (ast.Call("FLOOR", (ast.Call("/", (year, Literal(value="10"))),)), _)
            ):
                return self.say("decade", self.write(unwrap_year(year)))
            case ast.Call("CEIL", (ast.Call("/", (year, Literal(value="100"))),)):
                return self.say("century", self.write(unwrap_year(year)))
            case ast.Call("STRDT", (ast.Call("SUBSTR", (ast.Call("STR", (date,)), *_)), _)):
                return self.say("month", self.write(date))
            case ast.Call("SUBSTR", (ast.Call("STR", (date,)), _, Literal(value="4"))):
                return self.say(_FUNCTIONS["YEAR"], self.write(date))
        texts = [self.write(argument) for argument in call.arguments]
        if call.name in _FUNCTIONS and texts:
            return self.say(_FUNCTIONS[call.name], texts[0])
        if call.name in ("+", "-", "*", "/") and len(texts) == 2:
            return self.say(call.name, *texts)
        if call.name == "IF" and len(texts) == 3:
            return self.say("if", *texts)
        if call.name in ("COALESCE", "CONCAT") and len(texts) > 1:
            return self.say(call.name.lower(), texts[0], self.join_list(texts[1:]))
        if (condition := self.tests.parse(call)) is not None:
            subject = self.refer(condition.variable)
            text = self.tests.describe([self.refine(condition)])
            owner = self.find_owner(condition.variable)
            noun = self.names.find_entry(owner.predicate).text if owner is not None else "\0"
            is_shared = self.phrases.is_english and subject.startswith(f"the {noun} of ")
            return f"{subject} {shorten_repeated_noun(noun, text) if is_shared else text}"
        if call.name in _COMPARED and len(texts) == 2:
            return f"{texts[0]} {self.say(call.name, texts[1])}"
        if call.name in ("&&", "||"):
            return self.join_list(texts, "and" if call.name == "&&" else "or")
        is_iri = call.name.startswith("<")
        name = self.names.name_iri(call.name[1:-1]) if is_iri else call.name.lower()
        return self.say("function", name, self.join_list(texts) or self.say("something"))

    def write_elapsed(self, call: ast.Call) -> str:
        """Return the time between two dates, if an expression computes that; else empty."""
        from askgraph.sparql.elapsed import parse_elapsed_time  # few queries subtract

        elapsed = parse_elapsed_time(call) if call.name in ("-", "+") else None
        if elapsed is None:
            return ""
        start, end = self.write(elapsed.start), self.write(elapsed.end)
        return self.say(f"elapsed {elapsed.unit.split()[-1]}", start, end)

    def refer(self, variable: Variable) -> str:
        """Return a noun phrase for a variable that stands in an expression."""
        if variable.value in self.scope.binds:
            self.names.count_replacement()
            return self.write(self.scope.binds[variable.value])
        for select in self.scope.selects:
            if variable.value in {name.value for name in ast.find_variables(select)}:
                return self.write_select(select, variable.value)
        if variable.value in self.known:
            return self.say("that", self.known[variable.value])
        pattern = self.find_owner(variable)
        if pattern is None:
            return self.say("that", self.find_noun(variable))
        return self.write_value_of(pattern, variable)

    def write_value_of(self, pattern: ast.Pattern, variable: Variable) -> str:
        """Return `the diameter of Mercury`, `their diameter`, `the diameter of a planet that …`."""
        entry = self.names.find_entry(pattern.predicate)
        noun = entry.text if entry.is_noun else self.name_of_kind(entry)
        source = pattern.subject
        if not isinstance(source, Variable):
            self.done.add(pattern)
            value = self.names.values.get(variable.value)
            owner = self.names.name_term(source) + (f" ({value})" if value else "")
            return self.say("of", self.say("the", noun), owner)
        if source.value in self.known:
            return self.say("their", noun)
        self.known[variable.value] = noun
        self.done.add(pattern)
        inner = self.describe(source, many=False)
        del self.known[variable.value]
        return self.say("of", self.say("the", noun), inner)


def shorten_repeated_noun(noun: str, text: str) -> str:
    """Return a comparison with "that of X" where it repeats the noun of its subject."""
    return text.replace(f"the {noun} of ", "that of ")


class TripleReader:
    """Reads patterns out as `subject · predicate · object`, by labels that keep their case."""

    def __init__(
        self,
        labels: Mapping[str, str],
        where: ast.Group | None = None,
        phrases: Phrases | None = None,
    ) -> None:
        self._phrases = phrases or load_phrases("en")
        self._names = Names(labels, self._phrases, keeps_case=True)
        self._nouns = Nouns(make_scope(where or ast.Group()), self._names)

    def read(self, pattern: ast.Pattern) -> str:
        """Return `subject · predicate · object`; a variable is `something`, or its name."""
        return " · ".join(
            [self.read_term(pattern.subject), self._name(pattern), self.read_term(pattern.object)]
        )

    def read_absence(self, patterns: Sequence[ast.Pattern]) -> str:
        """Return what a graph does not hold: `nothing · orbits · Mercury`."""
        match patterns:
            case [ast.Pattern(Variable() as subject, _, object_) as pattern]:
                noun = self.name(subject)
                who = "nothing" if noun == "thing" else f"no {noun}"
                return " · ".join([who, self._name(pattern), self.read_term(object_)])
            case [ast.Pattern(subject, _, Variable()) as pattern]:
                return " · ".join([self.read_term(subject), self._name(pattern), "nothing"])
        listed = [self.read(pattern) for pattern in patterns]
        return f"not in the graph: {' together with '.join(listed)}"

    def _name(self, pattern: ast.Pattern) -> str:
        if pattern.predicate == NamedNode(RDF_TYPE):
            return self._phrases.say("triple class")
        entry = self._names.find_entry(pattern.predicate)
        name = entry.label or entry.text
        if isinstance(pattern.predicate, NamedNode):
            name = self._names.name_class(pattern.predicate.value)
        return self._names.phrases.say("path " + entry.steps, name) if entry.steps else name

    def read_term(self, term: object) -> str:
        """Return a term in words; values as they are written."""
        match term:
            case Variable():
                noun = self.name(term)
                is_vague = noun == self._phrases.say("thing")
                return self._phrases.say("something" if is_vague else "triple some", noun)
            case Literal():
                return term.value
            case NamedNode():
                return self._names.name_iri(term.value)
            case BlankNode():
                return self._phrases.say("triple nameless")
            case _:
                return str(term)

    def name(self, variable: Variable) -> str:
        """Return the noun of a variable: its class, its predicate, else its name."""
        noun = self._nouns.find_noun(variable)
        is_name = len(variable.value) > 2 and not variable.value.startswith("__")
        if noun != "thing" or not is_name:
            return noun
        return " ".join(variable.value.replace("_", " ").split())
