"""Names and words for IRIs: prefixes, those in the IRI itself, and the best of a graph's labels.

Prefixed names are short, valid and readable, and come with the PREFIX lines that a query needs.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib.resources import files
from urllib.parse import unquote, urlsplit

TABLES: Mapping[str, Mapping[str, str]] = json.loads(
    files("askgraph.sparql").joinpath("prefixes.json").read_text("utf-8")
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


_SAYS_NOTHING = frozenset({"this", "it", "me", "self"})
_SEPARATORS = re.compile(r"[_\s/#:=&;,+-]+")


@lru_cache(maxsize=65536)
def words_of_local_name(iri: str) -> str:
    """Return the words in the last part of an IRI.

    >>> words_of_local_name("http://x/ship#disposition_of_ship")
    'disposition of ship'
    >>> words_of_local_name("http://x/parentFeature")
    'parent feature'
    >>> words_of_local_name("http://x/HTTPServer2")
    'HTTP server 2'
    """
    local = _local_part(iri)
    chunks = [chunk for chunk in _SEPARATORS.split(local) if chunk]
    return " ".join(word for chunk in chunks for word in _words_of_chunk(chunk)) or iri


def best_label(labels: Iterable[tuple[str, str | None]], languages: Sequence[str]) -> str | None:
    """Return the label in the best of the languages, `(text, language tag)` pairs in; None of none.

    For each language asked for: exactly it, then its base language and that language's other
    regions. Then `mul`, labels without a language, English, and the first of any.
    """
    given = [(text, (tag or "").lower()) for text, tag in labels if text.strip()]
    for wanted in language_chain(languages):
        for text, tag in given:
            if tag == wanted:
                return text
        for text, tag in given:
            if wanted and wanted != "mul" and tag.startswith(wanted + "-"):
                return text
    return given[0][0] if given else None


def language_chain(languages: Sequence[str]) -> tuple[str, ...]:
    """Return the language tags to try in turn, lower case; the empty one means no language."""
    chain: list[str] = []
    for language in languages:
        parts = language.lower().split("-")
        chain += ["-".join(parts[:end]) for end in range(len(parts), 0, -1)]
    return tuple(dict.fromkeys([*(tag for tag in chain if tag), "mul", "", "en"]))


def _local_part(iri: str) -> str:
    """Return the part after the last `#`, `/` or `:`, percent-escapes resolved."""
    parts = [part for part in re.split(r"[#/:]", iri) if part]
    while len(parts) > 1 and parts[-1].lower() in _SAYS_NOTHING:
        parts.pop()
    return _EXTENSION.sub("", unquote(parts[-1])) if parts else ""


def _words_of_chunk(chunk: str) -> Iterator[str]:
    """Yield the words of one piece without separators, split at case and digits."""
    words = list(_split_at_case(chunk))
    if len(words) == 1:
        yield words[0]
        return
    for word in words:
        yield word.lower() if word[0].isupper() and word[1:].islower() else word


def _split_at_case(chunk: str) -> Iterator[str]:
    """`parentFeature` -> parent, Feature; `HTTPServer2` -> HTTP, Server, 2; `Q42` stays whole."""
    start = 0
    for at in range(1, len(chunk)):
        if (
            _is_hump(chunk, start, at)
            or _is_number(chunk, start, at)
            or _is_after_number(chunk, at)
        ):
            yield chunk[start:at]
            start = at
    if start < len(chunk):
        yield chunk[start:]


def _is_hump(chunk: str, start: int, at: int) -> bool:
    """Return whether a capital letter begins a word; not in `iPhone`, `URIs`."""
    if not chunk[at].isupper():
        return False
    if chunk[at - 1].islower():
        return at - start > 1
    rest = chunk[at + 1 :]
    return chunk[at - 1].isupper() and rest[:1].islower() and rest != "s"


def _is_number(chunk: str, start: int, at: int) -> bool:
    """Return whether digits begin here after a word; not after the one capital letter of `Q42`."""
    is_code = at - start == 1 and chunk[start].isupper()
    return chunk[at].isdigit() and chunk[at - 1].isalpha() and not is_code


def _is_after_number(chunk: str, at: int) -> bool:
    """Return whether a word begins after digits; not in `2nd`, `3D`."""
    if not (chunk[at].isalpha() and chunk[at - 1].isdigit()):
        return False
    word = chunk[at : at + 3]
    return word[1:2].islower() and (word[0].isupper() or (len(word) == 3 and word.islower()))


def get_local_name(iri: str) -> str:
    """Return the words of an IRI's local part, or "" if it is a code."""
    words = words_of_local_name(iri)
    letters = sum(c.isalpha() for c in words)
    return words if letters >= 2 and letters > sum(c.isdigit() for c in words) else ""
