"""Short names and words for IRIs: prefixes, words of local names, and the best of several labels.

Prefixed names are short, valid and readable, and come with the PREFIX lines that a query needs.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib.resources import files
from itertools import chain, count
from urllib.parse import unquote, urlsplit

PREFIX_TABLES: Mapping[str, Mapping[str, str]] = json.loads(
    files("askgraph.sparql").joinpath("prefixes.json").read_text("utf-8")
)
"""Namespaces by prefix: of public graphs, by graph name, and well-known ones."""

WELL_KNOWN_PREFIXES = PREFIX_TABLES["well known"]
"""Prefixes that readers of SPARQL know."""

_NAME_START_CHARACTERS = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d"
)
_NAME_START_CHARACTERS += "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\uffef"
_NAME_CHARACTERS = _NAME_START_CHARACTERS + "_0-9\u00b7\u0300-\u036f\u203f\u2040\\-"
_PREFIX = re.compile(
    rf"(?:[{_NAME_START_CHARACTERS}](?:[{_NAME_CHARACTERS}.]*[{_NAME_CHARACTERS}])?)?"
)
_PLAIN_LOCAL = re.compile(
    rf"[{_NAME_START_CHARACTERS}_0-9][{_NAME_CHARACTERS}]*(?:\.[{_NAME_CHARACTERS}]+)?"
)
_LOCAL_PIECE = re.compile(
    rf"(?P<plain>[{_NAME_CHARACTERS}])|(?P<escape>[~.!$&'()*+,;=#@])|(?P<percent>%[0-9A-Fa-f]{{2}})"
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
_GENERIC_WORDS = frozenset(
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


def get_namespace(iri: str) -> str:
    """Return the IRI up to and including its last `#`, `/` or `:`."""
    return iri[: max(iri.rfind("#"), iri.rfind("/"), iri.rfind(":")) + 1]


@dataclass(frozen=True)
class PrefixMap:
    r"""Prefixes in use: a graph's own first, then the well-known ones.

    >>> prefixes = PrefixMap({"ex": "http://example.org/"})
    >>> prefixes.shorten("http://example.org/Moon")
    'ex:Moon'
    >>> prefixes.build_header("SELECT * { ?s rdfs:label ?o }")
    'PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>\n'
    """

    own_prefixes: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def namespaces(self) -> Mapping[str, str]:
        """All prefixes with their namespaces; a graph's own override well-known ones."""
        valid = {p: n for p, n in self.own_prefixes.items() if n and _PREFIX.fullmatch(p)}
        return {**WELL_KNOWN_PREFIXES, **valid}

    @cached_property
    def _prefix_by_namespace(self) -> Mapping[str, str]:
        """Prefix by namespace; of several prefixes the graph's own, then the first one."""
        prefixes: dict[str, str] = {}
        for prefix in sorted(self.namespaces, key=lambda p: p not in self.own_prefixes):
            prefixes.setdefault(self.namespaces[prefix], prefix)
        return prefixes

    def shorten(self, iri: str) -> str:
        """Return a valid prefixed name for an IRI, or `<iri>` if no prefix fits."""
        for end in _find_namespace_ends(iri):
            prefix = self._prefix_by_namespace.get(iri[:end])
            if prefix is None:
                continue
            local = _escape_local_name(iri[end:])
            if local is not None:
                return f"{prefix}:{local}"
        return f"<{iri}>"

    def expand(self, name: str) -> str:
        """Return the IRI of a prefixed name or of `<iri>`; raise `KeyError` if it is unknown."""
        if name.startswith("<") and name.endswith(">"):
            return name[1:-1]
        prefix, _, local = name.partition(":")
        return self.namespaces[prefix] + re.sub(r"\\(.)", r"\1", local)

    def list_used_prefixes(self, query: str) -> tuple[str, ...]:
        """Return the prefixes that a query uses and this map has, in order of first use."""
        prefixes = dict.fromkeys(
            match["prefix"] for match in _TOKEN.finditer(query) if match["prefix"] is not None
        )
        return tuple(prefix for prefix in prefixes if prefix in self.namespaces)

    def build_header(self, query_body: str) -> str:
        """Return the PREFIX lines for the prefixes used in a query body, sorted."""
        return "".join(
            f"PREFIX {prefix}: <{self.namespaces[prefix]}>\n"
            for prefix in sorted(self.list_used_prefixes(query_body))
        )

    def add_prefixes(self, prefixes: Mapping[str, str]) -> "PrefixMap":
        """Return a map with more own prefixes; existing prefixes and namespaces take precedence."""
        new_prefixes = {
            prefix: namespace
            for prefix, namespace in prefixes.items()
            if prefix not in self.own_prefixes and namespace not in self._prefix_by_namespace
        }
        return PrefixMap({**self.own_prefixes, **new_prefixes})

    def derive_prefixes(self, iris: Iterable[str], *, min_count: int = 2) -> "PrefixMap":
        """Return a map with additional readable prefixes for the unknown namespaces of some IRIs.

        The result does not depend on the order of the IRIs; prefixes are unique.

        Args:
            min_count: minimum number of IRIs in a namespace that gets a prefix.
        """
        counts: dict[str, int] = {}
        for iri in set(iris):
            namespace = get_namespace(iri)
            if len(namespace) < len(iri) and urlsplit(namespace).scheme:
                counts[namespace] = counts.get(namespace, 0) + 1
        derived: dict[str, str] = {}
        for namespace in sorted(counts):
            if counts[namespace] >= min_count and namespace not in self._prefix_by_namespace:
                used_prefixes = self.namespaces.keys() | derived.keys()
                derived[_choose_prefix(namespace, used_prefixes)] = namespace
        return PrefixMap({**self.own_prefixes, **derived})


