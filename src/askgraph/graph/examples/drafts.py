"""Draft questions about a graph from templates, each with its query.

Classes and predicates come from the profile; names and values are sampled from the graph. Drafts
are not checked for quality here.
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
from askgraph.sparql.english import (
    add_article,
    is_plural,
    lower_first_letter,
    pluralize,
    singularize,
)
from askgraph.sparql.lexer import declare_prefixes
from askgraph.sparql.prefixes import PrefixMap, choose_label, split_local_name
from askgraph.sparql.results import Row, Term, to_plain_value
from askgraph.sparql.rewrite import lay_out_query
from askgraph.sparql.vocabulary import NUMERIC_DATATYPES

_NOT_NOUN_PATTERN = re.compile(
    r"^(?:is|has|was|had) | (?:of|in|for|at|with|by|to|from|on|as)$|[^e]ed$"
)
_TECHNICAL_WORDS = frozenset(["fk", "id", "identifier", "iri", "key", "pk", "ref", "uri", "url"])
_LINK_WORDS = _TECHNICAL_WORDS | {"code"}

_OPERATOR_WORDS = frozenset(
    "average count first highest largest last least longest lowest maximum mean median minimum "
    "most number oldest shortest smallest sum total youngest".split()
)


def get_noun(item: ClassProfile | PredicateProfile) -> str:
    """Return an English name for use in a sentence, in the singular for a class.

    Names of links lose database terms: `ref_stadium_id` becomes "stadium".
    """
    name = get_label(item)
    if isinstance(item, ClassProfile):
        return singularize(name)
    if not item.object_classes:
        return name
    return " ".join(word for word in name.split() if word not in _LINK_WORDS) or name


def is_noun(predicate: PredicateProfile) -> bool:
    """Return whether a predicate's name can follow "the" in a question.

    Excludes identifiers, verbs, and names that read as operators: "the highest of Glebe Park", "the
    orbits of Styx".
    """
    words = get_noun(predicate).split()
    if (
        is_plural(words[-1])
        or _TECHNICAL_WORDS.intersection(words)
        or _OPERATOR_WORDS.issuperset(words)
    ):
        return False
    return _NOT_NOUN_PATTERN.search(get_label(predicate)) is None


def get_label(item: ClassProfile | PredicateProfile) -> str:
    """Return the English label, else the words of the IRI, cased for use inside a sentence."""
    return lower_first_letter(choose_label(item.names, ["en"]) or split_local_name(item.iri))


_MAX_LISTED_ROWS = 100


@dataclass(frozen=True)
class QuestionTemplate:
    """A kind of question.

    Attributes:
        second: Subject of a second predicate: the `same` instances, or those that the first
            predicate leads to (`next`).
        gives: First column of the query: instances of the class (`?x`), values of the last
            predicate (`?value`), or empty for neither.
    """

    question: str  # text of the question, with placeholders
    query: str  # the query, with placeholders
    tie: str = ""  # query with two rows that differ if the question has a single answer
    of_class: bool = False  # whether the question is about a class as a whole
    fits: str = ""  # name of the condition on the class (`of_class`) or predicate
    second: typing.Literal["", "same", "next"] = ""
    gives: str = ""
    rounds: int = 1  # number of questions per class and predicate, with different samples
    measured: bool = False  # whether values must be measurable

    def can_use_predicate(
        self, predicate: PredicateProfile, triple_count: int, cls: ClassProfile
    ) -> bool:
        """Return whether the question can use a predicate with some triples at a class."""
        match self.fits:
            case "links":
                return bool(predicate.object_classes)
            case "shares":  # several things have the same object: counting by it makes sense
                has_shared_objects = 1 < predicate.objects <= predicate.triples / 2
                return bool(predicate.object_classes) and has_shared_objects
            case "measures":
                numeric = not NUMERIC_DATATYPES.isdisjoint(dict(predicate.datatypes))
                return predicate.functional and numeric
            case "lacks":
                return 0 < cls.instances - triple_count <= _MAX_LISTED_ROWS
            case _:
                return True


@cache
def load_templates() -> Mapping[str, QuestionTemplate]:
    """Return the templates by name, in the order of use."""
    text = files("askgraph.graph.examples").joinpath("templates.toml").read_text("utf-8")
    return {name: QuestionTemplate(**about) for name, about in tomllib.loads(text).items()}


SAMPLE_ROWS = 50
_FALSE_SHARE = 0.5  # share of yes-or-no questions with the value of another thing
_MAX_SPACING_RATIO = 1.5  # numbers this close to each other, each once, only number things
_MIN_CODE_DIGITS = 3
_BOOLEAN_VALUES_COUNT = 2


@dataclass(frozen=True)
class QuestionPlan:
    """The parts of a question: a template, a class and, unless it is about that, predicates."""

    kind: str
    template: QuestionTemplate
    cls: ClassProfile
    predicate: PredicateProfile | None = None
    second: PredicateProfile | None = None


def build_sampling_query(plan: QuestionPlan, profile: Profile) -> str:
    """Return a query for named instances of the class, with their values of the predicates.

    Its columns are `?s ?name ?o ?o_name`, and `?p ?p_name` for a second predicate; a literal is its
    own name.
    """
    assert plan.predicate is not None

    def build_name_pattern(variable: str, predicate: PredicateProfile) -> str:
        if predicate.literal:
            return f"BIND({variable} AS {variable}_name)"
        return f"{variable} <{choose_name_predicate(predicate, profile)}> {variable}_name ."

    parts = [
        f"?s a <{plan.cls.iri}> ; <{plan.cls.name_predicate}> ?name ; <{plan.predicate.iri}> ?o .",
        build_name_pattern("?o", plan.predicate),
    ]
    columns = "?s ?name ?o ?o_name"
    if plan.second is not None:
        second_subject = "?o" if plan.template.second == "next" else "?s"
        parts += [
            f"{second_subject} <{plan.second.iri}> ?p .",
            build_name_pattern("?p", plan.second),
        ]
        columns += " ?p ?p_name"
    return f"SELECT {columns} WHERE {{ {' '.join(parts)} }} LIMIT {SAMPLE_ROWS}"


def choose_name_predicate(predicate: PredicateProfile, profile: Profile) -> str:
    """Return the predicate of names for a predicate's objects."""
    by_class = {cls.iri: cls.name_predicate for cls in profile.classes}
    class_predicates = (by_class.get(iri) for iri, _ in predicate.object_classes)
    general = (p.iri for p in profile.predicates if p.naming == "name")
    return next(filter(None, (*class_predicates, *general)), voc.RDFS_LABEL)


