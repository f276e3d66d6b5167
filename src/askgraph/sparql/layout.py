"""Layout of a query that someone wrote: its tree set out anew, in the notation of its author.

Where `askgraph.sparql.serializer.laid_out` writes a tree of the program, here lists, blank nodes,
parentheses and commas stay as they were written.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, takewhile

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.errors import QuerySyntaxError
from askgraph.sparql import Expression, Group, Path, Pattern, Query, Term, Values
from askgraph.sparql.lexer import lexed
from askgraph.sparql.parser import Parsed, parse_query
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.serializer import Lines, Names, Triples


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
