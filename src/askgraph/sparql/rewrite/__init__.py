"""Rewrite queries: format or repair them, change one part, or convert them to a canonical form.

This module lays out a query in the notation of its author, and repairs queries as language models
write them; valid parts stay as they are.

    ```sparql … ```, words around it     removed SELECT COUNT(?x) WHERE …             SELECT
    (COUNT(?x) AS ?count) WHERE … SERVICE wikibase:label { … }         OPTIONAL { ?x
    rdfs:label ?xLabel … } where ?xLabel is used a known prefix that is not declared  declared

All repairs work on tokens: strings, comments and IRIs never change.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.errors import QuerySyntaxError
from askgraph.sparql import AGGREGATE_NAMES, Expression, Group, Path, Pattern, Query, Term, Values
from askgraph.sparql.lexer import Edit, Token, apply_edits, tokenize
from askgraph.sparql.parser import ParsedSparql, parse_query
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.serializer import QueryFormatter, ShortNames, TripleBlock
from askgraph.sparql.vocabulary import RDFS_LABEL, SCHEMA_DESCRIPTION, SKOS_ALT_LABEL, WIKIBASE

_OPENING_BRACKETS, _CLOSING_BRACKETS = frozenset("([{"), frozenset(")]}")


_LABEL_PREDICATE_BY_SUFFIX = {
    "Label": RDFS_LABEL,
    "AltLabel": SKOS_ALT_LABEL,
    "Description": SCHEMA_DESCRIPTION,
}


def build_label_service_edits(text: str, language: str) -> tuple[list[Edit], str]:
    """Return edits that replace each call of the label service by patterns for the used labels."""
    tokens = tokenize(text).tokens
    prefixes = {"wikibase": WIKIBASE, **tokenize(text).declared_prefixes}
    edits: list[Edit] = []
    index = 0
    while index < len(tokens):
        opening: int | None = None
        if is_word(tokens[index], "SERVICE"):
            target = index + 1 + (index + 1 < len(tokens) and is_word(tokens[index + 1], "SILENT"))
            if target + 1 >= len(tokens) or tokens[target + 1].text != "{":
                opening = None
            else:
                token = tokens[target]
                prefix, _, local = token.text.partition(":")
                iri = token.text[1:-1] if token.kind == "iri" else prefixes.get(prefix, "") + local
                opening = target + 1 if iri == WIKIBASE + "label" else None
        closing = None if opening is None else find_closing_bracket(tokens, opening)
        if opening is not None and closing is not None:
            edits += _replace_service_call(tokens, index, opening, closing, language)
            index = closing
        index += 1
    return edits, "the label service was replaced by optional labels"


def is_word(token: Token, *words: str) -> bool:
    """Return whether a token is one of some words, in any case."""
    return token.kind == "word" and token.text.upper() in words


def find_closing_bracket(tokens: Sequence[Token], opening: int) -> int | None:
    """Return the index of the bracket that closes the one at `opening`, or None."""
    depth = 0
    for index in range(opening, len(tokens)):
        if tokens[index].kind == "mark":
            depth += (tokens[index].text in _OPENING_BRACKETS) - (
                tokens[index].text in _CLOSING_BRACKETS
            )
            if depth == 0:
                return index
    return None


def _replace_service_call(
    tokens: Sequence[Token], index: int, opening: int, closing: int, language: str
) -> Iterator[Edit]:
    """Remove the call, with its dot if unneeded, and add label patterns at the end of the group."""
    end = tokens[closing].end
    following = tokens[closing + 1] if closing + 1 < len(tokens) else None
    needs_dot = index > 0 and tokens[index - 1].text not in (".", "{", "}")
    if following is not None and following.text == "." and not needs_dot:
        end = following.end
    is_inside = following is not None and following.text not in (".", "}")
    yield tokens[index].start, end, " ." if needs_dot and is_inside else ""
    group_end = _find_group_end(tokens, closing + 1)
    if group_end is None:
        return
    outer_tokens = [*tokens[:index], *tokens[closing + 1 :]]
    names = dict.fromkeys(token.text[1:] for token in outer_tokens if token.kind == "variable")
    inside = tokens[opening + 1 : closing]
    labels: dict[str, tuple[str, str]] = {}
    for subject, predicate, variable in zip(inside, inside[1:], inside[2:], strict=False):
        kinds = subject.kind, predicate.kind, variable.kind
        local = predicate.text.strip("<>").rsplit("#")[-1].rsplit("/")[-1].rsplit(":")[-1]
        suffix = local[:1].upper() + local[1:]
        if kinds in (("variable", "pname", "variable"), ("variable", "iri", "variable")):
            labels[variable.text[1:]] = (
                subject.text[1:],
                _LABEL_PREDICATE_BY_SUFFIX.get(suffix, RDFS_LABEL),
            )
    labels |= {
        name: (name.removesuffix(suffix), predicate)
        for name in names
        for suffix, predicate in _LABEL_PREDICATE_BY_SUFFIX.items()
        if name.endswith(suffix) and name.removesuffix(suffix) in names
    }
    patterns = [
        _write_optional_label(subject, predicate, name, languages)
        for name, (subject, predicate) in labels.items()
        if name in names
        for languages in _list_languages(language)
    ]
    if patterns:
        yield tokens[group_end].start, tokens[group_end].start, " ".join(["", *patterns, ""])


def _find_group_end(tokens: Sequence[Token], start: int) -> int | None:
    depth = 0
    for index in range(start, len(tokens)):
        depth += (tokens[index].text == "{") - (tokens[index].text == "}")
        if depth < 0:
            return index
    return None


def _list_languages(language: str) -> tuple[tuple[str, ...], ...]:
    """Return the languages to try in turn; the last entry stands for no language."""
    preferred = [] if language == "en" or not language.replace("-", "").isalnum() else [(language,)]
    return (*preferred, ("en",), ("mul", ""))


def _write_optional_label(
    subject: str, predicate: str, name: str, languages: tuple[str, ...]
) -> str:
    tags = ", ".join(f'"{tag}"' for tag in languages)
    condition = f"FILTER(LANG(?{name}) IN ({tags}))"
    return f"OPTIONAL {{ ?{subject} <{predicate}> ?{name} . {condition} }}"


_START_KEYWORDS = frozenset("PREFIX BASE SELECT ASK CONSTRUCT DESCRIBE".split())
_UPDATE_KEYWORDS = frozenset("INSERT DELETE LOAD CLEAR DROP CREATE ADD MOVE COPY WITH".split())
_FENCE_CHARACTER = "`"
_KEYWORDS_AFTER_GROUP = (
    "WHERE", "FROM", "NAMED", "GROUP", "HAVING", "ORDER", "BY", "ASC", "DESC", "LIMIT", "OFFSET",
    "VALUES", "UNDEF",
)  # fmt: skip


@dataclass(frozen=True)
class RepairedQuery:
    """A query, and descriptions of its repairs."""

    query: str
    notes: tuple[str, ...] = ()


def repair_query(query: str, *, language: str = "en") -> RepairedQuery:
    """Return the query with known faults repaired, where the repair is certain."""
    notes: dict[str, None] = {}
    before = None
    while query != before:  # what is repaired may show where the query ends
        before = query
        while (extracted := _extract_query_once(query)) != query:
            query = extracted
        for repair in (build_label_service_edits, _build_aggregate_edits):
            edits, note = repair(query, language)
            if edits:
                query = apply_edits(query, sorted(edits))
                notes[note] = None
    return RepairedQuery(query, tuple(notes))


def _extract_query_once(query: str) -> str:
    text = _remove_fence(query)
    tokens = tokenize(text).tokens
    start_index = next(
        (index for index in range(len(tokens)) if _is_query_start(tokens, index)), None
    )
    if start_index and not any(is_word(token, *_UPDATE_KEYWORDS) for token in tokens[:start_index]):
        text = text[tokens[start_index].start :]
        tokens = tokenize(text).tokens
    if start_index is not None and (end := _find_words_after(text, tokens)) is not None:
        text = text[: tokens[end].start].rstrip()
        tokens = tokens[:end]
    if start_index is not None and tokens[-1].text == ";":
        index = tokens[-1].start
        text = text[:index] + text[index + 1 :]
    return text


def _find_words_after(text: str, tokens: Sequence[Token]) -> int | None:
    """Return the index of the first token of prose after a query; None if there is none."""
    depth = 0
    has_group = False
    for index, token in enumerate(tokens):
        previous = tokens[index - 1] if index else token
        is_new_line = previous.text == "}" or "\n" in text[previous.end : token.start]
        if has_group and depth == 0 and is_new_line and not is_word(token, *_KEYWORDS_AFTER_GROUP):
            following = tokens[index + 1 : index + 2]
            is_function = bool(following) and following[0].text == "("
            is_prose = (token.kind in ("word", "pname") and not is_function) or token.text == "*"
            is_query = _is_query_start(tokens, index) or any(
                is_word(later, *_UPDATE_KEYWORDS) for later in tokens[index:]
            )
            if is_prose:
                return None if is_query else index
        depth += (token.text in ("{", "(")) - (token.text in ("}", ")"))
        has_group = has_group or token.text == "}"
    return None


def _remove_fence(text: str) -> str:
    """Return the text between the first fence and the next one, or the end."""
    tokens = tokenize(text).tokens
    fences = [
        index
        for index in range(len(tokens) - 2)
        if all(token.text == _FENCE_CHARACTER for token in tokens[index : index + 3])
    ]
    if not fences:
        return text
    opening = fences[0] + 3
    while opening < len(tokens) and tokens[opening].text == _FENCE_CHARACTER:
        opening += 1
    closing = next((index for index in fences if index >= opening), None)
    end = len(text) if closing is None else tokens[closing].start
    if (
        opening < len(tokens)
        and tokens[opening].kind == "word"
        and not _is_query_start(tokens, opening)
    ):
        opening += 1  # the name of the language
    start = tokens[opening].start if opening < len(tokens) else end
    return text[start:end].rstrip() if start < end else text


def _is_query_start(tokens: Sequence[Token], index: int) -> bool:
    """Return whether a query may begin here: a keyword with a valid successor."""
    token = tokens[index]
    if (
        token.kind != "word"
        or token.text.upper() not in _START_KEYWORDS
        or index + 1 >= len(tokens)
    ):
        return False
    following = tokens[index + 1]
    match token.text.upper():
        case "PREFIX":
            return following.kind == "pname" and following.text.endswith(":")
        case "BASE":
            return following.kind == "iri"
        case "SELECT":
            return (
                following.kind == "variable"
                or following.text in ("*", "(")
                or is_word(following, "DISTINCT", "REDUCED", *AGGREGATE_NAMES)
            )
        case "DESCRIBE":
            return following.kind in ("variable", "iri", "pname") or following.text == "*"
        case _:
            return following.text == "{" or is_word(following, "WHERE", "FROM")


def _build_aggregate_edits(text: str, _: str) -> tuple[list[Edit], str]:
    """Return edits that add parentheses and a name to each bare aggregate of a SELECT clause."""
    tokens = tokenize(text).tokens
    used_names = {token.text[1:] for token in tokens if token.kind == "variable"}
    edits: list[Edit] = []
    for index, token in enumerate(tokens):
        if is_word(token, "SELECT"):
            edits += _build_column_edits(tokens, index + 1, used_names)
    return edits, "an aggregate was given parentheses and a name"


def _build_column_edits(
    tokens: Sequence[Token], index: int, used_names: set[str]
) -> Iterator[Edit]:
    while index < len(tokens) and not (
        tokens[index].text == "{" or is_word(tokens[index], "WHERE", "FROM")
    ):
        is_open = tokens[index].text == "(" and index + 1 < len(tokens)
        name_index = index + is_open
        end = (
            find_closing_bracket(tokens, name_index + 1)
            if (
                name_index + 1 < len(tokens)
                and is_word(tokens[name_index], *AGGREGATE_NAMES)
                and tokens[name_index + 1].text == "("
            )
            else None
        )
        if end is not None:
            yield from _complete_column(tokens, index, end, used_names)
            index = end
        elif is_open:
            index = find_closing_bracket(tokens, index) or len(tokens)
        index += 1


def _complete_column(
    tokens: Sequence[Token], index: int, end: int, used_names: set[str]
) -> Iterator[Edit]:
    """Return edits that complete a column whose aggregate ends at `end`: `(`, `AS ?name`, `)`."""
    is_open = tokens[index].text == "("
    following = tokens[end + 1] if end + 1 < len(tokens) else None
    close = tokens[end].end
    name = f" AS ?{_create_name(tokens[index + is_open].text.lower(), used_names)}"
    if is_open:
        if following is not None and following.text == ")":
            yield close, close, name
        return
    yield tokens[index].start, tokens[index].start, "("
    if following is not None and is_word(following, "AS") and end + 2 < len(tokens):
        last = tokens[end + 2]
        yield last.end, last.end, ")"
    else:
        yield close, close, name + ")"


def _create_name(name: str, used_names: set[str]) -> str:
    candidate, number = name, 2
    while candidate in used_names:
        candidate, number = f"{name}{number}", number + 1
    used_names.add(candidate)
    return candidate


def lay_out_query(query: str, prefixes: PrefixMap, labels: Mapping[str, str]) -> str:
    """Return a query in a readable layout; its meaning stays the same.

    Prefixes are those of the map, then the query's own; only used ones are declared. Patterns
    with the same subject stand together, one per line; duplicate patterns are removed. Lists,
    parentheses and blank nodes stay as written. Comments before the query stay, others are
    dropped. An update, invalid SPARQL 1.1, or a query that is nested too deeply is returned
    unchanged.

    Args:
        labels: labels by IRI; they become comments unless the IRI itself is readable.
    """
    try:
        parsed = parse_query(query, prefixes.namespaces)
        names = ShortNames(prefixes.add_prefixes(tokenize(query).declared_prefixes), labels)
        lines = _SourceFormatter(names, query, parsed).write_query_lines(parsed.tree)
    except (QuerySyntaxError, RecursionError):
        return query.strip()
    if parsed.flaw:
        return query.strip()
    leading_comments = takewhile(lambda token: token.kind == "comment", tokenize(query).all_tokens)
    return "".join(f"{comment.text.rstrip()}\n" for comment in leading_comments) + names.build_text(
        lines
    )


class _SourceFormatter(QueryFormatter):
    """Writes parts of a tree in the notation of the text that they were parsed from."""

    def __init__(self, names: ShortNames, text: str, parsed: ParsedSparql) -> None:
        super().__init__(names)
        self.text = text
        self.labels = parsed.labels
        self.variables = tokenize(text).variable_names
        self.unknown_prefixes = frozenset(tokenize(text).undeclared_prefixes) - frozenset(
            names.prefixes.namespaces
        )
        self.tags = {each.text.lower(): each.text for each in tokenize(text).tokens}
        self.bracket_patterns: Mapping[Term, Sequence[Pattern]] = {}

    def write_name(self, iri: NamedNode) -> str:
        prefix, _, local = iri.value.partition(":")
        is_open = prefix in self.unknown_prefixes and re.fullmatch(r"[\w-]*", local)
        return iri.value if is_open else super().write_name(iri)

    def write_literal(self, literal: Literal) -> str:
        tag = f"@{literal.language}" if literal.language else ""
        return (
            str(Literal(literal.value)) + self.tags[tag] if tag else super().write_literal(literal)
        )

    def write_term(self, term: Term | None) -> str:
        """Return a term; a blank node with its patterns, a collection with its members."""
        if not isinstance(term, Variable) or term.value in self.variables:
            return super().write_term(term)
        if term.value in self.labels:
            return f"_:{self.labels[term.value]}"
        patterns = self.bracket_patterns.get(term, ())
        if not patterns or patterns[0].spans:
            pairs = " ; ".join(
                f"{verb} {objects}" for verb, objects, _ in self.write_pairs(patterns)
            )
            return f"[ {pairs} ]" if pairs else "[]"
        members: list[str] = []
        node: Term = term
        while isinstance(node, Variable):
            first_pattern, rest_pattern = self.bracket_patterns[node]
            members.append(self.write_term(first_pattern.object))
            node = rest_pattern.object
        return f"({' '.join(members)})"

    def write_pairs(self, patterns: Sequence[Pattern]) -> Iterator[tuple[str, str, bool]]:
        """Yield predicates with their objects, and whether the predicate is a path."""
        for _, group in groupby(patterns, lambda pattern: pattern.spans[1]):
            same_predicate = list(group)
            yield (
                self.write_path(same_predicate[0].predicate),
                ", ".join(self.write_term(pattern.object) for pattern in same_predicate),
                isinstance(same_predicate[0].predicate, Path),
            )

    def is_in_brackets(self, pattern: Pattern) -> bool:
        """Return whether a pattern belongs to `[ … ]` or `( … )`: its subject is the bracket."""
        if not pattern.spans:
            return True
        start, end = pattern.spans[0]
        return self.text[start:end] == "["

    def write_body(self, group: Group) -> list[str]:
        """Return the lines between the braces of a group; a sub-select keeps its own braces."""
        match group.elements:
            case (Query() as subquery,) if subquery.span != group.span:
                return self.write_element_lines(subquery)
        return super().write_body(group)

    def write_order_key(self, expression: Expression, *, descending: bool) -> str:
        """Return a key of ORDER BY; a redundant ASC stays."""
        text = super().write_order_key(expression, descending=descending)
        if descending or not isinstance(expression, Variable):
            return text
        asc_pattern = rf"\bASC\s*\(\s*[?$]{re.escape(expression.value)}\s*\)"
        return f"ASC({text})" if re.search(asc_pattern, self.text, re.IGNORECASE) else text

    def write_triples(self, patterns: Sequence[Pattern]) -> list[str]:
        block = TripleBlock()
        for _, statement in groupby(patterns, lambda pattern: pattern.statement):
            outer, inner = list[Pattern](), defaultdict[Term, list[Pattern]](list)
            for pattern in statement:
                (inner[pattern.subject] if self.is_in_brackets(pattern) else outer).append(pattern)
            objects = {
                pattern.object
                for patterns_of_subject in inner.values()
                for pattern in patterns_of_subject
            }
            self.bracket_patterns = inner
            subject = outer[0].subject if outer else next(s for s in inner if s not in objects)
            block.add(self.write_term(subject), self.write_pairs(outer))
        return block.write_lines()

    def write_head_lines(self, query: Query) -> list[str]:
        first_elements = query.where.elements[:1]
        is_short = query.template and first_elements and query.template[0] is first_elements[0]
        return ["CONSTRUCT"] if is_short else super().write_head_lines(query)

    def write_table(self, values: Values) -> tuple[str, list[str]]:
        start = values.span[0] + len("VALUES") if values.span else 0
        if len(values.variables) != 1 or self.text[start:].lstrip().startswith("("):
            return super().write_table(values)
        return str(values.variables[0]), [self.write_term(cell) for (cell,) in values.rows]

    def write_alternative(self, expression: Expression, level: int) -> str:
        return self.write_operand(expression, level)
