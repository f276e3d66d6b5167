"""Calls of Wikibase's label service, which few endpoints answer, as patterns that all of them do.

SERVICE wikibase:label { … }    OPTIONAL { ?x rdfs:label ?xLabel … } where ?xLabel is used
"""

from collections.abc import Iterator, Mapping

from askgraph.rdf.vocabulary import RDFS_LABEL, SCHEMA_DESCRIPTION, SKOS_ALT_LABEL, WIKIBASE
from askgraph.sparql.lexer import Token, tokens
from askgraph.sparql.terminals import declared_prefixes

__all__ = ["Edit", "label_service_edits", "partner", "says"]

Edit = tuple[int, int, str]
"""Where a piece of a text starts and ends, and what takes its place."""

_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_LABELS = {
    "Label": RDFS_LABEL,
    "AltLabel": SKOS_ALT_LABEL,
    "Description": SCHEMA_DESCRIPTION,
}


def label_service_edits(text: str, language: str) -> tuple[list[Edit], str]:
    """Return the edits that put patterns for the labels that are used in place of each call."""
    given = [token for token in tokens(text) if token.kind != "comment"]
    prefixes = {"wikibase": WIKIBASE, **declared_prefixes(text)}
    edits: list[Edit] = []
    at = 0
    while at < len(given):
        opening = _label_service(given, at, prefixes)
        closing = None if opening is None else partner(given, opening)
        if opening is not None and closing is not None:
            edits += _service_edits(given, at, opening, closing, language)
            at = closing
        at += 1
    return edits, "the label service was replaced by optional labels"


def says(token: Token, *words: str) -> bool:
    """Whether a token is one of these words, in whatever case."""
    return token.kind == "word" and token.text.upper() in words


def partner(given: list[Token], opening: int) -> int | None:
    """Return the place of the bracket that closes the one at `opening`; None where none does."""
    depth = 0
    for at in range(opening, len(given)):
        if given[at].kind == "mark":
            depth += (given[at].text in _OPENING) - (given[at].text in _CLOSING)
            if depth == 0:
                return at
    return None


def _label_service(given: list[Token], at: int, prefixes: Mapping[str, str]) -> int | None:
    """Where the group of a label service opens that is called here."""
    if not says(given[at], "SERVICE"):
        return None
    target = at + 1 + (at + 1 < len(given) and says(given[at + 1], "SILENT"))
    if target + 1 >= len(given) or given[target + 1].text != "{":
        return None
    token = given[target]
    prefix, _, local = token.text.partition(":")
    iri = token.text[1:-1] if token.kind == "iri" else prefixes.get(prefix, "") + local
    return target + 1 if iri == WIKIBASE + "label" else None


def _service_edits(
    given: list[Token], at: int, opening: int, closing: int, language: str
) -> Iterator[Edit]:
    """Cut the call out, its dot too where none is needed; put the labels at the group's end."""
    end = given[closing].start + 1
    after = given[closing + 1] if closing + 1 < len(given) else None
    needs_dot = at > 0 and given[at - 1].text not in (".", "{", "}")
    if after is not None and after.text == "." and not needs_dot:
        end = after.start + 1
    is_inside = after is not None and after.text not in (".", "}")
    yield given[at].start, end, " ." if needs_dot and is_inside else ""
    outer = _end_of_group(given, closing + 1)
    if outer is None:
        return
    outside = [*given[:at], *given[closing + 1 :]]
    asked = {**_asked_inside(given[opening + 1 : closing]), **_asked_by_name(outside)}
    used = {token.text[1:] for token in outside if token.kind == "variable"}
    patterns = [
        _optional(thing, predicate, name, languages)
        for name, (thing, predicate) in asked.items()
        if name in used
        for languages in _in_turn(language)
    ]
    if patterns:
        yield given[outer].start, given[outer].start, " ".join(["", *patterns, ""])


def _end_of_group(given: list[Token], at: int) -> int | None:
    depth = 0
    for place in range(at, len(given)):
        depth += (given[place].text == "{") - (given[place].text == "}")
        if depth < 0:
            return place
    return None


def _asked_by_name(outside: list[Token]) -> dict[str, tuple[str, str]]:
    """Variables that the service fills by their names: `?xLabel` for `?x`."""
    names = dict.fromkeys(token.text[1:] for token in outside if token.kind == "variable")
    return {
        name: (name.removesuffix(ending), predicate)
        for name in names
        for ending, predicate in _LABELS.items()
        if name.endswith(ending) and name.removesuffix(ending) in names
    }


def _asked_inside(inside: list[Token]) -> dict[str, tuple[str, str]]:
    """Variables that patterns within the call name: `?x rdfs:label ?name`."""
    found: dict[str, tuple[str, str]] = {}
    for first, predicate, last in zip(inside, inside[1:], inside[2:], strict=False):
        kinds = first.kind, predicate.kind, last.kind
        local = predicate.text.strip("<>").rsplit("#")[-1].rsplit("/")[-1].rsplit(":")[-1]
        ending = local[:1].upper() + local[1:]
        if kinds in (("variable", "pname", "variable"), ("variable", "iri", "variable")):
            found[last.text[1:]] = first.text[1:], _LABELS.get(ending, RDFS_LABEL)
    return found


def _in_turn(language: str) -> tuple[tuple[str, ...], ...]:
    """The languages to try one after another; the last ones are those of no language."""
    own = [] if language == "en" or not language.replace("-", "").isalnum() else [(language,)]
    return (*own, ("en",), ("mul", ""))


def _optional(thing: str, predicate: str, name: str, languages: tuple[str, ...]) -> str:
    tags = ", ".join(f'"{tag}"' for tag in languages)
    condition = f"FILTER(LANG(?{name}) IN ({tags}))"
    return f"OPTIONAL {{ ?{thing} <{predicate}> ?{name} . {condition} }}"
