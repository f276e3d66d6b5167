"""Words for terms and predicates, and the scope of a group: its parts by kind."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.resources import files
from typing import Any

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.errors import QuerySyntaxError
from askgraph.graph.measures import detect_unit, parse_unit
from askgraph.sparql import (
    Bind,
    Call,
    Element,
    Expression,
    Filter,
    Group,
    Nested,
    Path,
    Pattern,
    Predicate,
    Query,
    Term,
    Union,
    Values,
    find_variables,
    transform,
)
from askgraph.sparql.prefixes import (
    add_article,
    is_plural,
    pluralize,
    singularize,
    split_local_name,
)
from askgraph.sparql.vocabulary import (
    DATE_DATATYPES,
    NUMERIC_DATATYPES,
    RDF_TYPE,
    RDFS_SUB_CLASS_OF,
    XSD_BOOLEAN,
    XSD_TIME,
)

LANGUAGES = ("en", "de", "es", "fr")


@lru_cache(maxsize=len(LANGUAGES))
def _table(language: str) -> Mapping[str, Any]:
    source = files("askgraph.answers.verbalize").joinpath("words", f"{language}.toml")
    return tomllib.loads(source.read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def _places() -> frozenset[str]:
    """What says that something lies in a place, in any language."""
    return frozenset(text for language in LANGUAGES for text in _table(language)["places"])


def is_uncounted(noun: str) -> bool:
    """Return whether an English noun has no plural: nobody asks how many equipments there are."""
    return noun.split(" ")[-1].lower().removesuffix("s") in _table("en")["uncounted"].split()


def is_keyword(name: str) -> bool:
    """Return whether a name says that it is a key: "employee ID", "ref stadium", "Kennung"."""
    words = {word.strip(".").lower() for word in name.split()}
    return not words.isdisjoint(_table("en")["keys"].split())


def is_vague(noun: str) -> bool:
    """Return whether a noun says nothing of what it stands for: "thing", "class", "Eintrag"."""
    return noun.lower() in _table("en")["vague"].split()


def as_adjective(label: str) -> str:
    """Return an English label of a property that is true or false as what a thing is, or "".

    `contagious` and `is contagious` are `contagious`, `in stock` is what it says, too; `atmosphere`
    is nothing that a thing is.
    """
    first, *more = label.split()
    if first.lower() == "is" and more:
        return " ".join(more)
    if more and re.fullmatch(_PREPOSITIONS, first):
        return label
    endings = tuple(_table("en")["adjective_endings"].split())
    return label if not more and first.lower().endswith(endings) else ""


def with_unit_apart(noun: str) -> str:
    """Return an English name of a property with "in" before the unit that ends it.

    >>> with_unit_apart("height cm")
    'height in cm'
    """
    words = noun.split()
    if detect_unit([noun]) is None or "(" in noun or "in" in words:
        return noun
    for start in range(1, len(words)):
        if parse_unit(" ".join(words[start:])) is not None:
            return f"{' '.join(words[:start])} in {' '.join(words[start:])}"
    return noun


class Phrases:
    """The phrases of one language, filled in."""

    def __init__(self, language: str, nouns: str | None = None) -> None:
        self.language = language
        self.nouns = language if nouns is None else nouns  # the language of labels, if known
        self._quotes: str = _table(language)["quotes"]
        self.written: Mapping[str, str] = _table(language)["written"]
        self._table: Mapping[str, str] = {**_table("en")["phrases"], **_table(language)["phrases"]}
        self._either = self._table["or"].format("", "")

    def say(self, key: str, *parts: object) -> str:
        """Return a phrase with its parts."""
        # A phrase as it stands before its parts: `d’Apollo`, `e islas`, `u observatorios`.
        template: str = self._table[key]
        for short, vowels, instead in _BEFORE_VOWELS.get(self.language, ()):
            for at, part in enumerate(parts):
                first = _MARKS.sub("", str(part))[:1].lower()
                if first and first in vowels and f"{short} {{{at}}}" in template:
                    template = template.replace(f"{short} {{{at}}}", f"{instead}{{{at}}}")
        text = template.format(*parts)
        if key == "a" and self.language == "en":
            return add_article(text[2:])
        return text

    def knows(self, key: str) -> bool:
        """Whether there is a phrase by this key."""
        return key in self._table

    def listed(self, parts: Sequence[str], word: str = "and") -> str:
        """Return parts as a list: `a, b and c`."""
        if len(parts) < 2:
            return "".join(parts)
        return self.say(word, ", ".join(parts[:-1]), parts[-1])

    def punctuated(self, text: str) -> str:
        """Return a text as a sentence: with a capital, a full stop, and no comma too many."""
        text = re.sub(r",(?=[,.?]|$)| (?=,)", "", " ".join(text.split()))
        text = re.sub(r"(?<=,) und, | und, ", ", ", text) if self.language == "de" else text
        text = re.sub(r",(?=,)", "", text)
        return self.capitalised(text) + ("" if text.endswith(("?", "…")) else ".")

    def capitalised(self, text: str) -> str:
        """Return a text with a capital at its start, or behind the mark that it starts with."""
        start = 1 if text[:1].isalpha() else 2
        return text[:start].upper() + text[start:]

    def asked(self, text: str) -> str:
        """Return a question with a capital, and with what French drops before a vowel."""
        elided = re.sub("\\bde (?=[aeiouéèêàâîôû])", "d’", text, flags=re.IGNORECASE)
        return self.capitalised(elided if self.language == "fr" else text)

    def quoted(self, text: str) -> str:
        """Return a text in the quotation marks of the language."""
        return self._quotes.format(text)

    def singular(self, noun: str) -> str:
        """Return the singular of an English class name that was written in the plural."""
        return singularize(noun) if self.language == "en" else noun

    def one(self, noun: str) -> str:
        """Return a noun with its article; without if it is in the plural already."""
        if self.language == "en" and is_plural(noun.rpartition(" ")[2]):
            return noun
        return self.say("a", noun)

    def verb(self, text: str, *, many: bool) -> str:
        """Return a verb as it stands after one subject or many: `orbits`, `orbit`."""
        if not many:
            return text
        if self.language == "en":
            first, space, rest = text.partition(" ")
            return _without_s(first) + space + rest
        return _table(self.language)["verbs"].get(text) or re.sub("e?t$", "en", text)

    def stepped(self, text: str, relation: Relation) -> str:
        """Return a text with how many steps of a relation it may be.

        What lies in a place lies in those around it.
        """
        is_said = relation.steps and (relation.kind, relation.steps) != ("place", "+")
        return self.say("path " + relation.steps, text) if is_said else text

    def of_thing(self, text: str) -> str:
        """Return a phrase with "thing" in the place of the "something" that it starts with."""
        something = self.say("something")
        starts = text.startswith(something)
        return self.say("thing") + text.removeprefix(something) if starts else text

    def instead(self, text: str, word: str) -> str:
        """Return the word that stands in the place of a text."""
        return word

    def of_many(self, nouns: str, things: str) -> str:
        """Return what is of several things: `the mass of the planets`, `Masse der Planeten`."""
        if self.knows("of the"):
            return self.say("of the", nouns, things)
        return self.say("of", nouns, self.say("the", things))

    def relative(self, verb: str, value: str, *, many: bool) -> str:
        """Return a clause of a verb and its object: `that orbits Mars`, `die Mars umkreisen`."""
        if many and self.language == "de" and " " in verb:
            mark, end = (verb[0], verb[-1]) if _MARKS.match(verb) else ("", "")
            first, _, rest = _MARKS.sub("", verb).partition(" ")
            bent = f"{mark}{self.verb(first, many=True)}{end}"
            return self.say("verb many", bent, f"{mark}{rest}{end} {value}")
        if many and self.language != "en":
            return self.say("verb many", self.verb(verb, many=True), value)
        return self.say("verb", self.verb(verb, many=many), value)

    def alternatives(self, noun: str) -> list[str]:
        """Return the nouns of `a, b or c`; the noun itself if it is one."""
        first, either, last = noun.rpartition(self._either)
        return [*first.split(", "), last] if either else [noun]

    def plural(self, noun: str) -> str:
        """Return the plural of a noun of a few words; the noun itself if that is not known."""
        if len(either := self.alternatives(noun)) > 1:
            return self.listed([*map(self.plural, either)], "or")
        if not noun[-1:].isalpha() or noun.isupper() or not self.nouns:
            return noun
        if self.nouns == "de":
            *before, word = noun.split(" ")
            if not word[:1].isupper():
                return noun
            endings = _table("de")["plurals"]
            cut = next(at for at in range(len(word) + 1) if word[at:].lower() in endings)
            ended = endings[word[cut:].lower()]
            plural = ended.capitalize() if cut == 0 else word[:cut] + ended
            return " ".join([*(re.sub("(?<=e)[rsnm]$", "", one) for one in before), plural])
        if self.nouns == "en":
            return pluralize(noun)
        found = re.search(r" (?:de|du|des|del|al|à|en|a) ", noun)
        first, preposition, rest = (
            (noun[: found.start()], found[0], noun[found.end() :]) if found else (noun, "", "")
        )
        words = [_romance_plural(word, self.language) for word in first.split(" ")]
        return " ".join(words) + preposition + rest


def _romance_plural(word: str, language: str) -> str:
    if not word or word[-1] in "sxz":
        return word
    if language == "fr":
        return word + "s"
    if word[-2:] in ("ón", "án", "én"):
        return word[:-2] + {"ó": "o", "á": "a", "é": "e"}[word[-2]] + "nes"
    return word + ("s" if word[-1] in "aeiouáéíóú" else "es")


def _without_s(verb: str) -> str:
    """An English verb of the third person as it stands after many: `carry`, `teach`, `orbit`."""
    if verb.endswith("ies"):
        return verb[:-3] + "y"
    return verb[:-2] if re.search("(?:ch|sh|ss|x|z|o)es$", verb) else verb.removesuffix("s")


_MARKS = re.compile("[\ue000-\uf8ff]")
"""What marks the words of a term, if any are marked."""
_BEFORE_VOWELS = {
    "fr": (("de", "aeiouéèêàâîôû", "d’"), ("que", "aeiouéèêàâîôû", "qu’")),
    "es": (("y", "i", "e "), ("o", "o", "u ")),
}
"""Words that change before a vowel: the word, the vowels, and what then stands in its place."""


def phrases_in(language: str, nouns: str | None = None) -> Phrases:
    """Return the phrases of a language, by its tag; English if there is no table.

    `nouns` is the language of the labels if it is another one, empty if nobody knows.
    """
    base = language.lower().split("-")[0]
    return Phrases(base if base in LANGUAGES else "en", nouns if base in LANGUAGES else None)


_PREPOSITIONS = "of|by|in|at|to|from|on|with|for|into|onto|under|near|as"
_FOREIGN_PREPOSITIONS = frozenset(
    "von in an auf aus bei mit nach zu für durch de en por a con para desde à par dans pour".split()
)
_VERBS = frozenset(
    """orbits contains includes uses owns operates supplies produces employs manages causes treats
    encodes inhibits activates regulates teaches leads governs borders crosses precedes follows
    succeeds replaces cites mentions describes depicts creates makes sells buys serves supports
    requires needs knows likes loves marries visits launches carries plays speaks eats studies
    extends implements inherits references targets affects interacts catalyzes binds""".split()
)
_NO_NOUN = re.compile(
    rf"(?:{_PREPOSITIONS})|(?!(?:speed|seed|need|bed|feed|breed|shed|weed|steed)$)\w+ed"
)
_PARTICIPLE = re.compile(r"ge[a-zäöüß]+(?:t|en)|[a-zñáéíóú]+[ai]d[oa]")
_PHRASAL_VERB = re.compile(r"[a-z]{2,}[^su]s (?:in|at|to|for|from|with|on|into)")
_GERMAN_VERB = re.compile(r"(?!ge)[a-zäöüß]+t(?: [a-zäöüß]+)*")
_IS_DATE = re.compile(
    r"\b(?:date|year|day|born|founded|birth|death|datum|jahr|gegründet|geboren|gestorben)\b"
    r"|\b(?:fecha|año|fundado|nacido|année|naissance|fondé|né)\b"
    r"|(?:datum|jahr)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Relation:
    """A predicate in words, and how it is put into a sentence.

    Kinds: `noun` (whose X is), `relation` (that are X), `verb` (that X), `place` (in), `any`
    (whatever it is).
    `steps` is the operator of a path over any number of steps, else empty. `label` is all of a name
    of whose start the text has nothing: `in stock`.
    """

    kind: str
    text: str
    steps: str = ""
    label: str = ""


_FOLLOWED = 300  # names for what other names stand for, in the words of one query


class Names:
    """Words for terms, by the labels given, else by the IRIs themselves."""

    def __init__(
        self,
        labels: Mapping[str, str],
        phrases: Phrases,
        *,
        own_case: bool = False,
        values: Mapping[str, str] | None = None,
        written: Callable[[Literal], str] | None = None,
    ) -> None:
        self.labels = labels
        self.written = written  # numbers and dates, as people write them; None: as they are
        self.values = values or {}  # what is known of variables, in words: said behind their nouns
        self.own_case = own_case  # no first letter of a label is made small
        self.phrases = phrases
        self._relations: dict[Predicate, Relation] = {}
        self._followed = 0

    def follow(self) -> None:
        """Count what is put in the place of a name: each may name others twice, and these others.

        Raises `QuerySyntaxError` past some hundred, of which nobody would read the words.
        """
        self._followed += 1
        if self._followed > _FOLLOWED:
            raise QuerySyntaxError("too many names stand for others to put it into words")

    def iri(self, iri: str) -> str:
        """Return the label of an IRI, or the words in it."""
        return " ".join((self.labels.get(iri) or split_local_name(iri)).split()) or iri

    def term(self, term: Term) -> str:
        """Return an IRI or a literal in words; text in quotation marks."""
        match term:
            case NamedNode():
                return self.iri(term.value)
            case Literal():
                return self.literal(term)
            case _:
                return self.phrases.say("something")

    def literal(self, literal: Literal) -> str:
        """Return a value: numbers and dates as they are, text in quotation marks."""
        datatype = literal.datatype.value
        if datatype == XSD_BOOLEAN:
            return self.phrases.say("yes" if literal.value in ("true", "1") else "no")
        if datatype in NUMERIC_DATATYPES or datatype in DATE_DATATYPES or datatype == XSD_TIME:
            if self.written:
                return self.written(literal)
            return re.sub(r"T00:00:00(?:\.0+)?Z?$", "", literal.value)
        return self.phrases.quoted(" ".join(literal.value.split()))

    def said_of(self, relation: Relation, condition: str) -> str:
        """Return what a thing is of which something is true or false: `is (not) contagious`, or "".

        `condition` is what the value is: `is true`.
        """
        label = relation.label or relation.text
        adjective = as_adjective(label) if self.phrases.language == "en" else ""
        says = {f"is {self.phrases.say(key)}": key for key in ("yes", "no")}
        if not adjective or relation.steps or condition not in says:
            return ""
        return f"is {adjective}" if says[condition] == "yes" else f"is not {adjective}"

    def class_noun(self, iri: str) -> str:
        """Return a class in words: lower case at its start, but for names and German nouns."""
        noun = self.iri(iri)
        word = noun.split(" ")[0]
        keeps = self.phrases.language == "de" or (self.own_case and iri in self.labels)
        plain = not keeps and word[1:].islower() and word[0].isupper()
        return noun[0].lower() + noun[1:] if plain else noun

    def type_noun(self, iri: str) -> str:
        """Return a class in words, in the singular."""
        return self.phrases.singular(self.class_noun(iri))

    def relation(self, predicate: Predicate) -> Relation:
        """Return a predicate or path as a relation."""
        if predicate not in self._relations:
            match predicate:
                case Variable():
                    relation = Relation("any", self.phrases.say("any property"))
                case NamedNode():
                    relation = self._of_iri(predicate.value)
                case Path():
                    relation = self._of_path(predicate)
            self._relations[predicate] = relation
        return self._relations[predicate]

    def _of_path(self, path: Path) -> Relation:
        match path:
            case Path(operator="+" | "*" | "?" as steps, parts=(inner,)):
                return replace(self.relation(inner), steps=steps)
            case Path(operator="!", parts=parts):
                texts = [self.relation(part).text for part in parts]
                return Relation(
                    "noun", self.phrases.say("path !", self.phrases.listed(texts, "or"))
                )
            case Path(operator="/", parts=parts):
                texts = [self.relation(part).text for part in parts]
                while len(texts) > 1:
                    last = texts.pop()
                    texts[-1] = self.phrases.say("of", last, texts[-1])
                return Relation("noun", texts[0])
            case Path(operator="|", parts=(one, Path(operator="^", parts=(back,)))) if one == back:
                return self.relation(one)  # holds in both directions
            case Path(operator="^", parts=(inner,)):
                return Relation("noun", self.phrases.say("back", self.relation(inner).text))
            case Path(parts=parts):
                found = [self.relation(part) for part in parts]
                kinds = {relation.kind for relation in found}
                text = self.phrases.listed([relation.text for relation in found], "or")
                return Relation(kinds.pop() if len(kinds) == 1 else "noun", text)

    def _of_iri(self, iri: str) -> Relation:
        if iri == RDF_TYPE:
            return Relation("noun", self.phrases.say("type"))
        text = self.class_noun(iri)
        if text.lower() in _places():
            return Relation("place", text)
        return self._in_english(text) if self.phrases.language == "en" else self._foreign(iri, text)

    def _foreign(self, iri: str, text: str) -> Relation:
        """A predicate whose label stands in German, Spanish or French words."""
        if self._is_verb(iri, text):
            return Relation("verb", text)
        own = self.phrases.nouns == self.phrases.language
        is_phrase = text.split(" ")[-1] in _FOREIGN_PREPOSITIONS
        is_english = not own and text.lower() in _VERBS
        is_other = is_phrase or is_english or _PARTICIPLE.fullmatch(text)
        return Relation("noun", self.phrases.quoted(text) if is_other else text)

    def _in_english(self, text: str) -> Relation:
        if re.match(r"(?:has|have) \w", text):
            text = text.split(" ", 1)[1]
        if _PHRASAL_VERB.fullmatch(text):
            return Relation("verb", text)
        if re.fullmatch(rf"is .+ (?:{_PREPOSITIONS})|.+ (?:{_PREPOSITIONS})", text):
            return Relation("relation", text.removeprefix("is "))
        if _NO_NOUN.fullmatch(text):
            return Relation("noun", self.phrases.quoted(text))
        if text.lower() in _VERBS:
            return Relation("verb", text)
        leading = re.fullmatch(rf"(?:{_PREPOSITIONS}) (\w.+)", text)
        noun = leading.group(1) if leading else text
        return Relation("noun", with_unit_apart(noun), label=text if leading else "")

    def _is_verb(self, iri: str, text: str) -> bool:
        """Whether the label of a predicate is a verb of the language, in the third person."""
        if self.phrases.language == "de" and _GERMAN_VERB.fullmatch(self.labels.get(iri, "")):
            return True
        return text.lower() in _table(self.phrases.language)["verbs"]


def is_date(text: str) -> bool:
    """Whether the name of a predicate tells that its values are dates."""
    return bool(_IS_DATE.search(text))


LABEL_SERVICE = "http://wikiba.se/ontology#label"


@dataclass
class Scope:
    """One group, its plain groups and plain sub-selects taken in.

    Sequences and inverse steps of paths are plain patterns here, with variables between them whose
    names start with `__`. `aliases` leads from a name to the variable it is another name of.
    """

    patterns: list[Pattern] = field(default_factory=list)
    filters: list[Expression] = field(default_factory=list)
    optional: list[Scope] = field(default_factory=list)
    without: list[Scope] = field(default_factory=list)
    present: list[Scope] = field(default_factory=list)
    unions: list[list[Scope]] = field(default_factory=list)
    union_groups: list[tuple[Group, ...]] = field(default_factory=list)
    binds: dict[str, Expression] = field(default_factory=dict)
    values: list[Values] = field(default_factory=list)
    selects: list[Query] = field(default_factory=list)
    aliases: dict[str, Variable] = field(default_factory=dict)

    def resolved(self, variable: Variable) -> Variable:
        """The variable that a name stands for."""
        seen = set()
        while variable.value in self.aliases and variable.value not in seen:
            seen.add(variable.value)
            variable = self.aliases[variable.value]
        return variable

    def names(self) -> set[str]:
        """The names of all variables that its patterns, sub-selects and aliases bind."""
        bound = {variable.value for variable in find_variables(tuple(self.patterns))}
        for select in self.selects:
            bound |= {variable.value for variable in find_variables(select)}
        for scopes in (self.optional, self.present, *self.unions):
            for inner in scopes:
                bound |= inner.names()
        bound |= {variable.value for values in self.values for variable in values.variables}
        return bound | self.aliases.keys() | self.binds.keys()


def scope_of(group: Group) -> Scope:
    """Return a group sorted by kind."""
    scope = Scope()
    _gather(group.elements, scope)
    _rename(scope)
    scope.patterns = list(dict.fromkeys(scope.patterns))
    # `FILTER(?outer = ?inner)` as what `?inner` must be, which this group binds.
    bound = {variable.value for variable in find_variables(tuple(scope.patterns))}
    for number, condition in enumerate(scope.filters):
        match condition:
            case Call(name="=" | "IN", arguments=(Variable() as left, Variable() as right)):
                if left.value not in bound and right.value in bound:
                    scope.filters[number] = Call("=", (right, left))
                else:
                    scope.filters[number] = Call("=", (left, right))
    _turn_unbound_optionals(scope)
    return scope


def _gather(elements: tuple[Element, ...], scope: Scope) -> None:
    for element in elements:
        match element:
            case Pattern():
                scope.patterns += _steps(element, len(scope.patterns))
            case Filter():
                _gather_condition(element.condition, scope)
            case Bind():
                _gather_bind(element.value, element.variable, scope)
            case Values():
                scope.values.append(element)
            case Union():
                scope.unions.append([scope_of(group) for group in element.groups])
                scope.union_groups.append(element.groups)
            case Query():
                _gather_select(element, scope)
            case Nested(word="OPTIONAL"):
                scope.optional.append(scope_of(element.group))
            case Nested(word="MINUS"):
                scope.without.append(scope_of(element.group))
            case Nested() if element.name != NamedNode(LABEL_SERVICE):
                _gather(element.group.elements, scope)


def _gather_condition(condition: Expression, scope: Scope) -> None:
    match condition:
        case Call(name="&&"):
            for part in condition.arguments:
                _gather_condition(part, scope)
        case Call("NOT EXISTS", (Group() as group,)) | Call(
            "!", (Call("EXISTS", (Group() as group,)),)
        ):
            scope.without.append(scope_of(group))
        case Call(name="EXISTS", arguments=(Group() as group,)):
            scope.present.append(scope_of(group))
        case _:
            scope.filters.append(condition)


def _gather_bind(value: Expression, variable: Variable, scope: Scope) -> None:
    if isinstance(value, Variable):
        scope.aliases[variable.value] = value
    else:
        scope.binds[variable.value] = value


def _gather_select(select: Query, scope: Scope) -> None:
    """Take in a sub-select that only names and nests; keep one that counts, sorts or cuts."""
    if select.is_aggregate or select.limit is not None or select.having:
        scope.selects.append(select)
        return
    _gather(select.where.elements, scope)
    for variable, value in select.columns:
        if value is not None:
            _gather_bind(value, variable, scope)


_KINDS = (NamedNode(RDF_TYPE), NamedNode(RDFS_SUB_CLASS_OF))
"""The steps from a thing to its class, and on to those above it: what it is, in words."""


def _steps(pattern: Pattern, number: int) -> Iterator[Pattern]:
    """A pattern with a path as patterns of its steps, as far as steps can be told apart."""
    match pattern.predicate:
        case Path(operator="^", parts=(inner,)):
            yield from _steps(Pattern(pattern.object, inner, pattern.subject), number)
        case Path(operator="/", parts=(first, Path("*" | "+", (up,)))) if (first, up) == _KINDS:
            yield Pattern(pattern.subject, NamedNode(RDF_TYPE), pattern.object)
        case Path(operator="/", parts=parts):
            ends: list[Term] = [Variable(f"__{number}_{at}") for at in range(1, len(parts))]
            for part, start, end in zip(
                parts, [pattern.subject, *ends], [*ends, pattern.object], strict=True
            ):
                yield from _steps(Pattern(start, part, end), number * 10)
        case _:
            yield pattern


def _rename(scope: Scope) -> None:
    """Put the variables themselves where their other names stand."""

    def named(part: Any) -> Any:
        return transform(part, original, enter=lambda node: not isinstance(node, Group))

    def original(node: object) -> object:
        return scope.resolved(node) if isinstance(node, Variable) else node

    if scope.aliases:
        scope.patterns = list(map(named, scope.patterns))
        scope.filters = list(map(named, scope.filters))


def _turn_unbound_optionals(scope: Scope) -> None:
    """`OPTIONAL { … ?x } FILTER(!BOUND(?x))` says that there is no such thing."""
    for condition in list(scope.filters):
        match condition:
            case Call(
                name="!", arguments=(Call(name="BOUND", arguments=(Variable() as missing,)),)
            ):
                for inner in list(scope.optional):
                    if missing.value in inner.names():
                        scope.optional.remove(inner)
                        scope.without.append(inner)
                        scope.filters.remove(condition)
                        break
