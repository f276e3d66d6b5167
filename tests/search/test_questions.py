"""Questions over small graphs have the rows that the files in `questions/` say."""

import pytest
from tests.search.question_files import FILES, graph_named, read_questions


@pytest.mark.parametrize("file", FILES)
def test_questions_have_the_rows_that_the_file_says(file: str) -> None:
    asked = list(read_questions(file))
    found = [one.rows_over(graph_named(one.graph)) for one in asked]
    assert asked
    assert not [
        f"{one.title}: {one.question}\n  {rows}\n  not {one.rows}"
        for one, rows in zip(asked, found, strict=True)
        if rows != one.rows
    ]
