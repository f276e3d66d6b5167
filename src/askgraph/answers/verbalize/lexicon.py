"""The lexical model of a property: noun, verb or preposition, and how its values are spoken of."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from askgraph.answers.verbalize.phrases import (
    is_date,
    is_person_noun,
    is_place_label,
    is_verb_of,
    load_lexicon,
)
from askgraph.answers.verbalize.schema_facts import NO_FACTS, PropertyFacts
from askgraph.graph.glossary import TermWording
from askgraph.graph.measures import detect_unit, parse_unit
from askgraph.sparql import english

Kind = Literal["noun", "count", "verb", "participle", "dated", "relation", "place", "any"]

PREPOSITIONS = "of|by|in|at|to|from|on|with|for|into|onto|under|near|as|since|through|within|after"
_FOREIGN_PREPOSITIONS = frozenset(
    "von in an auf aus bei mit nach zu für durch de en por a con para desde à par dans pour".split()
)
_CERTAIN_VERBS = frozenset(
    """orbits contains includes uses owns operates supplies produces employs manages causes treats
    encodes inhibits activates regulates teaches leads governs borders crosses precedes follows
    succeeds replaces cites mentions describes depicts creates makes sells buys serves supports
    requires needs knows likes loves marries visits launches carries plays speaks eats studies
    extends implements inherits references targets affects interacts catalyzes binds""".split()
)
_EVENTS = re.compile(
    r"\b(?:born|founded|published|built|written|discovered|invented|released|launched|directed|"
    r"produced|created|composed|filmed|designed|opened|established|formed|killed|awarded|painted|"
    r"recorded|trained|influenced|proposed|climbed|won|sung|drawn|shot|signed|elected|appointed)\b"
)
_FOREIGN_PARTICIPLE = re.compile(r"ge[a-zäöüß]+(?:t|en)|[a-zñáéíóú]+[ai]d[oa]")
_GERMAN_VERB = re.compile(r"(?!ge)[a-zäöüß]+t(?: [a-zäöüß]+)*")
_NO_WORDS = re.compile(r"[.;:?!]|(?:\S+ ){7}")


@dataclass(frozen=True)
class LexicalEntry:
    """How a reading speaks of a property.

    A subject has a `noun`, or a `count` of something, and does a `verb`. A `participle`
    (`published by`), a `relation` (`part of`) and a `place` follow "is". `dated` is a participle
    with a date: `founded`.

    Attributes:
        kind: The part of speech.
        text: The noun, or the words before the value: `mass`, `orbits`, `published by`, `part of`.
        plural: The plural of the noun; the verb after several subjects.
        past: The verb in the past with the value as its subject: `wrote`.
        passive: What happened to the subject, before the value: `written by`.
        most: The adjective of the thing with the highest value: `largest`.
        least: The adjective of the thing with the lowest value.
        is_exact: Whether these adjectives alone identify the property.
        high: The adjective of the highest value itself: `longest`.
        low: The adjective of the lowest value itself.
        event: What happened at the date that it gives, with its verb: `born`, `that died`.
        values: The kind of its values: see `PropertyFacts`.
        unit: The unit behind its numbers.
        object_noun: The noun that a verb has before its value: `provides service`.
        value_noun: The class of everything that it leads to.
        leads_to_person: Whether its values are people.
        is_of_person: Whether its subjects are people.
        label: The whole label, where the text lacks its start: `in stock`.
        steps: The operator of a path over any number of steps; empty for one step.
    """

    kind: Kind
    text: str
    plural: str = ""
    past: str = ""
    passive: str = ""
    most: str = ""
    least: str = ""
    is_exact: bool = False
    high: str = "highest"
    low: str = "lowest"
    event: str = ""
    is_of_person: bool = False
    values: str = ""
    unit: str = ""
    object_noun: str = ""
    value_noun: str = ""
    leads_to_person: bool = False
    label: str = ""
    steps: str = ""

    @property
    def is_noun(self) -> bool:
        """Whether the subject has the value as its noun."""
        return self.kind in ("noun", "count")

    @property
    def is_dated(self) -> bool:
        """Whether its values are dates or years."""
        if self.kind == "count" or self.values in ("number", "text", "thing", "boolean"):
            return False
        is_year = self.values != "integer" or re.search(r"\byear\b(?! [a-z])", self.text.lower())
        return self.kind == "dated" or (bool(is_year) and is_date(self.text))

    def map_texts(self, change: Callable[[str], str]) -> LexicalEntry:
        """Return the entry with each of its words changed: with marks around them."""
        return replace(
            self,
            text=change(self.text),
            plural=self.plural and change(self.plural),
            past=self.past and change(self.past),
            passive=self.passive and change(self.passive),
            most=self.most and change(self.most),
            least=self.least and change(self.least),
            event=self.event and change(self.event),
            object_noun=self.object_noun and change(self.object_noun),
            label=self.label and change(self.label),
        )


@lru_cache(maxsize=8192)
def make_entry(
    label: str,
    language: str,
    *,
    is_own: bool = True,
    facts: PropertyFacts = NO_FACTS,
    wording: TermWording | None = None,
) -> LexicalEntry:
    """Return the entry of a property by its label in a language.

    `is_own` is false for a label in a language that the reader did not ask for.
    """
    text = (wording and wording.phrase) or label
    if is_place_label(text):
        entry = LexicalEntry("place", text)
    elif language != "en":
        entry = _make_foreign_entry(text, language, is_own=is_own)
    elif _NO_WORDS.search(text):
        entry = LexicalEntry("noun", f"“{text}”")
    else:
        entry = _make_english_entry(text, facts)
    entry = replace(
        entry,
        values=facts.values,
        value_noun=entry.object_noun or facts.noun,
        leads_to_person=facts.leads_to_person,
        is_of_person=facts.is_of_person,
        passive="" if facts.is_of_node and entry.is_noun else entry.passive,
    )
    if language == "en" and is_person_noun(entry.text):
        entry = replace(entry, leads_to_person=True)
    if facts.unit is not None and facts.unit.sign and facts.unit.scale == 1.0:
        entry = replace(entry, unit=facts.unit.sign)
    return entry if wording is None else _apply_wording(entry, wording)


def _apply_wording(entry: LexicalEntry, wording: TermWording) -> LexicalEntry:
    """Return an entry with what a glossary prescribes."""
    return replace(
        entry,
        plural=wording.plural or entry.plural,
        past=wording.inverse or entry.past,
        most=wording.most or entry.most,
        least=wording.least or entry.least,
        is_exact=bool(wording.most) or entry.is_exact,
        leads_to_person=wording.person or entry.leads_to_person,
    )


def _make_foreign_entry(text: str, language: str, *, is_own: bool) -> LexicalEntry:
    is_german_verb = language == "de" and _GERMAN_VERB.fullmatch(text)
    if is_own and (is_german_verb or is_verb_of(text, language)):
        return LexicalEntry("verb", text)
    is_phrase = text.split(" ")[-1] in _FOREIGN_PREPOSITIONS
    is_other = is_phrase or _FOREIGN_PARTICIPLE.fullmatch(text)
    quote = load_lexicon(language)["quotes"].format
    return LexicalEntry("noun", quote(text) if is_other or not is_own else text)


def _make_english_entry(label: str, facts: PropertyFacts) -> LexicalEntry:
    text = re.sub(r"^(?:has|have) (?=\w)", "", label)
    text = re.sub(rf"^(?:is|are|was|were) (?=\w.* (?:{PREPOSITIONS})$)", "", text)
    if text.startswith("is "):
        return LexicalEntry("noun", f"“{text}”", label=text)
    words = text.lower().split()
    has_preposition = len(words) > 1 and re.fullmatch(PREPOSITIONS, words[-1]) is not None
    is_literal = facts.values not in ("", "thing")
    if entry := _make_participle(text, words, facts, has_preposition=has_preposition):
        return entry
    infinitive = english.to_infinitive(words[0]) if words[0].endswith("s") else ""
    is_verb = english.is_verb(infinitive) and not is_literal
    if has_preposition and facts.values in ("date", "integer", "number"):
        suffix = " date" if facts.values == "date" else ""
        return LexicalEntry("noun", f"“{text}”{suffix}")
    if has_preposition:
        if is_verb or (infinitive and re.fullmatch(r"[a-z]{2,}[^su]s", words[0])):
            rest = text[len(words[0]) :]
            return LexicalEntry("verb", text, infinitive + rest)
        return LexicalEntry("relation", text)
    if re.fullmatch(PREPOSITIONS, words[0]):
        if len(words) == 1:
            if facts.values in ("", "thing"):
                return LexicalEntry("relation", text)
            return LexicalEntry("noun", f"“{text}”{' date' if facts.values == 'date' else ''}")
        rest = text.partition(" ")[2]
        return LexicalEntry("noun", rest, english.pluralize(rest), label=text)
    is_plural_noun = facts.noun and english.singularize(text.lower()) == facts.noun.lower()
    if len(words) == 1 and not is_plural_noun:
        is_certain = facts.values == "thing" or (words[0] in _CERTAIN_VERBS and not is_literal)
        if is_verb and is_certain:
            passive = f"{english.to_participle(infinitive)} by"
            return LexicalEntry("verb", text, infinitive, passive=passive)
    is_clause = len(words) in (2, 3) and is_verb and words[1] not in ("to", "be")
    if is_clause and english.singularize(words[-1]) == words[-1]:
        object_noun = text.partition(" ")[2]
        return LexicalEntry("verb", words[0], infinitive, object_noun=object_noun)
    return _make_noun(text, facts)


def _make_participle(
    text: str, words: list[str], facts: PropertyFacts, *, has_preposition: bool
) -> LexicalEntry | None:
    """Return the entry of `published by`, `founded`, `wrote`, `starring`; None for other words."""
    at = 1 if len(words) > 1 and words[0] in ("first", "last", "also", "originally") else 0
    head = words[at]
    is_participle = english.is_past_participle(head)
    before, after = text.split()[:at], text.split()[at + 1 :]
    is_dated = facts.values in ("date", "integer", "number")
    if has_preposition and is_participle and len(after) <= 2:
        if is_dated and after[-1] in ("in", "on", "at", "since"):
            return LexicalEntry("dated", " ".join([*before, head]))
        is_by = after == ["by"]
        past = " ".join([*before, english.to_past(head)]) if is_by else ""
        return LexicalEntry("participle", text, past=past, passive=text if is_by else "")
    if after:
        return None
    if is_participle and facts.values == "date":
        return LexicalEntry("dated", text)
    if facts.values == "thing":
        if english.is_past(head):
            participle = english.past_to_participle(head)
            passive = " ".join([*before, participle, "by"])
            return LexicalEntry("verb", text, text, passive=passive)
        if head.endswith("ing") and english.is_verb_form(head):
            return LexicalEntry("participle", text)
    if is_participle and head != "used":
        return LexicalEntry("noun", f"“{text}”", event=text)
    return None


def _make_noun(text: str, facts: PropertyFacts) -> LexicalEntry:
    noun, unit = split_unit(text)
    tables = load_lexicon("en")
    if facts.values == "integer":
        counted = noun.removeprefix("number of ") if noun.startswith("number of ") else noun
        first = re.split(r" (?:of|in|per|on|at|with) ", counted)[0].split()[-1]
        if english.is_plural(first) and not unit and facts.unit is None:
            text = noun if noun.startswith("number of ") else f"number of {noun}"
            return LexicalEntry("count", text, counted)
    entry = LexicalEntry("noun", noun, english.pluralize(noun), unit=unit)
    low = noun.lower()
    if low in tables["superlatives"] and facts.values != "thing":
        most, least, *by = tables["superlatives"][low]
        entry = replace(entry, most=most, least=least, is_exact=not by)
    event = re.sub(r" (?:date|year)$|^(?:date|year) of ", "", low)
    if event != low and event in tables["events"] and facts.values != "thing":
        entry = replace(entry, event=tables["events"][event])
    if low in ("birth place", "place of birth", "birthplace"):
        entry = replace(entry, event="born")
    if facts.values == "text":
        entry = replace(entry, high="alphabetically last", low="alphabetically first")
    head = re.split(r" (?:of|in|per|to|from|for) ", low)[0].split()[-1]
    if head in tables["measures"]["longest"]:
        entry = replace(entry, high="longest", low="shortest")
    elif head in tables["measures"]["largest"]:
        entry = replace(entry, high="largest", low="smallest")
    elif head in tables["measures"]["greatest"]:
        entry = replace(entry, high="greatest", low="smallest")
    agent = "crew" if low == "crew member" else low
    if agent in tables["agents"]:
        past, participle = tables["agents"][agent]
        entry = replace(entry, past=past.strip("-"), passive=f"{participle} by")
    return entry


def is_event(participle: str) -> bool:
    """Return whether a participle describes a single event: `born in`."""
    return bool(_EVENTS.search(participle))


def split_unit(noun: str) -> tuple[str, str]:
    """Return the name of a measure and the unit that ends it.

    >>> split_unit("height cm")
    ('height', 'cm')
    """
    unit = detect_unit([noun])
    bracketed = re.fullmatch(r"(.+?) ?[(\[](.+)[)\]]", noun)
    if unit is None or (bracketed and parse_unit(bracketed[2]) is None):
        return noun, ""
    words = noun.split()
    if bracketed:
        words = [*bracketed[1].split(), bracketed[2]]
    for start in range(1, len(words)):
        name = " ".join(words[start:])
        if (found := parse_unit(name)) is not None:
            rest = words[: start - (words[start - 1] == "in" and start > 1)]
            return " ".join(rest), found.sign or name
    return noun, ""
