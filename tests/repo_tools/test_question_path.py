"""The files that one question passes, and that no query of ours is cut into tokens again."""

import pytest
from tools.question_path import trace_question

LEXER = "sparql/lexer.py:tokens"


@pytest.mark.parametrize(
    ("way", "files", "pairs", "texts"), [("cli", 66, 8, 0), ("guided", 101, 11, 1)]
)
def test_a_question_passes_few_files_and_no_query_of_ours_is_read(
    way: str, files: int, pairs: int, texts: int
) -> None:
    functions, calls = trace_question(way)

    passed = {name.partition(":")[0] for name in functions}
    methods = {name for name in passed if name.startswith("methods/") and name.count("/") == 1}
    assert way == "guided" or methods == {"methods/__init__.py", "methods/graph_search.py"}
    assert not any(name.startswith("server/") for name in passed)
    assert len(passed) <= files
    assert sum(caller < called and (called, caller) in calls for caller, called in calls) <= pairs
    assert functions.get(LEXER, 0) == texts
