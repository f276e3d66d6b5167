"""Questions from templates in a model's words: what is asked for, and what is taken of a reply."""

import json

import pytest

from askgraph.agent.drafts import reworded
from askgraph.errors import BudgetSpent
from askgraph.llm.budget import Account, Budget
from askgraph.llm.scripted import Reply, ScriptedModel
from askgraph.llm.stack import charged
from askgraph.metadata.examples import Wording

ASKED = [
    ("Which moons have the planet Mars?", "SELECT ?moon { ?moon :orbits :Mars }"),
    ("How many moons are there?", "SELECT (COUNT(?m) AS ?n) { ?m a :Moon }"),
]


def said_wordings(*wordings: tuple[int, str, str]) -> str:
    listed = [dict(zip(("number", "language", "question"), one, strict=True)) for one in wordings]
    return json.dumps({"wordings": listed})


async def worded(
    *replies: Reply, languages: tuple[str, ...] = ("en",), calls: int | None = None
) -> tuple[list[tuple[Wording, ...]], ScriptedModel]:
    model, account = ScriptedModel(replies), Account(Budget(calls))
    return await reworded(ASKED, languages, charged(model, account), account), model


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


async def test_a_reply_without_json_is_asked_for_once_more() -> None:
    found, model = await worded("Sure!", said_wordings((1, "en", "What orbits Mars?")))
    assert found[0] == (Wording("What orbits Mars?", "en"),) and len(model.requests) == 2
    found, model = await worded("Sure!", "Here you are.")
    assert found == [(), ()] and len(model.requests) == 2


@pytest.mark.parametrize(
    "wording", [(1, "fr", "Quoi ?"), (3, "en", "What?"), (1, "en", " ?! "), (1, "en", "so " * 200)]
)
async def test_what_was_not_asked_for_is_left_out(wording: tuple[int, str, str]) -> None:
    found, _ = await worded(said_wordings(wording))
    assert found == [(), ()]


async def test_a_budget_that_is_used_up_is_said() -> None:
    with pytest.raises(BudgetSpent):
        await worded(said_wordings(), calls=0)
