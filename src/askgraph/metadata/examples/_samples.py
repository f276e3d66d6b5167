"""Names and values from the graph, to fill a kind of question with."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from random import Random

from pyoxigraph import Literal, NamedNode

from askgraph.metadata import ClassProfile, PredicateProfile, Profile
from askgraph.metadata.examples._templates import Sample, Template, called
from askgraph.rdf import vocabulary as voc
from askgraph.rdf.prefixes import PrefixMap
from askgraph.sparql.results import Row, Term, value_of

__all__ = ["ROWS", "Plan", "filled_from", "naming", "sampling_query"]

ROWS = 50
_FALSE = 0.5  # the share of yes-or-no questions whose value is another thing's
_DENSE = 1.5  # numbers this close to each other, each once, only number things
_CODE_DIGITS = 3
_YES_AND_NO = 2


@dataclass(frozen=True)
class Plan:
    """What to ask: a template, a class and, unless it asks for the class alone, predicates."""

    kind: str
    template: Template
    cls: ClassProfile
    predicate: PredicateProfile | None = None
    second: PredicateProfile | None = None


def sampling_query(plan: Plan, profile: Profile) -> str:
    """Return the query for things of the class by name, with what the predicates say of them.

    Its columns are `?s ?name ?o ?o_name`, and `?p ?p_name` if there is a second predicate; what
    is a literal is its own name.
    """
    assert plan.predicate is not None
    parts = [
        f"?s a <{plan.cls.iri}> ; <{plan.cls.name_predicate}> ?name ; <{plan.predicate.iri}> ?o .",
        _named("?o", plan.predicate, profile),
    ]
    columns = "?s ?name ?o ?o_name"
    if plan.second is not None:
        said_of = "?o" if plan.template.second == "next" else "?s"
        parts += [f"{said_of} <{plan.second.iri}> ?p .", _named("?p", plan.second, profile)]
        columns += " ?p ?p_name"
    return f"SELECT {columns} WHERE {{ {' '.join(parts)} }} LIMIT {ROWS}"


def naming(predicate: PredicateProfile, profile: Profile) -> str:
    """Return the predicate that names what a predicate leads to."""
    by_class = {cls.iri: cls.name_predicate for cls in profile.classes}
    named = (by_class.get(iri) for iri, _ in predicate.object_classes)
    general = (p.iri for p in profile.predicates if p.naming == "name")
    return next(filter(None, (*named, *general)), voc.RDFS_LABEL)


def filled_from(
    rows: Sequence[Row], sample: Sample, plan: Plan, prefixes: PrefixMap, chance: Random
) -> Sample | None:
    """Return the sample with a row by chance; None if no row makes a question."""
    assert plan.predicate is not None
    values = [row[2] for row in rows]
    if _are_identifiers(values, plan) or (plan.template.measures and not _are_measured(values)):
        return None
    times = Counter(name for name, _ in {(_text(row[1]), row[0]) for row in rows})
    told = [row for row in rows if times[_text(row[1])] == 1 and all(map(_in_english, row))]
    if not told:
        return None
    row = chance.choice(told)
    value, text = row[2], _text(row[3])
    if plan.kind == "whether" and chance.random() < _FALSE:
        other = chance.choice(told)
        value, text = other[2], _text(other[3])
    sample = replace(
        sample,
        label=called(plan.predicate),
        predicate=prefixes.shorten(plan.predicate.iri),
        name=_text(row[1]),
        subject=_written(row[0], prefixes),
        value=_written(value, prefixes),
        text=_round_middle(values) if plan.kind == "more" else text,
    )
    return _with_second(sample, row, plan.second, prefixes)


def _named(variable: str, predicate: PredicateProfile, profile: Profile) -> str:
    if predicate.literal:
        return f"BIND({variable} AS {variable}_name)"
    return f"{variable} <{naming(predicate, profile)}> {variable}_name ."


def _with_second(
    sample: Sample, row: Row, second: PredicateProfile | None, prefixes: PrefixMap
) -> Sample | None:
    if second is None:
        return sample
    if _text(row[5]) in (sample.name, sample.text):  # there and back again
        return None
    return replace(
        sample,
        other_label=called(second),
        other_predicate=prefixes.shorten(second.iri),
        other_value=_written(row[4], prefixes),
        other_text=_text(row[5]),
    )


def _are_identifiers(values: Sequence[Term | None], plan: Plan) -> bool:
    """Whether values number things: whole, each but once, one after the other."""
    assert plan.predicate is not None
    numbers = _whole_numbers(values)
    if plan.predicate.objects < plan.predicate.triples or not numbers:
        return False
    return max(numbers) - min(numbers) + 1 <= _DENSE * len(numbers)


def _are_measured(values: Sequence[Term | None]) -> bool:
    """Whether values are amounts: not codes or years, all of as many digits, nor yes and no."""
    digits = {len(str(abs(number))) for number in _whole_numbers(values)}
    coded = len(digits) == 1 and min(digits) >= _CODE_DIGITS
    return not coded and len(set(values)) > _YES_AND_NO


def _whole_numbers(values: Sequence[Term | None]) -> list[int]:
    """The values as whole numbers; none if one of them is something else."""
    texts = [_text(value) for value in values]
    if all(isinstance(v, Literal) and v.datatype.value in voc.INTEGER_DATATYPES for v in values):
        return [int(text) for text in texts if text.lstrip("+-").isdecimal()]
    return []


def _round_middle(values: Sequence[Term | None]) -> str:
    """The number in the middle, of two digits that count: nobody asks for more than 1420788."""
    numbers = []
    for value in values:
        try:
            numbers.append(Decimal(_text(value)))
        except ArithmeticError:
            continue
    known = sorted(number for number in numbers if number.is_finite())
    return f"{Decimal(f'{known[len(known) // 2]:.2g}'):f}" if known else ""


def _written(term: Term | None, prefixes: PrefixMap) -> str:
    return prefixes.shorten(term.value) if isinstance(term, NamedNode) else str(term)


def _text(term: Term | None) -> str:
    return value_of(term) or ""


def _in_english(term: Term | None) -> bool:
    return not isinstance(term, Literal) or (term.language or "en").startswith("en")
