"""Resources to index: from a graph's profile and names, or from its endpoint's answers.

Entities, properties, classes and short literal values, each with all its names, scored by use.
"""

import re
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator

from pyoxigraph import Literal

from askgraph.endpoint import Endpoint
from askgraph.errors import SetupError
from askgraph.graph.names import local_name
from askgraph.graph.profile import ClassProfile, PredicateProfile, Profile
from askgraph.index import Resource
from askgraph.index.name_search import Naming
from askgraph.index.names import Kind, Name
from askgraph.sparql.prefixes import best_label, words_of_local_name

_SHOWN = 3
_PAGED = re.compile(r"GROUP\s+BY\s+\?iri\s*$", re.IGNORECASE)


def profile_properties(
    profile: Profile, *, languages: Iterable[str] = ("en",)
) -> Iterator[Resource]:
    """Yield a profile's predicates, scored by their triples, with domain and range as infos."""
    for predicate in profile.predicates:
        infos = (
            *_classes("domain", predicate.subject_classes),
            *_classes("range", predicate.object_classes or predicate.datatypes),
        )
        yield _resource(predicate, predicate.triples, infos, tuple(languages))


def profile_classes(profile: Profile, *, languages: Iterable[str] = ("en",)) -> Iterator[Resource]:
    """Yield a profile's classes, scored by their instances, with the classes above as infos."""
    for cls in profile.classes:
        parents = _classes("subclass of", [(parent, 0) for parent in cls.parents])
        yield _resource(cls, cls.instances, ("class", *parents), tuple(languages))


def named_resources(names: Iterable[Name], kinds: Iterable[Kind]) -> Iterator[Resource]:
    """Yield the bearers of names of some kinds: entities, and literal values by N-Triples text.

    The label is the first preferred name, else the first. Of the names' use nothing is known: the
    score is how many there are.
    """
    wanted = frozenset(kinds)
    listed: dict[str, list[Name]] = defaultdict(list)
    for name in names:
        if name.kind in wanted:
            listed[name.target].append(name)
    for target, all_names in listed.items():
        ordered = sorted(all_names, key=lambda name: not name.preferred)
        label, *synonyms = dict.fromkeys(name.text for name in ordered)
        yield Resource(target, label, tuple(synonyms), float(len(all_names)))


def naming_of(profile: Profile) -> Naming:
    """Return by which predicates a graph names its things, and in which languages."""
    own = sorted(
        (p for p in profile.predicates if p.naming), key=lambda p: (p.naming != "name", -p.triples)
    )
    return Naming(tuple(p.iri for p in own), tuple(tag for tag, _ in profile.languages))


async def asked_resources(endpoint: Endpoint, query: str) -> AsyncIterator[Resource]:
    """Yield the resources that an index query selects, page by page if rows are capped.

    Raises `SetupError` if rows are missing and the query does not end with `GROUP BY ?iri`, by
    which it could be paged.
    """
    from askgraph.index.sources import resources_of  # most graphs are indexed without a query

    result = await endpoint.select(query)
    if not result.truncated:
        for resource in resources_of(result):
            yield resource
        return
    if not _PAGED.search(query):
        raise SetupError(
            f"{endpoint.address} gave only {len(result.rows):,} rows; end the query with "
            "GROUP BY ?iri, so that it can be asked page by page"
        )
    size, last = len(result.rows), ""
    while True:
        having = f"HAVING (STR(?iri) > {Literal(last)}) ORDER BY STR(?iri) LIMIT {size}"
        page = list(resources_of(await endpoint.select(f"{query.rstrip()} {having}")))
        for resource in page:
            yield resource
        if not page or page[-1].iri <= last:
            return
        last = page[-1].iri


def _resource(
    item: ClassProfile | PredicateProfile,
    score: int,
    infos: tuple[str, ...],
    languages: tuple[str, ...],
) -> Resource:
    label = best_label(item.names, languages)
    local = local_name(item.iri)
    others = (*(text for text, _ in item.names), *((local,) if local else ()))
    synonyms = tuple(text for text in dict.fromkeys(others) if text != label)
    if label is None:
        label, synonyms = words_of_local_name(item.iri), ()
    return Resource(item.iri, label, synonyms, float(score), infos)


def _classes(word: str, counted: Iterable[tuple[str, int]]) -> tuple[str, ...]:
    names = [words_of_local_name(iri) for iri, _ in counted][:_SHOWN]
    return (f"{word} {', '.join(names)}",) if names else ()
