"""What a profile knows and VoID has no word for: terms of our own, beside those of VoID.

Other readers of VoID pass over them; read back, they make the profile what it was.
"""

from dataclasses import dataclass, replace

from pyoxigraph import Literal, NamedNode

from askgraph.metadata import ClassProfile, Part, PredicateProfile, Profile
from askgraph.rdf import vocabulary as v
from askgraph.rdf.statements import Statements

__all__ = ["OWN", "own_parts", "own_profile"]

SPACE = "urn:askgraph:terms#"


@dataclass(frozen=True)
class _Terms:
    """IRIs of the terms of our own.

    Of a dataset: `cut`, a text; `part`, a node with `seen`, `total` and a comment. Of a class:
    `name_predicate` and `nary`. Of a predicate: `naming`. Of a partition: `sampled`.
    """

    cut: str = SPACE + "cut"
    part: str = SPACE + "part"
    name: str = SPACE + "name"
    seen: str = SPACE + "seen"
    total: str = SPACE + "total"
    name_predicate: str = SPACE + "namePredicate"
    nary: str = SPACE + "nary"
    naming: str = SPACE + "naming"
    sampled: str = SPACE + "sampled"
    prefix: str = SPACE + "prefix"


OWN = _Terms()


def own_parts(described: Statements) -> tuple[Part, ...]:
    """Return the statements of completeness."""
    found = []
    for node in described.holding(OWN.seen):
        seen, total = described.number(node, OWN.seen) or 0, described.number(node, OWN.total)
        notes = described.texts(node, v.RDFS_COMMENT)
        note = notes[0][0] if notes else ""
        found += [Part(name, seen, total, note) for name, _ in described.texts(node, OWN.name)]
    return tuple(found)


def own_profile(described: Statements, profile: Profile) -> Profile:
    """The profile with all that is said of it in terms of our own."""
    cuts = [
        text for node in described.holding(OWN.cut) for text, _ in described.texts(node, OWN.cut)
    ]
    created = [
        text
        for node in described.holding(v.DCTERMS_CREATED)
        for text, _ in described.texts(node, v.DCTERMS_CREATED)
    ]
    sources = [
        term.value
        for node in described.holding(v.DCTERMS_SOURCE, v.VOID_SPARQL_ENDPOINT)
        for term in described.objects(node, v.DCTERMS_SOURCE, v.VOID_SPARQL_ENDPOINT)
        if isinstance(term, NamedNode | Literal)
    ]
    prefixes = _prefixes(described)
    return replace(
        profile,
        classes=tuple(_class(described, one) for one in profile.classes),
        predicates=tuple(_predicate(described, one) for one in profile.predicates),
        cuts=tuple(cuts) or profile.cuts,
        created=min(created, default=profile.created),
        source=profile.source or min(sources, default=""),
        prefixes=prefixes if SPACE in described.prefixes.values() else profile.prefixes,
    )


def _all_texts(described: Statements, predicate: str) -> list[str]:
    holders = described.holding(predicate)
    return [text for node in holders for text, _ in described.texts(node, predicate)]


def _class(described: Statements, cls: ClassProfile) -> ClassProfile:
    node = NamedNode(cls.iri)
    return replace(
        cls,
        name_predicate=described.iri(node, OWN.name_predicate) or cls.name_predicate,
        nary=bool(described.objects(node, OWN.nary)) or cls.nary,
    )


def _predicate(described: Statements, predicate: PredicateProfile) -> PredicateProfile:
    told = described.texts(NamedNode(predicate.iri), OWN.naming)
    return replace(predicate, naming=told[0][0]) if told else predicate


def _prefixes(described: Statements) -> tuple[tuple[str, str], ...]:
    found = set()
    for node in described.holding(OWN.prefix):
        for declared in described.nodes(node, OWN.prefix):
            names = described.texts(declared, v.SH_PREFIX)
            spaces = described.texts(declared, v.SH_NAMESPACE)
            if names and spaces:
                found.add((names[0][0], spaces[0][0]))
    return tuple(sorted(found))
