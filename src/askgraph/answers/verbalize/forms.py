"""The forms of a clause: how a property and a value read, from either end, in each language."""

from __future__ import annotations

import re
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
        """Return the clause of a value that is not there; empty if no phrase says it."""
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
    """Clauses of English, by the part of speech of the property."""

    def relate(self, entry: LexicalEntry, value: str, head: Head) -> str:
        """Return the clause of a subject and a value: `whose mass is 5`, `who orbit Mars`."""
        preposition = load_lexicon("en")["prepositions"].get(_MARKS.sub("", entry.text).lower())
        match entry.kind:
            case "verb":
                verb = entry.plural if head.is_many else entry.text
                return f"{_who(head)} {verb} {_add_object(entry, value)}"
            case "participle":
                return f"{entry.text} {value}"
            case "dated":
                return f"{entry.text} {_in_or_on(value)}"
            case "relation":
                return _relate_relation(entry.text, value, head)
            case "place":
                return f"{self.phrases.substitute(entry.text, 'in')} {value}"
            case "count" if re.fullmatch(r"[\d.,]+", _MARKS.sub("", value)):
                return f"with {value} {entry.plural}"
            case "any":
                return self.say("any link", entry.text, value)
            case _ if entry.passive:
                return f"{entry.passive} {value}"
            case _ if entry.values and (event := _fit_event(entry, head)):
                return f"{event} {_in_or_on(value, is_place=entry.text.endswith('place'))}"
            case _ if preposition and not head.is_vague and not value.startswith("one "):
                return f"{self.phrases.substitute(entry.text, preposition)} {value}"
            case _:
                return f"whose {entry.text} is {value}"

    def relate_back(self, entry: LexicalEntry, value: str, head: Head) -> str:
        """Return the clause of a value and its subject: `that Phobos orbits`, `who wrote Emma`."""
        is_long = len(value.split()) > 4 and not value[:1].isupper()
        match entry.kind:
            case "verb" if is_long and entry.passive:
                return f"{entry.passive} {value}"
            case "verb":
                clause = f"{_whom(head)} {value} {entry.text}"
                own = entry.object_noun
                return f"{clause} as {self.phrases.add_article(own)}" if own else clause
            case "place":
                return f"that {value} is {self.phrases.substitute(entry.text, 'in')}"
            case "any":
                return self.say("any link", entry.text, value)
            case _ if entry.past:
                return f"{_who(head)} {entry.past} {value}"
            case "participle" if not is_gerund(entry.text):
                return f"{_whom(head)} {value} {_be(entry.text)} {entry.text}"
            case "relation":
                return f"{_whom(head)} {value} is {_add_relation_article(entry.text)}"
            case _:
                noun = entry.plural if head.is_many and entry.plural else f"the {entry.text}"
                return f"{_who(head)} {'are' if head.is_many else 'is'} {noun} of {value}"

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
        if entry.kind == "count":
            return f"whose {entry.text} {condition}"
        if entry.is_noun and not (entry.passive and is_value):
            return f"whose {entry.text} {condition}"
        if entry.kind == "dated":
            return f"whose date {entry.text} {condition}"
        value = value if is_value else f"something that {condition}"
        return self.relate(entry, value, head)

    def have(self, entry: LexicalEntry, head: Head) -> str:
        """Return the clause of any value at all: `with an award`, `who live in a city`."""
        some = "someone" if entry.leads_to_person else "something"
        value = self.phrases.add_article(entry.value_noun) if entry.value_noun else some
        match entry.kind:
            case "any":
                return self.say("any value")
            case "noun":
                return f"with {self.phrases.add_article(entry.text)}"
            case "count":
                return f"with a known number of {entry.plural}"
            case "dated":
                return f"{entry.text} on a known date"
            case _:
                return self.relate(entry, value, head)

    def lack(self, entry: LexicalEntry, head: Head) -> str:
        """Return the clause of no value: `without an award`, `who do not live in any city`."""
        anything = "anyone" if entry.leads_to_person else "anything"
        value = f"any {entry.value_noun}" if entry.value_noun else anything
        match entry.kind:
            case "any":
                return "without any property"
            case "noun":
                return f"without {self.phrases.add_article(entry.text)}"
            case "count":
                return f"without a known number of {entry.plural}"
            case "dated":
                they_were = "they were" if head.is_many else "it was"
                return f"with no record of when {they_were} {entry.text}"
            case _:
                return self._negate(entry, value, head)

    def differ(self, entry: LexicalEntry, value: str, head: Head) -> str:
        """Return the clause of a value that is not there: `not directed by Ann`."""
        if entry.is_noun and not entry.passive:
            return f"whose {entry.text} is not {value}"
        return self._negate(entry, value, head)

    def _negate(self, entry: LexicalEntry, value: str, head: Head) -> str:
        who, be = _who(head), "are" if head.is_many else "is"
        match entry.kind:
            case "verb" if entry.plural == entry.text:
                return (
                    f"{who} {entry.text} no{value.removeprefix('any')}"
                    if value.startswith("any")
                    else ""
                )
            case "verb":
                do = "do" if head.is_many else "does"
                return f"{who} {do} not {entry.plural} {_add_object(entry, value)}"
            case "participle" if is_gerund(entry.text):
                return f"not {entry.text} {value}"
            case "dated":
                return f"not {entry.text} {_in_or_on(value)}"
            case "participle":
                return f"{who} {_be(entry.text, many=head.is_many)} not {entry.text} {value}"
            case "relation" | "place":
                text = self.relate(entry, value, head)
                text = re.sub(rf"^{who} {be} ", "", text)
                return f"{who} {be} not {text}"
            case _ if entry.passive:
                return f"not {entry.passive} {value}"
            case _:
                return ""

    def lack_back(self, entry: LexicalEntry, noun: str, own: str, head: Head) -> str:
        """Return the clause of no subject: `that no moon orbits`, `that nothing orbits`."""
        rest = noun.removeprefix("thing ") if noun.startswith("thing ") else ""
        subject = f"nothing {rest}" if rest else f"no {noun}" if noun else "nothing"
        match entry.kind:
            case "verb":
                return f"{_whom(head)} {subject} {entry.text}"
            case "place":
                return f"that {subject} is {self.phrases.substitute(entry.text, 'in')}"
            case _ if entry.past:
                return f"{_who(head)} {entry.past} {subject}"
            case "participle" if not is_gerund(entry.text):
                return f"{_whom(head)} {subject} {_be(entry.text)} {entry.text}"
            case "relation":
                return f"{_whom(head)} {subject} is {_add_relation_article(entry.text)}"
        if noun and not rest and own in (entry.text, entry.plural):
            return f"without any {noun}"
        verb = "are" if head.is_many else "is"
        of = f"anything {rest}" if rest else f"any {noun}" if noun else "anything"
        return f"{_who(head)} {verb} not the {entry.text} of {of}"

    def relate_many(self, entry: LexicalEntry, subjects: str) -> str:
        """Return the clause of several subjects: `that the most players play for`."""
        match entry.kind:
            case "participle" if not is_gerund(entry.text):
                return f"that {subjects} {_be(entry.text, many=True)} {entry.text}"
            case "place":
                return f"that {subjects} are {self.phrases.substitute(entry.text, 'in')}"
            case "participle":
                return f"with {subjects} {entry.text} them"
            case "relation":
                return f"that {subjects} are {entry.text}"
            case _:
                return f"that {subjects} {entry.plural}"

    def name_column(self, entry: LexicalEntry) -> str:
        """Return the name of a column of values: `mass`, `city they live in`."""
        value = entry.value_noun or ("person" if entry.leads_to_person else "thing")
        match entry.kind:
            case "verb":
                return f"{value} they {entry.plural}"
            case "participle" if is_gerund(entry.text):
                return f"“{entry.text}”"
            case "participle":
                return f"{value} they {_be(entry.text, many=True)} {entry.text}"
            case "dated":
                return f"date they were {entry.text}"
            case "place":
                place = entry.value_noun or "place"
                return f"{place} they are {self.phrases.substitute(entry.text, 'in')}"
            case "relation":
                return f"{value} they are {entry.text}"
            case _:
                return entry.text

    def state(self, entry: LexicalEntry, subject: str, value: str) -> str:
        """Return a statement: `Titan orbits Saturn`, `Kira is the spouse of Hugo`."""
        match entry.kind:
            case "verb":
                return f"{subject} {entry.text} {_add_object(entry, value)}"
            case "participle" if not is_gerund(entry.text):
                return f"{subject} {_be(entry.text)} {entry.text} {value}"
            case "dated":
                return f"{subject} was {entry.text} {_in_or_on(value)}"
            case "relation":
                return f"{subject} is {_add_relation_article(entry.text)} {value}"
            case "place":
                return f"{subject} is {self.phrases.substitute(entry.text, 'in')} {value}"
            case "any":
                return self.say("fact any", subject, entry.text, value)
            case "count" if re.fullmatch(r"[\d.,]+", _MARKS.sub("", value)):
                return f"{subject} has {value} {entry.plural}"
            case _:
                return f"the {entry.text} of {subject} is {value}"

    def ask(self, entry: LexicalEntry, subject: str, value: str) -> str:
        """Return a statement as a question: `does Titan orbit Saturn?`."""
        match entry.kind:
            case "verb" if entry.plural != entry.text:
                return f"does {subject} {entry.plural} {_add_object(entry, value)}?"
            case "participle" if not is_gerund(entry.text):
                return f"{_be(entry.text)} {subject} {entry.text} {value}?"
            case "relation":
                return f"is {subject} {_add_relation_article(entry.text)} {value}?"
            case "place":
                return f"is {subject} {self.phrases.substitute(entry.text, 'in')} {value}?"
            case "noun":
                is_name = not re.match(r"[\d“-]", _MARKS.sub("", value))
                if is_name:
                    return f"is {value} the {entry.text} of {subject}?"
                return f"is the {entry.text} of {subject} {value}?"
            case _:
                return self.say("is true", self.state(entry, subject, value))


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


