"""The shape of the answer: the columns that answer, those that are context, and the groups."""

from collections.abc import Sequence

from pyoxigraph import Variable

from askgraph.search.grow.weights import DOUBT_DATE_SHOWN, DOUBT_PATH, WORTH_NAMING
from askgraph.search.operators.attachment import DATED, NUMERIC, Places
from askgraph.search.operators.draft import Place
from askgraph.search.operators.query_builder import Candidate, QueryBuilder
from askgraph.search.query import (
    Value,
    condition,
    function_of,
    place_of,
    term_of,
    variable_of,
)
from askgraph.sparql.tree import Call, Expression
from askgraph.traversal.literals import Sort


def show_rest(places: Places, work: QueryBuilder) -> None:
    """Slots that no operator took: shown if they are asked for, else required."""
    for slot in sorted(work.slots, key=lambda s: s.first):
        if slot in work.done:
            continue
        spot = places.spot(work, slot, prefer=places.zones.is_head(slot.first))
        if spot is None:
            continue
        variable = places.hang(work, spot)
        places.use(work, slot, spot.link)
        if spot.path:
            work.unknown += DOUBT_PATH * len(spot.path)
        if places.sort(spot.predicate) is Sort.BOOLEAN:
            work.draft.filters.append(condition(variable, "=", term_of("true")))
            continue
        if places.zones.is_head(slot.first) and not _restricts_count(places, work, slot.first):
            work.shown_words |= slot.mask
            work.projected.append((slot.first, places.shown(work, variable, spot)))
        else:
            work.notes.append("required")


def _restricts_count(places: Places, work: QueryBuilder, at: int) -> bool:
    """ "How many X have Y": Y says which are counted; a row for each Y needs a word for it."""
    counts, frame = places.frame.of("count"), places.frame
    if not counts or frame.of("each") or at < counts[0].last or places.zones.is_listed(at):
        return False
    columns = work.draft.columns
    return any(isinstance(one, Call) and function_of(one) == "COUNT" for one in columns)


def choose_columns(places: Places, work: QueryBuilder) -> None:
    """Decide which variables are shown, in which order, and by which the rows are grouped."""
    draft = work.draft
    aggregates = list(draft.columns)
    projected = sorted(work.projected, key=lambda one: (one[0], place_of(one[1])))
    shown = [variable for _, variable in projected]
    for place in draft.places:
        if _is_asked(places, place, work):
            shown.append(places.named(work, place))
    dated = _answers_when(places, work, shown, aggregates)
    root_shown = not dated and _root_is_shown(places, work, bool(shown), bool(aggregates))
    if root_shown and isinstance(work.root.end, Variable):
        shown.insert(0, places.named(work, work.root))
    shown = list(dict.fromkeys(shown))
    context = [] if aggregates else _context(places, work, shown)
    draft.columns = [*context, *shown, *aggregates]
    if (aggregates and shown) or (work.grouped and not aggregates):
        draft.group += [variable for variable in shown if variable not in draft.group]
    _ordered_by_column(places, work)
    _naming_words(places, work)


def _answers_when(
    places: Places, work: QueryBuilder, shown: list[Variable], aggregates: Sequence[Value]
) -> bool:
    """ "When …" that names no date: the date of what was found is shown."""
    if places.frame.asks not in ("date", "year") or shown or aggregates or work.draft.ask:
        return False
    spot = places.only(work, DATED)
    if spot is None:
        return False
    work.unknown += DOUBT_DATE_SHOWN
    shown.append(places.hang(work, spot))
    return True


def _context(places: Places, work: QueryBuilder, shown: Sequence[Variable]) -> list[Variable]:
    """The things that shown values hang on, if a value alone would say nothing.

    That is so for things without a name, and for numbers and dates of several things. A thing
    without a name that tells the unit of a number is the answer with it: the number alone is half.
    """
    hung = [
        (place, places.sort(predicate))
        for (end, predicate, inverse), variable in work.draft.attached.items()
        if variable in shown and not inverse and places.sort(predicate) is not Sort.NONE
        for place in work.draft.places
        if place.end == end and isinstance(end, Variable) and end not in shown
    ]
    bare = len(hung) == len(shown) and all(sort in NUMERIC + DATED for _, sort in hung)
    bare = bare and work.draft.limit != 1 and not places.frame.of("distinct")
    found: dict[Variable, bool] = {}
    for place, sort in hung:
        ids = places.ids_at(work, place)
        if isinstance(place.end, Variable) and places.schema.is_nameless(ids):
            found[place.end] = sort in NUMERIC and places.schema.is_measured(ids)
        elif bare and len(ids) > 1:
            found[places.named(work, place)] = False
    work.draft.context = [one for one, answers in found.items() if not answers]
    return list(found)


