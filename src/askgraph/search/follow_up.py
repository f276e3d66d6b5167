"""A question that leans on the one before it, in words that stand alone: without a model.

    Which moons does Jupiter have?   And Saturn?          Which moons does Saturn have?
    Which is the largest moon?       Who discovered it?   Who discovered Ganymede?
    Moons of Uranus                  Which of them is     Which of moons of Uranus is the largest?
                                     the largest?
    Which moons orbit Jupiter?       And which orbit Mars? Which moons orbit Mars?

Only what is surely elliptical is completed: a few words that name one thing, class or property, in
the place of the words of the earlier question that named one of the same kind; a year in the place
of another one; a word for several things; an operator with nothing that it is about. What only
changes how the last result is shown ("the first five", "sort by mass") is a `Change`.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from askgraph.index.names import Kind, NameIndex
from askgraph.search.link import Link, LinkedQuestion, link_question
from askgraph.search.tokenize import Quantity, TokenizedQuestion, tokenize
from askgraph.search.tokenize.question_operators import Operator, detect_operators

Alike = Callable[[str, str], bool]  # whether two things, by their IRIs, are of one class

_KINDS = (Kind.ENTITY, Kind.VALUE, Kind.CLASS, Kind.PREDICATE)
_SURE = 0.5


def completed(
    text: str, earlier: str, names: NameIndex, alike: Alike, *, language: str | None = None
) -> str | None:
    """Return an elliptical question in the words of the earlier one; None if it is none.

    Of several things that the earlier question names, the one that is `alike` gives way.
    """
    reading = tokenize(text, language)
    several = _of_several(reading, tokenize(earlier, reading.language))
    if several is not None:
        return several
    rest = _after_lead(reading)
    if rest is None:
        return None
    if any((reading.folded[at],) in reading.words.following["whole"] for at in rest):
        return _whole_again(reading, rest, earlier, names, alike) if rest.start else None
    operators = detect_operators(reading).operators
    if reading.wants_map or any(one.name not in _SAYS_NO_MORE for one in operators):
        return None  # "launches per year" does something with what it names
    if (year := _year(reading, rest)) is not None:
        years = _YEAR.findall(earlier)
        return _YEAR.sub(year, earlier) if len(years) == 1 else None
    here = _named(link_question(reading, names), rest)
    if here is None:
        return None
    there = _counterpart(here, link_question(tokenize(earlier, reading.language), names), alike)
    if there is None:
        return None
    return _with_other(earlier, there, here, reading)


def _with_other(earlier: str, there: Link, here: Link, reading: TokenizedQuestion) -> str:
    """The earlier question, with what a link of this one says in the place of another's words."""
    start, end = _stretch(there, tokenize(earlier, reading.language))
    first, last = _stretch(here, reading)
    return earlier[:start] + reading.text[first:last] + earlier[end:]


def _whole_again(
    reading: TokenizedQuestion, rest: range, earlier: str, names: NameIndex, alike: Alike
) -> str:
    """A question of its own after "and": "And which orbit Mars?" is of the moons asked for before.

    One that says more, or something else of a thing, is only rid of its "and".
    """
    linked, before = (
        link_question(reading, names),
        link_question(tokenize(earlier, reading.language), names),
    )
    said = {one.target for one in before.of(Kind.PREDICATE) if one.score >= _SURE}
    for relation in linked.of(Kind.PREDICATE):
        if relation.target not in said or relation.score < _SURE:
            continue
        here = _named(linked, [at for at in rest if at not in relation.positions])
        there = _counterpart(here, before, alike) if here and here.kind is Kind.ENTITY else None
        if here is not None and there is not None:
            return _with_other(earlier, there, here, reading)
    return reading.text[reading.tokens[rest.start].start :]


@dataclass(frozen=True)
class Change:
    """What is to be done with the last result.

    No more than the first `number` of it, if that is not 0; sorted `by` the first predicate of some
    (IRIs) that its things have, the greatest first if `down`; counted; put on a map. "Which of them
    has the highest mass?" is the first one by mass.
    """

    number: int = 0
    by: tuple[str, ...] = ()
    down: bool = False
    counts: bool = False
    maps: bool = False


def change_of(text: str, names: NameIndex, *, language: str | None = None) -> Change | None:
    """Return what a question wants done with the last result; None if it says anything else."""
    reading = tokenize(text, language)
    rest = _after_lead(reading)
    if rest is None:
        return None
    free = _content(reading, rest)
    found = {one.name: one for one in detect_operators(reading).operators}
    down = "descending" in found or _says(reading, "top")
    said = {at for name in _ORDERS for at in (found[name].positions if name in found else ())}
    cuts = [one for one in reading.quantities if one.value in range(1, _MOST) and not one.unit]
    number = (
        cuts[0] if len(cuts) == 1 and (_says(reading, "first") or _says(reading, "top")) else None
    )
    if number is not None:
        said |= {*number.positions, *_places(reading, ("first", "top"))}
    if "order" in found or (number is not None and _says(reading, "by")):
        iris = _by(free - said - _places(reading, ("by",)), reading, names)
        return Change(_whole(number), iris, down) if iris else None
    if (pick := _pick(reading)) is not None and _says(reading, "of_them"):
        iris = _by(free - set(pick[0].positions), reading, names)
        return Change(1, iris, pick[1]) if iris else None
    if number is not None:
        return None if free - said else Change(_whole(number))
    if "count" in found and not free - set(found["count"].positions):
        return Change(counts=True)
    shows = _places(reading, ("map", "show"))
    return Change(maps=True) if _says(reading, "map") and not free - shows else None


