"""TEXT2SPARQL: the YAML of the challenge, questions in several languages over DBpedia or a company.

First International TEXT2SPARQL Challenge at ESWC 2025 (the DBpedia part: CC BY-SA 4.0). The
organisers' client names an answer `db25:1-en`; the questions get those ids. Files for participants
hold no queries.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import yaml

from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks import Contents
from askgraph.evaluation.benchmarks._records import (
    DBPEDIA,
    Item,
    Record,
    Text,
    Unfit,
    each,
    gathered,
    graph_of,
    identity,
    numbered,
    query_in,
    text_in,
    texts_in,
    wordings,
)
from askgraph.evaluation.questions import GoldQuestion
from askgraph.graph.archives import plain_name, text_of

__all__ = ["Text2Sparql"]


class Text2Sparql:
    """TEXT2SPARQL's YAML. None takes English if an item is in English, else its first."""

    title: ClassVar[str] = "TEXT2SPARQL"
    splits: ClassVar[tuple[str, ...]] = ()

    def recognises(self, path: Path, head: str) -> bool:
        """Recognise it by a YAML file with a data set and questions."""
        keys = set(re.findall(r"^(\w+):", head, re.MULTILINE))
        return plain_name(path).endswith((".yml", ".yaml")) and {"dataset", "questions"} <= keys

    def read(self, path: Path, *, language: str | None = None) -> Contents:
        """Read all questions; the graph is DBpedia or what the data set calls itself."""
        try:
            content = yaml.safe_load(text_of(path))
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise SetupError(f"{path}: not YAML that can be read: {error}") from error
        if not isinstance(content, dict):
            raise SetupError(f"{path}: expected an object with 'dataset' and 'questions'")
        dataset, records = content.get("dataset"), content.get("questions")
        if not isinstance(dataset, dict) or not isinstance(records, list):
            raise SetupError(f"{path}: expected a data set ('dataset') and a list of 'questions'")
        prefix, namespace = dataset.get("prefix"), str(dataset.get("defaultNamespace") or "")

        def questions(place: str, record: Record) -> Iterator[Item]:
            number = identity(record, "id", place)
            question = GoldQuestion(
                f"{prefix}:{number}" if prefix else number,
                "",
                sparql=query_in(record),
                tags=texts_in(record, "features"),
                predicates=tuple(_full(name, namespace) for name in texts_in(record, "properties")),
            )
            return _with_language(wordings(place, question, _texts(record), language))

        contents = gathered(each(numbered(path, records), questions))
        graph = graph_of(question.sparql or "" for question in contents.questions)
        prefixes = DBPEDIA if graph == "dbpedia" else {"": namespace} if namespace else {}
        return replace(
            contents, graph=graph or str(dataset.get("id") or "") or None, prefixes=prefixes
        )


def _texts(record: Record) -> list[Text]:
    question = record.get("question")
    if not isinstance(question, dict):
        raise Unfit("'question' must hold a text for each language")
    # YAML reads the language code `no` as a boolean.
    tagged = {"no" if key is False else str(key): text for key, text in question.items()}
    return [Text(text_in(tagged, language) or "", language) for language in tagged]


def _with_language(items: Iterator[Item]) -> Iterator[Item]:
    """Name the questions as the organisers' client does: `db25:1-en`."""
    for place, found in items:
        if isinstance(found, str):
            yield place, found
        else:
            number = found.id.removesuffix(f"@{found.language}")
            yield place, replace(found, id=f"{number}-{found.language}")


def _full(name: str, namespace: str) -> str:
    return namespace + name[1:] if name.startswith(":") else name
