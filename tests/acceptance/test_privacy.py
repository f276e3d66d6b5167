"""What a model server is sent under a veil, as its log has it: no value of the graph is in it."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.each import for_each
from tests.methods.guiding import reply
from tests.odd_names import ODD
from tests.servers.llm import LlmServer, Turn

from askgraph import sample
from askgraph.evaluation.runs.one_question import trace_of
from askgraph.graph import KnowledgeGraph
from askgraph.graph.literals import split_literal
from askgraph.graph.names import iterate_schema_names
from askgraph.index.names import split_tokens
from askgraph.llm import User
from askgraph.llm.openai import OpenAIModel
from askgraph.llm.scripted import ScriptedModel
from askgraph.methods import Method
from askgraph.methods.guided import Guided
from askgraph.methods.tools import Visibility
from askgraph.search.tokenize.word_lists import get_word_list
from askgraph.sparql.prefixes import split_local_name
from askgraph.trace import ModelTurn, Prompt, Question, Step
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import run_coroutine

MOONS = "Which moons of Jupiter were discovered by Galileo before 1700?"
LONGEST = 8  # words of a value that are compared; of a longer one, its first ones
ORBITS = "SELECT DISTINCT ?moon WHERE {{ ?moon ont:orbits {} }}"
VALUE = "SELECT ?value {{ hidden:e1 ont:{} ?value }}"
PROVOKING: Sequence[tuple[Sequence[str], Mapping[str, Any]]] = (
    ((reply(choose=1), reply(choose=1)), {}),
    ((reply(query=ORBITS.format("hidden:e1").replace("orbits", "circles")), "No."), {}),
    ((reply(query=ORBITS.format("<https://example.org/space/Titam>")), "No."), {}),
    ((reply(query=ORBITS.format("hidden:e1 ; ont:orbits ?moon")), "No."), {}),
    ((reply(query="SELECT ?m ?p ?o { ?m a ont:Moon ; ?p ?o }", sure=0.2), "No."), {}),
    ((reply(choose=1, query="SELECT ?m { ?m a ont:Moon MINUS { ?m a ont:Mon } }"), "No."), {}),
    ((reply(query='SELECT ?m { ?m rdfs:label "hidden:e1" }'), "No."), {"detail": "both"}),
    ((reply(query="ASK { hidden:e1 a ont:Moon }", sure=0.1), reply(choose=77)), {}),
    ((reply(choose=1), reply(choose=2), "No."), {"n": 2}),
    ((reply(query="SELECT (MAX(?d) AS ?n) { ?m ont:diameter ?d }"), reply(choose=1)), {"n": 2}),
    (
        (reply(query=VALUE.format("surfaceGravity")), reply(query=VALUE.format("diameter"))),
        {"n": 2},
    ),
    ((reply(thought="Nothing is said of hidden:e1."), "No."), {}),
)
"""Replies, and settings, by which a method tells a model all that it can tell."""

ODDLY = (
    "Which work has the author Jürgen Müller-Lüdenscheidt?",
    "Who lives in Cologne and has the code QX-774-b?",
    "Is the salary of the Countess of Lovelace above -4200?",
    "Who is the author of How to Cook a Wolf Without Losing Your Patience or Your Favourite Pan?",
    "Where does 李小龍 live, in 香港?",
    "Was alice:a1 or http://ex.org/res/p1 born on 12.03.1957?",
)
SECRETS = (
    "Jürgen Müller Lüdenscheidt Ada Countess Lovelace Distant R2 Erzwo QX 774 4200 87654 1957 Wolf "
    "Patience Pan 李小龍 香港 Брюс Lee Cologne Köln Stratford Avon AliceSecret Sekret B747 ZZ9 p1"
).split()
TRYING = (
    reply(query="SELECT ?p { ?p ex:lives hidden:e1, hidden:e2 }", thought="Of hidden:e1-x."),
    reply(query="SELECT ?p { ?p ex:livs <http://ex.org/res/hidden:e1> ; ex:code 'xhidden:v1' }"),
    reply(query="SELECT ?s ?o { ?s rdfs:label ?o }", sure=0.1, thought="See hidden:e99."),
    reply(query="SELECT ?p { ?p a hidden:e1 }"),
    reply(choose=1),
)

SMALL = 1000  # below it a number may be a count, or the number of a line


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    graph = Workspace(tmp_path_factory.mktemp("privacy")).open(sample.graph_path())
    yield graph
    run_coroutine(graph.endpoint.close())


def questions() -> list[str]:
    lines = (sample.graph_path().parent / "questions.jsonl").read_text(encoding="utf-8")
    every = [json.loads(line) for line in lines.splitlines()]
    return [one["question"] for one in every if one["lang"] == "en"][::5]


def naming() -> list[str]:
    """Questions that name things, of some sorts, and one with a year."""
    named = [text for text in questions() if any(word[0].isupper() for word in text.split()[1:])]
    return [MOONS, "What is the population of Mars?", *named[::6]]


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    folder = tmp_path_factory.mktemp("odd")
    (folder / "odd.ttl").write_text(ODD, encoding="utf-8")
    graph = Workspace(folder / "home").open(folder / "odd.ttl")
    yield graph
    run_coroutine(graph.endpoint.close())


def asked(method: Method, space: KnowledgeGraph, texts: Iterable[str]) -> None:
    async def run() -> None:
        for text in texts:
            await trace_of(Question(text, "en"), method=method, name="shown", graphs=(space,))

    run_coroutine(run())


def guided_log(
    server: LlmServer, space: KnowledgeGraph, log: Path, sees: Visibility, texts: Sequence[str]
) -> list[Mapping[str, str]]:
    """All messages of `guided` that were sent for questions, each with all that provokes it."""
    model = OpenAIModel("m", base_url=f"{server.base}/v1", sent=log)
    for text in texts:
        for replies, settings in PROVOKING:
            server.turns.clear()
            server.turns += [Turn(one) for one in replies]
            asked(Guided(model, sees=sees, **settings), space, [text])
    run_coroutine(model.close())
    bodies = [json.loads(json.loads(line)["body"]) for line in log.read_text().splitlines()]
    assert sorted(map(repr, bodies)) == sorted(map(repr, server.bodies))  # two may go at once
    return [message for body in bodies for message in body["messages"]]


def values_of(space: KnowledgeGraph) -> dict[tuple[str, ...], str]:
    """Every literal of a thing, by its words; those of classes and predicates are schema."""
    arrays = space.arrays
    assert arrays is not None
    schema = {c.iri for c in space.profile.classes} | {p.iri for p in space.profile.predicates}
    schema.add("https://example.org/space/ontology#operates")  # declared, but not used
    found: dict[tuple[str, ...], str] = {}
    for number in range(len(arrays.predicates)):
        for subject, end in zip(*arrays.get_edges(arrays.get_ends(number), number), strict=True):
            if (
                arrays.terms.is_literal(int(end))
                and arrays.terms.get_value(int(subject)) not in schema
            ):
                text = arrays.terms.get_text(int(end))
                found[split_tokens(split_literal(text)[0])[:LONGEST]] = text
    return {words: text for words, text in found.items() if words}


def schema_texts(space: KnowledgeGraph) -> Iterator[str]:
    yield from (name.text for name in iterate_schema_names(space.profile))
    yield from (split_local_name(p.iri) for p in space.profile.predicates)
    yield from (split_local_name(c.iri) for c in space.profile.classes)
    yield from space.prefixes.namespaces


def runs_in(texts: Iterable[str]) -> set[tuple[str, ...]]:
    """All sequences of words of texts, line by line."""
    found: set[tuple[str, ...]] = set()
    for line in {line for text in texts for line in text.splitlines()}:
        words = split_tokens(line)
        for first in range(len(words)):
            found.update(words[first:end] for end in range(first + 1, first + LONGEST + 1))
    return found


def leaks(
    space: KnowledgeGraph, sent: Iterable[str], ours: str = ""
) -> Mapping[tuple[str, ...], str]:
    """The values in what was sent, but for those of the schema or of every prompt, and counts."""
    runs = runs_in(sent)
    return {words: text for words, text in checked_values(space, ours).items() if words in runs}


def checked_values(space: KnowledgeGraph, ours: str = "") -> dict[tuple[str, ...], str]:
    """The values that may stand in no log, where `ours` is the prompt whatever the graph."""
    known = runs_in([*schema_texts(space), ours])
    stop = get_word_list("en").stop_words
    return {
        words: text
        for words, text in values_of(space).items()
        if not is_small(words) and tuple(word for word in words if word not in stop) not in known
    }


def is_small(words: tuple[str, ...]) -> bool:
    return len(words) == 1 and words[0].isdecimal() and int(words[0]) < SMALL


@pytest.mark.parametrize("sees", ["masked", "schema"])
def test_no_value_of_the_graph_is_in_the_log_of_guided(
    llm_server: LlmServer, space: KnowledgeGraph, tmp_path: Path, sees: Visibility
) -> None:
    log = tmp_path / "sent.jsonl"

    sent = guided_log(llm_server, space, log, sees, naming())

    [instruction] = {one["content"] for one in sent if one["role"] == "system"}
    asked = [one["content"] for one in sent if one["role"] == "user"]
    assert leaks(space, asked, instruction) == {}
    told = "\n".join(asked)
    for line in ("no predicate ont:circles", "has no result"):
        assert line in told
    for line in ("Your query gives", "Rows with a change"):
        assert (line in told) == (sees == "masked")


@for_each("sees", ["masked", "schema"])
@for_each("asked", ODDLY)
def test_odd_names_are_hidden_from_a_model_and_placeholders_from_people(
    odd: KnowledgeGraph, sees: Visibility, asked: str
) -> None:
    sent, told = list[str](), list[Step]()
    for trying in TRYING:
        model = ScriptedModel([trying, "No."])
        told += steps_of(Guided(model, sees=sees), odd, asked)
        sent += [
            str(getattr(message, "text", ""))
            for request in model.requests
            for message in request.messages[1:]
            if message.__class__ is User
        ]

    words = re.compile("|".join(rf"(?<![^\W_]){secret}(?![^\W_])" for secret in SECRETS))
    assert len(sent) > len(TRYING) and not [line for line in sent if words.search(line)]
    for_people = [one for one in told if not isinstance(one, Prompt | ModelTurn)]
    assert for_people and not [one for one in for_people if "hidden:" in repr(one)]


def steps_of(method: Method, graph: KnowledgeGraph, text: str) -> list[Step]:
    async def run() -> list[Step]:
        return [step async for step in method.answer(Question(text, "en"), [graph])]

    return run_coroutine(run())


def test_without_a_veil_the_log_of_guided_has_values(
    llm_server: LlmServer, space: KnowledgeGraph, tmp_path: Path
) -> None:
    log = tmp_path / "sent.jsonl"

    sent = guided_log(llm_server, space, log, "everything", naming()[:1])

    assert leaks(space, [one["content"] for one in sent if one["role"] == "user"])


def test_nearly_every_value_is_looked_for(space: KnowledgeGraph) -> None:
    every, checked = values_of(space), checked_values(space)

    assert len(checked) > 0.97 * len(every)
    assert sum(not is_small(words) for words in every.keys() - checked.keys()) < 20
