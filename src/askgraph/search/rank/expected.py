"""The answer that a question expects, read from its words: its kind, columns, rows."""

from dataclasses import dataclass
from typing import Literal

from askgraph.search.linking.link import Linked
from askgraph.search.linking.operators import COMPARING, Frame, Operator, frame_of
from askgraph.search.linking.text import Reading
from askgraph.search.rank.expected_items import Item, interrogative, items_of

Kind = Literal["yes_no", "count", "number", "when", "who", "where", "things"]


@dataclass(frozen=True)
class Expected:
    """The shape of an answer, as far as the question tells it.

    `kind` is what its question word asks for, `things` if none says more. `columns` is how many
    columns answer at least, None if nothing can be said. `classes` and `predicates` are the IRIs
    that the head noun may mean; `listed` those of all nouns that are asked for side by side, and
    `nouns` is how many of them there are. `counted` says that the number of something is asked for,
    alone or beside others, `grouped` "for each", `limit` how many rows a superlative or "first ten"
    keeps, `again` that a second question follows ("and how many"). `names` are asked for by that
    word. `singular` marks a head noun in the singular after a question word and a verb of being,
    `interrogative` a question word at the start.
    """

    kind: Kind = "things"
    columns: int | None = None
    classes: tuple[str, ...] = ()
    predicates: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()
    nouns: int = 0
    counted: bool = False
    grouped: bool = False
    ordered: bool = False
    limit: int | None = None
    again: bool = False
    names: bool = False
    singular: bool = False
    interrogative: bool = False


def expected_of(linked: Linked) -> Expected:
    """Return what a linked question asks for; in doubt less is said.

    >>> from askgraph.search.linking.text import read
    >>> expected_of(Linked(read("How many moons has Mars?"), ())).kind
    'count'
    """
    reading = linked.reading
    frame = frame_of(reading)
    items = items_of(linked, frame)
    ordered = bool(frame.of("order", "ascending", "descending"))
    extremes = [] if ordered else _extremes(frame, linked)
    first = items[0] if items else Item((), ())
    return Expected(
        kind=_kind(reading, frame, items),
        columns=_columns(items),
        classes=first.classes,
        predicates=first.predicates,
        listed=tuple(dict.fromkeys(iri for item in items for iri in item.iris)),
        nouns=sum(item.width for item in items),
        counted=any("count" in item.operators for item in items),
        grouped=bool(frame.of("each")),
        ordered=ordered,
        limit=_limit(frame, extremes, first),
        again=_asks_again(reading, frame),
        names=any(item.naming for item in items),
        singular=_is_singular(reading, first) and not frame.of(*COMPARING, "comparative"),
        interrogative=interrogative(reading) is not None,
    )


_EXTREMES = ("superlative", "most", "fewest", "maximum", "minimum")
_KINDS: dict[str, Kind] = {
    "person": "who",
    "place": "where",
    "date": "when",
    "year": "when",
    "number": "number",
}


def _kind(reading: Reading, frame: Frame, items: tuple[Item, ...]) -> Kind:
    if frame.exists:
        asks = frame.asks is not None or _is_request(reading, frame) or _asks_again(reading, frame)
        return "things" if asks else "yes_no"
    if items and "count" in items[0].operators:
        return "count" if items[0].classes or not items[0].predicates else "number"
    starts = items[0].first if items else len(reading.tokens)
    name = _asked_first(reading, frame)
    counts = any(one.first <= starts for one in frame.of("count"))
    if name == "number" and counts:
        return "number" if items and items[0].predicates and not items[0].classes else "count"
    return _KINDS.get(name, "things")


def _is_request(reading: Reading, frame: Frame) -> bool:
    """Whether a verb opens a request rather than a question: "can anyone tell me …"."""
    words = reading.words.yes_or_no
    after = [token.folded for token in reading.tokens[frame.of("exists")[0].last + 1 :][:_NEAR]]
    return bool(after) and (after[0] in words["asked"] or not words["asking"].isdisjoint(after))


_NEAR = 3  # words after the verb


