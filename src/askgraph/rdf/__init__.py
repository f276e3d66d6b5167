"""Prefixes: short, valid, readable names for IRIs, and the PREFIX lines that a query needs."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from urllib.parse import unquote, urlsplit

TABLES: Mapping[str, Mapping[str, str]] = json.loads(
    files("askgraph.rdf").joinpath("prefixes.json").read_text("utf-8")
)
"""Namespaces by prefix: those of public graphs, by the graph's name, and those that all know."""

WELL_KNOWN = TABLES["well known"]
"""Prefixes that readers of SPARQL know by heart."""

_NAME_START = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d"
_NAME_START += "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\uffef"
_NAME = _NAME_START + "_0-9\u00b7\u0300-\u036f\u203f\u2040\\-"
_PREFIX = re.compile(rf"(?:[{_NAME_START}](?:[{_NAME}.]*[{_NAME}])?)?")
_PLAIN_LOCAL = re.compile(rf"[{_NAME_START}_0-9][{_NAME}]*(?:\.[{_NAME}]+)?")
_LOCAL_PIECE = re.compile(
    rf"(?P<plain>[{_NAME}])|(?P<escape>[~.!$&'()*+,;=#@])|(?P<percent>%[0-9A-Fa-f]{{2}})"
)
_TOKEN = re.compile(
    r"""<[^<>"{}|^`\\\x00-\x20]*>                 # IRI
    | \"{3}(?:[^\\]|\\.)*?\"{3} | '{3}(?:[^\\]|\\.)*?'{3}
    | "(?:[^"\\\n\r]|\\.)*" | '(?:[^'\\\n\r]|\\.)*'
    | \#[^\n\r]*
    | [?$]\w+ | @[A-Za-z]+(?:-[A-Za-z0-9]+)* | _:
    | (?P<prefix>"""
    + _PREFIX.pattern
    + r"""):""",
    re.VERBOSE | re.DOTALL,
)
_GENERIC = frozenset(
    re.findall(
        r"\w+",
        """
    ontology ontologies vocab vocabulary vocabularies ns schema schemas rdf owl terms term
    def defs id ids resource resources entity entities graph core tbox abox data kg main
    master class property properties prop index www http https com org net de this
    """,
    )
)
_EXTENSION = re.compile(r"\.(?:ttl|owl|rdf|xml|nt|html?|jsonld|json|trig)$", re.IGNORECASE)


def namespace_of(iri: str) -> str:
    """Return the IRI up to and with its last `#`, `/` or `:`."""
    return iri[: max(iri.rfind("#"), iri.rfind("/"), iri.rfind(":")) + 1]


