"""Words that a graph knows nothing by: a refusal offers names to put in their place."""

from pathlib import Path

import pytest

from askgraph import api
from askgraph.sample import graph_path


@pytest.mark.parametrize(
    ("text", "word", "names"),
    [
        ("What is the population of Mars?", "population", {"diameter", "mass"}),
        ("What is the colour of Titan?", "colour", {"diameter"}),
    ],
)
def test_what_the_thing_has_is_offered_for_a_property_that_is_not_known(
    tmp_path_factory: pytest.TempPathFactory, text: str, word: str, names: set[str]
) -> None:
    place = tmp_path_factory.getbasetemp() / "nearest"
    found = api.ask(text, graph_path(), workspace=place).json()

    missing = found["missing"]
    assert isinstance(missing, list)
    assert missing[0]["words"] == word and names <= set(missing[0]["names"])
    for name in missing[0]["names"]:
        told = api.ask(text.replace(word, name), graph_path(), workspace=place).json()
        assert told["status"] == "answer" and told["rows"], name


def test_words_that_nothing_is_near_to_are_named_without_an_offer(tmp_path: Path) -> None:
    found = api.ask("What is the capital of Mongolia?", graph_path(), workspace=tmp_path).json()

    assert found["status"] == "refusal"
    missing = found["missing"]
    assert missing == [{"words": "capital", "names": []}, {"words": "Mongolia", "names": []}]


def test_an_answer_lacks_nothing(tmp_path: Path) -> None:
    found = api.ask("Who discovered Titan?", graph_path(), workspace=tmp_path).json()
    assert found["missing"] == []
