"""Placeholders for terms that a model may not see: put into queries and texts, and taken out again.

`hidden:e3` is the third thing, `hidden:v2` the second literal of a question. Both are prefixed
names, so that they can stand in a query wherever a term can. The guard has the last look at a text
before it is sent: names and values that it still says are masked.
"""

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pyoxigraph import Literal, NamedNode

from askgraph.errors import QueryError
from askgraph.graph.literals import resource_term
from askgraph.index.names import Kind, NameIndex, folded, phrases, stem
from askgraph.methods.tools.masking.question import NAMED, iri_in
from askgraph.methods.tools.term_text import expanded_name, unescaped_text
from askgraph.sparql import vocabulary as v
from askgraph.sparql.lexer import Token, lexed, number_type, without_comments
from askgraph.sparql.prefixes import PrefixMap, words_of_local_name

PLACEHOLDER = re.compile(r"(?<!\w)hidden:[ev]\d+(?!\d)", re.IGNORECASE | re.ASCII)

_IN_WORDS = re.compile(r"hidden:(?:[ev]\d+|\w*)", re.IGNORECASE | re.ASCII)
_DECLARED = re.compile(r"\bPREFIX\s+hidden:\s*<[^<>]*>\s*", re.IGNORECASE)
_SUFFIX = re.compile(r"@[A-Za-z]+(?:-[A-Za-z0-9]+)*|\^\^(?:<[^<>\s]*>|[\w-]*:[\w.-]*\w)")
_BARE = {
    v.XSD_INTEGER: re.compile(r"[+-]?\d+"),
    v.XSD_DECIMAL: re.compile(r"[+-]?\d*\.\d+"),
    v.XSD_BOOLEAN: re.compile(r"true|false"),
}
_ESCAPES = {"\\": "\\\\", '"': '\\"', "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_BEFORE_TEXT = frozenset("(,=<>")  # marks after which a string is compared, rather than linked to
_KEPT_BEHIND = frozenset({"SERVICE", "SILENT", "GRAPH", "FROM", "NAMED", "BASE"})
_SAYS_HOW_MANY = frozenset({"LIMIT", "OFFSET"})


@dataclass(eq=False)
class Hidden:
    """Numbers terms as they come; the same term always has the same placeholder.

    `names` are words that name things, for if a query wants a text.
    """

    names: dict[str, str] = field(default_factory=dict)
    _placeholders: dict[NamedNode | Literal, str] = field(default_factory=dict)
    _terms: dict[str, NamedNode | Literal] = field(default_factory=dict)
    _things: int = 0

    def placeholder(self, term: NamedNode | Literal) -> str:
        """Return the placeholder of a term, without its datatype or language."""
        if term not in self._placeholders:
            thing = isinstance(term, NamedNode)
            self._things += thing
            number = self._things if thing else len(self._terms) - self._things + 1
            name = f"hidden:{'e' if thing else 'v'}{number}"
            self._placeholders[term] = name
            self._terms[name] = term
        return self._placeholders[term]

    def holds(self, term: NamedNode | Literal) -> bool:
        """Return whether a term has a placeholder."""
        return term in self._placeholders

    def typed(self, literal: Literal, prefixes: PrefixMap, *, like: Literal | None = None) -> str:
        """Return the placeholder of a literal with its language, or its datatype if not a text.

        With a datatype the placeholder may be that of another literal that is written `like` it.
        """
        datatype = literal.datatype.value
        if literal.language:
            return f"{self.placeholder(literal)}@{literal.language}"
        if datatype == v.XSD_STRING:
            return self.placeholder(literal)
        alike = literal if like is None or like.value != literal.value else like
        return f"{self.placeholder(alike)}^^{prefixes.shorten(datatype)}"

    def literals(self) -> Iterator[Literal]:
        """All literals that have a placeholder."""
        yield from (term for term in self._terms.values() if isinstance(term, Literal))

    def term(self, placeholder: str) -> NamedNode | Literal:
        """Return what a placeholder stands for; `QueryError` where it stands for nothing."""
        if placeholder.lower() not in self._terms:
            raise QueryError(
                f"{placeholder!r} stands for nothing: use the placeholders that are shown, as they "
                "are"
            )
        return self._terms[placeholder.lower()]

    def in_query(self, query: str) -> str:
        """Return a query with the terms in place of their placeholders, without comments.

        A type or language that is written behind a placeholder holds. Within quotes a literal is
        its text; a thing is its name if a text is compared, else its IRI. Raises `QueryError`
        for what begins like a placeholder and is none.
        """
        query = _DECLARED.sub("", without_comments(query))
        pieces, at, before = list[str](), 0, ""
        for token in lexed(query).all:
            if token.start < at:
                continue  # the type behind a placeholder
            end = token.start + len(token.text)
            if "hidden:" in token.text.lower() and token.kind in ("pname", "iri", "string"):
                put, end = self._put(token, query, end, before)
                pieces += [query[at : token.start], put]
                at = end
            before = token.text
        return "".join(pieces) + query[at:]

    def in_words(self, text: str) -> str:
        """Return a text for people with names and values in place of placeholders.

        One that stands for nothing becomes "something".
        """
        return _IN_WORDS.sub(lambda found: self._words(self._terms.get(found[0].lower())), text)

    def _put(self, token: Token, query: str, end: int, before: str) -> tuple[str, int]:
        """What stands for a token, and where the query goes on behind it."""
        if "hidden:" in PLACEHOLDER.sub("", token.text).lower():
            self.term(token.text)
        if token.kind == "pname":
            term, suffix = self.term(token.text), _SUFFIX.match(query, end)
            if suffix and isinstance(term, Literal):
                return f'"{_escaped(term.value)}"{suffix[0]}', suffix.end()
            return _written(term), end
        if token.kind == "iri":
            *_, found = PLACEHOLDER.finditer(token.text)
            return _written(self.term(found[0])), end
        inside = token.text.strip("\"'")
        if PLACEHOLDER.fullmatch(inside) and before[-1:] not in _BEFORE_TEXT:
            term = self.term(inside)
            if isinstance(term, NamedNode):
                return _written(term), end
        return PLACEHOLDER.sub(lambda f: _escaped(self._words(self.term(f[0]))), token.text), end

    def _words(self, term: NamedNode | Literal | None) -> str:
        if term is None:
            return "something"
        if isinstance(term, Literal):
            return term.value
        return self.names.get(term.value) or words_of_local_name(term.value) or term.value


def _written(term: NamedNode | Literal) -> str:
    """A term as a query has it; plain numbers can stand behind LIMIT, too."""
    if isinstance(term, Literal):
        bare = _BARE.get(term.datatype.value)
        if bare and bare.fullmatch(term.value):
            return term.value
    return str(term)


def _escaped(text: str) -> str:
    return "".join(_ESCAPES.get(character, character) for character in text)


def masked_query(
    query: str,
    expand: Callable[[str], str | None],
    *,
    shows: Callable[[str], bool],
    mask: Callable[[NamedNode | Literal], str],
    numbers: Mapping[str, Literal],
) -> str:
    """Return a query in which `mask` stands for each thing and literal, comments left out.

    `expand` gives the IRI of a prefixed name whose prefix the query does not declare, `shows` says
    which IRIs stay. Behind LIMIT and OFFSET only the `numbers` of the question are masked.
    """
    query = without_comments(query)
    listed = lexed(query).given
    own = PrefixMap(
        {
            name.text.removesuffix(":"): iri.text[1:-1]
            for word, name, iri in zip(listed, listed[1:], listed[2:], strict=False)
            if word.text.upper() == "PREFIX" and name.text.endswith(":") and iri.kind == "iri"
        }
    )

    def expanded(name: str) -> str | None:
        declared = name.partition(":")[0] in own.own
        return expanded_name(name, own) if declared else expand(name)

    pieces, at = list[str](), 0
    for start, end, term in _constants(listed, expanded, numbers):
        if PLACEHOLDER.search(term.value) or (isinstance(term, NamedNode) and shows(term.value)):
            continue
        pieces += [query[at:start], mask(term)]
        at = end
    return "".join([*pieces, query[at:]])


def _constants(
    listed: Sequence[Token],
    expand: Callable[[str], str | None],
    numbers: Mapping[str, Literal],
) -> Iterator[tuple[int, int, NamedNode | Literal]]:
    """The terms of a query that may be hidden, and where each stands."""
    for at, token in enumerate(listed):
        before = listed[at - 1].text.upper() if at else ""
        end = _end(token)
        match token.kind:
            case "iri" | "pname":
                if term := _thing(listed, at, expand):
                    yield token.start, end, term
            case "number":
                number = Literal(token.text, datatype=NamedNode(number_type(token.text)))
                if before not in _SAYS_HOW_MANY:
                    yield token.start, end, numbers.get(token.text, number)
                elif token.text in numbers:
                    yield token.start, end, numbers[token.text]
            case "string" if not _of_the_language(listed, at):
                yield token.start, *_literal(listed, at, expand)


def _thing(
    listed: Sequence[Token], at: int, expand: Callable[[str], str | None]
) -> NamedNode | None:
    """The IRI at a token, unless it is a function's, a datatype's, a graph's or a prefix's."""
    token = listed[at]
    before = [one.text.upper() for one in listed[max(0, at - 2) : at]]
    after = listed[at + 1].text if at + 1 < len(listed) else ""
    if before[-1:] and (before[-1] in _KEPT_BEHIND or before[-1] == "PREFIX"):
        return None
    if before[-2:-1] == ["PREFIX"] or before[-1:] == ["^^"] or after == "(":
        return None
    iri = token.text[1:-1] if token.kind == "iri" else expand(token.text)
    return NamedNode(iri) if iri else None


def _literal(
    listed: Sequence[Token], at: int, expand: Callable[[str], str | None]
) -> tuple[int, Literal]:
    """Where the literal at a string ends, and what it is."""
    token = listed[at]
    size = 3 if token.text[:3] in ('"""', "'''") and len(token.text) >= 6 else 1
    text = unescaped_text(token.text[size:-size])
    match listed[at + 1 : at + 3]:
        case [Token(kind="language") as tag, *_]:
            return _end(tag), Literal(text, language=tag.text[1:])
        case [Token(text="^^"), kind]:
            iri = kind.text[1:-1] if kind.kind == "iri" else expand(kind.text)
            return _end(kind), Literal(text, datatype=NamedNode(iri or v.XSD_STRING))
        case _:
            return _end(token), Literal(text)


def _end(token: Token) -> int:
    return token.start + len(token.text)


def _of_the_language(listed: Sequence[Token], at: int) -> bool:
    """Whether a string says how, not what: a language tag, a flag, a separator."""
    text = listed[at].text.strip("\"'")
    near = " ".join(one.text.upper() for one in listed[max(0, at - 6) : at + 6])
    if not any(character.isalnum() for character in text):
        return True
    if text == "i":
        return "REGEX" in near or "REPLACE" in near
    return len(text) <= 3 and text.isalpha() and "LANG" in near


_WORD = re.compile(r"[^\W\d_]+|\d+(?:[.,]\d+)*", re.UNICODE)
_UNSPACED = re.compile(r"[฀-໿က-႟ក-៿぀-ヿ㐀-鿿豈-﫿]+")  # scripts without spaces between words
_OURS = frozenset(
    "question questions answered before candidates perhaps named classes class properties property "
    "instances instance row rows column columns yes no true false not used label labels things "
    "number year years date month text value values inverse steps further".split()
)
"""Words that our own lines are made of: alone, they tell nothing of a graph."""

_KEYWORDS = frozenset(
    "SELECT ASK CONSTRUCT DESCRIBE DISTINCT REDUCED WHERE FILTER OPTIONAL UNION MINUS GRAPH "
    "SERVICE BIND VALUES ORDER GROUP BY HAVING LIMIT OFFSET ASC DESC COUNT SUM AVG MIN MAX SAMPLE "
    "EXISTS NOT IN AS STR LANG REGEX CONTAINS BOUND IF YEAR MONTH DAY PREFIX BASE FROM".split()
)
_GAP = 3  # characters between two words of one name
_RUN = 30  # letters of a name that is looked for in a run
_SHORT = 4  # digits of a number below which it may be a count of ours


@dataclass(frozen=True)
class _Piece:
    """Words of a text that are masked: where they stand, and what they are."""

    start: int
    end: int
    term: NamedNode | Literal


@dataclass(frozen=True)
class Guard:
    """Masks what texts still say of hidden terms; `spoken` are the stems of the schema's words.

    `expand` gives the IRI of a prefixed name, `shows` says which IRIs may be seen.
    """

    indices: Sequence[NameIndex]
    spoken: Container[str]
    stop: Container[str]
    expand: Callable[[str], str | None]
    shows: Callable[[str], bool]
    hidden: Hidden

    def masked(self, text: str, *, counts: bool = True) -> str:
        """Return a text with placeholders for the names of things and for values of the graphs.

        Names are found word for word, short values too; long ones only if they were hidden before.
        With `counts` it may hold numbers of our own, and one of fewer than four digits stays. Time
        grows with the length of the text.
        """
        kept = [found.span() for found in PLACEHOLDER.finditer(text)]
        found: list[_Piece] = []
        for named in NAMED.finditer(text):
            kept.append(named.span())
            iri = iri_in(named[0], self.expand)
            if iri is not None and not PLACEHOLDER.search(named[0]) and not self.shows(iri):
                found.append(_Piece(*named.span(), NamedNode(iri)))
        for line in _lines(text, sorted(kept)):
            found += self._said(line, counts=counts)
        found += self._unspaced(text, [*kept, *((one.start, one.end) for one in found)])
        pieces, at = list[str](), 0
        for one in sorted(found, key=lambda piece: piece.start):
            pieces += [text[at : one.start], self.hidden.placeholder(one.term)]
            at = one.end
        return "".join([*pieces, text[at:]])

    def _unspaced(self, text: str, apart: Sequence[tuple[int, int]]) -> Iterator[_Piece]:
        """Names within runs of scripts that do not part words, the longest at each place."""
        covered = {at for start, end in apart for at in range(start, end)}
        for run in _UNSPACED.finditer(text):
            at = run.start()
            while at < run.end():
                most = min(run.end(), at + _RUN)
                for end in range(most, at + 1, -1):
                    word = folded(text[at:end])
                    if covered & {at, end - 1} or stem(word) in self.spoken or word in self.stop:
                        continue
                    term = next((term for _, last, term in self._names([word]) if last == 1), None)
                    if term is not None:
                        yield _Piece(at, end, term)
                        at = end - 1
                        break
                at += 1

    def _said(self, line: Sequence[re.Match[str]], *, counts: bool) -> Iterator[_Piece]:
        """The longest names and values, from the left, that do not overlap."""
        words = [folded(found[0]) for found in line]
        longest: dict[int, tuple[int, NamedNode | Literal]] = {}
        for first, end, term in (*self._names(words), *self._values(words, counts=counts)):
            if end > longest.get(first, (first,))[0] and not self._tells_nothing(line[first:end]):
                longest[first] = end, term
        at = 0
        for first, (end, term) in sorted(longest.items()):
            if first >= at:
                yield _Piece(line[first].start(), line[end - 1].end(), term)
                at = end

    def _names(self, words: Sequence[str]) -> Iterator[tuple[int, int, NamedNode | Literal]]:
        for index in self.indices:
            for one in phrases(words, index, inflected=True):
                kinds = {name.kind: name for name in reversed(one.names)}
                if Kind.CLASS in kinds or Kind.PREDICATE in kinds:
                    continue
                term = resource_term(kinds[min(kinds)].target)
                shown = isinstance(term, NamedNode) and self.shows(term.value)
                if isinstance(term, NamedNode | Literal) and not shown:
                    yield one.first, one.end, term

    def _values(
        self, words: Sequence[str], *, counts: bool
    ) -> Iterator[tuple[int, int, NamedNode | Literal]]:
        """Literals that were hidden before, of whatever length."""
        known: dict[str, list[tuple[tuple[str, ...], Literal]]] = {}  # by their first words
        for literal in self.hidden.literals():
            value = tuple(folded(found[0]) for found in _WORD.finditer(literal.value))
            digits = "".join(value)
            if value and not (counts and digits.isdecimal() and len(digits) < _SHORT):
                known.setdefault(value[0], []).append((value, literal))
        for first, word in enumerate(words):
            for value, literal in known.get(word, ()):
                if tuple(words[first : first + len(value)]) == value:
                    yield first, first + len(value), literal

    def _tells_nothing(self, words: Sequence[re.Match[str]]) -> bool:
        """Whether all words are the schema's, function words, or of SPARQL."""
        alone = len(words) == 1 and (folded(words[0][0]) in _OURS or words[0][0] in _KEYWORDS)
        return alone or all(
            word in self.stop or stem(word) in self.spoken
            for word in (folded(found[0]) for found in words)
        )


def _lines(text: str, apart: Sequence[tuple[int, int]]) -> Iterator[Sequence[re.Match[str]]]:
    """Words that may be of one name: with little between them, and no end of a line.

    None stands in one of the spans, which are sorted by their start.
    """
    line: list[re.Match[str]] = []
    ends, at = 0, 0
    for found in _WORD.finditer(text):
        while at < len(apart) and apart[at][0] <= found.start():
            ends = max(ends, apart[at][1])
            at += 1
        if found.start() < ends:
            continue
        gap = text[line[-1].end() : found.start()] if line else ""
        if line and (len(gap) > _GAP or "\n" in gap):
            yield line
            line = []
        line.append(found)
    if line:
        yield line
