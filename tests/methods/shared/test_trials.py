"""The query in a reply, however it is wrapped, and the graph that it names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askgraph.methods.shared.trials import Written, written_query

QUERY = "SELECT ?x WHERE { ?x ?y ?z }"


@pytest.mark.parametrize(
    "reply",
    [
        QUERY,
        f"```sparql\n{QUERY}\n```",
        f"```sparql\r\n{QUERY}\r\n```",
        f"```\n{QUERY}\n``` That is all.",
        f"First:\n```sparql\nASK {{ ?a ?b ?c }}\n```\nbetter:\n```sparql\n{QUERY}\n```",
        f"```sparql\n{QUERY}\n```\nwhich gives\n```json\n{{}}\n```",
        f"It is `{QUERY}`",
        f"```sparql\n{QUERY}",
    ],
)
def test_the_last_query_of_a_reply_is_found(reply: str) -> None:
    assert written_query(reply) == Written(QUERY)


@pytest.mark.parametrize(
    ("line", "graph"),
    [
        ("# graph: moons", "moons"),
        ("#+ endpoint: https://a.example/sparql", "https://a.example/sparql"),
        ("  # Graph: <askgraph:moons>", "askgraph:moons"),
        ("# endpoint: `moons`", "moons"),
    ],
)
def test_the_graph_that_a_query_names_is_taken_off_it(line: str, graph: str) -> None:
    assert written_query(f"```sparql\n{line}\n{QUERY}\n```") == Written(QUERY, graph)


@pytest.mark.parametrize(
    ("line", "columns"),
    [
        ("# answer: ?y", ("y",)),
        ("# Answers: ?y, ?z", ("y", "z")),
        ("#+ answer: ?y ?z ?y", ("y", "z")),
        ("# answers the question", ()),
    ],
)
def test_the_columns_asked_for_are_taken_off_it(line: str, columns: tuple[str, ...]) -> None:
    found = written_query(f"```sparql\n# graph: moons\n{line}\n{QUERY}\n```")

    assert found is not None and found.columns == columns and found.graph == "moons"


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I select the moons.",
        "```turtle\n<a:a> <b:b> <c:c> .\n```",
        "```sparql\nDELETE WHERE { ?s ?p ?o }\n```",
        "INSERT DATA { <a:a> <b:b> <c:c> }; SELECT * WHERE { ?s ?p ?o }",
    ],
)
def test_what_is_no_query_is_none(reply: str) -> None:
    assert written_query(reply) is None


@given(st.text())
def test_any_reply_can_be_read(reply: str) -> None:
    found = written_query(reply)

    assert found is None or found.query
