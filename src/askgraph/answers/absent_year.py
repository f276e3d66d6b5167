"""Answer a question for a year that the graph has no value in: none, and the nearest value.

A year without values is not linked, so that the reading leaves it out. The question is read again
with the year of the nearest value, and the query of that reading gets the year of the question.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.answers.headline import write_term
from askgraph.answers.verbalize.names import Names
from askgraph.answers.verbalize.phrases import ValueWriter, load_phrases
from askgraph.graph.literals import ValueKind
from askgraph.search.decide import find_omitted_words
from askgraph.search.operators.query_builder import QueryCandidate
from askgraph.search.rank import RankedCandidates
from askgraph.sparql import Call, Filter, Pattern, Query, transform
from askgraph.sparql.prefixes import split_local_name
from askgraph.sparql.results import SelectResult
from askgraph.sparql.vocabulary import XSD_DATE
from askgraph.trace import Answer

_YEAR = re.compile(r"[1-9]\d{3}(?!\d)")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_DATE_KINDS = (ValueKind.DATE, ValueKind.YEAR, ValueKind.TEXT_DATE)
_MAX_CANDIDATES = 5  # readings in which a date is looked for


@dataclass(frozen=True)
class AbsentYear:
    """A year of a question that its readings leave out, and the dates that it may restrict."""

    year: int
    predicate: str  # IRI of the predicate of the dates
    range_query: Query  # selects the first and the last date

    def list_near_years(self, result: SelectResult) -> list[int]:
        """Return the years of the first and the last date, the nearer one first."""
        terms = (term for row in result.rows for term in row if isinstance(term, Literal))
        years = {int(match[0]) for term in terms if (match := _YEAR.match(term.value))}
        return sorted(years, key=lambda year: abs(year - self.year))

    def replace_year(self, candidate: QueryCandidate, near_year: int) -> QueryCandidate:
        """Return a candidate for another year as one for this year."""

        def shift(node: object) -> object:
            match node:
                case Literal() if match := _YEAR.match(node.value):
                    year = self.year + int(match[0]) - near_year
                    is_near = year in (self.year, self.year + 1)
                    shifted = f"{year}{node.value[match.end() :]}"
                    return Literal(shifted, datatype=node.datatype) if is_near else node
                case Filter(Call("=", (Variable() as date, Literal(value=day)))) if (
                    day.startswith(f"{self.year}-")  # the only day of the near year
                ):
                    text = Call("STR", (date,))
                    first, last = (Literal(str(year)) for year in (self.year, self.year + 1))
                    return Filter(Call(">=", (text, first))), Filter(Call("<", (text, last)))
            return node

        return replace(candidate, tree=transform(candidate.tree, shift))

    def is_outside(self, result: SelectResult) -> bool:
        """Return whether the year is before the first date or after the last one."""
        years = self.list_near_years(result)
        return bool(years) and not min(years) <= self.year <= max(years)

    def describe_range(self, answer: Answer, result: SelectResult, language: str) -> str:
        """Return the first date in words for an earlier year, and the last for a later one."""
        if not self.is_outside(result):
            return ""
        label = answer.labels.get(self.predicate) or split_local_name(self.predicate)
        is_early = self.year < max(self.list_near_years(result))
        term = result.rows[0][0 if is_early else 1]
        if isinstance(term, Literal) and _DAY.fullmatch(term.value):
            term = Literal(term.value, datatype=NamedNode(XSD_DATE))
        phrases = load_phrases(language)
        entry = Names({self.predicate: label}, phrases).find_entry(NamedNode(self.predicate))
        label = entry.text if entry.is_noun else phrases.quote(label)
        value = write_term(term, ValueWriter(phrases), answer.labels)
        return phrases.punctuate(
            phrases.say("said earliest" if is_early else "said latest", label, value)
        )


def find_absent_year(proposal: RankedCandidates) -> AbsentYear | None:
    """Return the year of a question if it is all that the best reading leaves out."""
    candidates = proposal.candidates[:_MAX_CANDIDATES]
    years = [item.text for item in proposal.question.quantities if _YEAR.fullmatch(item.text)]
    if len(years) != 1 or not candidates:
        return None
    if list(find_omitted_words(proposal, candidates[0])) != years:
        return None
    for candidate in candidates:
        for iri, date in _list_dates(candidate, proposal):
            columns = (
                (Variable("first"), Call("MIN", (date,))),
                (Variable("last"), Call("MAX", (date,))),
            )
            return AbsentYear(int(years[0]), iri, Query("SELECT", candidate.tree.where, columns))
    return None


def _list_dates(
    candidate: QueryCandidate, proposal: RankedCandidates
) -> Iterator[tuple[str, Variable]]:
    """Yield the predicates of a candidate whose values are dates, with the variable of each."""
    for element in candidate.tree.where.elements:
        match element:
            case Pattern(predicate=NamedNode(value=iri), object=Variable() as date):
                number = proposal.schema.get_predicate_number(iri)
                if number is not None and proposal.schema.get_sort(number) in _DATE_KINDS:
                    yield iri, date


def is_none(answer: Answer) -> bool:
    """Return whether an answer is no row, the number 0 or a no."""
    if answer.boolean is not None:
        return not answer.boolean
    terms = [term for row in answer.result.rows for term in row]
    return all(isinstance(term, Literal) and term.value == "0" for term in terms)
