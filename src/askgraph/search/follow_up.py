"""Rewrite a question that refers to the previous one so that it stands alone, without a model.

    Which moons does Jupiter have?   And Saturn?          Which moons does Saturn have?
    Which is the largest moon?       Who discovered it?   Who discovered Ganymede?
    Moons of Uranus                  Which of them is     Which of moons of Uranus is the largest?
                                     the largest?
    Which moons orbit Jupiter?       And which orbit Mars? Which moons orbit Mars?

Only clearly elliptical questions are completed: a few words that name one thing, class or property
replace the words of the previous question that name one of the same kind; a year replaces a year;
"them" and bare operators apply to the previous noun. A request that only changes how the last
result is displayed ("the first five", "sort by mass") is a `ResultChange`.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from askgraph.index.names import ItemKind, NameIndex
from askgraph.search.link import Link, LinkedQuestion, link_question
from askgraph.search.tokenize import Quantity, TokenizedQuestion, tokenize
from askgraph.search.tokenize.question_operators import Operator, detect_operators

ClassComparison = Callable[[str, str], bool]  # whether two things, by their IRIs, are of one class

_KINDS = (ItemKind.ENTITY, ItemKind.VALUE, ItemKind.CLASS, ItemKind.PREDICATE)
_MIN_LINK_SCORE = 0.5


def complete_question(
    text: str,
    earlier: str,
    names: NameIndex,
    share_class: ClassComparison,
    *,
    language: str | None = None,
) -> str | None:
    """Return an elliptical question completed with words of the previous one.

    Args:
        earlier: the previous question.
        names: the names of the graph.
        alike: returns whether two things share a class; the one that does is replaced.
        language: the language of both questions, detected if None.

    Returns:
        The complete question, or None if the question is not elliptical.
    """
    reading = tokenize(text, language)
    plural_question = _complete_plural(reading, tokenize(earlier, reading.language))
    if plural_question is not None:
        return plural_question
    content = _skip_lead(reading)
    if content is None:
        return None
    if any(
        (reading.folded_words[at],) in reading.word_list.follow_up_phrases["whole"]
        for at in content
    ):
        return (
            _complete_clause(reading, content, earlier, names, share_class)
            if content.start
            else None
        )
    if reading.is_map_request or any(
        operator.name not in _NEUTRAL_OPERATORS for operator in detect_operators(reading).operators
    ):
        return None  # "launches per year" computes with the terms it names
    words = [reading.tokens[at].text for at in content if not reading.is_stop(at)]
    if len(words) == 1 and _YEAR.fullmatch(words[0]):
        return _YEAR.sub(words[0], earlier) if len(_YEAR.findall(earlier)) == 1 else None
    link = _find_covering_link(link_question(reading, names), content)
    if link is None:
        return None
    counterpart = _find_counterpart(
        link, link_question(tokenize(earlier, reading.language), names), share_class
    )
    if counterpart is None:
        return None
    return _substitute_link(earlier, counterpart, link, reading)


def _substitute_link(
    earlier: str, old_link: Link, new_link: Link, reading: TokenizedQuestion
) -> str:
    """Replace the words of a link in the previous question by those of a link in this one."""
    start, end = _get_text_range(old_link, tokenize(earlier, reading.language))
    first, last = _get_text_range(new_link, reading)
    return earlier[:start] + reading.text[first:last] + earlier[end:]


def _complete_clause(
    reading: TokenizedQuestion,
    content: range,
    earlier: str,
    names: NameIndex,
    share_class: ClassComparison,
) -> str:
    """Complete a clause after "and": "And which orbit Mars?" refers to moons asked for before."""
    linked = link_question(reading, names)
    earlier_linked = link_question(tokenize(earlier, reading.language), names)
    earlier_predicates = {
        link.target
        for link in earlier_linked.get_links(ItemKind.PREDICATE)
        if link.score >= _MIN_LINK_SCORE
    }
    for relation in linked.get_links(ItemKind.PREDICATE):
        if relation.target not in earlier_predicates or relation.score < _MIN_LINK_SCORE:
            continue
        link_here = _find_covering_link(
            linked, [at for at in content if at not in relation.positions]
        )
        counterpart = (
            _find_counterpart(link_here, earlier_linked, share_class)
            if link_here and link_here.kind is ItemKind.ENTITY
            else None
        )
        if link_here is not None and counterpart is not None:
            return _substitute_link(earlier, counterpart, link_here, reading)
    return reading.text[reading.tokens[content.start].start :]


@dataclass(frozen=True)
class ResultChange:
    """A change of the last result; "which of them has the highest mass?" is the first by mass.

    Attributes:
        max_rows: the number of rows to show; 0 for all.
        order_by: predicate IRIs; the rows are sorted by the first one that they have.
        is_descending: whether the greatest value comes first.
        is_count: whether the rows are counted.
        is_map: whether the rows are shown on a map.
    """

    max_rows: int = 0
    order_by: tuple[str, ...] = ()
    is_descending: bool = False
    is_count: bool = False
    is_map: bool = False


def parse_result_change(
    text: str, names: NameIndex, *, language: str | None = None
) -> ResultChange | None:
    """Return the change of the last result that a question requests, if any."""
    reading = tokenize(text, language)
    content = _skip_lead(reading)
    if content is None:
        return None
    free = _find_content(reading, content)
    operators = {item.name: item for item in detect_operators(reading).operators}
    is_descending = "descending" in operators or _has_phrase(reading, "top")
    used = {
        at for name in _ORDER_OPERATORS if name in operators for at in operators[name].positions
    }
    limits = [
        item
        for item in reading.quantities
        if item.value in range(1, _MAX_FIRST_ROWS) and not item.unit
    ]
    marks = _find_phrases(reading, ("first", "top"))
    number = limits[0] if len(limits) == 1 and marks else None
    if number is not None:
        used |= {*number.positions, *marks}
    if "order" in operators or (number is not None and _has_phrase(reading, "by")):
        iris = _find_order_predicates(free - used - _find_phrases(reading, ("by",)), reading, names)
        return ResultChange(_to_row_count(number), iris, is_descending) if iris else None
    if (extreme := _find_extreme(reading)) is not None and _has_phrase(reading, "of_them"):
        iris = _find_order_predicates(free - set(extreme[0].positions), reading, names)
        return ResultChange(1, iris, extreme[1]) if iris else None
    if number is not None:
        return None if free - used else ResultChange(_to_row_count(number))
    if "count" in operators and not free - set(operators["count"].positions):
        return ResultChange(is_count=True)
    is_map = _has_phrase(reading, "map") and not free - _find_phrases(reading, ("map", "show"))
    return ResultChange(is_map=True) if is_map else None


def parse_measured_extreme(
    text: str, names: NameIndex, *, language: str | None = None
) -> ResultChange | None:
    """Return the request for one row of the last result by a measure: "which of them is largest?".

    It sorts by a property that the adjective measures and the graph has; None for other questions.
    """
    reading = tokenize(text, language)
    content, extreme = _skip_lead(reading), _find_extreme(reading)
    if (
        content is None
        or extreme is None
        or extreme[0].measure is None
        or not _has_phrase(reading, "of_them")
    ):
        return None
    if _find_content(reading, content) - set(extreme[0].positions):
        return None
    iris = [
        iri
        for noun in [tokenize(noun, reading.language) for noun in extreme[0].measure.property_names]
        for iri in _find_order_predicates(set(range(len(noun.tokens))), noun, names)
    ]
    return ResultChange(1, tuple(dict.fromkeys(iris)), extreme[1]) if iris else None


def _find_order_predicates(
    positions: set[int], reading: TokenizedQuestion, names: NameIndex
) -> tuple[str, ...]:
    """Return the predicates that all of these words name, best first."""
    linked = link_question(reading, names).get_links(ItemKind.PREDICATE) if positions else ()
    links = [
        link
        for link in linked
        if positions <= set(link.positions) and link.score >= _MIN_LINK_SCORE
    ]
    links.sort(key=lambda link: -link.score)
    return tuple(dict.fromkeys(link.target for link in links))


def _find_extreme(reading: TokenizedQuestion) -> tuple[Operator, bool] | None:
    """Return the only operator of a question if it selects an extreme, and whether the highest."""
    # None for one that may be about dates: "the earliest" has the lowest.
    operators = detect_operators(reading).operators
    match [operator for operator in operators if operator.name != "exists"]:
        case [Operator(name="maximum" | "minimum" as name) as operator]:
            return operator, name == "maximum"
        case [Operator(name="superlative") as operator] if (
            operator.measure and not operator.measure.date_names
        ):
            return operator, operator.measure.is_upward
        case _:
            return None


_ORDER_OPERATORS = ("order", "ascending", "descending")
_NEUTRAL_OPERATORS = ("and", "or", "count", "exists")  # operators beside a replaced thing
_MAX_FIRST_ROWS = 1_000  # the first ones of a result
_YEAR = re.compile(r"\b\d{4}\b")


def _to_row_count(number: Quantity | None) -> int:
    return int(number.value or 0) if number is not None else 0


def _find_content(reading: TokenizedQuestion, tokens: Sequence[int]) -> set[int]:
    """Return the tokens that are neither function words nor words for the last result."""
    pronouns = _find_phrases(reading, ("them", "of_them", "ones"))
    return {at for at in tokens if at not in pronouns and not reading.is_stop(at)}


def _has_phrase(reading: TokenizedQuestion, key: str) -> bool:
    return bool(_find_phrases(reading, (key,)))


def _find_phrases(reading: TokenizedQuestion, keys: Iterable[str]) -> set[int]:
    """Return the tokens of phrases of these kinds."""
    phrases = [phrase for key in keys for phrase in reading.word_list.follow_up_phrases[key]]
    return {
        at + offset
        for at in range(len(reading.tokens))
        for phrase in phrases
        if reading.has_phrase_at(phrase, at)
        for offset in range(len(phrase))
    }


def is_about_result(text: str, language: str | None = None) -> bool:
    """Return whether a question refers to the previous result: "of them"; not "of these tools"."""
    reading = tokenize(text, language)
    positions = _find_phrases(reading, ("of_them",))
    ends = [at + 1 for at in positions if at + 1 not in positions]
    all_words = reading.word_list.agreement["each"]  # "the heaviest of them all": of all things
    words = (*reading.folded_words, None)
    return any(
        words[end] is None or (reading.is_stop(end) and words[end] not in all_words) for end in ends
    )


def is_about_thing(text: str, language: str | None = None) -> bool:
    """Return whether a question refers to a thing named before: "it" or "its"."""
    reading = tokenize(text, language)
    possessives = reading.word_list.follow_up_phrases["its"]
    return bool(_find_pronoun(reading)) or any(
        (word,) in possessives for word in reading.folded_words
    )


def replace_pronoun(text: str, name: str, language: str | None = None) -> str:
    """Replace "it" in a question by a thing's name, and "its" by "of" and the name."""
    reading = tokenize(text, language)
    words = reading.word_list.follow_up_phrases
    for token in reading.tokens:
        if (token.folded,) in words["its"]:
            following = text[token.end :].strip()
            mark = following[-1] if following.endswith(("?", ".", "!")) else ""
            noun = following.removesuffix(mark)
            return f"{text[: token.start]}{noun} {words['of'][0][0]} {name}{mark}"
    pronoun = _find_pronoun(reading)
    if pronoun is None:
        return text
    first, last = reading.tokens[pronoun[0]], reading.tokens[pronoun[1]]
    return text[: first.start] + name + text[last.end :]


