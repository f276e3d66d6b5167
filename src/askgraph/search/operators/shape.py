"""The shape of the answer: the columns that answer, those that are context, and the groups."""

from collections.abc import Sequence

from askgraph.search.form import Aggregate, Column, Filter, Key
from askgraph.search.grow.weights import DOUBT_DATE_SHOWN, DOUBT_PATH, WORTH_NAMING
from askgraph.search.operators.attachment import DATED, NUMERIC, Places
from askgraph.search.operators.draft import Place
from askgraph.search.operators.query_builder import Candidate, QueryBuilder
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
            work.draft.filters.append(Filter(variable, "=", ("true",)))
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
    values = [column.value for column in work.draft.columns]
    return any(isinstance(one, Aggregate) and one.function == "COUNT" for one in values)


def choose_columns(places: Places, work: QueryBuilder) -> None:
    """Decide which variables are shown, in which order, and by which the rows are grouped."""
    draft = work.draft
    aggregates = list(draft.columns)
    shown = [variable for _, variable in sorted(work.projected)]
    for place in draft.places:
        if _is_asked(places, place, work):
            shown.append(places.named(work, place))
    dated = _answers_when(places, work, shown, aggregates)
    root_shown = not dated and _root_is_shown(places, work, bool(shown), bool(aggregates))
    if root_shown and isinstance(work.root.variable, int):
        shown.insert(0, places.named(work, work.root))
    shown = list(dict.fromkeys(shown))
    context = [] if aggregates else _context(places, work, shown)
    draft.columns = context + [Column(variable) for variable in shown] + aggregates
    if (aggregates and shown) or (work.grouped and not aggregates):
        draft.group += [variable for variable in shown if variable not in draft.group]
    _ordered_by_column(places, work)
    _naming_words(places, work)


def _answers_when(
    places: Places, work: QueryBuilder, shown: list[int], aggregates: Sequence[Column]
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


def _context(places: Places, work: QueryBuilder, shown: Sequence[int]) -> list[Column]:
    """The things that shown values hang on, if a value alone would say nothing.

    That is so for things without a name, and for numbers and dates of several things. A thing
    without a name that tells the unit of a number is the answer with it: the number alone is half.
    """
    hung = [
        (place, places.sort(predicate))
        for (end, predicate, inverse), variable in work.draft.attached.items()
        if variable in shown and not inverse and places.sort(predicate) is not Sort.NONE
        for place in work.draft.places
        if place.variable == end and isinstance(end, int) and end not in shown
    ]
    bare = len(hung) == len(shown) and all(sort in NUMERIC + DATED for _, sort in hung)
    bare = bare and work.draft.limit != 1 and not places.frame.of("distinct")
    found = []
    for place, sort in hung:
        ids = places.ids_at(work, place)
        if isinstance(place.variable, int) and places.schema.is_nameless(ids):
            measured = sort in NUMERIC and places.schema.is_measured(ids)
            found.append(Column(place.variable, answer=measured))
        elif bare and len(ids) > 1:
            found.append(Column(places.named(work, place), answer=False))
    return list(dict.fromkeys(found))


def _is_asked(places: Places, place: Place, work: QueryBuilder) -> bool:
    """Whether a thing in the pattern is asked for beside the root."""
    link = place.node.cls_link
    if place is work.root or not isinstance(place.variable, int):
        return False
    if link is None or not places.zones.is_head(link.positions[0]):
        return False
    if any(p == link.positions[0] - 1 for p, _ in work.projected):
        return False
    counted = [c.value.variable for c in work.draft.columns if isinstance(c.value, Aggregate)] + [
        k.value.variable for k in work.draft.order if isinstance(k.value, Aggregate)
    ]
    if place.variable in counted:
        return False
    return places.zones.is_listed(link.positions[0])


def _root_is_shown(places: Places, work: QueryBuilder, shown: bool, aggregates: bool) -> bool:
    if work.draft.ask:
        return False
    if work.root.variable in work.draft.group:
        slots_at_root = shown and any(
            key[0] == work.root.variable and value in [x for _, x in work.projected]
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
        answers = [c for c in draft.columns if c.answer]
        draft.order.append(Key(answers[0].value, "order_shown_desc" in work.notes))


def _naming_words(places: Places, work: QueryBuilder) -> None:
    for at, token in enumerate(places.reading.tokens):
        if token.stem in places.reading.words.naming and not work.used >> at & 1:
            work.take(1 << at, places.weights[at] * WORTH_NAMING)


def _break_ties(work: QueryBuilder) -> None:
    """Cut a tie at a limit by what is shown, so that every engine keeps the same rows."""
    draft = work.draft
    if draft.limit is None or not draft.order:
        return
    keys = {key.value for key in draft.order}
    shown = [c.value for c in draft.columns if c.answer and isinstance(c.value, int)]
    draft.order += [Key(variable) for variable in shown[:1] if variable not in keys]


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
    if not any(isinstance(c.value, Aggregate) for c in draft.columns) and not (
        draft.having or any(isinstance(k.value, Aggregate) for k in draft.order)
    ):
        draft.group = []
    else:
        plain = [c.value for c in draft.columns if isinstance(c.value, int)]
        draft.group += [variable for variable in plain if variable not in draft.group]
        keys = [k.value for k in draft.order if isinstance(k.value, int)]
        draft.group += [k for k in keys if draft.group and k not in draft.group]
    _break_ties(work)
    return Candidate(
        draft.form(),
        work.state,
        work.root.variable,
        ids,
        work.used,
        work.gain,
        work.unknown,
        len(draft.patterns),
        tuple(work.notes),
        work.shown_words,
    )
