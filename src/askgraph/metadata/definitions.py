"""Definitions of what a graph says only indirectly: predicates, comments, names.

The kinds are those of Henselmann et al. (2025), sections 4.2 to 4.4, and names of n-ary relations.
`definitions_file` has them as a file that a person can edit.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from pyoxigraph import NamedNode

from askgraph.errors import SetupError
from askgraph.sparql.rewrite.virtual import VirtualPaths, predicates_in
from askgraph.sparql.tree import Path, Predicate
from askgraph.sparql.write import text_of

LANGUAGE = "en"
"""The language of labels and comments that do not say theirs."""


@dataclass(frozen=True)
class DefinedProperty:
    """A predicate that stands for a property path; an inverse is one of the path `^p`.

    No word of a question stands for one that is `unnamed`; its label is for those who read it.
    """

    iri: str
    path: Predicate
    label: str = ""
    comment: str = ""
    language: str = LANGUAGE
    why: str = ""
    unnamed: bool = False

    @property
    def inverse_of(self) -> str | None:
        """The predicate that it turns round; None for a shortcut."""
        match self.path:
            case Path(operator="^", parts=(NamedNode(value=iri),)):
                return iri
            case _:
                return None


@dataclass(frozen=True)
class Comment:
    """What a term means, in words."""

    term: str
    text: str
    language: str = LANGUAGE
    why: str = ""


@dataclass(frozen=True)
class NodeName:
    """Nameless instances of a class get a name: the names of what these predicates lead to."""

    cls: str
    predicates: tuple[str, ...]
    why: str = ""


@dataclass(frozen=True)
class Definitions:
    """All that is to be added to one graph."""

    properties: tuple[DefinedProperty, ...] = ()
    comments: tuple[Comment, ...] = ()
    names: tuple[NodeName, ...] = ()
    prefixes: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.properties or self.comments or self.names)

    def only(self, *, inverse: bool, shortcuts: bool, comments: bool, names: bool) -> "Definitions":
        """Return those of some kinds."""
        kept = (one for one in self.properties if (inverse if one.inverse_of else shortcuts))
        return Definitions(
            tuple(kept),
            self.comments if comments else (),
            self.names if names else (),
            self.prefixes,
        )


def virtual_paths(definitions: Definitions) -> VirtualPaths:
    """Return the paths of the properties, over the graph's own predicates only.

    A path may use another defined property; `SetupError` if one leads back to itself, and where
    a property is defined twice.
    """
    for iri, times in Counter(one.iri for one in definitions.properties).items():
        if times > 1:
            raise SetupError(f"<{iri}> is defined {times} times: join the paths with '|'")
    given = {one.iri: one.path for one in definitions.properties}
    return {iri: _resolved(path, given, (iri,)) for iri, path in given.items()}


def _resolved(path: Predicate, given: VirtualPaths, on: tuple[str, ...]) -> Predicate:
    match path:
        case NamedNode(value=iri) if iri in on:
            raise SetupError(f"the property <{iri}> is defined by itself")
        case NamedNode(value=iri) if iri in given:
            return _resolved(given[iri], given, (*on, iri))
        case Path(operator="!") if any(iri in given for iri in predicates_in(path)):
            raise SetupError(f"the path {text_of(path)} negates a defined property")
        case Path(operator=operator, parts=parts):
            return Path(operator, tuple(_resolved(part, given, on) for part in parts))
        case _:
            return path