def _complete_plural(reading: TokenizedQuestion, earlier: TokenizedQuestion) -> str | None:
    """Complete "them", or a bare operator, with the noun phrase of the previous question."""
    noun_phrase = _extract_noun_phrase(earlier)
    content = _skip_lead(reading)
    if not noun_phrase or content is None:
        return None
    text, of = reading.text, reading.word_list.follow_up_phrases["of"][0][0]
    start = reading.tokens[content[0]].start
    plural = _find_plural_pronoun(reading)
    if plural is not None:
        first, last = plural[1]
        linking = f"{of} " if plural[0] else ""
        after = text[reading.tokens[last].end :]
        return f"{text[start : reading.tokens[first].start]}{linking}{noun_phrase}{after}"
    operators = detect_operators(reading).get_operators(*_EXTREME_OPERATORS, "count")
    operator = operators[0] if len(operators) == 1 and not reading.quantities else None
    if not operator or not all(at in operator.positions or reading.is_stop(at) for at in content):
        return None
    operator_text = text[reading.tokens[operator.first].start : reading.tokens[operator.last].end]
    if operator.name == "count":
        return f"{operator_text} {noun_phrase}"
    for previous in detect_operators(earlier).get_operators(*_EXTREME_OPERATORS)[:1]:
        opening = earlier.text[: earlier.tokens[previous.first].start]
        return f"{opening}{operator_text}{earlier.text[earlier.tokens[previous.last].end :]}"
    return f"{text[start : reading.tokens[content[-1]].end]} {of} {noun_phrase}"


