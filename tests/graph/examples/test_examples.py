"""Lines of questions as examples."""

from pathlib import Path

import pytest

from askgraph.errors import SetupError
from askgraph.graph.examples import QueryExample, read_examples


def test_a_line_is_an_example_where_it_has_a_query(tmp_path: Path) -> None:
    path = tmp_path / "asked.jsonl"
    path.write_text(
        '{"question": "Which moons?", "sparql": "ASK { }", "lang": "en", "tags": ["moons"]}\n'
        '\n{"question": "Why?", "sparql": null}\n'
    )
    assert read_examples(path) == (
        QueryExample("Which moons?", "ASK { }", "en", keywords=("moons",)),
    )


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"text": "Why?"}', "a text 'question' is needed"),
        ('{"question": 5}', "a text 'question' is needed"),
        ('{"question": "Why?", "sparql": ["ASK { }"]}', "maybe texts 'sparql'"),
        ('["Why?"]', "no JSON object"),
        ('{"question": "Why?"', "Expecting"),
    ],
)
def test_a_line_that_is_no_question_is_named_with_what_is_wrong(
    tmp_path: Path, line: str, why: str
) -> None:
    path = tmp_path / "asked.jsonl"
    path.write_text(f'{{"question": "Why?"}}\n{line}\n')
    with pytest.raises(SetupError, match=f"line 2: no example: .*{why}"):
        read_examples(path)