def _who(head: Head) -> str:
    return "who" if head.is_person else "that"


def _whom(head: Head) -> str:
    return "whom" if head.is_person else "that"


def _fit_event(entry: LexicalEntry, head: Head) -> str:
    """Return the event of a date with the pronoun of its noun: `who died`."""
    return re.sub(r"^that\b", _who(head), entry.event)


def _be(participle: str, *, many: bool = False) -> str:
    if is_event(_MARKS.sub("", participle)):
        return "were" if many else "was"
    return "are" if many else "is"


def _in_or_on(value: str, *, is_place: bool = False) -> str:
    """Return a date with the preposition that it needs: `on 5 May 1900`, `in 1900`."""
    bare = _MARKS.sub("", value)
    if is_place:
        return f"in {value}"
    if re.match(r"\d{1,2} \w+ \d+", bare):
        return f"on {value}"
    is_year = re.match(r"-?\d|(?!in |before |after |between )\w+ \d{4}$", bare)
    return f"in {value}" if is_year else value


def _relate_relation(text: str, value: str, head: Head) -> str:
    """Return the clause of a noun or adjective with a preposition: `who are members of X`."""
    noun, _, preposition = text.rpartition(" ")
    if not noun:
        return f"{text} {value}"
    bare = _MARKS.sub("", noun)
    if _MARKS.sub("", preposition) == "of" and bare not in ("part", "made"):
        if head.is_many:
            return f"{_who(head)} are {english.pluralize(noun)} {preposition} {value}"
        return f"{_who(head)} is {_add_relation_article(text)} {value}"
    return f"{_who(head)} {'are' if head.is_many else 'is'} {text} {value}"


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
