"""The forms of a clause: how a property and a value read, from either end, in each language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from askgraph.answers.verbalize.lexicon import LexicalEntry, is_event
from askgraph.answers.verbalize.phrases import Phrases, load_lexicon
from askgraph.sparql import english

_MARKS = re.compile("[\ue000-\uf8ff]")
_IS_TIME = re.compile(
    r"before|after|in \d|\d+ \w+ \d{4}|between \d+ \w+ \d{4}|.+ or (?:later|earlier)$"
)
_NUMBERS = re.compile(
    r"(?:(?:more than|at least|less than|at most|between) )?[\d.,]+(?: (?:and|or) [\d.,]+)*"
)


@dataclass(frozen=True)
class Head:
    """The noun that a clause hangs on.

    Attributes:
        is_many: Whether it is in the plural.
        is_person: Whether it is a person.
        is_vague: Whether it is only "thing".
    """

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
                return self.say(
                    "place", self.phrases.substitute(entry.text, self.say("in a place")), value
                )
            case "any":
                return self.say("any link", entry.text, value)
            case _:
                return self.say("is quoted" if self._is_quoted(entry) else "is", entry.text, value)

    def _is_quoted(self, entry: LexicalEntry) -> bool:
        """Return whether a label of another language stands in quotation marks."""
        bare = _MARKS.sub("", entry.text)
        return bare[:1] in "„«" and self.phrases.has_phrase("is quoted")

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
        key = "inverse quoted" if self._is_quoted(entry) else "inverse"
        return self.say("inverse verb" if entry.kind == "verb" else key, entry.text, value)

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
        text = self.say("any property") if entry.kind == "any" else entry.text
        return self.say("none", text)

    def differ(self, entry: LexicalEntry, value: str, head: Head) -> str:
        """Return the clause of an absent value; empty without a fitting phrase."""
        if entry.is_noun and head.is_many and self.phrases.has_phrase("is not"):
            return self.say("is not", entry.text, value)
        return self.say("cond", entry.text, self.say("!=", value)) if entry.is_noun else ""

    def lack_back(self, entry: LexicalEntry, noun: str, own: str, head: Head) -> str:
        """Return the clause of no subject: `that no moon orbits`; `noun` is empty for anything."""
        if not noun:
            return self.say(
                "of nothing", re.sub("[„“«»]|(?<=«) | (?=»)", "", entry.text).strip(), ""
            )
        return self.say("no verb" if entry.kind == "verb" else "of no", entry.text, noun)

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
        kind = _classify(entry)
        if form in ("back", "lack_back"):
            kind = "agent" if entry.past else "noun" if kind == "agent" else kind
        plain = rows.get("noun", "") if kind == "agent" else ""
        template = rows.get(kind) or plain or rows.get("other", "")
        many, event = head.is_many, is_event(_MARKS.sub("", entry.text))
        place = self.phrases.substitute(entry.text, "in") if entry.kind == "place" else ""
        thing = "place" if entry.kind == "place" else "thing"
        return template.format(
            text=entry.text,
            plural=entry.plural,
            passive=entry.passive,
            past=entry.past,
            value=_add_object(entry, value)
            if form in ("relate", "negate", "state", "ask")
            else value,
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
            relation=_pluralize_relation(entry.text) if many else _add_relation_article(entry.text),
            a_relation=_add_relation_article(entry.text),
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
        subject = f"nothing {rest}" if rest else f"no {noun}" if noun else "nothing"
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
        if entry.kind == "noun" and is_literal:
            return f"is the {entry.text} of {subject} {value}?"
        is_past = entry.kind == "verb" and entry.plural == entry.text
        text = "" if is_past else self._fill("ask", entry, value, Head(), subject=subject)
        return text or self.say("is true", self.state(entry, subject, value))


def _classify(entry: LexicalEntry) -> str:
    """Return the row of a property in the table of forms."""
    if entry.kind == "participle" and is_gerund(entry.text):
        return "gerund"
    if entry.kind == "relation" and " " not in entry.text:
        return "preposition"
    if entry.is_noun:
        return "agent" if entry.passive else entry.kind
    return entry.kind


def make_forms(phrases: Phrases) -> Forms:
    """Return the forms of a language."""
    return EnglishForms(phrases) if phrases.is_english else Forms(phrases)


def is_gerund(text: str) -> bool:
    """Return whether a participle is one of the present: `starring`."""
    return _MARKS.sub("", text).endswith("ing")


def _add_object(entry: LexicalEntry, value: str) -> str:
    """Return a value with the noun that its verb has: `the service Design`."""
    if not entry.object_noun or not value or re.match(r"(?:an?|any|the|that) ", value):
        return value
    return f"the {entry.object_noun} {value}"


def _fit_event(entry: LexicalEntry, head: Head) -> str:
    """Return the event of a date with the pronoun of its noun: `who died`."""
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


def _pluralize_relation(text: str) -> str:
    """Return a relation of several subjects: `members of`, `part of`."""
    noun, _, preposition = text.rpartition(" ")
    is_of = _MARKS.sub("", preposition) == "of" and _MARKS.sub("", noun) not in ("part", "made")
    return f"{english.pluralize(noun)} {preposition}" if is_of else text


def _add_relation_article(text: str) -> str:
    """Return a relation with the article of its noun: `a member of`, `part of`, `near`."""
    bare = _MARKS.sub("", text)
    noun, _, preposition = bare.rpartition(" ")
    if preposition != "of" or noun in ("part", "made"):
        return text
    article = (
        "the" if noun in ("capital", "subject", "author") else english.add_article(noun).split()[0]
    )
    return f"{article} {text}"
