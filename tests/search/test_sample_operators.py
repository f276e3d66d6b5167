"""Every operator of the sample's questions is answered right at least once, in each language."""

import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import pytest
from tests.each import for_each
from tests.search.asking import Known

from askgraph.evaluation import Table
from askgraph.sample import questions_path
from askgraph.search.rank import clusters
from askgraph.sparql.comparison import cell_of_json

LINES: list[Mapping[str, Any]] = [
    json.loads(line)
    for line in questions_path().with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()
]
ANSWERABLE = [line for line in LINES if line["sparql"]]
OPERATORS = sorted({tag for line in ANSWERABLE for tag in line["tags"]})


@pytest.fixture(scope="module")
def right(space: Known) -> Mapping[str, int]:
    """How many questions of each operator and language the best cluster answers."""
    found: dict[str, int] = defaultdict(int)
    for line in ANSWERABLE:
        best = clusters(space.proposal(line["question"], line["lang"]).candidates)
        if best and _same(space.rows(space.query(best[0].best.query)), line["answers"]):
            for key in (line["lang"], *line["tags"]):
                found[key] += 1
    return found


def _same(found: object, gold: Mapping[str, Any]) -> bool:
    if isinstance(found, bool) or "boolean" in gold:
        return found is gold.get("boolean")
    assert isinstance(found, list)
    wanted = Table.of_json(gold["vars"], gold["rows"])
    plain = [{_plain(text) for text in column} for column in zip(*found, strict=True)]
    cells = [{cell_of_json(text) for text in column} for column in plain]
    return all(set(column) in cells for column in wanted.columns())


def _plain(text: str | None) -> str | None:
    """The value of an N-Triples term."""
    if text is None or text[0] != '"':
        return text and text[1:-1]
    return json.loads(text[: text.rindex('"') + 1])  # type: ignore[no-any-return]


@for_each("operator", OPERATORS)
def test_an_operator_of_the_sample_is_understood(operator: str, right: Mapping[str, int]) -> None:
    assert right[operator] >= 1


@pytest.mark.parametrize("language", ["en", "de", "es"])
def test_most_questions_of_a_language_are_understood(
    language: str, right: Mapping[str, int]
) -> None:
    asked = sum(line["lang"] == language for line in ANSWERABLE)
    assert right[language] >= 0.7 * asked


@for_each(
    ("question", "language", "term"),
    [
        ("Quand est né Neil Armstrong ?", "fr", '"1930-08-05"'),
        ("Qui a découvert Titan ?", "fr", "Christiaan_Huygens"),
        ("Quelle est la hauteur de Saturn V ?", "fr", '"110.6"'),
        ("Quelles fusées sont construites par SpaceX ?", "fr", "Starship"),
    ],
)
def test_a_question_in_another_language_than_the_names_of_the_graph_is_understood(
    question: str, language: str, term: str, space: Known
) -> None:
    best = space.best(question, language)
    assert term in str(space.rows(space.query(best.query)))


def test_each_reading_of_one_of_several_things_is_about_these(space: Known) -> None:
    found = clusters(space.proposal("Which moons orbit Saturn or Uranus?").candidates)[:3]

    assert all("IN (" in space.query(one.best.query) for one in found)


def test_of_one_that_is_asked_for_several_may_be_the_first(space: Known) -> None:
    best = space.best("Which moon was discovered first?", "en")
    found = space.rows(space.query(best.query))
    assert not isinstance(found, bool)
    names = {str(row[0]).rpartition("/")[2].rstrip(">") for row in found}
    assert names == {"Io", "Europa", "Ganymede", "Callisto"}
