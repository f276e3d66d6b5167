"""SimpleQuestions: over 100,000 questions about one fact of Freebase, some mapped to Wikidata.

Bordes et al., "Large-scale Simple Question Answering with Memory Networks", arXiv 1506.02075 (CC BY
3.0); Diefenbach et al., "Question Answering Benchmarks for Wikidata", ISWC 2017 posters. A line is
subject, predicate, object and question, separated by tabs. The query selects all objects of that
subject and predicate, since the line often holds only one of several. `R19` is the inverse of
Wikidata's `P19`.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from askgraph.evaluation.benchmarks import BenchmarkContents
from askgraph.evaluation.benchmarks._records import (
    FREEBASE_PREFIXES,
    WIKIDATA_PREFIXES,
    Item,
    QuestionText,
    UnusableItemError,
    collect_contents,
    detect_split,
    expand_wikidata_name,
    expand_wordings,
    read_records,
)
from askgraph.evaluation.questions import GoldQuestion
from askgraph.graph.archives import read_text

__all__ = ["SimpleQuestions"]

COLUMN_NAMES = "subject, predicate, object, question"
WIKIDATA_FACT = re.compile(r"Q[0-9]+\t[PR][0-9]+\tQ[0-9]+\t")
FREEBASE_FACT = re.compile(r"(?:www\.freebase\.com/[^\t\n]+\t){3}")


class SimpleQuestions:
    """SimpleQuestions' lines, from Freebase or Wikidata. All questions are English."""

    title: ClassVar[str] = "SimpleQuestions"
    splits: ClassVar[tuple[str, ...]] = ("train", "valid", "test")

    def can_read(self, path: Path, head: str) -> bool:
        """Return whether the first line begins with a fact."""
        return bool(WIKIDATA_FACT.match(head) or FREEBASE_FACT.match(head))

    def read(self, path: Path, *, language: str | None = None) -> BenchmarkContents:
        """Read one question from each line; its id is the line number."""
        split = detect_split(path, self.splits)

        def read_question(location: str, columns: list[str]) -> Iterator[Item]:
            if len(columns) != 4:
                raise UnusableItemError(f"it has {len(columns)} columns; expected {COLUMN_NAMES}")
            subject, predicate, _, text = (column.strip() for column in columns)
            query, entity, relation = _build_query(subject, predicate)
            question = GoldQuestion(
                location.rpartition(" ")[2],
                "",
                sparql=query,
                split=split,
                entities=(entity,),
                predicates=(relation,),
            )
            return expand_wordings(location, question, [QuestionText(text, "en")], language)

        text = read_text(path)
        is_freebase = bool(FREEBASE_FACT.match(text))
        facts = (
            (f"{path}, line {number}", line.split("\t"))
            for number, line in enumerate(text.split("\n"), start=1)
            if line.strip()
        )
        return collect_contents(
            read_records(facts, read_question),
            graph="freebase" if is_freebase else "wikidata",
            prefixes=FREEBASE_PREFIXES if is_freebase else WIKIDATA_PREFIXES,
        )


def _build_query(subject: str, predicate: str) -> tuple[str, str, str]:
    """Return the query for one fact, with the IRIs of its entity and its predicate."""
    if re.fullmatch(r"Q[0-9]+", subject) and re.fullmatch(r"[PR][0-9]+", predicate):
        entity, relation = f"wd:{subject}", f"wdt:P{predicate[1:]}"
        pattern = f"?x {relation} {entity}" if predicate[0] == "R" else f"{entity} {relation} ?x"
        query = f"SELECT DISTINCT ?x WHERE {{ {pattern} }}"
        return query, expand_wikidata_name(subject), expand_wikidata_name(predicate)
    names = [_parse_freebase_name(path) for path in (subject, predicate)]
    namespace = FREEBASE_PREFIXES["ns"]
    query = f"SELECT DISTINCT ?x WHERE {{ ns:{names[0]} ns:{names[1]} ?x }}"
    return query, namespace + names[0], namespace + names[1]


def _parse_freebase_name(path: str) -> str:
    """Return `m.0abc` for `www.freebase.com/m/0abc`."""
    match = re.fullmatch(r"www\.freebase\.com/(\w+(?:/\w+)+)", path)
    if match is None:
        raise UnusableItemError(f"{path!r} is neither a Wikidata nor a Freebase identifier")
    return match[1].replace("/", ".")
