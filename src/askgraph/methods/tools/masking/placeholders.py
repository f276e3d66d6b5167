"""Placeholders for terms that a model may not see: put into queries and texts, and removed again.

`hidden:e3` is the third entity, `hidden:v2` the second literal of a question. Both are prefixed
names, so that a query can use them in place of any term. `TextMasker` is the last step before a
text is sent: it masks the names and values that remain.
"""

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pyoxigraph import Literal, NamedNode

from askgraph.errors import QueryError
from askgraph.graph.literals import parse_resource_term
from askgraph.index.names import ItemKind, NameIndex, find_phrases, fold_word, stem_word
from askgraph.methods.tools.masking.question import IRI_PATTERN, parse_iri
from askgraph.methods.tools.term_text import expand_name
from askgraph.sparql import vocabulary as v
from askgraph.sparql.lexer import (
    Token,
    get_number_datatype,
    remove_comments,
    tokenize,
    unquote_string,
)
from askgraph.sparql.prefixes import PrefixMap, split_local_name

PLACEHOLDER = re.compile(r"(?<!\w)hidden:[ev]\d+(?!\d)", re.IGNORECASE | re.ASCII)

_PLACEHOLDER_LIKE = re.compile(r"hidden:(?:[ev]\d+|\w*)", re.IGNORECASE | re.ASCII)
_PREFIX_DECLARATION = re.compile(r"\bPREFIX\s+hidden:\s*<[^<>]*>\s*", re.IGNORECASE)
_LITERAL_SUFFIX = re.compile(r"@[A-Za-z]+(?:-[A-Za-z0-9]+)*|\^\^(?:<[^<>\s]*>|[\w-]*:[\w.-]*\w)")
_BARE_LITERALS = {
    v.XSD_INTEGER: re.compile(r"[+-]?\d+"),
    v.XSD_DECIMAL: re.compile(r"[+-]?\d*\.\d+"),
    v.XSD_BOOLEAN: re.compile(r"true|false"),
}
_ESCAPES = str.maketrans(
    {"\\": "\\\\", '"': '\\"', "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
)
_COMPARISON_MARKS = frozenset("(,=<>")  # tokens after which a string is compared rather than linked
_VISIBLE_AFTER = frozenset({"SERVICE", "SILENT", "GRAPH", "FROM", "NAMED", "BASE"})
_LIMIT_KEYWORDS = frozenset({"LIMIT", "OFFSET"})


@dataclass(eq=False)
class PlaceholderTable:
    """Numbers terms in order of appearance; a term always has the same placeholder.

    `names` are words by entity, for queries that compare a text.
    """

    names: dict[str, str] = field(default_factory=dict)
    _placeholders: dict[NamedNode | Literal, str] = field(default_factory=dict)
    _terms: dict[str, NamedNode | Literal] = field(default_factory=dict)
    _entity_count: int = 0

    def assign_placeholder(self, term: NamedNode | Literal) -> str:
        """Return the placeholder of a term, without datatype or language; create it if needed."""
        if term not in self._placeholders:
            is_entity = isinstance(term, NamedNode)
            self._entity_count += is_entity
            number = self._entity_count if is_entity else len(self._terms) - self._entity_count + 1
            name = f"hidden:{'e' if is_entity else 'v'}{number}"
            self._placeholders[term] = name
            self._terms[name] = term
        return self._placeholders[term]

    def has_placeholder(self, term: NamedNode | Literal) -> bool:
        """Return whether a term has a placeholder."""
        return term in self._placeholders

    def assign_typed_placeholder(
        self, literal: Literal, prefixes: PrefixMap, *, same_text_literal: Literal | None = None
    ) -> str:
        """Return the placeholder of a literal with its language, or its datatype if not a string.

        With a datatype, the placeholder may be that of `same_text_literal`, if its text is the
        same.
        """
        datatype = literal.datatype.value
        if literal.language:
            return f"{self.assign_placeholder(literal)}@{literal.language}"
        if datatype == v.XSD_STRING:
            return self.assign_placeholder(literal)
        target = (
            literal
            if same_text_literal is None or same_text_literal.value != literal.value
            else same_text_literal
        )
        return f"{self.assign_placeholder(target)}^^{prefixes.shorten(datatype)}"

    def list_literals(self) -> Iterator[Literal]:
        """Yield all literals with a placeholder."""
        yield from (term for term in self._terms.values() if isinstance(term, Literal))

    def get_term(self, placeholder: str) -> NamedNode | Literal:
        """Return the term of a placeholder; raise `QueryError` if it is unknown."""
        if placeholder.lower() not in self._terms:
            raise QueryError(
                f"{placeholder!r} stands for nothing: use the placeholders that are shown, as they "
                "are"
            )
        return self._terms[placeholder.lower()]

    def unmask_query(self, query: str) -> str:
        """Return a query with its placeholders replaced by terms, without comments.

        A datatype or language after a placeholder wins. In quotes, a literal is replaced by its
        text; an entity by its name if the query compares a text, else by its IRI.

        Raises:
            QueryError: a placeholder is unknown or malformed.
        """
        query = _PREFIX_DECLARATION.sub("", remove_comments(query))
        pieces, at, before = list[str](), 0, ""
        for token in tokenize(query).all_tokens:
            if token.start < at:
                continue  # the type behind a placeholder
            end = token.end
            if "hidden:" in token.text.lower() and token.kind in ("pname", "iri", "string"):
                replacement, end = self._replace_token(token, query, end, before)
                pieces += [query[at : token.start], replacement]
                at = end
            before = token.text
        return "".join(pieces) + query[at:]

    def unmask_text(self, text: str) -> str:
        """Return a text for people with its placeholders replaced by names and values.

        An unknown placeholder becomes "something".
        """
        return _PLACEHOLDER_LIKE.sub(
            lambda match: self._to_words(self._terms.get(match[0].lower())), text
        )

    def _replace_token(self, token: Token, query: str, end: int, before: str) -> tuple[str, int]:
        """Return the replacement of a token, and the position where the query continues."""
        if "hidden:" in PLACEHOLDER.sub("", token.text).lower():
            self.get_term(token.text)
        if token.kind == "pname":
            term, suffix = self.get_term(token.text), _LITERAL_SUFFIX.match(query, end)
            if suffix and isinstance(term, Literal):
                return f'"{term.value.translate(_ESCAPES)}"{suffix[0]}', suffix.end()
            return _serialize_term(term), end
        if token.kind == "iri":
            *_, match = PLACEHOLDER.finditer(token.text)
            return _serialize_term(self.get_term(match[0])), end
        quoted_text = token.text.strip("\"'")
        if PLACEHOLDER.fullmatch(quoted_text) and before[-1:] not in _COMPARISON_MARKS:
            term = self.get_term(quoted_text)
            if isinstance(term, NamedNode):
                return _serialize_term(term), end
        return PLACEHOLDER.sub(
            lambda match: self._to_words(self.get_term(match[0])).translate(_ESCAPES), token.text
        ), end

    def _to_words(self, term: NamedNode | Literal | None) -> str:
        if term is None:
            return "something"
        if isinstance(term, Literal):
            return term.value
        return self.names.get(term.value) or split_local_name(term.value) or term.value


def _serialize_term(term: NamedNode | Literal) -> str:
    """Return a term as SPARQL; plain numbers stay bare so that they can follow LIMIT."""
    if isinstance(term, Literal):
        bare_pattern = _BARE_LITERALS.get(term.datatype.value)
        if bare_pattern and bare_pattern.fullmatch(term.value):
            return term.value
    return str(term)


def mask_query(
    query: str,
    expand: Callable[[str], str | None],
    *,
    is_visible: Callable[[str], bool],
    mask: Callable[[NamedNode | Literal], str],
    numbers: Mapping[str, Literal],
) -> str:
    """Replace the entities and literals of a query by placeholders, and remove comments.

    Args:
        expand: returns the IRI of a prefixed name whose prefix the query does not declare.
        is_visible: returns whether an IRI stays.
        mask: returns the placeholder of a term.
        numbers: the numbers of the question; after LIMIT and OFFSET only these are masked.
    """
    query = remove_comments(query)
    tokens = tokenize(query).tokens
    query_prefixes = PrefixMap(
        {
            name.text.removesuffix(":"): iri.text[1:-1]
            for word, name, iri in zip(tokens, tokens[1:], tokens[2:], strict=False)
            if word.text.upper() == "PREFIX" and name.text.endswith(":") and iri.kind == "iri"
        }
    )

    def expand_prefixed(name: str) -> str | None:
        is_declared = name.partition(":")[0] in query_prefixes.own_prefixes
        return expand_name(name, query_prefixes) if is_declared else expand(name)

    pieces, at = list[str](), 0
    for start, end, term in _find_constants(tokens, expand_prefixed, numbers):
        if PLACEHOLDER.search(term.value) or (
            isinstance(term, NamedNode) and is_visible(term.value)
        ):
            continue
        pieces += [query[at:start], mask(term)]
        at = end
    return "".join([*pieces, query[at:]])


def _find_constants(
    tokens: Sequence[Token], expand: Callable[[str], str | None], numbers: Mapping[str, Literal]
) -> Iterator[tuple[int, int, NamedNode | Literal]]:
    """Yield the terms of a query that may need masking, each with its start and end."""
    for at, token in enumerate(tokens):
        before = tokens[at - 1].text.upper() if at else ""
        match token.kind:
            case "iri" | "pname":
                if term := _find_iri(tokens, at, expand):
                    yield token.start, token.end, term
            case "number":
                number = Literal(token.text, datatype=NamedNode(get_number_datatype(token.text)))
                if before not in _LIMIT_KEYWORDS:
                    yield token.start, token.end, numbers.get(token.text, number)
                elif token.text in numbers:
                    yield token.start, token.end, numbers[token.text]
            case "string" if not _is_syntax_string(tokens, at):
                yield token.start, *_parse_literal(tokens, at, expand)


def _find_iri(
    tokens: Sequence[Token], at: int, expand: Callable[[str], str | None]
) -> NamedNode | None:
    """Return the IRI at a token, unless it is a function, datatype, graph or prefix."""
    token = tokens[at]
    before = [previous.text.upper() for previous in tokens[max(0, at - 2) : at]]
    after = tokens[at + 1].text if at + 1 < len(tokens) else ""
    if before[-1:] and (before[-1] in _VISIBLE_AFTER or before[-1] == "PREFIX"):
        return None
    if before[-2:-1] == ["PREFIX"] or before[-1:] == ["^^"] or after == "(":
        return None
    iri = token.text[1:-1] if token.kind == "iri" else expand(token.text)
    return NamedNode(iri) if iri else None


def _parse_literal(
    tokens: Sequence[Token], at: int, expand: Callable[[str], str | None]
) -> tuple[int, Literal]:
    """Return the end of the literal at a string, and the literal."""
    token = tokens[at]
    text = unquote_string(token.text)
    match tokens[at + 1 : at + 3]:
        case [Token(kind="language") as tag, *_]:
            return tag.end, Literal(text, language=tag.text[1:])
        case [Token(text="^^"), kind]:
            iri = kind.text[1:-1] if kind.kind == "iri" else expand(kind.text)
            return kind.end, Literal(text, datatype=NamedNode(iri or v.XSD_STRING))
        case _:
            return token.end, Literal(text)


def _is_syntax_string(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a string is syntax, not content: a language tag, a flag, a separator."""
    text = tokens[at].text.strip("\"'")
    surrounding_text = " ".join(
        neighbour.text.upper() for neighbour in tokens[max(0, at - 6) : at + 6]
    )
    if not any(character.isalnum() for character in text):
        return True
    if text == "i":
        return "REGEX" in surrounding_text or "REPLACE" in surrounding_text
    return len(text) <= 3 and text.isalpha() and "LANG" in surrounding_text


_WORD = re.compile(r"[^\W\d_]+|\d+(?:[.,]\d+)*", re.UNICODE)
_UNSPACED = re.compile(r"[฀-໿က-႟ក-៿぀-ヿ㐀-鿿豈-﫿]+")  # scripts without spaces between words
_TEMPLATE_WORDS = frozenset(
    "question questions answered before candidates perhaps named classes class properties property "
    "instances instance row rows column columns yes no true false not used label labels things "
    "number year years date month text value values inverse steps further".split()
)
"""Words of our own output: alone, they reveal nothing of a graph."""

_KEYWORDS = frozenset(
    "SELECT ASK CONSTRUCT DESCRIBE DISTINCT REDUCED WHERE FILTER OPTIONAL UNION MINUS GRAPH "
    "SERVICE BIND VALUES ORDER GROUP BY HAVING LIMIT OFFSET ASC DESC COUNT SUM AVG MIN MAX SAMPLE "
    "EXISTS NOT IN AS STR LANG REGEX CONTAINS BOUND IF YEAR MONTH DAY PREFIX BASE FROM".split()
)
_MAX_GAP_CHARACTERS = 3  # characters between two words of one name
_MAX_NAME_CHARACTERS = 30  # minimum letters of a name to search for in a run
_MIN_NUMBER_DIGITS = 4  # numbers with fewer digits may be our own counts


@dataclass(frozen=True)
class _MaskedRange:
    """A range of a text that is masked, and its term."""

    start: int
    end: int
    term: NamedNode | Literal


@dataclass(frozen=True)
class TextMasker:
    """Masks the hidden terms that remain in texts.

    `schema_stems` are the stems of the schema's words. `expand` returns the IRI of a prefixed name,
    `is_visible` whether an IRI may be seen.
    """

    indices: Sequence[NameIndex]
    schema_stems: Container[str]
    stop_words: Container[str]
    expand: Callable[[str], str | None]
    is_visible: Callable[[str], bool]
    placeholders: PlaceholderTable

    def mask(self, text: str, *, counts: bool = True) -> str:
        """Return a text with placeholders for names of entities and for values of the graphs.

        Names match whole words, and so do short values; long values match only if they were masked
        before. With `counts`, the text may contain numbers of our own, so numbers of fewer than
        four digits stay. The time is linear in the length of the text.
        """
        protected_ranges = [ranges.span() for ranges in PLACEHOLDER.finditer(text)]
        ranges: list[_MaskedRange] = []
        for iri_match in IRI_PATTERN.finditer(text):
            protected_ranges.append(iri_match.span())
            iri = parse_iri(iri_match[0], self.expand)
            if (
                iri is not None
                and not PLACEHOLDER.search(iri_match[0])
                and not self.is_visible(iri)
            ):
                ranges.append(_MaskedRange(*iri_match.span(), NamedNode(iri)))
        for line in _split_phrases(text, sorted(protected_ranges)):
            ranges += self._find_names_and_values(line, counts=counts)
        protected_ranges += [(masked.start, masked.end) for masked in ranges]
        ranges += self._find_unspaced_names(text, protected_ranges)
        pieces, at = list[str](), 0
        for masked_range in sorted(ranges, key=lambda piece: piece.start):
            pieces += [
                text[at : masked_range.start],
                self.placeholders.assign_placeholder(masked_range.term),
            ]
            at = masked_range.end
        return "".join([*pieces, text[at:]])

    def _find_unspaced_names(
        self, text: str, excluded_ranges: Sequence[tuple[int, int]]
    ) -> Iterator[_MaskedRange]:
        """Yield names within scripts without spaces between words, the longest at each position."""
        excluded_positions = {at for start, end in excluded_ranges for at in range(start, end)}
        for script_run in _UNSPACED.finditer(text):
            at = script_run.start()
            while at < script_run.end():
                for end in range(min(script_run.end(), at + _MAX_NAME_CHARACTERS), at + 1, -1):
                    word = fold_word(text[at:end])
                    if (
                        excluded_positions & {at, end - 1}
                        or stem_word(word) in self.schema_stems
                        or word in self.stop_words
                    ):
                        continue
                    term = next(
                        (term for _, last, term in self._find_names([word]) if last == 1), None
                    )
                    if term is not None:
                        yield _MaskedRange(at, end, term)
                        at = end - 1
                        break
                at += 1

    def _find_names_and_values(
        self, line: Sequence[re.Match[str]], *, counts: bool
    ) -> Iterator[_MaskedRange]:
        """Yield the longest names and values, from the left, without overlaps."""
        words = [fold_word(match[0]) for match in line]
        longest: dict[int, tuple[int, NamedNode | Literal]] = {}
        for first, end, term in (
            *self._find_names(words),
            *self._find_values(words, counts=counts),
        ):
            if end > longest.get(first, (first,))[0] and not self._is_uninformative(
                line[first:end]
            ):
                longest[first] = end, term
        at = 0
        for first, (end, term) in sorted(longest.items()):
            if first >= at:
                yield _MaskedRange(line[first].start(), line[end - 1].end(), term)
                at = end

    def _find_names(self, words: Sequence[str]) -> Iterator[tuple[int, int, NamedNode | Literal]]:
        for index in self.indices:
            for phrase in find_phrases(words, index, inflected=True):
                kinds = {name.kind: name for name in reversed(phrase.names)}
                if ItemKind.CLASS in kinds or ItemKind.PREDICATE in kinds:
                    continue
                term = parse_resource_term(kinds[min(kinds)].target)
                is_shown = isinstance(term, NamedNode) and self.is_visible(term.value)
                if isinstance(term, NamedNode | Literal) and not is_shown:
                    yield phrase.first, phrase.end, term

    def _find_values(
        self, words: Sequence[str], *, counts: bool
    ) -> Iterator[tuple[int, int, NamedNode | Literal]]:
        """Yield literals that were masked before, of any length."""
        # By their first words.
        literals_by_word: dict[str, list[tuple[tuple[str, ...], Literal]]] = {}
        for literal in self.placeholders.list_literals():
            value = tuple(fold_word(match[0]) for match in _WORD.finditer(literal.value))
            digits = "".join(value)
            if value and not (counts and digits.isdecimal() and len(digits) < _MIN_NUMBER_DIGITS):
                literals_by_word.setdefault(value[0], []).append((value, literal))
        for first, word in enumerate(words):
            for value, literal in literals_by_word.get(word, ()):
                if tuple(words[first : first + len(value)]) == value:
                    yield first, first + len(value), literal

    def _is_uninformative(self, words: Sequence[re.Match[str]]) -> bool:
        """Return whether all words belong to the schema, to SPARQL, or are stop words."""
        is_single_common_word = len(words) == 1 and (
            fold_word(words[0][0]) in _TEMPLATE_WORDS or words[0][0] in _KEYWORDS
        )
        return is_single_common_word or all(
            word in self.stop_words or stem_word(word) in self.schema_stems
            for word in (fold_word(match[0]) for match in words)
        )


def _split_phrases(
    text: str, excluded_ranges: Sequence[tuple[int, int]]
) -> Iterator[Sequence[re.Match[str]]]:
    """Yield runs of words that may form one name: small gaps, no line break."""
    # Words within the excluded ranges, sorted by start, are skipped.
    line: list[re.Match[str]] = []
    ends, at = 0, 0
    for match in _WORD.finditer(text):
        while at < len(excluded_ranges) and excluded_ranges[at][0] <= match.start():
            ends = max(ends, excluded_ranges[at][1])
            at += 1
        if match.start() < ends:
            continue
        gap = text[line[-1].end() : match.start()] if line else ""
        if line and (len(gap) > _MAX_GAP_CHARACTERS or "\n" in gap):
            yield line
            line = []
        line.append(match)
    if line:
        yield line