def measured_pick(text: str, names: NameIndex, *, language: str | None = None) -> Change | None:
    """Return which one of the last result is wanted by a measure: "which of them is the largest?".

    It is sorted by what the adjective measures and the graph has; None if a question says else.
    """
    reading = tokenize(text, language)
    rest, pick = _after_lead(reading), _pick(reading)
    if rest is None or pick is None or pick[0].measure is None or not _says(reading, "of_them"):
        return None
    if _content(reading, rest) - set(pick[0].positions):
        return None
    nouns = [tokenize(noun, reading.language) for noun in pick[0].measure.measures]
    iris = [iri for noun in nouns for iri in _by(set(range(len(noun.tokens))), noun, names)]
    return Change(1, tuple(dict.fromkeys(iris)), pick[1]) if iris else None


def _by(own: set[int], reading: TokenizedQuestion, names: NameIndex) -> tuple[str, ...]:
    """The predicates that all of these words name, best first."""
    linked = link_question(reading, names).of(Kind.PREDICATE) if own else ()
    found = [one for one in linked if own <= set(one.positions) and one.score >= _SURE]
    found.sort(key=lambda one: -one.score)
    return tuple(dict.fromkeys(one.target for one in found))


def _pick(reading: TokenizedQuestion) -> tuple[Operator, bool] | None:
    """The one operator of a question, if it picks the highest or lowest; and whether the highest.

    None for one that may be about dates: "the earliest" has the lowest.
    """
    found = detect_operators(reading).operators
    match [one for one in found if one.name != "exists"]:
        case [Operator(name="maximum" | "minimum" as name) as one]:
            return one, name == "maximum"
        case [Operator(name="superlative") as one] if one.measure and not one.measure.dates:
            return one, one.measure.up
        case _:
            return None


_ORDERS = ("order", "ascending", "descending")
_SAYS_NO_MORE = ("and", "or", "count", "exists")  # operators beside a thing in another's place
_MOST = 1_000  # first ones of a result
_YEAR = re.compile(r"\b\d{4}\b")


def _whole(number: Quantity | None) -> int:
    return int(number.value or 0) if number is not None else 0


def _content(reading: TokenizedQuestion, rest: Sequence[int]) -> set[int]:
    """The tokens that say more than a function word, or a word for the last result."""
    aside = _places(reading, ("them", "of_them", "ones"))
    return {at for at in rest if at not in aside and not reading.is_stop(at)}


def _says(reading: TokenizedQuestion, key: str) -> bool:
    return bool(_places(reading, (key,)))


def _places(reading: TokenizedQuestion, keys: Iterable[str]) -> set[int]:
    """The tokens at which phrases of some kinds stand."""
    phrases = [phrase for key in keys for phrase in reading.words.following[key]]
    return {
        at + place
        for at in range(len(reading.tokens))
        for phrase in phrases
        if reading.says(phrase, at)
        for place in range(len(phrase))
    }


def _year(reading: TokenizedQuestion, rest: Sequence[int]) -> str | None:
    """The year that is all that a question says."""
    content = [reading.tokens[at].text for at in rest if not reading.is_stop(at)]
    return content[0] if len(content) == 1 and _YEAR.fullmatch(content[0]) else None


def leans_on_a_result(text: str, language: str | None = None) -> bool:
    """Whether a question says "of them" of what was found before."""
    return _says(tokenize(text, language), "of_them")


def leans_on_a_thing(text: str, language: str | None = None) -> bool:
    """Whether a question says "it" or "its" of something named before."""
    reading = tokenize(text, language)
    its = reading.words.following["its"]
    return bool(_pronoun(reading)) or any((word,) in its for word in reading.folded)


def with_thing(text: str, name: str, language: str | None = None) -> str:
    """Return a question with a thing's name for "it", and "of" the thing for "its"."""
    reading = tokenize(text, language)
    words = reading.words.following
    for token in reading.tokens:
        if (token.folded,) in words["its"]:
            rest = text[token.end :].strip()
            mark = rest[-1] if rest.endswith(("?", ".", "!")) else ""
            had = rest.removesuffix(mark)
            return f"{text[: token.start]}{had} {words['of'][0][0]} {name}{mark}"
    found = _pronoun(reading)
    if found is None:
        return text
    first, last = reading.tokens[found[0]], reading.tokens[found[1]]
    return text[: first.start] + name + text[last.end :]


