"""Predicates that are one property: a code in several namespaces of one statement model.

Some graphs write a property as several predicates: straight to the value, to a node for the
statement, and from there to the value and its qualifiers. All of them share a local name that is a
code (`P31`), in namespaces of one host that lie side by side or within each other.
"""

from collections import defaultdict
from collections.abc import Iterable
from urllib.parse import urlsplit

from askgraph.metadata.names import local_name
from askgraph.rdf.prefixes import namespace_of

__all__ = ["code_of", "same_property", "variants_in"]


def code_of(iri: str) -> tuple[str, str] | None:
    """Return the host and the local name of an IRI whose local name is a code, else None."""
    namespace = namespace_of(iri)
    code = iri[len(namespace) :]
    if not any(c.isdigit() for c in code) or local_name(iri):
        return None
    return urlsplit(iri).netloc, code


def variants_in(iris: Iterable[str]) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the predicates that are one property, by host and code, in the order given."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for iri in iris:
        key = code_of(iri)
        if key is not None:
            found[key].append(iri)
    return {key: tuple(listed) for key, listed in found.items()}


def same_property(iris: Iterable[str]) -> list[tuple[str, ...]]:
    """Return the predicates in groups, each of one property, in the order of their firsts.

    >>> base = "http://example.org/prop/"
    >>> same_property([base + "direct/P3", base + "name", base + "statement/P3"])[0]
    ('http://example.org/prop/direct/P3', 'http://example.org/prop/statement/P3')
    """
    groups: dict[tuple[str, str] | str, list[str]] = {}
    for iri in dict.fromkeys(iris):
        groups.setdefault(code_of(iri) or iri, []).append(iri)
    return [tuple(listed) for listed in groups.values()]
