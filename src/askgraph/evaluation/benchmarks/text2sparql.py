"""TEXT2SPARQL: the challenge's YAML with questions in several languages over DBpedia or a company.

First International TEXT2SPARQL Challenge at ESWC 2025 (the DBpedia part: CC BY-SA 4.0). The
organisers' client names an answer `db25:1-en`; the questions get those ids. Files for participants
hold no queries. The official gold answers are a result set (JSON) without the texts of questions.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, cast

import yaml

from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks import BenchmarkContents, _records
from askgraph.evaluation.questions import GoldQuestion
from askgraph.graph.archives import get_plain_name, read_head, read_text

__all__ = ["Text2Sparql"]


_RESULT_SET = re.compile(r'\s*\{\s*"[\w-]+:[\w-]+-[a-z]{2,3}"\s*:\s*[{n]')


class Text2Sparql:
    """TEXT2SPARQL's YAML, or its gold result set, where the ids stand for the questions.

    Language None selects English if present, else the first text, and all of a result set.
    """

    title: ClassVar[str] = "TEXT2SPARQL"
    splits: ClassVar[tuple[str, ...]] = ()

    def can_read(self, path: Path, head: str) -> bool:
        """Return whether the file is YAML with a data set and questions, or a result set."""
        keys = set(re.findall(r"^(\w+):", head, re.MULTILINE))
        is_yaml = get_plain_name(path).endswith((".yml", ".yaml"))
        return bool(_RESULT_SET.match(head)) or (is_yaml and {"dataset", "questions"} <= keys)

    def read(self, path: Path, *, language: str | None = None) -> BenchmarkContents:
        """Read all questions; the graph is DBpedia or the id of the data set."""
        if _RESULT_SET.match(read_head(path)):
            return _records.collect_contents(_read_result_set(path, language))
        try:
            content = yaml.safe_load(read_text(path))
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise SetupError(f"{path}: cannot be read as YAML: {error}") from error
        if not isinstance(content, dict):
            raise SetupError(f"{path}: expected an object with 'dataset' and 'questions'")
        dataset, records = content.get("dataset"), content.get("questions")
        if not isinstance(dataset, dict) or not isinstance(records, list):
            raise SetupError(f"{path}: expected a data set ('dataset') and a list of 'questions'")
        prefix, namespace = dataset.get("prefix"), str(dataset.get("defaultNamespace") or "")

        def read_question(location: str, record: _records.Record) -> Iterator[_records.Item]:
            number = _records.get_id(record, "id", location)
            question = GoldQuestion(
                f"{prefix}:{number}" if prefix else number,
                "",
                sparql=_records.get_query(record),
                tags=_records.get_texts(record, "features"),
                predicates=tuple(
                    namespace + name[1:] if name.startswith(":") else name
                    for name in _records.get_texts(record, "properties")
                ),
            )
            return _add_language_suffix(
                _records.expand_wordings(location, question, _get_texts(record), language)
            )

        contents = _records.collect_contents(
            _records.read_records(_records.number_records(path, records), read_question)
        )
        graph = _records.detect_graph(question.sparql or "" for question in contents.questions)
        prefixes = (
            _records.DBPEDIA_PREFIXES
            if graph == "dbpedia"
            else {"": namespace}
            if namespace
            else {}
        )
        return replace(
            contents, graph=graph or str(dataset.get("id") or "") or None, prefixes=prefixes
        )


def _read_result_set(path: Path, language: str | None) -> Iterator[_records.Item]:
    def read_question(location: str, record: _records.Record) -> Iterator[_records.Item]:
        name = str(record["id"])
        answers = _records.parse_stored_answers(_records.to_stored_answers(record["values"]))
        text = _records.QuestionText(name, name.rpartition("-")[2])
        question = GoldQuestion(name, "", answers=answers)
        return _records.expand_wordings(location, question, [text], language)

    content = cast("dict[str, object]", _records.load_json(path))
    records = (
        (f"{path}, {name!r}", {"id": name, "values": values}) for name, values in content.items()
    )
    return _records.read_records(records, read_question)


def _get_texts(record: _records.Record) -> list[_records.QuestionText]:
    question = record.get("question")
    if not isinstance(question, dict):
        raise _records.UnusableItemError("'question' must have a text for each language")
    # YAML reads the language code `no` as a boolean.
    texts_by_language = {"no" if key is False else str(key): text for key, text in question.items()}
    return [
        _records.QuestionText(_records.get_text(texts_by_language, language) or "", language)
        for language in texts_by_language
    ]


def _add_language_suffix(items: Iterator[_records.Item]) -> Iterator[_records.Item]:
    """Name the questions as the organisers' client does: `db25:1-en`."""
    for location, question in items:
        if isinstance(question, str):
            yield location, question
        else:
            number = question.id.removesuffix(f"@{question.language}")
            yield location, replace(question, id=f"{number}-{question.language}")
