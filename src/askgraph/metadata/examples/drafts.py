"""Questions about a graph that nobody has asked yet, worded by templates, each with its query.

What there is to ask comes from the profile; the names and values that a question needs are sampled
from the graph. Whether a draft is any good is for others to find out.
"""

import re
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass
from random import Random

from pyoxigraph import Literal, NamedNode

from askgraph.endpoint import Endpoint
from askgraph.errors import QueryError, ServiceError
from askgraph.metadata import ClassProfile, PredicateProfile, Profile
from askgraph.metadata.examples._templates import KINDS, Sample, Template
from askgraph.rdf import vocabulary as voc
from askgraph.rdf.labels import best_label, words_of_local_name
from askgraph.rdf.nouns import within_sentence
from askgraph.rdf.prefixes import PrefixMap
from askgraph.sparql.declared import with_declared
from askgraph.sparql.format import formatted
from askgraph.sparql.results import SelectResult, Term, value_of

__all__ = ["Draft", "drafts"]

_CLASSES = 40
_SAMPLED = 50
_ROUNDS = 3  # questions of one kind about one class and predicate, with other samples
_FAILURES = 5
_NO_NOUN = re.compile(r"^(?:is|has|was|had) | (?:of|in|for|at|with|by|to|from|on|as)$|[^e]ed$")
_SCHEMA = (voc.RDF, voc.RDFS, voc.OWL, voc.SH, voc.XSD)


@dataclass(frozen=True)
class Draft:
    """A question in English, the queries that it may stand for, and what kind of question it is.

    Of two queries one gives things and the other their names: some graphs are asked for these.
    """

    question: str
    queries: tuple[str, ...]
    kind: str


@dataclass(frozen=True)
class _Plan:
    """What to ask: a template, a class and, unless it asks for the class alone, a predicate."""

    kind: str
    template: Template
    cls: ClassProfile
    predicate: PredicateProfile | None


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
        sample = Sample(_label(plan.cls), prefixes.shorten(plan.cls.iri))
        if plan.predicate is not None:
            try:
                rows = await _sampled(plan, profile, endpoint, timeout)
            except (QueryError, ServiceError):
                failures += 1
                if failures == _FAILURES:
                    raise
                continue
            if not rows.rows:
                continue
            sample = _with_row(sample, plan.predicate, rows, prefixes, chance)
        made = plan.template.filled(sample)
        queries = dict.fromkeys([made.query, _by_name(made.query, plan, profile, prefixes)])
        laid_out = tuple(_laid_out(query, prefixes) for query in queries)
        yield Draft(made.question, laid_out, plan.kind)


def _plans(profile: Profile, chance: Random) -> Iterator[_Plan]:
    """All that there is to ask, shuffled, of one kind after the other."""
    classes = [cls for cls in profile.classes if not cls.nary and not cls.iri.startswith(_SCHEMA)]
    queues = []
    for kind, template in KINDS.items():
        plans = list(_of_kind(kind, template, classes[:_CLASSES], profile))
        rounds = 1 if template.of_class else _ROUNDS
        queues.append([plan for _ in range(rounds) for plan in chance.sample(plans, len(plans))])
    while queues := [plans for plans in queues if plans]:
        for plans in queues:
            yield plans.pop()


def _of_kind(
    kind: str, template: Template, classes: list[ClassProfile], profile: Profile
) -> Iterator[_Plan]:
    naming = {predicate.iri for predicate in profile.predicates if predicate.naming}
    for cls in classes:
        if template.of_class:
            if template.fits_class(cls):
                yield _Plan(kind, template, cls, None)
            continue
        for predicate in profile.predicates:
            own = dict(predicate.subject_classes).get(cls.iri, 0)
            said = predicate.iri in naming or predicate.iri.startswith(_SCHEMA)
            said = said or _NO_NOUN.search(_label(predicate)) is not None
            if own and not said and cls.name_predicate and template.fits(predicate, own, cls):
                yield _Plan(kind, template, cls, predicate)


async def _sampled(
    plan: _Plan, profile: Profile, endpoint: Endpoint, timeout: float
) -> SelectResult:
    """Some things of the class by name, with what the predicate says of them, by name too."""
    assert plan.predicate is not None
    patterns = (
        f"?s a <{plan.cls.iri}> ; <{plan.cls.name_predicate}> ?name ; <{plan.predicate.iri}> ?o ."
    )
    if not plan.predicate.literal:
        patterns += f" ?o <{_naming(plan.predicate, profile)}> ?other ."
    columns = "?s ?name ?o" + ("" if plan.predicate.literal else " ?other")
    query = f"SELECT {columns} WHERE {{ {patterns} }} LIMIT {_SAMPLED}"
    return await endpoint.select(query, timeout=timeout, limit=_SAMPLED)


def _naming(predicate: PredicateProfile, profile: Profile) -> str:
    """The predicate that names what a predicate leads to."""
    by_class = {cls.iri: cls.name_predicate for cls in profile.classes}
    named = (by_class.get(iri) for iri, _ in predicate.object_classes)
    general = (p.iri for p in profile.predicates if p.naming == "name")
    return next(filter(None, (*named, *general)), voc.RDFS_LABEL)


def _with_row(
    sample: Sample,
    predicate: PredicateProfile,
    rows: SelectResult,
    prefixes: PrefixMap,
    chance: Random,
) -> Sample:
    in_english = [row for row in rows.rows if all(map(_in_english, row))]
    subject, name, value, *other = chance.choice(in_english or list(rows.rows))
    return Sample(
        sample.noun,
        sample.cls,
        _label(predicate),
        prefixes.shorten(predicate.iri),
        name=name.value if isinstance(name, Literal) else "",
        subject=prefixes.shorten(subject.value) if isinstance(subject, NamedNode) else "",
        value=prefixes.shorten(value.value) if isinstance(value, NamedNode) else str(value),
        text=value_of(other[0] if other else value) or "",
    )


def _by_name(query: str, plan: _Plan, profile: Profile, prefixes: PrefixMap) -> str:
    """The query with names in the place of the things that it gives, where these have some."""
    gives, naming = plan.template.gives, plan.cls.name_predicate
    if gives == "?value":
        linked = plan.predicate is not None and plan.predicate.object_classes
        naming = _naming(plan.predicate, profile) if linked and plan.predicate else None
    if not gives or naming is None:
        return query
    head, body = query.split(" WHERE { ", 1)
    body = body.replace(f"GROUP BY {gives}", "GROUP BY ?name")
    pattern = f"{gives} {prefixes.shorten(naming)} ?name . "
    return f"{head.replace(gives, '?name', 1)} WHERE {{ {pattern}{body}"


def _laid_out(body: str, prefixes: PrefixMap) -> str:
    """A query over several lines, with its prefixes declared in the order of their use."""
    lines = formatted(prefixes.header(body) + body, prefixes, {}).splitlines(keepends=True)
    kept = "".join(line for line in lines if not line.startswith("PREFIX "))
    return with_declared(kept.rstrip() + "\n", prefixes.namespaces)


def _in_english(term: Term | None) -> bool:
    return not isinstance(term, Literal) or (term.language or "en").startswith("en")


def _label(item: ClassProfile | PredicateProfile) -> str:
    return within_sentence(best_label(item.names, ["en"]) or words_of_local_name(item.iri))
