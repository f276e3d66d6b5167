"""Questions about a graph that nobody has asked yet, worded by templates, each with its query.

What there is to ask comes from the profile; the names and values that a question needs are sampled
from the graph. Whether a draft is any good is for others to find out.
"""

from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from askgraph.endpoint import Endpoint
from askgraph.errors import QueryError, ServiceError
from askgraph.metadata import ClassProfile, PredicateProfile, Profile
from askgraph.metadata.examples._samples import ROWS, Plan, filled_from, naming, sampling_query
from askgraph.metadata.examples._templates import KINDS, Sample, Template, called, is_noun
from askgraph.rdf import vocabulary as voc
from askgraph.rdf.prefixes import PrefixMap
from askgraph.sparql.layout import formatted
from askgraph.sparql.lexer import with_declared

__all__ = ["Draft", "drafts"]

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
        sample: Sample | None = Sample(called(plan.cls), prefixes.shorten(plan.cls.iri))
        if plan.predicate is not None and sample is not None:
            query = sampling_query(plan, profile)
            try:
                found = await endpoint.select(query, timeout=timeout, limit=ROWS)
            except (QueryError, ServiceError):
                failures += 1
                if failures == _FAILURES:
                    raise
                continue
            sample = filled_from(found.rows, sample, plan, prefixes, chance)
        if sample is not None:
            yield _draft(sample, plan, profile, prefixes)


def _plans(profile: Profile, chance: Random) -> Iterator[Plan]:
    """All that there is to ask, shuffled, of one kind after the other."""
    classes = [cls for cls in profile.classes if not cls.nary and not cls.iri.startswith(_SCHEMA)]
    said = _said_of(profile)
    queues = []
    for kind, template in KINDS.items():
        plans = list(_of_kind(kind, template, classes[:_CLASSES], said, chance))
        rounds = template.rounds
        queues.append([plan for _ in range(rounds) for plan in chance.sample(plans, len(plans))])
    while queues := [plans for plans in queues if plans]:
        for plans in queues:
            yield plans.pop()


def _said_of(profile: Profile) -> dict[str, list[tuple[PredicateProfile, int]]]:
    """The predicates that can be asked for by class, each with its triples there."""
    found: dict[str, list[tuple[PredicateProfile, int]]] = {}
    for predicate in profile.predicates:
        if predicate.naming or predicate.iri.startswith(_SCHEMA) or not is_noun(predicate):
            continue
        for cls, own in predicate.subject_classes:
            found.setdefault(cls, []).append((predicate, own))
    return found


def _of_kind(
    kind: str,
    template: Template,
    classes: Sequence[ClassProfile],
    said: dict[str, list[tuple[PredicateProfile, int]]],
    chance: Random,
) -> Iterator[Plan]:
    for cls in classes:
        if template.of_class and template.fits_class(cls):
            yield Plan(kind, template, cls)
        if template.of_class or not cls.name_predicate:
            continue
        for predicate, own in said.get(cls.iri, ()):
            if not own or not template.fits(predicate, own, cls):
                continue
            others = _others(template, cls, predicate, said)
            if others:
                yield Plan(kind, template, cls, predicate, chance.choice(others))
            elif not template.second:
                yield Plan(kind, template, cls, predicate)


def _others(
    template: Template,
    cls: ClassProfile,
    predicate: PredicateProfile,
    said: dict[str, list[tuple[PredicateProfile, int]]],
) -> list[PredicateProfile]:
    """What a question with two predicates can go on with."""
    match template.second:
        case "same":
            return [
                other
                for other, own in said.get(cls.iri, ())
                if other is not predicate and template.fits(other, own, cls)
            ]
        case "next":
            there = predicate.object_classes[0][0] if predicate.object_classes else ""
            return [
                other
                for other, _ in said.get(there, ())
                if other is not predicate and other.iri not in predicate.inverse_of
            ]
        case _:
            return []


def _draft(sample: Sample, plan: Plan, profile: Profile, prefixes: PrefixMap) -> Draft:
    made = plan.template.filled(sample)
    queries = dict.fromkeys([made.query, _by_name(made.query, plan, profile, prefixes)])
    laid_out = tuple(_laid_out(query, prefixes) for query in queries)
    return Draft(made.question, laid_out, plan.kind, made.tie and _laid_out(made.tie, prefixes))


def _by_name(query: str, plan: Plan, profile: Profile, prefixes: PrefixMap) -> str:
    """The query with names in the place of the things that it gives, if these have some."""
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