_EXTREME_OPERATORS = ("superlative", "minimum", "maximum", "most", "fewest")


def _extract_noun_phrase(earlier: TokenizedQuestion) -> str:
    """Return the noun phrase of a question: the text after the words that only ask."""
    frame = detect_operators(earlier)
    counts = {at for operator in frame.get_operators("count") for at in operator.positions}
    first = 0
    while first < len(earlier.tokens) and (earlier.is_stop(first) or first in counts):
        first += 1
    if first == len(earlier.tokens):
        return ""
    asks_who = frame.asks == "person" and not counts and first
    return earlier.text[0 if asks_who else earlier.tokens[first].start :].rstrip(" ?!.¿¡")


def _find_plural_pronoun(reading: TokenizedQuestion) -> tuple[bool, tuple[int, int]] | None:
    """Return whether a plural pronoun includes "of", and its first and last token."""
    # One at the start of a clause ("before they left") may refer to a noun of the question itself.
    words = reading.word_list
    for key in ("of_them", "them"):
        for phrase in words.follow_up_phrases[key]:
            for at in range(len(reading.tokens)):
                is_clause_start = (
                    at > 0 and reading.folded_words[at - 1] in words.clauses["restrict"]
                )
                if reading.has_phrase_at(phrase, at) and not (key == "them" and is_clause_start):
                    return key == "of_them", (at, at + len(phrase) - 1)
    return None


