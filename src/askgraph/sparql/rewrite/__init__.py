"""Queries made into other queries: repaired, changed in one place, or brought to one form.

Here are the layout of a query that someone wrote, in the notation of its author, and repairs of
queries as language models write them; whatever is sound stays as it is.

    ```sparql … ```, words around it     taken off
    SELECT COUNT(?x) WHERE …             SELECT (COUNT(?x) AS ?count) WHERE …
    SERVICE wikibase:label { … }         OPTIONAL { ?x rdfs:label ?xLabel … } where ?xLabel is used
    a known prefix that is not declared  declared

All repairs look at tokens: strings, comments and IRIs are never touched.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.errors import QuerySyntaxError
from askgraph.sparql import AGGREGATES, Expression, Group, Path, Pattern, Query, Term, Values
from askgraph.sparql.lexer import Edit, Token, edited, lexed
from askgraph.sparql.parser import Parsed, parse_query
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.serializer import Lines, Names, Triples
from askgraph.sparql.vocabulary import RDFS_LABEL, SCHEMA_DESCRIPTION, SKOS_ALT_LABEL, WIKIBASE

_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


_LABELS = {"Label": RDFS_LABEL, "AltLabel": SKOS_ALT_LABEL, "Description": SCHEMA_DESCRIPTION}


def label_service_edits(text: str, language: str) -> tuple[list[Edit], str]:
    """Return the edits that put patterns for the labels that are used in place of each call."""
    given = lexed(text).given
    prefixes = {"wikibase": WIKIBASE, **lexed(text).declared}
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


def partner(given: Sequence[Token], opening: int) -> int | None:
    """Return the place of the bracket that closes the one at `opening`; None if none does."""
    depth = 0
    for at in range(opening, len(given)):
        if given[at].kind == "mark":
            depth += (given[at].text in _OPENING) - (given[at].text in _CLOSING)
            if depth == 0:
                return at
    return None


def _label_service(given: Sequence[Token], at: int, prefixes: Mapping[str, str]) -> int | None:
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
    given: Sequence[Token], at: int, opening: int, closing: int, language: str
) -> Iterator[Edit]:
    """Cut the call out, its dot too if none is needed; put the labels at the group's end."""
    end = given[closing].end
    after = given[closing + 1] if closing + 1 < len(given) else None
    needs_dot = at > 0 and given[at - 1].text not in (".", "{", "}")
    if after is not None and after.text == "." and not needs_dot:
        end = after.end
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


def _end_of_group(given: Sequence[Token], at: int) -> int | None:
    depth = 0
    for place in range(at, len(given)):
        depth += (given[place].text == "{") - (given[place].text == "}")
        if depth < 0:
            return place
    return None


def _asked_by_name(outside: Sequence[Token]) -> dict[str, tuple[str, str]]:
    """Variables that the service fills by their names: `?xLabel` for `?x`."""
    names = dict.fromkeys(token.text[1:] for token in outside if token.kind == "variable")
    return {
        name: (name.removesuffix(ending), predicate)
        for name in names
        for ending, predicate in _LABELS.items()
        if name.endswith(ending) and name.removesuffix(ending) in names
    }


def _asked_inside(inside: Sequence[Token]) -> dict[str, tuple[str, str]]:
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


_STARTS = frozenset("PREFIX BASE SELECT ASK CONSTRUCT DESCRIBE".split())
_UPDATES = frozenset("INSERT DELETE LOAD CLEAR DROP CREATE ADD MOVE COPY WITH".split())
_FENCE = "`"


@dataclass(frozen=True)
class Repaired:
    """A query, and what had to be done to it, in words."""

    query: str
    notes: tuple[str, ...] = ()


def repaired(query: str, *, language: str = "en") -> Repaired:
    """Return the query without what keeps it from running, if that can be told for sure."""
    notes: list[str] = []
    text = _bare(query)
    for repair in (label_service_edits, _aggregate_edits):
        edits, note = repair(text, language)
        if edits:
            text = edited(text, sorted(edits))
            notes.append(note)
    return Repaired(text, tuple(notes))


def _bare(query: str) -> str:
    """The query without code fences, words before it and a semicolon after it."""
    while (inner := _once_bared(query)) != query:
        query = inner
    return query


def _once_bared(query: str) -> str:
    text = _unfenced(query)
    given = lexed(text).given
    first = next((at for at in range(len(given)) if _begins(given, at)), None)
    if first and not any(says(token, *_UPDATES) for token in given[:first]):
        text = text[given[first].start :]
        given = lexed(text).given
    if first is not None and given[-1].text == ";":
        at = given[-1].start
        text = text[:at] + text[at + 1 :]
    return text