def fill_template(
    rows: Sequence[Row], plan: QuestionPlan, prefixes: PrefixMap, random: Random
) -> dict[str, str] | None:
    """Return the placeholders of a template from a random row; None if no row is suitable.

    `subject` is an instance of the class with the label `name`; the predicate gives it `value` with
    the label `text`. Placeholders with `other` belong to a second predicate.
    """
    assert plan.predicate is not None
    values = [row[2] for row in rows]
    if is_identifier_list(values, plan.predicate) or (
        plan.template.measured and not is_measurable(values)
    ):
        return None
    name_counts = Counter(name for name, _ in {(_get_text(row[1]), row[0]) for row in rows})
    english = [
        row
        for row in rows
        if name_counts[_get_text(row[1])] == 1
        and all(not isinstance(t, Literal) or (t.language or "en").startswith("en") for t in row)
    ]
    if not english:
        return None

    def format_term(term: Term | None) -> str:
        return prefixes.shorten(term.value) if isinstance(term, NamedNode) else str(term)

    row = value_row = random.choice(english)
    if plan.kind == "whether" and random.random() < _FALSE_SHARE:
        value_row = random.choice(english)
    filling = {
        "label": get_noun(plan.predicate),
        "predicate": prefixes.shorten(plan.predicate.iri),
        "name": _get_text(row[1]),
        "subject": format_term(row[0]),
        "value": format_term(value_row[2]),
        "text": _round_median(values) if plan.kind == "more" else _get_text(value_row[3]),
    }
    if plan.second is None:
        return filling
    if _get_text(row[5]) in (filling["name"], filling["text"]):  # there and back again
        return None
    return filling | {
        "other_label": get_noun(plan.second),
        "other_predicate": prefixes.shorten(plan.second.iri),
        "other_value": format_term(row[4]),
        "other_text": _get_text(row[5]),
    }


