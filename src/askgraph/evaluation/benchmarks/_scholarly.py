"""Records of DBLP-QuAD and SciQA: question, paraphrases and query, in an object each."""

import re
from collections.abc import Iterator
from pathlib import Path

from askgraph.evaluation.benchmarks._records import (
    Item,
    Record,
    Text,
    Unfit,
    each,
    identity,
    listed,
    query_in,
    split_in,
    text_in,
    texts_in,
    wordings,
)
from askgraph.evaluation.questions import GoldQuestion

SPLITS = ("train", "valid", "test")

_ESCAPED = re.compile(r"\\u([0-9A-Fa-f]{4})")


def scholarly(path: Path, language: str | None) -> Iterator[Item]:
    """Yield the English questions under `questions`, tagged with query type and template."""
    split = split_in(path, SPLITS)

    def questions(place: str, record: Record) -> Iterator[Item]:
        asked = _strings(record.get("question"))
        question = GoldQuestion(
            identity(record, "id", place),
            "",
            sparql=query_in(record),
            tags=(*texts_in(record, "query_type"), *texts_in(record, "template_id")),
            split=split,
            entities=tuple(iri.strip("<>") for iri in texts_in(record, "entities")),
            predicates=tuple(iri.strip("<>") for iri in texts_in(record, "relations")),
            paraphrases=(*asked[1:], *_strings(record.get("paraphrased_question"))),
        )
        return wordings(place, question, [Text(asked[0] if asked else "", "en")], language)

    return each(listed(path, key="questions"), questions)


def _strings(value: object) -> tuple[str, ...]:
    """Return the texts of a text, of an object with `string`, or of a list of either."""
    match value:
        case None:
            return ()
        case dict():
            text = text_in(value, "string")
            return (_unescaped(text),) if text else ()
        case str(text):
            return (_unescaped(text.strip()),) if text.strip() else ()
        case list(several):
            return tuple(string for one in several for string in _strings(one))
        case _:
            raise Unfit("its question is neither text nor an object with 'string'")


def _unescaped(text: str) -> str:
    # The files hold `\\u00ED` where `\u00ED` was meant.
    return _ESCAPED.sub(lambda escape: chr(int(escape[1], 16)), text)