def _find_namespace_ends(iri: str) -> Iterator[int]:
    """Yield the ends of possible namespaces in an IRI, the usual one first, then the longest."""
    local_start = len(get_namespace(iri))
    yield local_start
    for position in range(len(iri) - 1, 0, -1):
        if iri[position] in "#/:_=-?." and position + 1 != local_start:
            yield position + 1


def _escape_local_name(local: str) -> str | None:
    """Return a local name as SPARQL writes it; None if it is impossible or hard to read."""
    if not local or _PLAIN_LOCAL.fullmatch(local):
        return local
    pieces = []
    position = 0
    while position < len(local):
        piece = _LOCAL_PIECE.match(local, position)
        if piece is None:
            return None
        escape = piece["escape"] or (position == 0 and piece[0] == "-")
        if (
            position == 0
            and not escape
            and not re.match(rf"[{_NAME_START_CHARACTERS}_0-9%]", piece[0])
        ):
            return None
        pieces.append("\\" + piece[0] if escape else piece[0])
        position = piece.end()
    return "".join(pieces)


def _choose_prefix(namespace: str, used_prefixes: Iterable[str]) -> str:
    parts = urlsplit(namespace)
    segments = re.split(r"[/#:?&=]", unquote(parts.path + "/" + parts.query + "/" + parts.fragment))
    host = (parts.hostname or "").split(".")
    texts = [*reversed(segments), *sorted(host[:-1] or host, key=len, reverse=True)]
    names = [_normalize_name(text) for text in texts]
    specific_names = [name for name in names if name and name not in _GENERIC_WORDS]
    names = list(dict.fromkeys(specific_names or [name for name in names if name])) or ["ns"]
    joined = [names[0], *(f"{name}-{names[0]}" for name in names[1:])]
    numbered = (f"{names[0]}{number}" for number in count(2))
    return next(name for name in chain(joined, numbered) if name not in used_prefixes)


def _normalize_name(text: str) -> str:
    """Return part of a namespace as a lower-case prefix of at most 24 characters."""
    lowered = _EXTENSION.sub("", text).lower()
    clean = re.sub(rf"[^{_NAME_CHARACTERS}]+", "-", lowered).strip("-_0123456789")
    name = re.sub(r"-?v?[\d.\-]+$", "", clean)[:24].strip("-_")
    return name if _PREFIX.fullmatch(name) and len(name) > 1 else ""