def is_identifier_list(values: Sequence[Term | None], predicate: PredicateProfile) -> bool:
    """Return whether values are serial numbers: distinct, dense integers."""
    numbers = _to_integers(values)
    if predicate.objects < predicate.triples or not numbers:
        return False
    return max(numbers) - min(numbers) + 1 <= _MAX_SPACING_RATIO * len(numbers)


def is_measurable(values: Sequence[Term | None]) -> bool:
    """Return whether values are amounts: not codes or years of equal length, nor booleans."""
    digits = {len(str(abs(number))) for number in _to_integers(values)}
    is_code = len(digits) == 1 and min(digits) >= _MIN_CODE_DIGITS
    return not is_code and len(set(values)) > _BOOLEAN_VALUES_COUNT


def _to_integers(values: Sequence[Term | None]) -> list[int]:
    texts = [_get_text(value) for value in values]
    if all(isinstance(v, Literal) and v.datatype.value in voc.INTEGER_DATATYPES for v in values):
        return [int(text) for text in texts if text.lstrip("+-").isdecimal()]
    return []


def _round_median(values: Sequence[Term | None]) -> str:
    """Return the median, rounded to two significant digits, as people would ask for it."""
    numbers = []
    for value in values:
        try:
            numbers.append(Decimal(_get_text(value)))
        except ArithmeticError:
            continue
    finite_numbers = sorted(number for number in numbers if number.is_finite())
    return (
        f"{Decimal(f'{finite_numbers[len(finite_numbers) // 2]:.2g}'):f}" if finite_numbers else ""
    )


def _get_text(term: Term | None) -> str:
    return to_plain_value(term) or ""


_MAX_CLASSES = 40
_MAX_FAILURES = 5
_SCHEMA_NAMESPACES = (voc.RDF, voc.RDFS, voc.OWL, voc.SH, voc.XSD)


@dataclass(frozen=True)
class ExampleDraft:
    """A drafted question in English."""

    question: str
    queries: tuple[str, ...]  # possible queries: one returns resources, the other their names
    kind: str  # name of the template
    tie: str = ""  # query with two rows that differ if the question has a single answer; or empty


async def generate_drafts(
    profile: Profile,
    endpoint: Endpoint,
    prefixes: PrefixMap,
    *,
    seed: int = 0,
    timeout: float = 5.0,
) -> AsyncGenerator[ExampleDraft, None]:
    """Yield drafts, alternating between kinds, until all combinations are used.

    The same graph and seed give the same drafts. Each costs at most one query, of 50 rows and
    `timeout` seconds. A failed sample loses its draft; the fifth failure raises its error.
    """
    random, failures = Random(seed), 0
    for plan in _shuffle_plans(profile, random):
        filling: dict[str, str] | None = {}
        if plan.predicate is not None:
            query = build_sampling_query(plan, profile)
            try:
                result = await endpoint.select(query, timeout=timeout, limit=SAMPLE_ROWS)
            except (QueryError, ServiceError):
                failures += 1
                if failures == _MAX_FAILURES:
                    raise
                continue
            filling = fill_template(result.rows, plan, prefixes, random)
        if filling is not None:
            yield _fill_draft(filling, plan, profile, prefixes)


