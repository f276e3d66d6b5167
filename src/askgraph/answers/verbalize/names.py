"""Words for terms: labels, values, classes as nouns, properties as lexical entries."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.answers.verbalize.lexicon import LexicalEntry, make_entry
from askgraph.answers.verbalize.phrases import Phrases, is_person_noun, to_adjective
from askgraph.answers.verbalize.schema_facts import NO_FACTS, SchemaFacts
from askgraph.answers.verbalize.values import ValueWriter
from askgraph.errors import QuerySyntaxError
from askgraph.sparql import Path, Predicate, Term
from askgraph.sparql.prefixes import split_local_name
from askgraph.sparql.vocabulary import (
    DATE_DATATYPES,
    NUMERIC_DATATYPES,
    RDF_TYPE,
    XSD_BOOLEAN,
    XSD_TIME,
)

_MAX_REPLACEMENTS = 300
"""Variables that expressions replace by what they stand for, in the words of one query."""
_WITH_THE = re.compile(
    r"(?:Moon|Sun|Netherlands|Philippines|Maldives|Bahamas|Seychelles|Gambia|Vatican|Czech Republic"
    r"|(?:United|Soviet) .+|.+ (?:Republic|Kingdom|Union|Federation|Emirates|Islands|Sea|Ocean"
    r"|River|Desert|Administration|Agency|Organi[sz]ation|Commission|Alps|Museum|Bridge|Party))"
)
_OWN_ARTICLE = re.compile(r"(?:The|A|An|European Union)\b")


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
        self._entries: dict[Predicate, LexicalEntry] = {}
        self._replacements = 0

    def count_replacement(self) -> None:
        """Count a variable that its definition replaces; the definition may repeat others.

        Raises:
            QuerySyntaxError: There are too many for a readable text.
        """
        self._replacements += 1
        if self._replacements > _MAX_REPLACEMENTS:
            raise QuerySyntaxError(
                "the query has too many names that stand for other names to describe it"
            )

    def name_iri(self, iri: str) -> str:
        """Return the label of an IRI, or the words in it."""
        return " ".join((self.labels.get(iri) or split_local_name(iri)).split()) or iri

    def name_term(self, term: Term) -> str:
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
        if datatype == XSD_BOOLEAN:
            return self.phrases.say("yes" if literal.value in ("true", "1") else "no")
        if datatype in NUMERIC_DATATYPES or datatype in DATE_DATATYPES or datatype == XSD_TIME:
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
        return self._lower(noun if self.keeps_case else _trim_definition(noun), iri)

    def _lower(self, noun: str, iri: str) -> str:
        word = noun.split(" ")[0]
        keeps = self.phrases.language == "de" or (self.keeps_case and iri in self.labels)
        is_plain = not keeps and word[1:].islower() and word[0].isupper()
        return noun[0].lower() + noun[1:] if is_plain else noun

    def name_type(self, iri: str) -> str:
        """Return a class in words, in the singular; quoted if it is in another language."""
        noun = self.name_class(iri)
        if not self.phrases.is_english and self.is_foreign(iri):
            return self.phrases.quote(noun)
        return self.phrases.singularize(noun)

    def is_person(self, iri: str) -> bool:
        """Return whether the instances of a class are people."""
        return iri in self.facts.persons or (
            self.phrases.is_english and is_person_noun(self.name_class(iri))
        )

    def find_entry(self, predicate: Predicate) -> LexicalEntry:
        """Return the lexical entry of a predicate or path."""
        if predicate not in self._entries:
            match predicate:
                case Variable():
                    entry = LexicalEntry("any", self.phrases.say("any property"))
                case NamedNode():
                    entry = self._make_entry(predicate.value)
                case Path():
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

    def _make_path_entry(self, path: Path) -> LexicalEntry:
        say, join = self.phrases.say, self.phrases.join_list
        match path:
            case Path(operator="+" | "*" | "?" as steps, parts=(inner,)):
                return replace(self.find_entry(inner), steps=steps)
            case Path(operator="!", parts=parts):
                nouns = join([self.find_entry(part).text for part in parts], "or")
                return LexicalEntry("noun", say("path !", nouns))
            case Path(operator="/", parts=parts):
                texts = [self.find_entry(part).text for part in parts]
                while len(texts) > 1:
                    last = texts.pop()
                    texts[-1] = say("of", last, texts[-1])
                return LexicalEntry("noun", texts[0], self.phrases.pluralize(texts[0]))
            case Path(operator="|", parts=(one, Path(operator="^", parts=(back,)))) if one == back:
                return self.find_entry(one)  # holds in both directions
            case Path(operator="^", parts=(inner,)):
                return LexicalEntry("noun", say("back", self.find_entry(inner).text))
            case Path(parts=parts):
                entries = [self.find_entry(part) for part in parts]
                kinds = {entry.kind for entry in entries}
                text = join([entry.text for entry in entries], "or")
                plural = join([entry.plural or entry.text for entry in entries], "or")
                return LexicalEntry(kinds.pop() if len(kinds) == 1 else "noun", text, plural)


def _trim_definition(label: str) -> str:
    """Return the noun of a label that is a definition or begins with a code.

    "The capital of a country." is "capital", "P1 is identified by" is "is identified by".
    """
    label = re.sub(r"^[EPep]\d+[a-z]?[ _](?=[A-Za-z]{2})", "", label)
    match = re.fullmatch(r"(?:the|an?) (.+?)(?: of an? .+)?[.:].*", label, re.IGNORECASE)
    return match[1] if match else label


def without_article(text: str) -> str:
    """Return an English phrase without the article before it."""
    return re.sub(r"^(?:the|an?) ", "", text)


def strip_article(text: str, phrases: Phrases) -> str:
    """Return a phrase without its article in English; other languages have none in phrases."""
    return without_article(text) if phrases.is_english else text
