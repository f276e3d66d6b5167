"""SimpleQuestions: over 100,000 questions about one fact of Freebase, a part mapped to Wikidata.

Bordes et al., "Large-scale Simple Question Answering with Memory Networks", arXiv 1506.02075 (CC BY
3.0); Diefenbach et al., "Question Answering Benchmarks for Wikidata", ISWC 2017 posters. A line is
subject, predicate, object and question, with tabs between. The query asks for all objects of that
subject and predicate, since the object of the line is often one of several. `R19` is the inverse
of Wikidata's `P19`.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from askgraph.evaluation.benchmarks import Contents
from askgraph.evaluation.benchmarks._records import (
    FREEBASE,
    WIKIDATA,
    Item,
    Text,
    Unfit,
    each,
    gathered,
    split_in,
    wikidata_iri,
    wordings,
)
from askgraph.evaluation.questions import GoldQuestion
from askgraph.graph.archives import text_of

__all__ = ["SimpleQuestions"]

COLUMNS = "subject, predicate, object, question"
WIKIDATA_FACT = re.compile(r"Q[0-9]+\t[PR][0-9]+\tQ[0-9]+\t")
FREEBASE_FACT = re.compile(r"(?:www\.freebase\.com/[^\t\n]+\t){3}")


class SimpleQuestions:
    """SimpleQuestions' lines, of Freebase or of Wikidata. All questions are English."""

    title: ClassVar[str] = "SimpleQuestions"
    splits: ClassVar[tuple[str, ...]] = ("train", "valid", "test")

    def recognises(self, path: Path, head: str) -> bool:
        """Recognise it by a first line that begins with a fact."""
        return bool(WIKIDATA_FACT.match(head) or FREEBASE_FACT.match(head))

    def read(self, path: Path, *, language: str | None = None) -> Contents:
        """Read a question from every line; its id is the number of the line."""
        split = split_in(path, self.splits)

        def questions(place: str, columns: list[str]) -> Iterator[Item]:
            if len(columns) != 4:
                raise Unfit(f"it has {len(columns)} columns; expected {COLUMNS}")
            subject, predicate, _, text = (column.strip() for column in columns)
            query, entity, relation = _query(subject, predicate)
            question = GoldQuestion(
                place.rpartition(" ")[2],
                "",
                sparql=query,
                split=split,
                entities=(entity,),
                predicates=(relation,),
            )
            return wordings(place, question, [Text(text, "en")], language)

        text = text_of(path)
        freebase = bool(FREEBASE_FACT.match(text))
        facts = (
            (f"{path}, line {number}", line.split("\t"))
            for number, line in enumerate(text.split("\n"), start=1)
            if line.strip()
        )
        return gathered(
            each(facts, questions),
            graph="freebase" if freebase else "wikidata",
            prefixes=FREEBASE if freebase else WIKIDATA,
        )


def _query(subject: str, predicate: str) -> tuple[str, str, str]:
    """Return the query for one fact, with the IRIs of its entity and its predicate."""
    if re.fullmatch(r"Q[0-9]+", subject) and re.fullmatch(r"[PR][0-9]+", predicate):
        entity, relation = f"wd:{subject}", f"wdt:P{predicate[1:]}"
        asked = f"?x {relation} {entity}" if predicate[0] == "R" else f"{entity} {relation} ?x"
        query = f"SELECT DISTINCT ?x WHERE {{ {asked} }}"
        return query, wikidata_iri(subject), wikidata_iri(predicate)
    names = [_freebase_name(path) for path in (subject, predicate)]
    namespace = FREEBASE["ns"]
    query = f"SELECT DISTINCT ?x WHERE {{ ns:{names[0]} ns:{names[1]} ?x }}"
    return query, namespace + names[0], namespace + names[1]


def _freebase_name(path: str) -> str:
    """`m.0abc` for `www.freebase.com/m/0abc`."""
    found = re.fullmatch(r"www\.freebase\.com/(\w+(?:/\w+)+)", path)
    if found is None:
        raise Unfit(f"{path!r} is an identifier neither of Wikidata nor of Freebase")
    return found[1].replace("/", ".")