def _shuffle_plans(profile: Profile, random: Random) -> Iterator[QuestionPlan]:
    """Yield all possible plans, shuffled, alternating between kinds."""
    classes = [
        cls
        for cls in profile.classes
        if not cls.nary and not cls.iri.startswith(_SCHEMA_NAMESPACES)
    ]
    predicates_by_class: dict[str, list[tuple[PredicateProfile, int]]] = {}
    for predicate in profile.predicates:
        if (
            predicate.naming
            or predicate.iri.startswith(_SCHEMA_NAMESPACES)
            or not is_noun(predicate)
        ):
            continue
        for cls, triple_count in predicate.subject_classes:
            predicates_by_class.setdefault(cls, []).append((predicate, triple_count))
    queues = []
    for kind, template in load_templates().items():
        plans = list(
            _iterate_plans(kind, template, classes[:_MAX_CLASSES], predicates_by_class, random)
        )
        rounds = template.rounds
        queues.append([plan for _ in range(rounds) for plan in random.sample(plans, len(plans))])
    while queues := [plans for plans in queues if plans]:
        for plans in queues:
            yield plans.pop()


def _iterate_plans(
    kind: str,
    template: QuestionTemplate,
    classes: Sequence[ClassProfile],
    predicates_by_class: dict[str, list[tuple[PredicateProfile, int]]],
    random: Random,
) -> Iterator[QuestionPlan]:
    for cls in classes:
        max_instances = _MAX_LISTED_ROWS if template.fits else math.inf
        if template.of_class and 1 < cls.instances <= max_instances:
            yield QuestionPlan(kind, template, cls)
        if template.of_class or not cls.name_predicate:
            continue
        fitting = [
            p
            for p, triple_count in predicates_by_class.get(cls.iri, ())
            if triple_count and template.can_use_predicate(p, triple_count, cls)
        ]
        for predicate in fitting:
            second_choices: list[PredicateProfile] = []
            if template.second == "same":
                second_choices = [candidate for candidate in fitting if candidate is not predicate]
            elif template.second and predicate.object_classes:
                second_choices = [
                    candidate
                    for candidate, _ in predicates_by_class.get(predicate.object_classes[0][0], ())
                    if candidate is not predicate and candidate.iri not in predicate.inverse_of
                ]
            if second_choices:
                yield QuestionPlan(kind, template, cls, predicate, random.choice(second_choices))
            elif not template.second:
                yield QuestionPlan(kind, template, cls, predicate)


def _fill_draft(
    filling: Mapping[str, str], plan: QuestionPlan, profile: Profile, prefixes: PrefixMap
) -> ExampleDraft:
    template, noun = plan.template, get_noun(plan.cls)
    values = {"noun": noun, "plural": pluralize(noun), "cls": prefixes.shorten(plan.cls.iri)}
    values |= {"a_label": add_article(filling.get("label", "")), **filling}
    question, query, tie = (
        text.format_map(values) for text in (template.question, template.query, template.tie)
    )
    queries = dict.fromkeys([query, _replace_with_names(query, plan, profile, prefixes)])
    laid_out = tuple(_format_query(query, prefixes) for query in queries)
    return ExampleDraft(question, laid_out, plan.kind, tie and _format_query(tie, prefixes))


def _replace_with_names(
    query: str, plan: QuestionPlan, profile: Profile, prefixes: PrefixMap
) -> str:
    gives, name = plan.template.gives, plan.cls.name_predicate
    if gives == "?value":
        last = plan.second or plan.predicate
        name = (
            choose_name_predicate(last, profile)
            if last is not None and last.object_classes
            else None
        )
    if not gives or name is None:
        return query
    head, body = query.split(" WHERE { ", 1)
    body = body.replace(f"GROUP BY {gives}", "GROUP BY ?name")
    pattern = f"{gives} {prefixes.shorten(name)} ?name . "
    return f"{head.replace(gives, '?name', 1)} WHERE {{ {pattern}{body}"


def _format_query(body: str, prefixes: PrefixMap) -> str:
    """Format a query over several lines, with prefixes declared in the order of use."""
    lines = lay_out_query(prefixes.build_header(body) + body, prefixes, {}).splitlines(
        keepends=True
    )
    body_lines = "".join(line for line in lines if not line.startswith("PREFIX "))
    return declare_prefixes(body_lines.rstrip() + "\n", prefixes.namespaces)