def _of_several(reading: TokenizedQuestion, earlier: TokenizedQuestion) -> str | None:
    """A question about "them", or one that is nothing but an operator, with what is meant."""
    meant = _asked_for(earlier)
    rest = _after_lead(reading)
    if not meant or rest is None:
        return None
    text, of = reading.text, reading.words.following["of"][0][0]
    start = reading.tokens[rest[0]].start
    found = _several(reading)
    if found is not None:
        first, last = found[1]
        linking = f"{of} " if found[0] else ""
        after = text[reading.tokens[last].end :]
        return f"{text[start : reading.tokens[first].start]}{linking}{meant}{after}"
    bare = _bare_operator(reading, rest)
    if bare is None:
        return None
    said = text[start : reading.tokens[rest[-1]].end]
    for before in detect_operators(earlier).operators:
        if bare.name in _PICKS and before.name in _PICKS:
            opening = earlier.text[: earlier.tokens[before.first].start]
            own = text[reading.tokens[bare.first].start : reading.tokens[bare.last].end]
            return f"{opening}{own}{earlier.text[earlier.tokens[before.last].end :]}"
    if bare.name == "count":
        opened = text[reading.tokens[bare.first].start : reading.tokens[bare.last].end]
        return f"{opened} {meant}"
    return f"{said} {of} {meant}"


_PICKS = ("superlative", "minimum", "maximum", "most", "fewest")


def _asked_for(earlier: TokenizedQuestion) -> str:
    """The noun phrase of a question: what follows the words that only ask."""
    frame = detect_operators(earlier)
    counts = {at for one in frame.of("count") for at in one.positions}
    first = 0
    while first < len(earlier.tokens) and (earlier.is_stop(first) or first in counts):
        first += 1
    if first == len(earlier.tokens):
        return ""
    asks_who = frame.asks == "person" and not counts and first
    return earlier.text[0 if asks_who else earlier.tokens[first].start :].rstrip(" ?!.¿¡")


def _several(reading: TokenizedQuestion) -> tuple[bool, tuple[int, int]] | None:
    """Where a word for several things stands, and whether it says "of" them.

    One that opens a clause ("before they left") may stand for what the question itself names.
    """
    words = reading.words
    for key in ("of_them", "them"):
        for phrase in words.following[key]:
            for at in range(len(reading.tokens)):
                inside = at > 0 and reading.folded[at - 1] in words.clauses["restrict"]
                if reading.says(phrase, at) and not (key == "them" and inside):
                    return key == "of_them", (at, at + len(phrase) - 1)
    return None


def _bare_operator(reading: TokenizedQuestion, rest: range) -> Operator | None:
    """The operator of a question that names nothing which it could be about."""
    found = [one for one in detect_operators(reading).operators if one.name in (*_PICKS, "count")]
    if len(found) != 1 or reading.quantities:
        return None
    [only] = found
    is_bare = all(at in only.positions or reading.is_stop(at) for at in rest)
    return only if is_bare else None


def _after_lead(reading: TokenizedQuestion) -> range | None:
    """The tokens of a question after "and", "what about"; None if there is none."""
    words = reading.words.following
    start = next((len(phrase) for phrase in words["lead"] if reading.says(phrase, 0)), 0)
    return range(start, len(reading.tokens)) or None


def _named(linked: LinkedQuestion, rest: Sequence[int]) -> Link | None:
    """The one link whose words are all that an elliptical question says."""
    content = {at for at in rest if not linked.reading.is_stop(at)}
    whole = [
        one
        for kind in _KINDS
        for one in linked.of(kind)
        if content and content <= set(one.positions) and one.score >= _SURE
    ]
    return max(whole, key=lambda one: one.score, default=None)


def _counterpart(here: Link, there: LinkedQuestion, alike: Alike) -> Link | None:
    """The link of the earlier question that gives way: of the same kind, best of one class too."""
    fitting = [one for one in there.of(here.kind) if one.score >= _SURE]
    if here.kind is Kind.ENTITY:
        of_class = [one for one in fitting if alike(one.target, here.target)]
        if not of_class and len({one.positions for one in fitting}) > 1:
            return None
        fitting = of_class or fitting
    return max(fitting, key=lambda one: (len(one.positions), one.score), default=None)


def _stretch(one: Link, reading: TokenizedQuestion) -> tuple[int, int]:
    tokens = reading.tokens
    return tokens[min(one.positions)].start, tokens[max(one.positions)].end


def _pronoun(reading: TokenizedQuestion) -> tuple[int, int] | None:
    """The first and last token of a word for a thing; "is it true that" is about none."""
    openings = (phrase for phrase in reading.words.operators["exists"] if len(phrase) > 2)
    start = max((len(phrase) for phrase in openings if reading.says(phrase, 0)), default=0)
    for phrase in reading.words.following["it"]:
        for at in range(start, len(reading.tokens)):
            if reading.says(phrase, at):
                return at, at + len(phrase) - 1
    return None
