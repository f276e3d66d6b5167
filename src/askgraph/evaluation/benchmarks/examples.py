"""Examples from any public format: what a benchmark asks, one example for all of its wordings."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks.formats import detected, read_benchmark
from askgraph.evaluation.questions import GoldQuestion, write_questions
from askgraph.metadata.bundles import head_of
from askgraph.metadata.examples import Collection, QueryExample, Unread, Wording, read_examples
from askgraph.metadata.examples.shacl import read_shacl
from askgraph.sparql.lexer import with_declared

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
                identity,
                wording.text,
                wording.language,
                example.query,
                tags=example.keywords,
            )