def _asked_first(reading: Reading, frame: Frame) -> str:
    """The sort of question word that stands before, or at, the first noun; empty for none."""
    content = (at for at in range(len(reading.tokens)) if not reading.is_stop(at))
    starts = next((at for at in content if not frame.mask >> at & 1), len(reading.tokens))
    best: tuple[int, int, str] | None = None
    for name, phrases in reading.words.asks.items():
        for phrase in phrases:
            for at in range(min(starts + 1, 4, len(reading.tokens))):
                here = tuple(token.folded for token in reading.tokens[at : at + len(phrase)])
                if here == phrase and (best is None or (at, -len(phrase)) < best[:2]):
                    best = at, -len(phrase), name
    return best[2] if best is not None else ""


def _asks_again(reading: Reading, frame: Frame) -> bool:
    """Whether a question word follows on a conjunction ("… and how many") or on a question."""
    tokens = reading.tokens
    after = [range(one.last + 1, min(one.last + 3, len(tokens))) for one in frame.of("and")]
    after += [
        range(at, min(at + 2, len(tokens)))
        for at in range(1, len(tokens))
        if "?" in reading.text[tokens[at - 1].end : tokens[at].start]
    ]
    return any(interrogative(reading, within=among) is not None for among in after)


def _is_singular(reading: Reading, item: Item) -> bool:
    """ "What is the mass": a question word, a verb of being, a noun that is no plural."""
    at = interrogative(reading)
    if at is None or not item.positions or at + 1 >= item.first:
        return False
    verb = reading.tokens[at + 1].folded
    plural = any(reading.tokens[p].stem != reading.tokens[p].folded for p in item.positions)
    return (verb,) in reading.words.operators["exists"] and not plural


def _columns(items: tuple[Item, ...]) -> int | None:
    """How many columns the listed nouns fill, if each is a property or an aggregate."""
    if not items:
        return None
    if len(items) == 1 or all(item.is_property for item in items):
        return sum(item.width for item in items)
    return None


def _limit(frame: Frame, extremes: list[Operator], first: Item) -> int | None:
    for operator in frame.of("top"):
        quantity = frame.quantity_after(operator, 1)
        if quantity is not None and quantity.value is not None and quantity.value >= 1:
            return int(quantity.value)
    if not extremes:
        return None
    for quantity in frame.reading.quantities:
        if quantity.value is None or not float(quantity.value).is_integer() or quantity.value < 1:
            continue
        beside = any(
            quantity.first - one.last == 1 or one.first - quantity.last == 1 for one in extremes
        )
        if beside or quantity.last + 1 in first.positions:
            return int(quantity.value)
    before = [frame.reading.tokens[one.first - 1].folded for one in extremes if one.first]
    ordinal = any(word in frame.reading.words.ordinals for word in before)
    return None if ordinal else 1


def _extremes(frame: Frame, linked: Linked) -> list[Operator]:
    """The superlatives, but for those in a name and for words that only number ("first time").

    Nor those that say where or when ("in the last century"). None if they point both ways: "from
    the smallest to the largest" keeps all.
    """
    words, tokens = frame.reading.words, frame.reading.tokens
    found = [
        one
        for one in frame.of(*_EXTREMES)
        if tokens[one.first].folded not in words.ordinals
        and not any(token.stem in words.naming for token in tokens[one.last + 1 : one.last + 2])
        and not _in_a_name(one, linked)
        and not _is_circumstance(one, linked.reading)
    ]
    return found if len({_points_up(one) for one in found}) == 1 else []


def _is_circumstance(operator: Operator, reading: Reading) -> bool:
    """Whether a preposition of place or time stands before it, with or without an article."""
    before = [token.folded for token in reading.tokens[: operator.first]][-2:]
    places = reading.words.clauses["circumstance"]
    if before and before[-1] in places:
        return True
    return len(before) == 2 and before[0] in places and reading.is_stop(operator.first - 1)


def _points_up(operator: Operator) -> bool:
    if operator.measure is not None:
        return operator.measure.up
    return operator.name in ("most", "maximum")


def _in_a_name(operator: Operator, linked: Linked) -> bool:
    """Whether the words of an operator are part of a longer name: "first name"."""
    own = set(operator.positions)
    return any(
        link.similarity >= 0.9 and own & set(link.positions) and not own >= set(link.positions)
        for link in linked.links
    )
