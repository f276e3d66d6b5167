"""Questions about a graph that nobody has asked yet, worded by templates, each with its query.

What there is to ask comes from the profile; the names and values that a question needs are sampled
from the graph. Whether a draft is any good is for others to find out.
"""

import math
import re
import tomllib
import typing
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from random import Random

from pyoxigraph import Literal, NamedNode

from askgraph.endpoint import Endpoint
from askgraph.errors import QueryError, ServiceError
from askgraph.graph.profile import ClassProfile, PredicateProfile, Profile
from askgraph.sparql import vocabulary as voc
from askgraph.sparql.lexer import with_declared
from askgraph.sparql.prefixes import (
    PrefixMap,
    best_label,
    english_plural,
    english_singular,
    is_plural,
    with_article,
    within_sentence,
    words_of_local_name,
)
from askgraph.sparql.results import Row, Term, value_of
from askgraph.sparql.rewrite import formatted
from askgraph.sparql.vocabulary import NUMERIC_DATATYPES

_NO_NOUN = re.compile(r"^(?:is|has|was|had) | (?:of|in|for|at|with|by|to|from|on|as)$|[^e]ed$")
_TECHNICAL = frozenset(["fk", "id", "identifier", "iri", "key", "pk", "ref", "uri", "url"])
_OF_LINKS = _TECHNICAL | {"code"}

_OPERATORS = frozenset(
    "average count first highest largest last least longest lowest maximum mean median minimum "
    "most number oldest shortest smallest sum total youngest".split()
)


def called(item: ClassProfile | PredicateProfile) -> str:
    """Return an English name for a sentence, in the singular for a class.

    A link is called without the words of databases: `ref_stadium_id` leads to the stadium.
    """
    name = label(item)
    if isinstance(item, ClassProfile):
        return english_singular(name)
    if not item.object_classes:
        return name
    return " ".join(word for word in name.split() if word not in _OF_LINKS) or name


def is_noun(predicate: PredicateProfile) -> bool:
    """Return whether a predicate's name can stand after "the", and says what is asked for.

    Identifiers do not, nor verbs, nor names that are read as operators: "the highest of Glebe
    Park", "the orbits of Styx".
    """
    words = called(predicate).split()
    if is_plural(words[-1]) or _TECHNICAL.intersection(words) or _OPERATORS.issuperset(words):
        return False
    return _NO_NOUN.search(label(predicate)) is None


def label(item: ClassProfile | PredicateProfile) -> str:
    """Return the English label, else the words of the IRI, as they stand in a sentence."""
    return within_sentence(best_label(item.names, ["en"]) or words_of_local_name(item.iri))


_LISTED = 100


@dataclass(frozen=True)
class Template:
    """A kind of question: its words, the query, and of which classes and predicates it is asked.

    `fits` names what must hold of the class (`of_class`), or of the triples of the predicate that
    are said of it. `second` is what a second predicate is said of: of the `same` things, or of
    those that the first leads to (`next`). `gives` is what the query's first column holds: things
    of the class (`?x`), values of the last predicate (`?value`), or nothing that has a name.
    `rounds` is how often it is asked of one class and predicate, with other samples. It is
    `measured` if it needs values that can be measured.
    """

    question: str
    query: str
    tie: str = ""
    of_class: bool = False
    fits: str = ""
    second: typing.Literal["", "same", "next"] = ""
    gives: str = ""
    rounds: int = 1
    measured: bool = False

    def fits_class(self, cls: ClassProfile) -> bool:
        """Return whether it can be asked of a class as a whole."""
        return self.of_class and 1 < cls.instances <= (_LISTED if self.fits else math.inf)

    def fits_predicate(self, predicate: PredicateProfile, own: int, cls: ClassProfile) -> bool:
        """Return whether it can be asked of a predicate with so many triples of a class."""
        match self.fits:
            case "links":
                return bool(predicate.object_classes)
            case "shares":  # several things have the same object: counting by it makes sense
                few = 1 < predicate.objects <= predicate.triples / 2
                return bool(predicate.object_classes) and few
            case "measures":
                numeric = not NUMERIC_DATATYPES.isdisjoint(dict(predicate.datatypes))
                return predicate.functional and numeric
            case "lacks":
                return 0 < cls.instances - own <= _LISTED
            case _:
                return True


@cache
def templates() -> Mapping[str, Template]:
    """Return them by name, in the order in which they are asked."""
    text = files("askgraph.graph.examples").joinpath("templates.toml").read_text("utf-8")
    return {name: Template(**about) for name, about in tomllib.loads(text).items()}


ROWS = 50
_FALSE = 0.5  # the share of yes-or-no questions whose value is another thing's
_DENSE = 1.5  # numbers this close to each other, each once, only number things
_CODE_DIGITS = 3
_YES_AND_NO = 2


@dataclass(frozen=True)
class Plan:
    """The parts of a question: a template, a class and, unless it asks for that, predicates."""

    kind: str
    template: Template
    cls: ClassProfile
    predicate: PredicateProfile | None = None
    second: PredicateProfile | None = None