@dataclass(frozen=True)
class PrefixMap:
    """Prefixes in use: the well-known ones and, before them, a graph's own.

    >>> prefixes = PrefixMap({"ex": "http://example.org/"})
    >>> prefixes.shorten("http://example.org/Moon")
    'ex:Moon'
    >>> prefixes.header("SELECT * { ?s rdfs:label ?o }")
    'PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>\\n'
    """

    own: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def namespaces(self) -> Mapping[str, str]:
        """All prefixes with their namespaces; a graph's own hide well-known ones."""
        valid = {p: n for p, n in self.own.items() if n and _PREFIX.fullmatch(p)}
        return {**WELL_KNOWN, **valid}

    @cached_property
    def _by_namespace(self) -> Mapping[str, str]:
        """Namespace -> prefix; of several prefixes the own, then the first one."""
        found: dict[str, str] = {}
        for prefix in sorted(self.namespaces, key=lambda p: p not in self.own):
            found.setdefault(self.namespaces[prefix], prefix)
        return found

    def shorten(self, iri: str) -> str:
        """Return a valid prefixed name for an IRI, or `<iri>` if no prefix fits."""
        for end in _ends(iri):
            prefix = self._by_namespace.get(iri[:end])
            if prefix is None:
                continue
            local = _escaped(iri[end:])
            if local is not None:
                return f"{prefix}:{local}"
        return f"<{iri}>"

    def expand(self, name: str) -> str:
        """Return the IRI of a prefixed name or of `<iri>`; KeyError for an unknown prefix."""
        if name.startswith("<") and name.endswith(">"):
            return name[1:-1]
        prefix, _, local = name.partition(":")
        return self.namespaces[prefix] + re.sub(r"\\(.)", r"\1", local)

    def used_in(self, query: str) -> tuple[str, ...]:
        """Return the prefixes that a query uses and this map knows, in order of first use."""
        used = dict.fromkeys(
            match["prefix"] for match in _TOKEN.finditer(query) if match["prefix"] is not None
        )
        return tuple(prefix for prefix in used if prefix in self.namespaces)

    def header(self, query_body: str) -> str:
        """Return the PREFIX lines for the prefixes used in a query body, a line each, sorted."""
        return "".join(
            f"PREFIX {prefix}: <{self.namespaces[prefix]}>\n"
            for prefix in sorted(self.used_in(query_body))
        )

    def with_prefixes(self, more: Mapping[str, str]) -> "PrefixMap":
        """Return a map with more prefixes of its own; prefixes and namespaces it has are kept."""
        added = {
            prefix: namespace
            for prefix, namespace in more.items()
            if prefix not in self.own and namespace not in self._by_namespace
        }
        return PrefixMap({**self.own, **added})

    def with_derived(self, iris: Iterable[str], *, least: int = 2) -> "PrefixMap":
        """Return a map that also has readable prefixes for the unknown namespaces of these IRIs.

        A namespace gets one if at least `least` of the IRIs lie in it. The same IRIs give the
        same prefixes, in whatever order they come; no prefix is taken twice.
        """
        counts: dict[str, int] = {}
        for iri in set(iris):
            namespace = namespace_of(iri)
            if len(namespace) < len(iri) and urlsplit(namespace).scheme:
                counts[namespace] = counts.get(namespace, 0) + 1
        derived: dict[str, str] = {}
        for namespace in sorted(counts):
            if counts[namespace] >= least and namespace not in self._by_namespace:
                taken = self.namespaces.keys() | derived.keys()
                derived[_free_prefix(namespace, taken)] = namespace
        return PrefixMap({**self.own, **derived})


def _ends(iri: str) -> Iterator[int]:
    """If a namespace may end in an IRI, the longest first: `#`, `/`, `:`, `_`, `=`, `-`."""
    at_local = len(namespace_of(iri))
    yield at_local
    for at in range(len(iri) - 1, 0, -1):
        if iri[at] in "#/:_=-?." and at + 1 != at_local:
            yield at + 1


def _escaped(local: str) -> str | None:
    """A local name as SPARQL writes it; None if it cannot, or should not for the reader."""
    if not local or _PLAIN_LOCAL.fullmatch(local):
        return local
    pieces = []
    at = 0
    while at < len(local):
        piece = _LOCAL_PIECE.match(local, at)
        if piece is None:
            return None
        escape = piece["escape"] or (at == 0 and piece[0] == "-")
        if at == 0 and not escape and not re.match(rf"[{_NAME_START}_0-9%]", piece[0]):
            return None
        pieces.append("\\" + piece[0] if escape else piece[0])
        at = piece.end()
    return "".join(pieces)


def _free_prefix(namespace: str, taken: Iterable[str]) -> str:
    """Return the most readable prefix for a namespace that is not taken yet."""
    names = _names(namespace) or ["ns"]
    candidates = [names[0], *(f"{other}-{names[0]}" for other in names[1:])]
    for candidate in candidates:
        if candidate not in taken:
            return candidate
    number = 2
    while f"{names[0]}{number}" in taken:
        number += 1
    return f"{names[0]}{number}"


def _names(namespace: str) -> list[str]:
    """Names that a namespace suggests: its last telling part first, its host last."""
    parts = urlsplit(namespace)
    segments = re.split(r"[/#:?&=]", unquote(parts.path + "/" + parts.query + "/" + parts.fragment))
    host = (parts.hostname or "").split(".")
    texts = [*reversed(segments), *sorted(host[:-1] or host, key=len, reverse=True)]
    names = [_name(text) for text in texts]
    telling = [name for name in names if name and name not in _GENERIC]
    return list(dict.fromkeys(telling or [name for name in names if name]))


def _name(text: str) -> str:
    """One part of a namespace as a prefix: lower case, letters first, 24 characters at most."""
    lowered = _EXTENSION.sub("", text).lower()
    clean = re.sub(rf"[^{_NAME}]+", "-", lowered).strip("-_0123456789")
    kept = re.sub(r"-?v?[\d.\-]+$", "", clean)[:24].strip("-_")
    return kept if _PREFIX.fullmatch(kept) and len(kept) > 1 else ""