def _unfenced(text: str) -> str:
    """What stands between the first fence and the next one, or the end."""
    given = lexed(text).given
    fences = [at for at in range(len(given) - 2) if _is_fence(given, at)]
    if not fences:
        return text
    opening = fences[0] + 3
    while opening < len(given) and given[opening].text == _FENCE:
        opening += 1
    closing = next((at for at in fences if at >= opening), None)
    end = len(text) if closing is None else given[closing].start
    if opening < len(given) and given[opening].kind == "word" and not _begins(given, opening):
        opening += 1  # the name of the language
    start = given[opening].start if opening < len(given) else end
    return text[start:end].rstrip() if start < end else text


def _is_fence(given: Sequence[Token], at: int) -> bool:
    return all(token.text == _FENCE for token in given[at : at + 3])


def _begins(given: Sequence[Token], at: int) -> bool:
    """Whether a query may begin here: a keyword, and after it what may follow it."""
    token = given[at]
    if token.kind != "word" or token.text.upper() not in _STARTS or at + 1 >= len(given):
        return False
    after = given[at + 1]
    match token.text.upper():
        case "PREFIX":
            return after.kind == "pname" and after.text.endswith(":")
        case "BASE":
            return after.kind == "iri"
        case "SELECT":
            return (
                after.kind == "variable"
                or after.text in ("*", "(")
                or says(after, "DISTINCT", "REDUCED", *AGGREGATES)
            )
        case "DESCRIBE":
            return after.kind in ("variable", "iri", "pname") or after.text == "*"
        case _:
            return after.text == "{" or says(after, "WHERE", "FROM")


def _aggregate_edits(text: str, _: str) -> tuple[list[Edit], str]:
    """Parentheses and a name for each aggregate that a SELECT clause has bare."""
    given = lexed(text).given
    taken = {token.text[1:] for token in given if token.kind == "variable"}
    edits: list[Edit] = []
    for at, token in enumerate(given):
        if says(token, "SELECT"):
            edits += _column_edits(given, at + 1, taken)
    return edits, "an aggregate was given parentheses and a name"


def _column_edits(given: Sequence[Token], at: int, taken: set[str]) -> Iterator[Edit]:
    while at < len(given) and not (given[at].text == "{" or says(given[at], "WHERE", "FROM")):
        is_open = given[at].text == "(" and at + 1 < len(given)
        inner = at + is_open
        end = partner(given, inner + 1) if _calls(given, inner) else None
        if end is not None:
            yield from _one_column(given, at, end, taken)
            at = end
        elif is_open:
            at = partner(given, at) or len(given)
        at += 1


def _calls(given: Sequence[Token], at: int) -> bool:
    return at + 1 < len(given) and says(given[at], *AGGREGATES) and given[at + 1].text == "("


def _one_column(given: Sequence[Token], at: int, end: int, taken: set[str]) -> Iterator[Edit]:
    """What a column from `at` lacks whose aggregate ends at `end`: `(`, `AS ?name`, `)`."""
    is_open = given[at].text == "("
    after = given[end + 1] if end + 1 < len(given) else None
    close = given[end].end
    name = f" AS ?{_fresh(given[at + is_open].text.lower(), taken)}"
    if is_open:
        if after is not None and after.text == ")":
            yield close, close, name
        return
    yield given[at].start, given[at].start, "("
    if after is not None and says(after, "AS") and end + 2 < len(given):
        last = given[end + 2]
        yield last.end, last.end, ")"
    else:
        yield close, close, name + ")"


def _fresh(name: str, taken: set[str]) -> str:
    found, number = name, 2
    while found in taken:
        found, number = f"{name}{number}", number + 1
    taken.add(found)
    return found


def formatted(query: str, prefixes: PrefixMap, labels: Mapping[str, str]) -> str:
    """Return a query that someone wrote as a careful person writes it; it means the same.

    Prefixes are those of the map, then the query's own; only those used are declared. Patterns with
    the same subject stand together, one a line; a pattern written twice is kept once. Lists,
    parentheses and blank nodes stay as they were written. `labels` (IRI -> label) become comments
    if the IRI itself does not say the same. Comments before the query stay, others go. An update,
    text that is no SPARQL 1.1, or too deep, comes back unchanged.
    """
    try:
        parsed = parse_query(query, prefixes.namespaces)
        names = Names(prefixes.with_prefixes(lexed(query).declared), labels)
        lines = _AsWritten(names, query, parsed).query(parsed.tree)
    except (QuerySyntaxError, RecursionError):
        return query.strip()
    if parsed.flaw:
        return query.strip()
    opening = takewhile(lambda token: token.kind == "comment", lexed(query).all)
    return "".join(f"{one.text.rstrip()}\n" for one in opening) + names.finished(lines)