def sampling_query(plan: Plan, profile: Profile) -> str:
    """Return the query for things of the class by name, with their values of the predicates.

    Its columns are `?s ?name ?o ?o_name`, and `?p ?p_name` if there is a second predicate; what
    is a literal is its own name.
    """
    assert plan.predicate is not None

    def name(variable: str, predicate: PredicateProfile) -> str:
        if predicate.literal:
            return f"BIND({variable} AS {variable}_name)"
        return f"{variable} <{naming(predicate, profile)}> {variable}_name ."

    parts = [
        f"?s a <{plan.cls.iri}> ; <{plan.cls.name_predicate}> ?name ; <{plan.predicate.iri}> ?o .",
        name("?o", plan.predicate),
    ]
    columns = "?s ?name ?o ?o_name"
    if plan.second is not None:
        said_of = "?o" if plan.template.second == "next" else "?s"
        parts += [f"{said_of} <{plan.second.iri}> ?p .", name("?p", plan.second)]
        columns += " ?p ?p_name"
    return f"SELECT {columns} WHERE {{ {' '.join(parts)} }} LIMIT {ROWS}"


def naming(predicate: PredicateProfile, profile: Profile) -> str:
    """Return the predicate that names what a predicate leads to."""
    by_class = {cls.iri: cls.name_predicate for cls in profile.classes}
    named = (by_class.get(iri) for iri, _ in predicate.object_classes)
    general = (p.iri for p in profile.predicates if p.naming == "name")
    return next(filter(None, (*named, *general)), voc.RDFS_LABEL)


def filled_from(
    rows: Sequence[Row], plan: Plan, prefixes: PrefixMap, chance: Random
) -> dict[str, str] | None:
    """Return what a row by chance fills into a template; None if no row makes a question.

    `subject` is a thing of the class, called `name`, of which the predicate says `value`, called
    `text`. What begins with `other` is the same of a second predicate.
    """
    assert plan.predicate is not None
    values = [row[2] for row in rows]
    if are_identifiers(values, plan.predicate) or (
        plan.template.measured and not are_measured(values)
    ):
        return None
    times = Counter(name for name, _ in {(_text(row[1]), row[0]) for row in rows})
    english = [
        row
        for row in rows
        if times[_text(row[1])] == 1
        and all(not isinstance(t, Literal) or (t.language or "en").startswith("en") for t in row)
    ]
    if not english:
        return None

    def write(term: Term | None) -> str:
        return prefixes.shorten(term.value) if isinstance(term, NamedNode) else str(term)

    row = valued = chance.choice(english)
    if plan.kind == "whether" and chance.random() < _FALSE:
        valued = chance.choice(english)
    filling = {
        "label": called(plan.predicate),
        "predicate": prefixes.shorten(plan.predicate.iri),
        "name": _text(row[1]),
        "subject": write(row[0]),
        "value": write(valued[2]),
        "text": _round_middle(values) if plan.kind == "more" else _text(valued[3]),
    }
    if plan.second is None:
        return filling
    if _text(row[5]) in (filling["name"], filling["text"]):  # there and back again
        return None
    return filling | {
        "other_label": called(plan.second),
        "other_predicate": prefixes.shorten(plan.second.iri),
        "other_value": write(row[4]),
        "other_text": _text(row[5]),
    }


def are_identifiers(values: Sequence[Term | None], predicate: PredicateProfile) -> bool:
    """Return whether values number things: whole, each but once, one after the other."""
    numbers = _whole_numbers(values)
    if predicate.objects < predicate.triples or not numbers:
        return False
    return max(numbers) - min(numbers) + 1 <= _DENSE * len(numbers)


def are_measured(values: Sequence[Term | None]) -> bool:
    """Return whether values are amounts: not codes or years of equal length, nor yes and no."""
    digits = {len(str(abs(number))) for number in _whole_numbers(values)}
    coded = len(digits) == 1 and min(digits) >= _CODE_DIGITS
    return not coded and len(set(values)) > _YES_AND_NO


def _whole_numbers(values: Sequence[Term | None]) -> list[int]:
    """Return the values as whole numbers; none if one of them is something else."""
    texts = [_text(value) for value in values]
    if all(isinstance(v, Literal) and v.datatype.value in voc.INTEGER_DATATYPES for v in values):
        return [int(text) for text in texts if text.lstrip("+-").isdecimal()]
    return []


def _round_middle(values: Sequence[Term | None]) -> str:
    """Return the middle number, of two digits that count: nobody asks for more than 1420788."""
    numbers = []
    for value in values:
        try:
            numbers.append(Decimal(_text(value)))
        except ArithmeticError:
            continue
    known = sorted(number for number in numbers if number.is_finite())
    return f"{Decimal(f'{known[len(known) // 2]:.2g}'):f}" if known else ""


def _text(term: Term | None) -> str:
    return value_of(term) or ""


_CLASSES = 40
_FAILURES = 5
_SCHEMA = (voc.RDF, voc.RDFS, voc.OWL, voc.SH, voc.XSD)