def _skip_lead(reading: TokenizedQuestion) -> range | None:
    """Return the tokens of a question after "and" or "what about"; None if there are none."""
    words = reading.word_list.follow_up_phrases
    start = next((len(phrase) for phrase in words["lead"] if reading.has_phrase_at(phrase, 0)), 0)
    return range(start, len(reading.tokens)) or None


def _find_covering_link(linked: LinkedQuestion, tokens: Sequence[int]) -> Link | None:
    """Return the best link that covers all content of an elliptical question."""
    content = {at for at in tokens if not linked.reading.is_stop(at)}
    covering = [
        link
        for kind in _KINDS
        for link in linked.get_links(kind)
        if content and content <= set(link.positions) and link.score >= _MIN_LINK_SCORE
    ]
    return max(covering, key=lambda link: link.score, default=None)


def _find_counterpart(
    link: Link, earlier: LinkedQuestion, share_class: ClassComparison
) -> Link | None:
    """Return the link to replace in the previous question: of the same kind and class."""
    fitting = [item for item in earlier.get_links(link.kind) if item.score >= _MIN_LINK_SCORE]
    if link.kind is ItemKind.ENTITY:
        of_class = [item for item in fitting if share_class(item.target, link.target)]
        if not of_class and len({item.positions for item in fitting}) > 1:
            return None
        fitting = of_class or fitting
    return max(fitting, key=lambda item: (len(item.positions), item.score), default=None)


def _get_text_range(link: Link, reading: TokenizedQuestion) -> tuple[int, int]:
    tokens = reading.tokens
    return tokens[min(link.positions)].start, tokens[max(link.positions)].end


def _find_pronoun(reading: TokenizedQuestion) -> tuple[int, int] | None:
    """Return the first and last token of a singular pronoun; "is it true that" has none."""
    openings = (phrase for phrase in reading.word_list.operators["exists"] if len(phrase) > 2)
    start = max((len(phrase) for phrase in openings if reading.has_phrase_at(phrase, 0)), default=0)
    for phrase in reading.word_list.follow_up_phrases["it"]:
        for at in range(start, len(reading.tokens)):
            if reading.has_phrase_at(phrase, at):
                return at, at + len(phrase) - 1
    return None