class _AsWritten(Lines):
    """Parts of a tree in the notation of the text that it was parsed from."""

    def __init__(self, names: Names, text: str, parsed: Parsed) -> None:
        super().__init__(names)
        self.text = text
        self.labels = parsed.labels
        self.variables = lexed(text).variables
        self.unknown = frozenset(lexed(text).undeclared) - frozenset(names.prefixes.namespaces)
        self.tags = {each.text.lower(): each.text for each in lexed(text).given}
        self.inside: Mapping[Term, Sequence[Pattern]] = {}

    def name(self, iri: NamedNode) -> str:
        prefix, _, local = iri.value.partition(":")
        is_open = prefix in self.unknown and re.fullmatch(r"[\w-]*", local)
        return iri.value if is_open else super().name(iri)

    def literal(self, literal: Literal) -> str:
        tag = f"@{literal.language}" if literal.language else ""
        return str(Literal(literal.value)) + self.tags[tag] if tag else super().literal(literal)

    def term(self, term: Term | None) -> str:
        """A term; a blank node with its patterns, a collection with its members."""
        if not isinstance(term, Variable) or term.value in self.variables:
            return super().term(term)
        if term.value in self.labels:
            return f"_:{self.labels[term.value]}"
        patterns = self.inside.get(term, ())
        if not patterns or patterns[0].spans:
            pairs = " ; ".join(f"{verb} {objects}" for verb, objects, _ in self.pairs(patterns))
            return f"[ {pairs} ]" if pairs else "[]"
        members: list[str] = []
        node: Term = term
        while isinstance(node, Variable):
            first, rest = self.inside[node]
            members.append(self.term(first.object))
            node = rest.object
        return f"({' '.join(members)})"

    def pairs(self, patterns: Sequence[Pattern]) -> Iterator[tuple[str, str, bool]]:
        """Yield predicates with their objects, and whether the predicate is a path."""
        for _, alike in groupby(patterns, lambda pattern: pattern.spans[1]):
            some = list(alike)
            objects = ", ".join(self.term(pattern.object) for pattern in some)
            yield self.path(some[0].predicate), objects, isinstance(some[0].predicate, Path)

    def is_inside(self, pattern: Pattern) -> bool:
        """Return whether a pattern belongs to `[ … ]` or `( … )`: its subject is the bracket."""
        if not pattern.spans:
            return True
        start, end = pattern.spans[0]
        return self.text[start:end] == "["

    def body(self, group: Group) -> list[str]:
        """The lines between the braces of a group; a sub-select in braces of its own keeps them."""
        match group.elements:
            case (Query() as inner,) if inner.span != group.span:
                return self.element_lines(inner)
        return super().body(group)

    def ordered(self, expression: Expression, *, descending: bool) -> str:
        """A key of ORDER BY; the word ASC stays, though it says nothing."""
        text = super().ordered(expression, descending=descending)
        if descending or not isinstance(expression, Variable):
            return text
        asc = rf"\bASC\s*\(\s*[?$]{re.escape(expression.value)}\s*\)"
        return f"ASC({text})" if re.search(asc, self.text, re.IGNORECASE) else text

    def triples(self, patterns: Sequence[Pattern]) -> list[str]:
        block = Triples()
        for _, statement in groupby(patterns, lambda pattern: pattern.statement):
            outer, inside = list[Pattern](), defaultdict[Term, list[Pattern]](list)
            for pattern in statement:
                (inside[pattern.subject] if self.is_inside(pattern) else outer).append(pattern)
            objects = {pattern.object for some in inside.values() for pattern in some}
            self.inside = inside
            subject = outer[0].subject if outer else next(s for s in inside if s not in objects)
            block.add(self.term(subject), self.pairs(outer))
        return block.lines()

    def heads(self, query: Query) -> list[str]:
        first = query.where.elements[:1]
        is_short = query.template and first and query.template[0] is first[0]
        return ["CONSTRUCT"] if is_short else super().heads(query)

    def table(self, values: Values) -> tuple[str, list[str]]:
        start = values.span[0] + len("VALUES") if values.span else 0
        if len(values.variables) != 1 or self.text[start:].lstrip().startswith("("):
            return super().table(values)
        return str(values.variables[0]), [self.term(cell) for (cell,) in values.rows]

    def alternative(self, expression: Expression, level: int) -> str:
        return self.operand(expression, level)
