"""A benchmark in any public format: the format is detected from the file, or named.

`read_questions` is the strict door to two of the formats, our own lines and SHACL examples: there,
the first thing wrong is an error, and every text of a question is asked.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from askgraph import plugins
from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks import Benchmark, Contents
from askgraph.evaluation.benchmarks._records import (
    Record,
    Unfit,
    lines,
    numbered,
    objects_in,
    query_in,
    stored_table,
    table_of_result,
    text_in,
)
from askgraph.evaluation.benchmarks.questions_jsonl import QuestionsJsonl
from askgraph.evaluation.benchmarks.shacl_examples import ShaclExamples
from askgraph.evaluation.questions import GoldQuestion, write_questions
from askgraph.graph.archives import head_of, text_of
from askgraph.graph.examples import Collection, QueryExample, Unread, Wording, read_examples
from askgraph.graph.examples.shacl import read_shacl
from askgraph.sparql.lexer import with_declared

__all__ = [
    "Record",
    "Unfit",
    "detected",
    "examples_in",
    "lines",
    "numbered",
    "objects_in",
    "query_in",
    "read_benchmark",
    "read_questions",
    "stored_table",
    "table_of_result",
    "text_in",
    "text_of",
    "write_lines_of",
]


def read_benchmark(
    path: Path | str, *, format: str | None = None, language: str | None = None
) -> tuple[str, Contents]:
    """Read a file, folder or archive; return the name of its format and what it holds.

    `format` is the name of a benchmark plugin, None to tell it from the file; `language` is that of
    `Benchmark.read`. Raises `SetupError` if there is no such file, if it is of no known
    format or may be of several, if it cannot be read at all and if it holds nothing.
    """
    file = Path(path)
    _check_there(file)
    name = format or detected(file)
    reader: Benchmark = plugins.load("benchmark", name)()
    contents = reader.read(file, language=language)
    if not contents.questions and not contents.unreadable:
        raise SetupError(f"{path} holds no questions in the format {name!r}")
    return name.strip().lower().replace("-", "_"), contents


def read_questions(path: Path, *, need_gold: bool = False) -> tuple[GoldQuestion, ...]:
    """Read a `.jsonl` file of questions or a `.ttl` file of SHACL examples, in file order.

    Raises `SetupError`, with file and line, for what is not a question, a missing or repeated id,
    a file without questions and, with `need_gold`, for a question that cannot be scored.
    """
    _check_there(path)
    questions: list[GoldQuestion] = []
    seen: dict[str, str] = {}
    for place, question in _items(path):
        if isinstance(question, str):
            raise SetupError(f"{place}: {question}")
        if question.id in seen:
            raise SetupError(f"{place}: the id {question.id!r} is taken by {seen[question.id]}")
        if need_gold and not question.has_gold:
            raise SetupError(
                f"{place}: question {question.id!r} has no gold to score against; "
                "give it 'sparql' or 'answers', or '\"sparql\": null' if the graph has no answer"
            )
        seen[question.id] = place
        questions.append(question)
    if not questions:
        raise SetupError(f"{path} holds no questions")
    return tuple(questions)


def detected(path: Path) -> str:
    """Return the name of the only format that a file is of."""
    head = head_of(path)
    claims: list[str] = []
    missing: list[str] = []
    for name in plugins.names("benchmark"):
        try:
            reader: Benchmark = plugins.load("benchmark", name)()
        except SetupError as error:
            missing.append(str(error))
            continue
        if reader.recognises(path, head):
            claims.append(name)
    if len(claims) == 1:
        return claims[0]
    if claims:
        raise SetupError(
            f"{path} may be {' or '.join(map(repr, claims))}: name its format, one of these"
        )
    if not head.strip() and not path.is_dir():
        raise SetupError(f"{path} is empty: it holds no questions")
    raise SetupError(
        f"{path} is of no format that is known; name its format, one of "
        f"{', '.join(plugins.names('benchmark'))}{''.join(f'; {reason}' for reason in missing)}"
    )


def _check_there(path: Path) -> None:
    if not path.exists():
        raise SetupError(
            f"there is no file or folder {str(path)!r}: name a file of questions, in a format that "
            "'askgraph benchmark list' names"
        )


def _items(path: Path) -> Iterator[tuple[str, GoldQuestion | str]]:
    if path.name.removesuffix(".gz").endswith(".ttl"):
        return ShaclExamples().items(path, language="*")
    return QuestionsJsonl().items(path)


_SHACL = "shacl_examples"
_WORDING = re.compile(r"(?:@[\w-]+)?(?:#\d+)?$")


def examples_in(path: Path, *, format: str | None = None) -> Collection:
    """Read examples from a file, folder or archive of SHACL executables, or a benchmark's file.

    `format` is the name of a benchmark plugin, None to tell it from the file. Questions without a
    query are left out. Raises `SetupError` if the file cannot be read or is of no known format.
    """
    if format is None and path.name.endswith((".jsonl", ".jsonl.gz")) and _is_ours(path):
        return Collection(read_examples(path))
    if path.is_dir() and not any(path.iterdir()):
        raise SetupError(f"the folder {path} is empty: there are no examples to read in it")
    kind = (format or (detected(path) if path.exists() else "")).lower().replace("-", "_")
    if kind == _SHACL:
        return read_shacl(path)
    _, contents = read_benchmark(path, format=kind or None, language="*")
    unread = tuple(Unread(one.place, one.reason) for one in contents.unreadable)
    asked = [
        (question, with_declared(question.sparql, contents.prefixes))
        for question in contents.questions
        if question.sparql
    ]
    return Collection(tuple(_examples(asked)), unread)


def write_lines_of(examples: Sequence[QueryExample], path: Path) -> None:
    """Write examples as lines of `questions.jsonl`, one for each wording.

    What these have no place for is left out: targets, federation, confirmations.
    """
    write_questions(path, list(_questions(examples)))


def _is_ours(path: Path) -> bool:
    """Return whether the first line has a question, all that `read_examples` needs."""
    return '"question"' in head_of(path).lstrip().partition("\n")[0]


def _examples(asked: Sequence[tuple[GoldQuestion, str]]) -> Iterator[QueryExample]:
    for _, group in groupby(asked, key=lambda one: (_WORDING.sub("", one[0].id), one[1])):
        members = list(group)
        first, query = members[0]
        texts = [Wording(question.text, question.language) for question, _ in members]
        texts += [Wording(text, first.language) for text in first.paraphrases]
        kept = tuple(dict.fromkeys(text for text in texts if text.text))
        yield QueryExample(kept[0].text, query, kept[0].language, kept[1:], keywords=first.tags)


def _questions(examples: Sequence[QueryExample]) -> Iterator[GoldQuestion]:
    for number, example in enumerate(examples, start=1):
        for at, wording in enumerate(example.wordings, start=1):
            identity = (example.iri or str(number)) + (f"#{at}" if example.others else "")
            yield GoldQuestion(
                identity, wording.text, wording.language, example.query, tags=example.keywords
            )