_EMPTY_LOCAL_NAMES = frozenset({"this", "it", "me", "self"})
_SEPARATORS = re.compile(r"[_\s/#:=&;,+-]+")


@lru_cache(maxsize=65536)
def split_local_name(iri: str) -> str:
    """Return the words in the last part of an IRI.

    >>> split_local_name("http://x/ship#disposition_of_ship")
    'disposition of ship'
    >>> split_local_name("http://x/parentFeature")
    'parent feature'
    >>> split_local_name("http://x/HTTPServer2")
    'HTTP server 2'
    """
    parts = [part for part in re.split(r"[#/:]", iri) if part]
    while len(parts) > 1 and parts[-1].lower() in _EMPTY_LOCAL_NAMES:
        parts.pop()
    local = _EXTENSION.sub("", unquote(parts[-1])) if parts else ""
    chunks = [chunk for chunk in _SEPARATORS.split(local) if chunk]
    return " ".join(word for chunk in chunks for word in _split_chunk(chunk)) or iri


def choose_label(labels: Iterable[tuple[str, str | None]], languages: Sequence[str]) -> str | None:
    """Return the label in the best language, or None without labels.

    For each language in `languages`: an exact match, then its base language and that language's
    other regions. Then `mul`, labels without a language, English, and the first label.

    Args:
        labels: pairs of text and language tag.
    """
    candidates = [(text, (tag or "").lower()) for text, tag in labels if text.strip()]
    for language in build_language_chain(languages):
        for text, tag in candidates:
            if tag == language:
                return text
        for text, tag in candidates:
            if language and language != "mul" and tag.startswith(language + "-"):
                return text
    return candidates[0][0] if candidates else None


def build_language_chain(languages: Sequence[str]) -> tuple[str, ...]:
    """Return the language tags to try in turn, lower case; the empty tag means no language."""
    chain: list[str] = []
    for language in languages:
        parts = language.lower().split("-")
        chain += ["-".join(parts[:end]) for end in range(len(parts), 0, -1)]
    return tuple(dict.fromkeys([*(tag for tag in chain if tag), "mul", "", "en"]))


def _split_chunk(chunk: str) -> Iterator[str]:
    """Yield the words of a piece without separators, split at case and digits."""
    words: list[str] = []
    # Split a name: `parentFeature` -> parent, Feature; `HTTPServer2` -> HTTP, Server, 2; `Q42`.
    start = 0
    for position in range(1, len(chunk)):
        if (
            _is_word_start(chunk, start, position)
            or _is_number_start(chunk, start, position)
            or _is_after_number(chunk, position)
        ):
            words.append(chunk[start:position])
            start = position
    if start < len(chunk):
        words.append(chunk[start:])
    if len(words) == 1:
        yield words[0]
        return
    for word in words:
        yield word.lower() if word[0].isupper() and word[1:].islower() else word


def _is_word_start(chunk: str, start: int, position: int) -> bool:
    """Return whether a capital letter begins a word; not in `iPhone`, `URIs`."""
    if not chunk[position].isupper():
        return False
    if chunk[position - 1].islower():
        return position - start > 1
    following = chunk[position + 1 :]
    return chunk[position - 1].isupper() and following[:1].islower() and following != "s"


def _is_number_start(chunk: str, start: int, position: int) -> bool:
    """Return whether digits begin here after a word; not after the single letter of `Q42`, `p2`."""
    return chunk[position].isdigit() and chunk[position - 1].isalpha() and position - start != 1


def _is_after_number(chunk: str, position: int) -> bool:
    """Return whether a word begins after digits; not in `2nd`, `3D`."""
    if not (chunk[position].isalpha() and chunk[position - 1].isdigit()):
        return False
    word = chunk[position : position + 3]
    return word[1:2].islower() and (word[0].isupper() or (len(word) == 3 and word.islower()))


def get_local_name(iri: str) -> str:
    """Return the words of an IRI's local part, or "" if it is a code."""
    words = split_local_name(iri)
    letters = sum(c.isalpha() for c in words)
    return words if letters >= 2 and letters > sum(c.isdigit() for c in words) else ""