def _is_asked(places: Places, place: Place, work: QueryBuilder) -> bool:
    """Whether a thing in the pattern is asked for beside the root."""
    link = place.node.cls_link
    if place is work.root or not isinstance(place.end, Variable):
        return False
    if link is None or not places.zones.is_head(link.positions[0]):
        return False
    if any(p == link.positions[0] - 1 for p, _ in work.projected):
        return False
    values = (*work.draft.columns, *(key for key, _ in work.draft.order))
    if place.end in [variable_of(one) for one in values if _is_aggregate(one)]:
        return False
    return places.zones.is_listed(link.positions[0])


def _root_is_shown(places: Places, work: QueryBuilder, shown: bool, aggregates: bool) -> bool:
    if work.draft.ask:
        return False
    if work.root.end in work.draft.group:
        slots_at_root = shown and any(
            key[0] == work.root.end and value in [x for _, x in work.projected]
            for key, value in work.draft.attached.items()
        )
        return not slots_at_root
    if aggregates:
        return False
    if not shown:
        return True
    link = work.root.node.cls_link
    return (
        link is not None
        and places.zones.is_head(link.positions[0])
        and places.zones.is_listed(link.positions[0])
        and bool(work.projected)
        and link.positions[0] < min(p for p, _ in work.projected)
        and places.zones.is_listed(min(p for p, _ in work.projected))
    )


def _ordered_by_column(places: Places, work: QueryBuilder) -> None:
    draft = work.draft
    if draft.order or not draft.columns:
        return
    if "order_shown" in work.notes or "order_shown_desc" in work.notes:
        answers = [one for one in draft.columns if one not in draft.context]
        draft.order.append((answers[0], "order_shown_desc" in work.notes))


def _naming_words(places: Places, work: QueryBuilder) -> None:
    for at, token in enumerate(places.reading.tokens):
        if token.stem in places.reading.words.naming and not work.used >> at & 1:
            work.take(1 << at, places.weights[at] * WORTH_NAMING)


def _break_ties(work: QueryBuilder) -> None:
    """Cut a tie at a limit by what is shown, so that every engine keeps the same rows."""
    draft = work.draft
    if draft.limit is None or not draft.order:
        return
    keys = [variable_of(key) for key, _ in draft.order if not _is_aggregate(key)]
    shown = [one for one in draft.columns if isinstance(one, Variable) and one not in draft.context]
    draft.order += [(variable, False) for variable in shown[:1] if variable not in keys]


def _is_aggregate(value: Expression) -> bool:
    return isinstance(value, Call) and value.is_aggregate


def closed(places: Places, work: QueryBuilder) -> Candidate | None:
    """Close a candidate; None if there is nothing to show."""
    draft = work.draft
    if not draft.patterns or not (draft.columns or draft.ask):
        return None
    if work.state.denied and not draft.ask:
        return None
    ids = places.ids_at(work, work.root)
    if not len(ids):
        return None  # what was hung on the pattern does not go together
    if work.grouped and len(draft.columns) == 1 and not draft.order and not draft.having:
        draft.group = []
    values = (*draft.columns, *(key for key, _ in draft.order))
    if not draft.having and not any(map(_is_aggregate, values)):
        draft.group = []
    else:
        plain = [one for one in draft.columns if isinstance(one, Variable)]
        draft.group += [variable for variable in plain if variable not in draft.group]
        keys = [variable_of(key) for key, _ in draft.order if not _is_aggregate(key)]
        draft.group += [k for k in keys if draft.group and k not in draft.group]
    _break_ties(work)
    return Candidate(
        draft.query(),
        tuple(dict.fromkeys(one for one in draft.columns if one not in draft.context)),
        draft.hints,
        work.state,
        work.root.end,
        ids,
        work.used,
        work.gain,
        work.unknown,
        len(draft.patterns),
        tuple(work.notes),
        work.shown_words,
    )
