"""The last look at a text before it is sent: names and values that it still says are masked."""

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode

from askgraph.index.names import Kind, NameIndex, phrases
from askgraph.index.tokens import folded, stem
from askgraph.tools.named import term_of
from askgraph.tools.veil.placeholders import PLACEHOLDER, Hidden
from askgraph.tools.veil.question import NAMED, iri_in

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
        named = list(self._named(text))
        covered = [(one.start, one.end) for one in named]
        kept = [found.span() for found in (*PLACEHOLDER.finditer(text), *NAMED.finditer(text))]
        words = list(_words(text, sorted([*covered, *kept])))
        said = [piece for line in _lines(words, text) for piece in self._said(line, counts=counts)]
        found = [*named, *said]
        found += self._unspaced(text, [*kept, *((one.start, one.end) for one in found)])
        pieces, at = list[str](), 0
        for one in sorted(found, key=lambda piece: piece.start):
            pieces += [text[at : one.start], self.hidden.placeholder(one.term)]
            at = one.end
        return "".join([*pieces, text[at:]])

    def _named(self, text: str) -> Iterator[_Piece]:
        """IRIs of things, in full or with a prefix."""
        for found in NAMED.finditer(text):
            iri = iri_in(found[0], self.expand)
            if iri is not None and not PLACEHOLDER.search(found[0]) and not self.shows(iri):
                yield _Piece(*found.span(), NamedNode(iri))

    def _unspaced(self, text: str, apart: Sequence[tuple[int, int]]) -> Iterator[_Piece]:
        """Names within runs of scripts that do not part words, the longest at each place."""
        covered = {at for start, end in apart for at in range(start, end)}
        for run in _UNSPACED.finditer(text):
            at = run.start()
            while at < run.end():
                most = min(run.end(), at + _RUN)
                ends = (end for end in range(most, at + 1, -1) if not covered & {at, end - 1})
                named = ((end, self._whole(text[at:end])) for end in ends)
                end, term = next(((e, term) for e, term in named if term), (at + 1, None))
                if term is not None:
                    yield _Piece(at, end, term)
                at = end

    def _whole(self, name: str) -> NamedNode | Literal | None:
        """What has this name of one word, unless the schema says it."""
        word = folded(name)
        if stem(word) in self.spoken or word in self.stop:
            return None
        return next((term for first, end, term in self._names([word]) if end == 1), None)

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
                term = term_of(kinds[min(kinds)].target)
                shown = isinstance(term, NamedNode) and self.shows(term.value)
                if isinstance(term, NamedNode | Literal) and not shown:
                    yield one.first, one.end, term

    def _values(
        self, words: Sequence[str], *, counts: bool
    ) -> Iterator[tuple[int, int, NamedNode | Literal]]:
        """Literals that were hidden before, of whatever length."""
        known = self._hidden_values(counts=counts)
        for first, word in enumerate(words):
            for value, literal in known.get(word, ()):
                if tuple(words[first : first + len(value)]) == value:
                    yield first, first + len(value), literal

    def _hidden_values(
        self, *, counts: bool
    ) -> Mapping[str, Sequence[tuple[tuple[str, ...], Literal]]]:
        """The words of each hidden literal, by the first of them."""
        known: dict[str, list[tuple[tuple[str, ...], Literal]]] = {}
        for literal in self.hidden.literals():
            words = tuple(folded(found[0]) for found in _WORD.finditer(literal.value))
            digits = "".join(words)
            if words and not (counts and digits.isdecimal() and len(digits) < _SHORT):
                known.setdefault(words[0], []).append((words, literal))
        return known

    def _tells_nothing(self, words: Sequence[re.Match[str]]) -> bool:
        """Whether all words are the schema's, function words, or of SPARQL."""
        alone = len(words) == 1 and (folded(words[0][0]) in _OURS or words[0][0] in _KEYWORDS)
        return alone or all(
            word in self.stop or stem(word) in self.spoken
            for word in (folded(found[0]) for found in words)
        )


def _words(text: str, apart: Sequence[tuple[int, int]]) -> Iterator[re.Match[str]]:
    """The words that stand in none of the spans, which are sorted by their start."""
    ends, at = 0, 0
    for found in _WORD.finditer(text):
        while at < len(apart) and apart[at][0] <= found.start():
            ends = max(ends, apart[at][1])
            at += 1
        if found.start() >= ends:
            yield found


def _lines(words: Sequence[re.Match[str]], text: str) -> Iterator[Sequence[re.Match[str]]]:
    """Words that may be of one name: with little between them, and no end of a line."""
    line: list[re.Match[str]] = []
    for found in words:
        gap = text[line[-1].end() : found.start()] if line else ""
        if line and (len(gap) > _GAP or "\n" in gap):
            yield line
            line = []
        line.append(found)
    if line:
        yield line