@dataclass(frozen=True)
class Draft:
    """A question in English, the queries that it may stand for, and what kind of question it is.

    Of two queries one gives things and the other their names: some graphs are asked for these.
    `tie` is a query with two rows that differ if the question has one answer; empty if it is
    not needed.
    """

    question: str
    queries: tuple[str, ...]
    kind: str
    tie: str = ""


async def drafts(
    profile: Profile,
    endpoint: Endpoint,
    prefixes: PrefixMap,
    *,
    seed: int = 0,
    timeout: float = 5.0,
) -> AsyncGenerator[Draft, None]:
    """Yield drafts, of each kind in turn, until there is nothing more to ask.

    The same graph and seed give the same drafts. Each costs one query at most, of 50 rows and
    `timeout` seconds; a sample that fails costs its draft, and the fifth raises its error.
    """
    chance, failures = Random(seed), 0
    for plan in _plans(profile, chance):
        filling: dict[str, str] | None = {}
        if plan.predicate is not None:
            query = sampling_query(plan, profile)
            try:
                found = await endpoint.select(query, timeout=timeout, limit=ROWS)
            except (QueryError, ServiceError):
                failures += 1
                if failures == _FAILURES:
                    raise
                continue
            filling = filled_from(found.rows, plan, prefixes, chance)
        if filling is not None:
            yield _draft(filling, plan, profile, prefixes)


def _plans(profile: Profile, chance: Random) -> Iterator[Plan]:
    """Yield all that there is to ask, shuffled, of one kind after the other."""
    classes = [cls for cls in profile.classes if not cls.nary and not cls.iri.startswith(_SCHEMA)]
    said: dict[str, list[tuple[PredicateProfile, int]]] = {}
    for predicate in profile.predicates:
        if predicate.naming or predicate.iri.startswith(_SCHEMA) or not is_noun(predicate):
            continue
        for cls, own in predicate.subject_classes:
            said.setdefault(cls, []).append((predicate, own))
    queues = []
    for kind, template in templates().items():
        plans = list(_of_kind(kind, template, classes[:_CLASSES], said, chance))
        rounds = template.rounds
        queues.append([plan for _ in range(rounds) for plan in chance.sample(plans, len(plans))])
    while queues := [plans for plans in queues if plans]:
        for plans in queues:
            yield plans.pop()


def _of_kind(
    kind: str,
    template: Template,
    classes: Sequence[ClassProfile],
    said: dict[str, list[tuple[PredicateProfile, int]]],
    chance: Random,
) -> Iterator[Plan]:
    for cls in classes:
        if template.fits_class(cls):
            yield Plan(kind, template, cls)
        if template.of_class or not cls.name_predicate:
            continue
        fitting = [
            p for p, own in said.get(cls.iri, ()) if own and template.fits_predicate(p, own, cls)
        ]
        for predicate in fitting:
            others: list[PredicateProfile] = []
            if template.second == "same":
                others = [other for other in fitting if other is not predicate]
            elif template.second and predicate.object_classes:
                there = said.get(predicate.object_classes[0][0], ())
                others = [
                    other
                    for other, _ in there
                    if other is not predicate and other.iri not in predicate.inverse_of
                ]
            if others:
                yield Plan(kind, template, cls, predicate, chance.choice(others))
            elif not template.second:
                yield Plan(kind, template, cls, predicate)


def _draft(filling: Mapping[str, str], plan: Plan, profile: Profile, prefixes: PrefixMap) -> Draft:
    template, noun = plan.template, called(plan.cls)
    named = {"noun": noun, "plural": english_plural(noun), "cls": prefixes.shorten(plan.cls.iri)}
    named |= {"a_label": with_article(filling.get("label", "")), **filling}
    question, query, tie = (
        text.format_map(named) for text in (template.question, template.query, template.tie)
    )
    queries = dict.fromkeys([query, _by_name(query, plan, profile, prefixes)])
    laid_out = tuple(_laid_out(query, prefixes) for query in queries)
    return Draft(question, laid_out, plan.kind, tie and _laid_out(tie, prefixes))


def _by_name(query: str, plan: Plan, profile: Profile, prefixes: PrefixMap) -> str:
    """Return the query with names in the place of the things that it gives, if these have some."""
    gives, name = plan.template.gives, plan.cls.name_predicate
    if gives == "?value":
        last = plan.second or plan.predicate
        name = naming(last, profile) if last is not None and last.object_classes else None
    if not gives or name is None:
        return query
    head, body = query.split(" WHERE { ", 1)
    body = body.replace(f"GROUP BY {gives}", "GROUP BY ?name")
    pattern = f"{gives} {prefixes.shorten(name)} ?name . "
    return f"{head.replace(gives, '?name', 1)} WHERE {{ {pattern}{body}"


def _laid_out(body: str, prefixes: PrefixMap) -> str:
    """A query over several lines, with its prefixes declared in the order of their use."""
    lines = formatted(prefixes.header(body) + body, prefixes, {}).splitlines(keepends=True)
    kept = "".join(line for line in lines if not line.startswith("PREFIX "))
    return with_declared(kept.rstrip() + "\n", prefixes.namespaces)
