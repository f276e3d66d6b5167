"""The lexical model of a property: its part of speech, and the clauses that it makes.

A `LexicalEntry` says whether a property is a noun, a verb or a preposition; `Forms` put it and a
value into a clause, from either end, in each language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from askgraph.answers.verbalize.labels import NO_FACTS, PropertyFacts
from askgraph.answers.verbalize.phrases import (
    Phrases,
    is_date,
    is_person_noun,
    is_place_label,
    is_verb_of,
    load_lexicon,
)
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
_YEARS = frozenset("founded built established opened formed born released published".split())
"""Participles whose integers are years."""
_FOREIGN_PARTICIPLE = re.compile(r"ge[a-zäöüß]+(?:t|en)|[a-zñáéíóú]+[ai]d[oa]")
_GERMAN_VERB = re.compile(r"(?:gehört|(?!ge)[a-zäöüß]+te?)(?: [a-zäöüß]+)*")
_IS_YEAR = re.compile(r"(?<!per )(?<!a )\byear\b(?! (?!of\b)[a-z])")
_NO_WORDS = re.compile(r"[.;:?!]|(?:\S+ ){7}")
_MARKS = re.compile("[\ue000-\uf8ff]")
_IS_TIME = re.compile(
    r"before|after|in \d|\d+ \w+ \d{4}|between \d+ \w+ \d{4}|.+ or (?:later|earlier)$"
)
_SUPERLATIVE = re.compile(r"(?:\w+est|first|last|most|least) ", re.IGNORECASE)
_BACKWARD = frozenset(["back", "lack_back", "many", "have", "lack", "column"])
_NUMBERS = re.compile(
    r"(?:(?:more than|at least|less than|at most|between) )?[\d.,]+(?: (?:and|or) [\d.,]+)*"
)


@dataclass(frozen=True)
class LexicalEntry:
    """How a reading speaks of a property.

    A subject has a `noun`, or a `count` of something, and does a `verb`. A `participle`
    (`published by`), a `relation` (`part of`) and a `place` follow "is". `dated` is a participle
    with a date: `founded`.
    """

    kind: Kind  # the part of speech
    text: str  # the noun, or the words before the value: `mass`, `orbits`, `part of`
    plural: str = ""  # the plural of the noun; the verb after several subjects
    past: str = ""  # the verb in the past with the value as its subject: `wrote`
    passive: str = ""  # what happened to the subject, before the value: `written by`
    most: str = ""  # the adjective of the thing with the highest value: `largest`
    least: str = ""  # the adjective of the thing with the lowest value
    is_exact: bool = False  # whether these adjectives alone identify the property
    high: str = "highest"  # the adjective of the highest value itself: `longest`
    low: str = "lowest"  # the adjective of the lowest value itself
    event: str = ""  # what happened at the date that it gives, with its verb: `born`, `that died`
    is_of_person: bool = False  # whether its subjects are people
    values: str = ""  # the kind of its values: see `PropertyFacts`
    unit: str = ""  # the unit behind its numbers
    object_noun: str = ""  # the noun that a verb has before its value: `provides service`
    value_noun: str = ""  # the class of everything that it leads to
    leads_to_person: bool = False  # whether its values are people
    label: str = ""  # the whole label, where the text lacks its start: `in stock`
    steps: str = ""  # the operator of a path over any number of steps; empty for one step
    bare: str = ""  # the noun without the quotation marks of its text, where it is one English word
    has_several: bool = False  # whether something has several values of it

    @property
    def is_noun(self) -> bool:
        """Whether the subject has the value as its noun."""
        return self.kind in ("noun", "count")

    @property
    def is_dated(self) -> bool:
        """Whether its values are dates or years."""
        undated = ("number", "text", "thing", "boolean", "duration")
        if self.kind == "count" or self.values in undated:
            return False
        is_year = self.values != "integer" or _IS_YEAR.search(self.text.lower())
        is_known = self.kind == "dated" or self.values == "date"
        return is_known or (bool(is_year) and is_date(self.text))

    def describe_extreme(self, adjective: str) -> str:
        """Return `with the highest mass`, `whose highest point is the lowest`."""
        if _SUPERLATIVE.match(_MARKS.sub("", self.text)):
            return f"whose {self.text} is the {adjective}"
        return f"with the {adjective} {self.text}"

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
            bare=self.bare and change(self.bare),
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
        entry = _make_foreign_entry(text, language, facts, is_own=is_own)
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
        has_several=facts.has_several,
        passive="" if facts.is_of_node and entry.is_noun else entry.passive,
    )
    if language == "en" and is_person_noun(entry.text):
        entry = replace(entry, leads_to_person=True)
    if facts.unit is not None and facts.unit.sign and facts.unit.scale == 1.0:
        entry = replace(entry, unit=facts.unit.sign)
    if wording is None:
        return entry
    return replace(
        entry,
        plural=wording.plural or entry.plural,
        past=wording.inverse or entry.past,
        most=wording.most or entry.most,
        least=wording.least or entry.least,
        is_exact=bool(wording.most) or entry.is_exact,
        leads_to_person=wording.person or entry.leads_to_person,
    )


def _make_foreign_entry(
    text: str, language: str, facts: PropertyFacts, *, is_own: bool
) -> LexicalEntry:
    is_german_verb = language == "de" and _GERMAN_VERB.fullmatch(text)
    verb = text if language == "fr" else text.split(" ")[0]
    if is_own and (is_german_verb or is_verb_of(verb, language)):
        return LexicalEntry("verb", text)
    quote = load_lexicon(language)["quotes"].format
    if is_own:
        is_phrase = text.split(" ")[-1] in _FOREIGN_PREPOSITIONS
        is_other = is_phrase or _FOREIGN_PARTICIPLE.fullmatch(text)
        return LexicalEntry("noun", quote(text) if is_other else text)
    noun = re.sub(r"^has (?=\w)", "", text)
    is_noun = _make_english_entry(noun, facts).is_noun and not english.is_past(noun)
    if " " in noun or not is_noun:
        return LexicalEntry("noun", quote(text))
    return LexicalEntry("noun", quote(noun), bare=noun.title() if language == "de" else noun)


def _make_english_entry(label: str, facts: PropertyFacts) -> LexicalEntry:
    text = re.sub(r"^(?:has|have) (?=\w)", "", label)
    text = re.sub(rf"^(?:is|are|was|were) (?:an? )?(?=\w.* (?:{PREPOSITIONS})$)", "", text)
    if text.startswith("is "):
        return LexicalEntry("noun", f"“{text}”", label=text)
    words = text.lower().split()
    has_preposition = len(words) > 1 and re.fullmatch(PREPOSITIONS, words[-1]) is not None
    is_literal = facts.values not in ("", "thing")
    if not is_literal and _has_object_noun(words):
        return _make_english_entry(text.rpartition(" ")[0], facts)
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
            date = " date" if facts.values == "date" else ""
            noun = LexicalEntry("noun", f"“{text}”{date}")
            return noun if is_literal else LexicalEntry("relation", text)
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
        return LexicalEntry("verb", words[0], infinitive, object_noun=text.partition(" ")[2])
    return _make_noun(text, facts)


def _has_object_noun(words: Sequence[str]) -> bool:
    """Return whether a noun follows a verb with its preposition: `plays for country`."""
    if len(words) != 3 or not re.fullmatch(PREPOSITIONS, words[1]):
        return False
    is_verb = words[0].endswith("s") and english.is_verb(english.to_infinitive(words[0]))
    return is_verb or english.is_past_participle(words[0])


def _make_participle(
    text: str, words: list[str], facts: PropertyFacts, *, has_preposition: bool
) -> LexicalEntry | None:
    """Return the entry of `published by`, `founded`, `wrote`, `starring`; None for other words."""
    at = 1 if len(words) > 1 and words[0] in ("first", "last", "also", "originally") else 0
    head = words[at]
    is_participle = english.is_past_participle(head) or (
        head.endswith("ed") and facts.values == "date"
    )
    before, after = text.split()[:at], text.split()[at + 1 :]
    is_dated = facts.values in ("date", "integer", "number")
    if has_preposition and is_participle and len(after) <= 2:
        if is_dated and after[-1] in ("in", "on", "at", "since"):
            return LexicalEntry("dated", " ".join([*before, head]))
        is_by = after == ["by"]
        past = " ".join([*before, english.to_past(head)]) if is_by and is_event(text) else ""
        return LexicalEntry("participle", text, past=past, passive=text if is_by else "")
    if has_preposition and english.is_past(head) and not is_participle:
        return LexicalEntry("verb", text, text)
    if after:
        return None
    if is_participle and (facts.values == "date" or (text in _YEARS and is_dated)):
        return LexicalEntry("dated", text)
    if facts.values == "thing" or (not facts.values and head in ("starring", "featuring")):
        if english.is_past(head):
            passive = " ".join([*before, english.past_to_participle(head), "by"])
            return LexicalEntry("verb", text, text, passive=passive)
        if head.endswith("ing") and english.is_verb_form(head) and text != facts.noun:
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
    if facts.values == "date" and low.startswith(("latest ", "last ")):
        entry = replace(entry, high="most recent")
    if low in tables["superlatives"] and facts.values != "thing":
        first, last, *by = tables["superlatives"][low]
        entry = replace(entry, most=first, least=last, is_exact=not by)
    event = re.sub(r" (?:date|year)$|^(?:date|year) of ", "", low)
    if event != low and event in tables["events"] and facts.values != "thing":
        entry = replace(entry, event=tables["events"][event])
    if low in ("birth place", "place of birth", "birthplace"):
        entry = replace(entry, event="born")
    if facts.values == "text":
        entry = replace(entry, high="alphabetically last", low="alphabetically first")
    if facts.values == "duration":
        entry = replace(entry, high="longest", low="shortest")
    head = re.split(r" (?:of|in|per|to|from|for) ", low)[0].split()[-1]
    for most, least in (("longest", "shortest"), ("largest", "smallest"), ("greatest", "smallest")):
        if head in tables["measures"][most]:
            entry = replace(entry, high=most, low=least)
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


@dataclass(frozen=True)
class Head:
    """The noun of a clause; `is_many` if it is plural, `is_vague` if it is only "thing"."""

    is_many: bool = True
    is_person: bool = False
    is_vague: bool = False


class Forms:
    """Clauses by the phrases of a language; English has forms of its own."""

    def __init__(self, phrases: Phrases) -> None:
        self.phrases = phrases
        self.say = phrases.say

    def relate(self, entry: LexicalEntry, value: str, head: Head) -> str:
        """Return the clause of a subject and a value: `whose mass is 5`, `that orbit Mars`."""
        match entry.kind:
            case "verb":
                return self._relate_verb(entry.text, value, head)
            case "place":
                preposition = self.phrases.substitute(entry.text, self.say("in a place"))
                return self.say("place", preposition, value)
            case "any":
                return self.say("any link", entry.text, value)
            case _:
                is_quoted = self._is_quoted(entry) and not value.startswith(self.say("has", ""))
                return self.say("is quoted" if is_quoted else "is", entry.text, value)

    def _is_quoted(self, entry: LexicalEntry) -> bool:
        """Return whether a label of another language stands in quotation marks."""
        return _MARKS.sub("", entry.text)[:1] in "„«" and self.phrases.has_phrase("is quoted")

    def _relate_verb(self, verb: str, value: str, head: Head) -> str:
        if not head.is_many:
            return self.say("verb", verb, value)
        if self.phrases.language == "de" and " " in verb:
            mark, end = (verb[0], verb[-1]) if _MARKS.match(verb) else ("", "")
            first, _, rest = _MARKS.sub("", verb).partition(" ")
            bent = f"{mark}{self.phrases.agree(first)}{end}"
            return self.say("verb many", bent, f"{mark}{rest}{end} {value}")
        return self.say("verb many", self.phrases.agree(verb), value)

    def relate_back(self, entry: LexicalEntry, value: str, head: Head) -> str:
        """Return the clause of a value and its subject: `that Phobos orbits`."""
        if entry.kind == "place":
            return self.say("inverse place", entry.text, value)
        if entry.kind == "any":
            return self.say("any link", entry.text, value)
        bare = _MARKS.sub("", entry.text)
        verb, preposition = bare.partition(" ")[::2]
        is_verb_to = entry.kind == "verb" and preposition in _FOREIGN_PREPOSITIONS
        if is_verb_to and self.phrases.has_phrase("inverse verb to"):
            verb = entry.text.replace(bare, verb)
            return self.say("inverse verb to", verb, preposition, value)
        key, text = "inverse quoted" if self._is_quoted(entry) else "inverse", entry.text
        if entry.kind == "verb":
            is_one = not head.is_many and self.phrases.has_phrase("inverse verb one")
            key = "inverse verb one" if is_one else "inverse verb"
            if (
                len(re.findall(r"\w+", value)) > 3 and not value[:1].isupper()
            ):  # no verb behind a clause
                key, text = "inverse quoted", self.phrases.quote(bare)
        return self.say(key, text, value)

    def compare(self, entry: LexicalEntry, condition: str, head: Head) -> str:
        """Return the clause of a condition on a value: `whose mass is more than 5`."""
        if entry.kind in ("verb", "place", "any"):
            value = f"{self.say('something')} {self.say('that are', condition)}"
            return self.relate(entry, value, head)
        return self.say("cond", entry.text, condition)

    def have(self, entry: LexicalEntry, head: Head) -> str:
        """Return the clause of any value at all: `with an award`."""
        if entry.kind == "any":
            return self.say("any value")
        if entry.kind in ("verb", "place"):
            return self.relate(entry, self.say("something"), head)
        return self.say("has", entry.text)

    def lack(self, entry: LexicalEntry, head: Head) -> str:
        """Return the clause of no value: `without an award`."""
        if entry.kind == "verb" and entry.value_noun:
            return self.say("no verb", entry.text, entry.value_noun)
        return self.say("none", self.say("any property") if entry.kind == "any" else entry.text)

    def differ(self, entry: LexicalEntry, value: str, head: Head) -> str:
        """Return the clause of an absent value; empty without a fitting phrase."""
        return self.say("not as", entry.text, value) if entry.is_noun else ""

    def lack_back(self, entry: LexicalEntry, noun: str, own: str, head: Head) -> str:
        """Return the clause of no subject: `that no moon orbits`; `noun` is empty for anything."""
        if not noun:
            text = re.sub("[„“«»]|(?<=«) | (?=»)", "", entry.text).strip()
            return self.say("of nothing", text, "")
        if own.lower() in (entry.text.lower(), entry.bare.lower()):
            return self.say("without any", "", noun)
        text = entry.bare or entry.text
        return self.say("no verb" if entry.kind == "verb" else "of no", text, noun)

    def relate_many(self, entry: LexicalEntry, subjects: str) -> str:
        """Return the clause of several subjects."""
        return self.relate_back(entry, subjects, Head())

    def name_column(self, entry: LexicalEntry) -> str:
        """Return the name of a column of values."""
        return self.say("place noun") if entry.kind == "place" else entry.text

    def state(self, entry: LexicalEntry, subject: str, value: str) -> str:
        """Return a statement: `Titan orbits Saturn`."""
        keys = {"verb": "fact verb", "place": "fact place", "any": "fact any"}
        return self.say(keys.get(entry.kind, "fact"), subject, entry.text, value)

    def ask(self, entry: LexicalEntry, subject: str, value: str) -> str:
        """Return a statement as a question."""
        return self.say("is true", self.state(entry, subject, value))


class EnglishForms(Forms):
    """Clauses of English, by the part of speech of the property: the rows of `en_forms.toml`."""

    def _fill(self, form: str, entry: LexicalEntry, value: str, head: Head, **more: str) -> str:
        """Return a form of the property's part of speech; empty if there is none."""
        rows: Mapping[str, str] = load_lexicon("en")["forms"][form]
        kind: str = "agent" if entry.is_noun and entry.passive else entry.kind
        if kind == "participle" and is_gerund(entry.text):
            kind = "gerund"
        elif kind == "relation" and " " not in entry.text:
            kind = "preposition"
        is_object = entry.object_noun and value and form not in _BACKWARD
        if is_object and not re.match(r"(?:an?|any|the|that) ", value):
            value = f"the {entry.object_noun} {value}"
        if form in ("back", "lack_back"):
            kind = "agent" if entry.past else "noun" if kind == "agent" else kind
        plain = rows.get("noun", "") if kind == "agent" else ""
        template = rows.get(kind) or plain or rows.get("other", "")
        many, event = head.is_many, is_event(_MARKS.sub("", entry.passive or entry.text))
        place = self.phrases.substitute(entry.text, "in") if entry.kind == "place" else ""
        thing = "place" if entry.kind == "place" else "thing"
        return template.format(
            text=entry.text,
            plural=entry.plural,
            passive=entry.passive,
            past=entry.past,
            value=value,
            date=_in_or_on(value),
            who="who" if head.is_person else "that",
            whom="whom" if head.is_person else "that",
            are="are" if many else "is",
            do="do" if many else "does",
            was="was" if event else "is",
            were="were" if event else "are",
            be=("were" if many else "was") if event else "are" if many else "is",
            verb=entry.plural if many else entry.text,
            nouns=entry.plural if many and entry.plural else f"the {entry.text}",
            place=place,
            relation=_write_relation(entry.text, many=many),
            a_relation=_write_relation(entry.text, many=False),
            end=entry.value_noun or ("person" if entry.leads_to_person else thing),
            **more,
        )

    def relate(self, entry: LexicalEntry, value: str, head: Head) -> str:
        """Return the clause of a subject and a value: `whose mass is 5`, `who orbit Mars`."""
        if entry.kind == "any":
            return self.say("any link", entry.text, value)
        if entry.kind == "count" and re.fullmatch(r"[\d.,]+", _MARKS.sub("", value)):
            return f"with {value} {entry.plural}"
        event = _fit_event(entry, head) if entry.values and not entry.passive else ""
        if entry.is_noun and event:
            return f"{event} {_in_or_on(value, is_place=entry.text.endswith('place'))}"
        prepositions: Mapping[str, str] = load_lexicon("en")["prepositions"]
        preposition = prepositions.get(_MARKS.sub("", entry.text).lower())
        is_plain = not (entry.passive or head.is_vague or value.startswith("one "))
        if entry.is_noun and preposition and is_plain:
            return f"{self.phrases.substitute(entry.text, preposition)} {value}"
        return self._fill("relate", entry, value, head)

    def relate_back(self, entry: LexicalEntry, value: str, head: Head) -> str:
        """Return the clause of a value and its subject: `that Phobos orbits`, `who wrote Emma`."""
        if entry.kind == "any":
            return self.say("any link", entry.text, value)
        is_long = len(value.split()) > 4 and not value[:1].isupper()
        if entry.kind == "verb" and is_long and entry.passive:
            return f"{entry.passive} {value}"
        clause = self._fill("back", entry, value, head)
        own = entry.object_noun
        return f"{clause} as {self.phrases.add_article(own)}" if own else clause

    def compare(self, entry: LexicalEntry, condition: str, head: Head) -> str:
        """Return the clause of a condition on a value: `founded before 1900`."""
        value = condition.removeprefix("is ")
        is_value = condition != value
        event = entry.text if entry.kind == "dated" else _fit_event(entry, head)
        if not entry.values and not _IS_TIME.match(_MARKS.sub("", value)):
            event = ""
        value = value.replace(f"the date {event} of ", "") if event else value
        if event and is_value and not value.startswith(("not ", "known", "a ", "none ", "the ")):
            return f"{event} {_in_or_on(value)}"
        if entry.kind == "count" and is_value and _NUMBERS.fullmatch(_MARKS.sub("", value)):
            return f"with {value} {entry.plural}"
        if entry.is_noun and not (entry.passive and is_value):
            return f"whose {entry.text} {condition}"
        if entry.kind == "dated":
            return f"whose date {entry.text} {condition}"
        return self.relate(entry, value if is_value else f"something that {condition}", head)

    def have(self, entry: LexicalEntry, head: Head) -> str:
        """Return the clause of any value at all: `with an award`, `who live in a city`."""
        some = "someone" if entry.leads_to_person else "something"
        value = self.phrases.add_article(entry.value_noun) if entry.value_noun else some
        noun = self.phrases.add_article(entry.text)
        return self._fill("have", entry, value, head, noun=noun) or self.relate(entry, value, head)

    def lack(self, entry: LexicalEntry, head: Head) -> str:
        """Return the clause of no value: `without an award`, `who do not live in any city`."""
        anything = "anyone" if entry.leads_to_person else "anything"
        value = f"any {entry.value_noun}" if entry.value_noun else anything
        they = "they were" if head.is_many else "it was"
        noun = self.phrases.add_article(entry.text)
        lacking = self._fill("lack", entry, value, head, noun=noun, they=they)
        return lacking or self._negate(entry, value, head)

    def differ(self, entry: LexicalEntry, value: str, head: Head) -> str:
        """Return the clause of a value that is not there: `not directed by Ann`."""
        if entry.is_noun and not entry.passive:
            if entry.event and entry.text.endswith("place"):
                return f"not {entry.event} in {value}"
            if entry.has_several:
                return f"without {value} as {entry.text}"
            return f"whose {entry.text} is not {value}"
        return self._negate(entry, value, head)

    def _negate(self, entry: LexicalEntry, value: str, head: Head) -> str:
        if entry.kind == "verb" and entry.plural == entry.text:  # a past has no plain negation
            none = f"no{value.removeprefix('any')}"
            return self._fill("relate", entry, none, head) if value.startswith("any") else ""
        return self._fill("negate", entry, value, head)

    def lack_back(self, entry: LexicalEntry, noun: str, own: str, head: Head) -> str:
        """Return the clause of no subject: `that no moon orbits`, `that nothing orbits`."""
        rest = noun.removeprefix("thing ") if noun.startswith("thing ") else ""
        none = "nobody" if entry.is_of_person else "nothing"
        subject = f"nothing {rest}" if rest else f"no {noun}" if noun else none
        is_own = entry.is_noun and not entry.past and own in (entry.text, entry.plural)
        if noun and not rest and is_own:
            return f"without any {noun}"
        any_subject = f"anything {rest}" if rest else f"any {noun}" if noun else "anything"
        return self._fill("lack_back", entry, subject, head, any=any_subject)

    def relate_many(self, entry: LexicalEntry, subjects: str) -> str:
        """Return the clause of several subjects: `that the most players play for`."""
        return self._fill("many", entry, subjects, Head())

    def name_column(self, entry: LexicalEntry) -> str:
        """Return the name of a column of values: `mass`, `city they live in`."""
        return self._fill("column", entry, "", Head())

    def state(self, entry: LexicalEntry, subject: str, value: str) -> str:
        """Return a statement: `Titan orbits Saturn`, `Kira is the spouse of Hugo`."""
        if entry.kind == "any":
            return self.say("fact any", subject, entry.text, value)
        if entry.kind == "count" and re.fullmatch(r"[\d.,]+", _MARKS.sub("", value)):
            return f"{subject} has {value} {entry.plural}"
        return self._fill("state", entry, value, Head(), subject=subject)

    def ask(self, entry: LexicalEntry, subject: str, value: str) -> str:
        """Return a statement as a question: `does Titan orbit Saturn?`."""
        is_literal = re.match(r"[\d“-]", _MARKS.sub("", value))
        is_name = not _MARKS.sub("", value)[:1].islower() or value.startswith("the ")
        if entry.kind == "noun" and not is_name:
            return self.say("is true", self.state(entry, subject, value))
        if entry.kind == "noun" and is_literal:
            return f"is the {entry.text} of {subject} {value}?"
        is_past = entry.kind == "verb" and entry.plural == entry.text
        text = "" if is_past else self._fill("ask", entry, value, Head(), subject=subject)
        return text or self.say("is true", self.state(entry, subject, value))


