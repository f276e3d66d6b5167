"""Operators of a question, found by closed word lists: count, most, more than, not, each …

Zones tell what is asked for from what only restricts it. Some words are about a text that a name is
to hold, to start or to end with: "contains" alone may be any relation, before a quotation or "the
letter" it is about a text.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from askgraph.graph.measures import Unit, unit_at
from askgraph.search.tokenize import Quantity, TokenizedQuestion, bits
from askgraph.search.tokenize.word_lists import Measure, shared_words

COMPARING = {
    "more_than": ">",
    "less_than": "<",
    "at_least": ">=",
    "at_most": "<=",
    "exactly": "=",
    "before": "<",
    "after": ">",
}


@dataclass(frozen=True)
class Operator:
    """An operator at tokens first … last; `measure` if it is an adjective of measure."""

    name: str
    first: int
    last: int
    measure: Measure | None = None

    @property
    def positions(self) -> range:
        """The tokens that it takes up."""
        return range(self.first, self.last + 1)

    @property
    def mask(self) -> int:
        """The positions as bits."""
        return bits(self.positions)


@dataclass(frozen=True)
class QuestionOperators:
    """What a question asks for, apart from its content."""

    reading: TokenizedQuestion
    operators: tuple[Operator, ...]
    asks: str | None  # person, date, year, place, number
    today: float = 0.0  # days from 1970-01-01

    @cached_property
    def asked_at(self) -> tuple[str, int] | None:
        """What the question word asks for that stands before the first noun, and its place."""
        reading = self.reading
        content = (at for at in range(len(reading.tokens)) if not reading.is_stop(at))
        starts = next((at for at in content if not self.mask >> at & 1), len(reading.tokens))
        best: tuple[int, int, str] | None = None
        places = range(min(starts + 1, _BEFORE_NOUN, len(reading.tokens)))
        first = reading.folded[: len(places)]
        for name, phrases in reading.words.asks.items():
            for phrase in phrases:
                for at in places if phrase[0] in first else ():
                    if reading.says(phrase, at) and (best is None or (at, -len(phrase)) < best[:2]):
                        best = at, -len(phrase), name
        return (best[2], best[0]) if best is not None else None

    @cached_property
    def also_asked(self) -> tuple[tuple[str, int], ...]:
        """What further question words ask for that follow on the first: "when and where"."""
        found = [self.asked_at] if self.asked_at is not None else []
        reading = self.reading
        while found:
            name, at = found[-1]
            end = at + max(len(one) for one in reading.words.asks[name] if reading.says(one, at))
            if not reading.words.joining.issuperset(reading.folded[end : end + 1] or " "):
                break
            follows = [
                (other, end + 1)
                for other, phrases in reading.words.asks.items()
                if other != name and any(reading.says(phrase, end + 1) for phrase in phrases)
            ]
            if not follows:
                break
            found.append(follows[0])
        last = self._asked_last
        return (*found[1:], last) if last and found and last not in found else tuple(found[1:])

    @property
    def _asked_last(self) -> tuple[str, int] | None:
        """What a question word asks for that ends the question: "… and by whom?"."""
        reading, count = self.reading, len(self.reading.tokens)
        ends = [
            (count - len(phrase), name)
            for name, phrases in reading.words.asks.items()
            for phrase in phrases
            if reading.folded[-len(phrase) :] == phrase
        ]
        at, name = min(ends, default=(0, ""))
        joined = at > 0 and reading.folded[at - 1] in reading.words.joining
        return (name, at) if joined else None

    @cached_property
    def mask(self) -> int:
        """The tokens of all operators, as bits."""
        return bits(at for operator in self.operators for at in operator.positions)

    @property
    def quantified(self) -> int:
        """The tokens of all quantities, as bits."""
        return bits(at for one in self.reading.quantities for at in one.positions)

    @cached_property
    def _loud(self) -> frozenset[int]:
        return frozenset(at for one in self.operators if one.name in _LOUD for at in one.positions)

    def is_loud(self, at: int) -> bool:
        """Whether a token belongs to an operator that must not be read as a loose name."""
        return at in self._loud

    def takes(self, quantity: Quantity) -> bool:
        """Whether an operator has a quantity for its argument."""
        return any(
            quantity in (self.quantity_after(operator), self.quantity_before(operator, 1))
            or (operator.name == "between" and 0 < quantity.first - operator.last <= _BETWEEN)
            for operator in self.of(*_TAKES_QUANTITY)
        )

    @property
    def exists(self) -> bool:
        """Whether it is a yes-or-no question."""
        return any(operator.name == "exists" for operator in self.operators)

    def of(self, *names: str) -> tuple[Operator, ...]:
        """Return the operators of some names, in the order of the question."""
        if names not in self._found:
            self._found[names] = tuple(one for one in self.operators if one.name in names)
        return self._found[names]

    @cached_property
    def _found(self) -> dict[tuple[str, ...], tuple[Operator, ...]]:
        """The operators that were asked for, by their names."""
        return {}

    @cached_property
    def mean_count(self) -> Operator | None:
        """The average, if it is one of counts: "moons per planet on average"."""
        eachs, counts = self.of("each"), self.of("count")
        for one in self.of("average") if eachs else ():
            if any(self._adjoin(one, count) for count in counts):
                return one  # "the average number of moons per planet"
            if counts and counts[0].first < eachs[0].first < one.first and not self.of("and"):
                return one  # "how many moons does each planet have on average"
        return None

    def _adjoin(self, one: Operator, other: Operator) -> bool:
        """Whether an operator comes right after another."""
        between = range(one.last + 1, other.first)
        joining = self.reading.words.joining
        words = self.reading.folded[one.last + 1 : other.first]
        stops = all(self.reading.is_stop(at) for at in between)
        return one.last < other.first and stops and joining.isdisjoint(words)

    def unit_of(self, operator: Operator) -> Unit | None:
        """Return the unit that the last words of an operator name."""
        words = self.reading.folded[operator.first : operator.last + 1]
        for at in range(1, len(words)):
            found = unit_at(words, at)
            if found is not None and at + found[1] == len(words):
                return found[0]
        return None

    def quantity_after(self, operator: Operator, within: int = 3) -> Quantity | None:
        """Return the first quantity that starts within some tokens after an operator."""
        after = (q for q in self.reading.quantities if 0 < q.first - operator.last <= within)
        return next(after, None)

    def quantity_before(self, operator: Operator, gap: int = 0) -> Quantity | None:
        """Return the quantity that ends just before an operator ("10 or more", "5 km or less").

        So many words may part them: one in "10 years old or older".
        """
        before = (q for q in self.reading.quantities if q.last < operator.first)
        return next((q for q in before if operator.first <= q.measured.stop + gap), None)


def detect_operators(
    reading: TokenizedQuestion, scales: Sequence[tuple[int, Measure]] = ()
) -> QuestionOperators:
    """Find the operators of a question, longest phrases first, none inside a quotation.

    `scales` are adjectives that no list has, with their places.
    """
    measures = dict(scales)
    found: list[Operator] = []
    at = 0
    while at < len(reading.tokens):
        operator = _at(reading, at, measures.get(at))
        if operator is None:
            at += 1
        else:
            found.append(_parting(operator, found, reading))
            at = operator.last + 1
    found += list(_listed_counts(reading, found))
    return QuestionOperators(
        reading, tuple(sorted(found, key=lambda one: one.first)), _asked(reading)
    )


def _listed_counts(reading: TokenizedQuestion, found: Sequence[Operator]) -> Iterator[Operator]:
    """The words for a number that are listed with an aggregate after them: "number and average"."""
    last = max((one.first for one in found if one.name in _AGGREGATING), default=0)
    taken = {at for one in found for at in one.positions} if last else set()
    for at in range(last):
        opens = at == 0 or reading.is_stop(at - 1)
        if opens and at not in taken and is_listed_count(reading, at):
            yield Operator("count", at, at)


def is_listed_count(reading: TokenizedQuestion, at: int) -> bool:
    """Whether a token is a word for a number, and a comma or a conjunction comes right after."""
    if reading.folded[at] not in reading.words.clauses["number"] or at + 1 == len(reading.tokens):
        return False
    gap = reading.gap(at, at + 1)
    return "," in gap or reading.folded[at + 1] in reading.words.joining


def _at(reading: TokenizedQuestion, at: int, scale: Measure | None) -> Operator | None:
    token = reading.tokens[at]
    relative = any(one.relative and at in one.positions for one in reading.quantities)
    if token.quote is not None or relative or at in reading.idle or _is_part_of_name(reading, at):
        return None
    lists = reading.words
    found = [*_adjectives(reading, at), *_or_more(reading, at)]
    if scale is not None:
        last = at + len(scale.phrase) - 1
        found.append((len(scale.phrase), 1, Operator(scale.degree, at, last, scale)))
    for phrase, name in lists.phrases.get(token.folded, ()):
        last = at + len(phrase) - 1
        goes_on = name == "not" or (name in COMPARING and len(phrase) > 1)
        if goes_on and _compares(reading, last):
            continue  # "have no more than", "8 or more than 10"
        if reading.says(phrase, at) and _may_stand(name, at, reading):
            rank = 2 if name in _FIRST else int(name == "past")
            found.append((len(phrase), rank, Operator(name, at, last)))
            if name in _WHOLE:
                found += _after_article(reading, at, last)
    if _holds(reading, at):
        found.append((1, _HOLDS, Operator("containing", at, at)))
    return max(found, key=lambda one: one[:2])[2] if found else None


def _is_part_of_name(reading: TokenizedQuestion, at: int) -> bool:
    """Whether a word says which part of a name is meant: "first" of "first and last names"."""
    naming = reading.words.naming
    for after in range(at + 1, min(at + _NAME_WITHIN, len(reading.tokens))):
        if reading.tokens[after].stem in naming:
            words = [word for word in range(at, after) if not reading.is_stop(word)]
            return all(_parts_names(reading.folded[word], after, reading) for word in words)
    return False


def _parts_names(word: str, noun: int, reading: TokenizedQuestion) -> bool:
    name = word + reading.tokens[noun].stem
    return any(name in part for part in shared_words().parts.values())


def _holds(reading: TokenizedQuestion, at: int) -> bool:
    """Whether a word says that a text holds what follows: "contains 'x'", "has the letter x"."""
    texts, word = reading.words.texts, reading.tokens[at].folded
    having = word in texts["has"]
    return (having or word in texts["contains"]) and is_about_text(reading, at, having=having)


_POLITE = 3  # so many words after "can" may say whom a request is for
_NAME_WITHIN = 6  # so many words on stands the word for a name in "first, middle and last names"
_HOLDS = 4  # before all other operators that a word may be: it is known by what follows

_AGGREGATING = frozenset("count average sum minimum maximum".split())


def _parting(
    operator: Operator, before: Sequence[Operator], reading: TokenizedQuestion
) -> Operator:
    """ "The number of X in different Y" parts them as "each" does."""
    if operator.name != "distinct" or not any(one.name in _AGGREGATING for one in before):
        return operator
    words = reading.words.clauses
    at = operator.first - 1
    while at > before[-1].last and reading.is_stop(at):
        if reading.tokens[at].folded in words["among"]:
            differs = reading.tokens[operator.first].folded in words["differing"]
            return replace(operator, name="each") if differs else operator
        at -= 1
    return operator


def _adjectives(reading: TokenizedQuestion, at: int) -> Iterator[tuple[int, int, Operator]]:
    """The adjectives of measure at a token, with their length and rank."""
    lists, word = reading.words, reading.tokens[at].folded
    for measure in lists.adjectives.get(word, ()):
        name = measure.degree if measure.degree != "plain" else "measure"
        if reading.says(measure.phrase, at) and (name != "measure" or _measures(reading, at)):
            length = len(measure.phrase)
            if name == "comparative":
                wider = [p for p, n in lists.phrases.get(word, ()) if n in _THAN]
                length = max([length, *(len(p) for p in wider if reading.says(p, at))])
            yield length, 3, Operator(name, at, at + length - 1, measure)


def _or_more(reading: TokenizedQuestion, at: int) -> Iterator[tuple[int, int, Operator]]:
    """The comparatives that an "or" joins to a number: "25 or older", "30 metres or higher"."""
    ends = {one.measured.stop for one in reading.quantities}
    if (reading.folded[at],) in reading.words.operators["or"] and {at, at - 1} & ends:
        for length, rank, one in _adjectives(reading, min(at + 1, len(reading.tokens) - 1)):
            than = reading.words.clauses["than"].intersection(reading.folded[at : one.last + 2])
            if one.name == "comparative" and not than:
                yield length + 1, rank, replace(one, first=at)


def _compares(reading: TokenizedQuestion, at: int) -> bool:
    """Whether a comparison of several words begins at a token: "no more than"."""
    word = reading.folded[at] if at < len(reading.tokens) else ""
    phrases = reading.words.phrases.get(word, ())
    return any(
        name in COMPARING and len(phrase) > 1 and reading.says(phrase, at)
        for phrase, name in phrases
    )


def _after_article(
    reading: TokenizedQuestion, first: int, last: int
) -> Iterator[tuple[int, int, Operator]]:
    """The superlatives that end a phrase and begin after its article: "la plus grande"."""
    for at in range(first + 1, last + 1):
        for length, rank, one in _adjectives(reading, at):
            if one.name == "superlative" and one.last == last:
                yield length + at - first, rank, replace(one, first=first)


_WHOLE = ("maximum", "minimum")
_THAN = ("more_than", "less_than", "before", "after")
_FIRST = ("most", "fewest")
_ASKS_AT = 6  # a question word begins among so many words and the next
_COUNTED = 2  # tokens after the first of "exactly" within which its number stands
_BEFORE_NOUN = 4  # a question word asks for the answer if it is one of so many words
_BETWEEN = 8  # tokens after "between" within which both of its numbers stand
_LOUD = frozenset(
    "count average sum minimum maximum most fewest superlative comparative measure "
    "containing starting ending".split()
)
"""Operators that are not mere function words."""
_TAKES_QUANTITY = (*COMPARING, "between", "top", "comparative")


def _measures(reading: TokenizedQuestion, at: int) -> bool:
    """Whether a plain adjective is asked for its measure: "how old"."""
    return reading.folded[max(0, at - 1) : at + 1] in reading.words.asks["number"]


def _may_stand(name: str, at: int, reading: TokenizedQuestion) -> bool:
    """Some words are operators only in their place: a verb that opens, a number that follows."""
    if name == "exists":
        return at == 0 and not _asks_politely(reading)
    if name in ("before", "after", "past"):
        return at > 0
    if name in ("between", "top"):
        following = {quantity.first for quantity in reading.quantities}
        return any(at + step in following for step in (1, 2, 3))
    if name == "share":  # but "the top 10 percent of"
        return not any(at - 1 in one.positions for one in reading.quantities)
    if name == "or":  # "his or her", "in or after"
        beside = [one for one in (at - 1, at + 1) if 0 <= one < len(reading.tokens)]
        numbers = {number for one in reading.quantities for number in one.positions}
        return any(one in numbers or not reading.is_stop(one) for one in beside)
    if name == "exactly":
        return any(at < quantity.first <= at + _COUNTED for quantity in reading.quantities)
    return name not in ("average_of_all",)


def _asks_politely(reading: TokenizedQuestion) -> bool:
    """Whether a request opens with a verb that questions open with: "can you show me …"."""
    words, first = reading.words.yes_or_no, reading.folded[: 1 + _POLITE]
    to_whom = bool(first[1:]) and (first[1] in words["asked"] or words["asking"] & set(first[1:]))
    return first[0] in words["able"] and bool(to_whom)


def _asked(reading: TokenizedQuestion) -> str | None:
    """What the first phrase that asks wants, the longest of those that begin there."""
    asking = reading.words.asking
    for at, word in enumerate(reading.folded[: _ASKS_AT + 1]):
        said = [one for one in asking.get(word, ()) if reading.says(one[0], at)]
        if said:
            return said[0][1]
    return None


@dataclass(frozen=True)
class Zones:
    """For each token, whether it stands in a part that asks."""

    reading: TokenizedQuestion
    head: tuple[bool, ...]
    again: frozenset[int] = frozenset()

    @classmethod
    def of(cls, reading: TokenizedQuestion, frame: QuestionOperators) -> Self:
        """Split a question at the words that open a restriction, and at its sentences.

        "For each X that has Y, find the Z" asks for what stands behind the comma.
        """
        names = ("and", "difference", "ratio")  # "as well as", "the difference between"
        joining = {at for one in frame.of(*names) for at in one.positions}
        front = bool(reading.tokens) and reading.folded[0] in reading.words.clauses["restrict"]
        again = frozenset(_asked_again(reading))
        joining |= again
        head, asking, seen = [], True, False
        for at, token in enumerate(reading.tokens):
            gap = reading.gap(at - 1, at) if at else ""
            begins = (token.folded,) in reading.words.following["whole"]
            if any(mark in gap for mark in ".?!;") or (front and begins and "," in gap):
                asking, seen = True, False
            elif seen and token.quote is None and at not in joining and _opens(at, reading):
                asking = False
            elif seen and goes_on(at, reading):
                asking = True
            head.append(asking)
            seen = seen or not reading.is_stop(at)
        return cls(reading, tuple(head), again)

    def is_head(self, at: int) -> bool:
        """Whether a token stands in a part that asks."""
        return self.head[at]

    def is_listed(self, at: int) -> bool:
        """Whether a token opens, or follows a comma or a conjunction (articles left aside)."""
        tokens, lists = self.reading.tokens, self.reading.words
        joins = {phrase[0] for phrase in lists.operators["and"]}
        before = at - 1
        while before in self.again:
            before -= 1
        while before >= 0 and self.reading.is_stop(before) and tokens[before].folded not in joins:
            if "," in self.reading.gap(before, before + 1):
                return True
            if tokens[before].folded in lists.clauses["possessive"]:
                return True
            if tokens[before].folded in lists.clauses["restrict"]:
                return False
            before -= 1
        if before < 0:
            return True
        return "," in self.reading.gap(before, before + 1) or tokens[before].folded in joins


def _asked_again(reading: TokenizedQuestion) -> range:
    """The tokens that ask as the first ones do: "in which city and in which country"."""
    words, asking = reading.folded, reading.words.following["whole"]
    opening = next((at + 1 for at, word in enumerate(words[:2]) if (word,) in asking), 0)
    near = range(opening, min(opening + _NOUN + 1, len(words)))
    start = next((at for at in near if words[at] in reading.words.joining), 0) + 1
    told = range(opening, start - 1)
    again = words[start : start + opening]
    same = opening and told and len(again) == opening and (again[-1],) in asking
    if not same or any(map(reading.is_stop, told)) or again[:-1] != words[: opening - 1]:
        return range(0)
    return range(start, start + opening)


def goes_on(at: int, reading: TokenizedQuestion) -> bool:
    """Return whether more of what was named is asked for: "ships before 1900 with their crews"."""
    following = reading.tokens[at + 1].folded if at + 1 < len(reading.tokens) else ""
    word, words = reading.tokens[at].folded, reading.words
    return word in words.texts["has"] and following in words.clauses["possessive"]


def _opens(at: int, reading: TokenizedQuestion) -> bool:
    clauses, word = reading.words.clauses, reading.tokens[at].folded
    following = reading.tokens[at + 1].folded if at + 1 < len(reading.tokens) else ""
    restricts = word in clauses["restrict"] and word not in clauses["weak"]
    return restricts and following not in clauses["possessive"]


_NOUN = 3  # words of a noun that is asked for beside another, at most
_BEFORE_TEXT = 4  # so many tokens stand at most between "contains" and its text: "the french word"


def held_text(reading: TokenizedQuestion, operator: range) -> range | None:
    """Return the tokens of the text that the words of an operator are about, if there is one.

    That is a quotation that follows, else what follows "the letter" or "the word", else a name or
    a number, else a quotation right before, as if the verb comes last.
    """
    return _text_after(reading, operator[-1]) or _text_before(reading, operator[0])


def _text_before(reading: TokenizedQuestion, first: int) -> range | None:
    at = first - 1
    if at < 0 or reading.tokens[at].quote is None:
        return None
    while at > 0 and reading.tokens[at - 1].quote == reading.tokens[first - 1].quote:
        at -= 1
    return range(at, first)


def _text_after(reading: TokenizedQuestion, last: int) -> range | None:
    tokens, kinds = reading.tokens, reading.words.texts["kinds"]
    said = tokens[last].folded in kinds
    for at in range(last + 1, min(last + 2 + _BEFORE_TEXT, len(tokens))):
        token = tokens[at]
        if token.quote is not None:
            number, stop = reading.tokens[at].quote, at
            while stop < len(reading.tokens) and reading.tokens[stop].quote == number:
                stop += 1
            return range(at, stop)
        if token.folded in kinds:
            said = True
        elif said and (len(token.folded) == 1 or not reading.is_stop(at)):
            return _name(reading, at)
        elif not said and not reading.is_stop(at):
            named = token.capital or len(token.folded) == 1 or token.folded.isdigit()
            return _name(reading, at) if named else None
    return None


def is_about_text(reading: TokenizedQuestion, at: int, *, having: bool) -> bool:
    """Whether a word like "contains" at a token is about a text.

    One like "has" is only if "the letter" or "the word" follows, or "in its name"; one like
    "contains" if a word for "name" stands before it, too.
    """
    held = held_text(reading, range(at, at + 1))
    if held is None:
        return False
    kinds = reading.words.texts["kinds"]
    if any(reading.tokens[one].folded in kinds for one in range(at + 1, held.start)):
        return True
    quoted = reading.tokens[held.start].quote is not None
    if not having and at and reading.tokens[at - 1].stem in reading.words.naming:
        return True
    return quoted and (not having or holder_of(reading, held) is not None)


def holder_of(reading: TokenizedQuestion, held: range) -> int | None:
    """Return the token before the noun that holds a text, if "in its" or "in part of their" does.

    That is the last token of "in their" after the text.
    """
    for phrase in reading.words.text_holders:
        if reading.says(phrase, held.stop):
            return held.stop + len(phrase) - 1
    return None


def _name(reading: TokenizedQuestion, at: int) -> range:
    """A word, with those in capitals that follow it at once."""
    tokens, stop = reading.tokens, at + 1
    while (
        tokens[at].capital
        and len(tokens[at].folded) > 1
        and stop < len(tokens)
        and tokens[stop].capital
        and reading.gap(stop - 1, stop) == " "
    ):
        stop += 1
    return range(at, stop)
