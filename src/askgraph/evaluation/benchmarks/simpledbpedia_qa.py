"""SimpleDBpediaQA: the questions of SimpleQuestions about one fact that DBpedia has.

Azmy et al., "Farewell Freebase: Migrating the SimpleQuestions Dataset to DBpedia", COLING 2018. A
fact may be said by several predicates; the query takes what any of them gives.

A sample, `simpledbpediaqa_sample_test.json`:

    {"Dataset": "SimpleDBpediaQA", "Split": "test", "Questions": [{
      "ID": "90001", "Query": "who wrote the example book",
      "Subject": "http://dbpedia.org/resource/Example_(book)",
      "PredicateList": [{"Predicate": "http://dbpedia.org/ontology/author",
                         "Direction": "forward", "Constraint": null}]}]}
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from askgraph.evaluation.benchmarks._records import (
    Reader,
    Record,
    Text,
    Unfit,
    english,
    identity,
    keys_in,
    text_in,
)
from askgraph.evaluation.questions import GoldQuestion

__all__ = ["SimpleDbpediaQa"]

_IRI = re.compile(r"[a-z]+:[^\x00-\x20<>\"{}|\\^`]+")


class SimpleDbpediaQa(Reader):
    """SimpleDBpediaQA's JSON. All questions are English."""

    title: ClassVar[str] = "SimpleDBpediaQA"
    splits: ClassVar[tuple[str, ...]] = ("train", "valid", "test")
    key: ClassVar[str | None] = "Questions"
    graph = "dbpedia"

    def recognises(self, path: Path, head: str) -> bool:
        """Recognise it by a subject with its list of predicates."""
        return {"Questions", "Subject", "PredicateList"} <= keys_in(head)

    def question(self, place: str, record: Record) -> tuple[GoldQuestion, list[Text]]:
        """Return a question with the query that its facts make."""
        subject, listed = text_in(record, "Subject") or "", record.get("PredicateList")
        if not _IRI.fullmatch(subject) or not isinstance(listed, list) or not listed:
            raise Unfit("it needs 'Subject', an IRI, and 'PredicateList', a list that is not empty")
        facts = [_fact(subject, one) for one in listed]
        pattern = facts[0][1] if len(facts) == 1 else " UNION ".join(f"{{ {p} }}" for _, p in facts)
        question = GoldQuestion(
            identity(record, "ID", place),
            "",
            sparql=f"SELECT DISTINCT ?x WHERE {{ {pattern} }}",
            entities=(subject,),
            predicates=tuple(dict.fromkeys(name for name, _ in facts)),
        )
        return question, english(record, "Query")


def _fact(subject: str, listed: object) -> tuple[str, str]:
    """Return a predicate and the pattern that it makes with the subject."""
    if not isinstance(listed, Mapping):
        raise Unfit("a predicate of 'PredicateList' must be an object")
    predicate, wanted = listed.get("Predicate"), listed.get("Constraint")
    if not (isinstance(predicate, str) and _IRI.fullmatch(predicate)):
        raise Unfit(f"'Predicate' must be an IRI, not {predicate!r}")
    match listed.get("Direction"):
        case "forward":
            pattern = f"<{subject}> <{predicate}> ?x ."
        case "backward":
            pattern = f"?x <{predicate}> <{subject}> ."
        case other:
            raise Unfit(f"'Direction' is forward or backward, not {other!r}")
    if wanted is None:
        return predicate, pattern
    if not (isinstance(wanted, str) and _IRI.fullmatch(wanted)):
        raise Unfit(f"'Constraint' must be the IRI of a class or null, not {wanted!r}")
    return predicate, f"{pattern} ?x a <{wanted}> ."