def make_forms(phrases: Phrases) -> Forms:
    """Return the forms of a language."""
    return EnglishForms(phrases) if phrases.is_english else Forms(phrases)


def is_gerund(text: str) -> bool:
    """Return whether a participle is one of the present: `starring`."""
    return _MARKS.sub("", text).endswith("ing")


def _fit_event(entry: LexicalEntry, head: Head) -> str:
    return re.sub(r"^that\b", "who" if head.is_person else "that", entry.event)


def _in_or_on(value: str, *, is_place: bool = False) -> str:
    """Return a date with the preposition that it needs: `on 5 May 1900`, `in 1900`."""
    bare = _MARKS.sub("", value)
    if is_place:
        return f"in {value}"
    if re.match(r"\d{1,2} \w+ \d+", bare):
        return f"on {value}"
    is_year = re.match(r"-?\d|(?!in |before |after |between )\w+ \d{4}$", bare)
    return f"in {value}" if is_year else value


def _write_relation(text: str, *, many: bool) -> str:
    """Return a relation with its noun: `a member of`, `members of`, `part of`, `near`."""
    noun, _, preposition = _MARKS.sub("", text).rpartition(" ")
    if preposition != "of" or noun in ("part", "made"):
        return text
    if many:
        noun, _, preposition = text.rpartition(" ")
        return f"{english.pluralize(noun)} {preposition}"
    is_sole = noun in ("capital", "subject", "author")
    return f"{'the' if is_sole else english.add_article(noun).split()[0]} {text}"
