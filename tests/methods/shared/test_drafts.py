"""Drafts in a model's words: what it is told, and what is taken of a reply."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import RdfFormat, parse
from tests.each import for_each
from tests.graphs_in_regions import FIRMS

from askgraph.errors import BudgetSpent
from askgraph.graph.arrays import build_arrays
from askgraph.graph.examples import Wording
from askgraph.graph.local_profile import build_profile
from askgraph.llm.budget import BudgetAccount, ModelBudget, charge_model
from askgraph.llm.scripted import ScriptedModel, ScriptedReply
from askgraph.methods.shared.drafts import draft_comments, reword_questions
from askgraph.methods.shared.several_graphs import ParsedQuery, parse_query

PLACE = "http://example.org/"
TERMS = [PLACE + name for name in ("Deal", "seller", "partOf", "gone")]
PROMPT = Path(__file__).parents[2] / "prompts" / "term-comments.txt"


async def drafted(*replies: ScriptedReply) -> tuple[list[tuple[str, str]], ScriptedModel]:
    profile = build_profile(build_arrays(parse(FIRMS, RdfFormat.TURTLE)))
    model, account = ScriptedModel(replies), BudgetAccount(ModelBudget())
    found = await draft_comments(TERMS, profile, charge_model(model, account), account)
    assert all(one.why.startswith("drafted by ") for one in found)
    return [(one.term.removeprefix(PLACE), one.text) for one in found], model


def said(*comments: tuple[int, str]) -> str:
    return json.dumps({"comments": [{"number": n, "text": text} for n, text in comments]})


async def test_the_prompt_says_how_each_term_is_used() -> None:
    _, model = await drafted(said())
    (request,) = model.requests
    told = "\n\n".join(getattr(message, "text", "") for message in request.messages) + "\n"
    if os.environ.get("ASKGRAPH_PROMPTS") == "write":
        PROMPT.write_text(told, encoding="utf-8")
    assert told == PROMPT.read_text(encoding="utf-8")


@pytest.mark.parametrize("last", ["Here you are.", "{}"])
async def test_a_comment_goes_to_the_term_of_its_number_or_is_asked_for_again(last: str) -> None:
    good = said((2, "Who\nsells."), (1, "A sale."), (9, "Nothing."), (3, " "))
    for replies, expected in (
        (("Sure!", good), [("Deal", "A sale."), ("seller", "Who sells.")]),
        (("Sure!", last), []),
    ):
        found, model = await drafted(*replies)
        assert found == expected and len(model.requests) == 2


ASKED = [
    ("Which moons have the planet Mars?", "SELECT ?moon { ?moon :orbits :Mars }"),
    ("How many moons are there?", "SELECT (COUNT(?m) AS ?n) { ?m a :Moon }"),
]


def said_wordings(*wordings: tuple[int, str, str]) -> str:
    listed = [dict(zip(("number", "language", "question"), one, strict=True)) for one in wordings]
    return json.dumps({"wordings": listed})


async def worded(
    *replies: ScriptedReply, languages: tuple[str, ...] = ("en",), calls: int | None = None
) -> tuple[list[tuple[Wording, ...]], ScriptedModel]:
    model, account = ScriptedModel(replies), BudgetAccount(ModelBudget(calls))
    return await reword_questions(ASKED, languages, charge_model(model, account), account), model


async def test_one_call_words_all_questions_in_all_languages() -> None:
    reply = said_wordings(
        (2, "de", "Wie viele Monde?"), (1, "DE", "Wer kreist?"), (1, "en", "What\norbits?")
    )
    found, model = await worded(reply, languages=("en", "de"))

    assert found == [
        (Wording("What orbits?", "en"), Wording("Wer kreist?", "de")),
        (Wording("Wie viele Monde?", "de"),),
    ]
    (request,) = model.requests
    told = str(request.messages[1])
    assert "en, de" in told and all(question in told for question, _ in ASKED)


async def test_a_reply_without_wordings_is_asked_for_once_more() -> None:
    found, model = await worded("Sure!", said_wordings((1, "en", "What orbits Mars?")))
    assert found[0] == (Wording("What orbits Mars?", "en"),) and len(model.requests) == 2
    found, model = await worded("Sure!", "Here you are.")
    assert found == [(), ()] and len(model.requests) == 2


@for_each(
    "wording", [(1, "fr", "Quoi ?"), (3, "en", "What?"), (1, "en", " ?! "), (1, "en", "so " * 200)]
)
async def test_what_was_not_asked_for_is_left_out(wording: tuple[int, str, str]) -> None:
    found, _ = await worded(said_wordings(wording))
    assert found == [(), ()]


async def test_a_budget_that_is_used_up_is_said() -> None:
    with pytest.raises(BudgetSpent):
        await worded(said_wordings(), calls=0)


QUERY = "SELECT ?x WHERE { ?x ?y ?z }"


@for_each(
    "reply",
    QUERY,
    f"```sparql\n{QUERY}\n```",
    f"```sparql\r\n{QUERY}\r\n```",
    f"```\n{QUERY}\n``` That is all.",
    f"First:\n```sparql\nASK {{ ?a ?b ?c }}\n```\nbetter:\n```sparql\n{QUERY}\n```",
    f"```sparql\n{QUERY}\n```\nwhich gives\n```json\n{{}}\n```",
    f"It is `{QUERY}`",
    f"```sparql\n{QUERY}",
)
def test_the_last_query_of_a_reply_is_found(reply: str) -> None:
    assert parse_query(reply) == ParsedQuery(QUERY)


@for_each(
    ("lines", "graph", "columns"),
    ("# graph: moons", "moons", ()),
    ("#+ endpoint: https://a.example/sparql", "https://a.example/sparql", ()),
    ("  # Graph: <askgraph:moons>\n# answer: ?y", "askgraph:moons", ("y",)),
    ("# endpoint: `moons`\n# Answers: ?y, ?z", "moons", ("y", "z")),
    ("#+ answer: ?y ?z ?y", "", ("y", "z")),
)
def test_the_graph_and_the_columns_that_a_query_names_are_taken_off_it(
    lines: str, graph: str, columns: tuple[str, ...]
) -> None:
    assert parse_query(f"```sparql\n{lines}\n{QUERY}\n```") == ParsedQuery(QUERY, graph, columns)


@for_each(
    "reply",
    "",
    "```turtle\n<a:a> <b:b> <c:c> .\n```",
    "```sparql\nDELETE WHERE { ?s ?p ?o }\n```",
    "INSERT DATA { <a:a> <b:b> <c:c> }; SELECT * WHERE { ?s ?p ?o }",
)
def test_what_is_no_query_is_none(reply: str) -> None:
    assert parse_query(reply) is None


@given(st.text())
def test_any_reply_can_be_read(reply: str) -> None:
    found = parse_query(reply)
    assert found is None or found.query
