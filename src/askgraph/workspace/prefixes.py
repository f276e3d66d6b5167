"""The prefixes of a graph: those that its files declare, its own triples, and derived ones."""

import gzip
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from askgraph.metadata import Profile
from askgraph.rdf import vocabulary as v
from askgraph.rdf.prefixes import PrefixMap
from askgraph.traversal.arrays import GraphArrays

__all__ = ["declared_prefixes", "described_prefixes", "some_iris", "with_prefixes"]

_READ = 2**16
_SAMPLE = 5000
_TURTLE = re.compile(r"^\s*@?prefix\s+([^\s:]*):\s*<([^<>\s]+)>", re.IGNORECASE | re.MULTILINE)
_XML = re.compile(r"""\bxmlns:([\w.-]+)\s*=\s*["']([^"']+)["']""")
_ENTITY = re.compile(r"""<!ENTITY\s+([\w.-]+)\s+["']([^"']+)["']""")


def declared_prefixes(files: Sequence[Path]) -> dict[str, str]:
    """Return the prefixes declared at the head of Turtle, TriG and RDF/XML files."""
    found: dict[str, str] = {}
    for path in files[:100]:
        head = _head(path)
        if path.name.removesuffix(".gz").endswith((".rdf", ".owl", ".xml")):
            entities = dict(_ENTITY.findall(head))
            pairs = [(name, _resolved(value, entities)) for name, value in _XML.findall(head)]
        else:
            pairs = _TURTLE.findall(head)
        for prefix, namespace in pairs:
            if ":" in namespace:
                found.setdefault(prefix, namespace)
    return found


def with_prefixes(
    profile: Profile, iris: Iterable[str], *, own: Mapping[str, str] | None = None
) -> Profile:
    """Return the profile with its own prefixes, and readable ones for its other namespaces.

    `iris` are some of the graph's; namespaces that hold three of them get a prefix.
    """
    schema = [c.iri for c in profile.classes] + [p.iri for p in profile.predicates]
    full = PrefixMap(own or {}).with_derived(schema, least=1).with_derived(iris, least=3)
    return replace(profile, prefixes=tuple(sorted(full.own.items())))


def some_iris(arrays: GraphArrays) -> Iterator[str]:
    """Return a few thousand of a graph's IRIs, evenly taken."""
    terms = arrays.terms
    step = max(1, (terms.first_blank - terms.first_iri) // _SAMPLE)
    return (terms.value(at) for at in range(terms.first_iri, terms.first_blank, step))


def described_prefixes(arrays: GraphArrays) -> dict[str, str]:
    """Return the prefixes that a graph describes in the words of VANN or SHACL."""
    pairs = (
        (v.VANN_PREFERRED_NAMESPACE_PREFIX, v.VANN_PREFERRED_NAMESPACE_URI),
        (v.SH_PREFIX, v.SH_NAMESPACE),
    )
    found: dict[str, str] = {}
    for prefix, namespace in pairs:
        prefixes, namespaces = _values(arrays, prefix), _values(arrays, namespace)
        for subject, name in prefixes.items():
            if subject in namespaces:
                found.setdefault(name, namespaces[subject])
    return found


def _head(path: Path) -> str:
    opener = gzip.open if path.name.endswith(".gz") else open
    with opener(path, "rb") as file:
        return file.read(_READ).decode("utf-8", errors="replace")


def _resolved(value: str, entities: Mapping[str, str]) -> str:
    return re.sub(r"&([\w.-]+);", lambda match: entities.get(match[1], match[0]), value)


def _values(arrays: GraphArrays, predicate: str) -> dict[int, str]:
    number = arrays.number(predicate)
    if number is None:
        return {}
    subjects, objects = arrays.pairs(arrays.ends(number), number)
    return {
        subject: arrays.terms.value(value)
        for subject, value in zip(subjects.tolist(), objects.tolist(), strict=True)
    }
