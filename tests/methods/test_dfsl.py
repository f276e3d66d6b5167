"""Dynamic few-shot learning: what goes into its one prompt, and which query of several it takes."""

import asyncio
import json
import re
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.each import for_each
from tests.graphs import MOONS
from tests.methods.moons_asked import ASKED, EX, names, run_method, told
from tests.methods.moons_asked import EXAMPLES as MOON_EXAMPLES

from askgraph.endpoint import CountingEndpoint
from askgraph.errors import Overloaded, SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import QueryExample
from askgraph.llm import Choice, TokenLogprob
from askgraph.methods.dfsl import Dfsl
from askgraph.sparql.results import SelectResult
from askgraph.trace import Answer, Draft, Question, Refusal, Thought
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import run_coroutine

EXAMPLES = (
    *MOON_EXAMPLES,
    QueryExample("How large is Europa?", EX + "SELECT ?r { :Europa a onto:Moon; onto:radius ?r }"),
)
GOOD = "<sparql>SELECT ?m WHERE { ?m onto:orbits :Jupiter }</sparql>"
ONE = {"hypotheses": "one"}
NEITHER = (False, False)
FLIPPED = "<sparql>SELECT ?m WHERE { :Jupiter onto:orbits ?m }</sparql>"


@pytest.fixture
def moons(moons: KnowledgeGraph) -> KnowledgeGraph:
    return replace(moons, examples=EXAMPLES)


run = partial(run_method, Dfsl)

LINKED = Question(ASKED, given=("http://example.org/Jupiter", "http://example.org/onto#orbits"))


def test_one_call_with_the_nearest_examples_and_the_terms_of_the_question(
    moons: KnowledgeGraph,
) -> None:
    trace, model = run([GOOD], moons, k=1)

    assert isinstance(trace.outcome, Answer) and names(trace.outcome) == {"Io", "Europa"}
    assert len(model.requests) == trace.outcome.usage.llm_calls == 1
    prompt = told(model)
    assert "Which moons orbit Mars?" in prompt and "?m onto:orbits :Mars" in prompt
    assert "How large is Europa?" not in prompt
    assert ":Jupiter" in prompt and "onto:orbits" in prompt


@pytest.mark.parametrize("order", ["first", "last"])
def test_the_nearest_example_stands_where_it_is_wanted(moons: KnowledgeGraph, order: str) -> None:
    _, model = run([GOOD], moons, k=3, order=order)
    *shown, asked = re.findall(r"Question: (.*)", told(model))
    assert asked == ASKED and len(shown) == 3
    assert shown[0 if order == "first" else -1] == "Which moons orbit Mars?"


def test_of_equal_examples_the_nearest_or_each_but_itself_is_shown(moons: KnowledgeGraph) -> None:
    again = replace(EXAMPLES[0], question="Which are the moons that orbit Mars?")
    graph = replace(moons, examples=(EXAMPLES[0], again))

    for settings, number in (({}, 1), ({"preset": "paper", "links": "linked", **ONE}, 2)):
        _, model = run([GOOD], graph, k=5, **settings)
        assert told(model).count("orbit Mars?") == number
    _, model = run([GOOD], moons, question="which moons orbit mars", k=3)
    assert "?m onto:orbits :Mars" not in told(model)


def test_a_triple_the_wrong_way_round_is_flipped_without_the_model(moons: KnowledgeGraph) -> None:
    trace, model = run([FLIPPED], moons)
    alone, _ = run([FLIPPED], moons, hypotheses="one")

    assert len(model.requests) == 1
    assert isinstance(trace.outcome, Answer) and names(trace.outcome) == {"Io", "Europa"}
    assert trace.outcome.confidence < 0.8
    assert isinstance(alone.outcome, Refusal)
    assert alone.outcome.best is not None and not alone.outcome.best.result.rows


@pytest.mark.parametrize(
    ("choose", "expected"),
    [("first", {"Phobos"}), ("largest", {"Io", "Europa", "Phobos"}), ("vote", {"Io", "Europa"})],
)
def test_one_sample_is_chosen(moons: KnowledgeGraph, choose: str, expected: set[str]) -> None:
    queries = [
        "SELECT ?m { ?m onto:orbits :Io }",
        "SELECT ?m { ?m onto:orbits :Mars }",
        "SELECT ?m { ?m onto:orbits :Jupiter }",
        "SELECT ?x { ?x onto:orbits :Jupiter ; a onto:Moon }",
        "SELECT ?m { ?m a onto:Moon }",
    ]
    samples = [Choice(f"<sparql>{query}</sparql>") for query in queries]
    trace, model = run([samples], moons, hypotheses="samples", n=5, choose=choose)

    assert model.requests[0].n == 5
    assert isinstance(trace.outcome, Answer) and names(trace.outcome) == expected


def test_several_queries_may_be_asked_for_in_words(moons: KnowledgeGraph) -> None:
    trace, model = run([FLIPPED + GOOD], moons, hypotheses="prompt", n=3)
    assert "up to 3" in told(model)
    assert len([step for step in trace.steps if isinstance(step, Draft)]) == 2
    assert isinstance(trace.outcome, Answer) and names(trace.outcome) == {"Io", "Europa"}


def test_given_links_are_taken_as_they_are_and_never_made_up(moons: KnowledgeGraph) -> None:
    given = ("http://example.org/Mars", "http://example.org/onto#orbits")
    _, model = run([GOOD], moons, question=Question("Its moons?", given=given), links="given")
    asked = told(model).rpartition("###")[2]
    assert "Entities: :Mars" in asked and "onto:Moon 3: onto:orbits → onto:Planet" in asked
    assert "onto:code" not in asked


def test_a_relation_that_the_profile_does_not_have_is_no_entity(moons: KnowledgeGraph) -> None:
    lacking = [one for one in moons.profile.predicates if not one.iri.endswith("orbits")]
    graph = replace(moons, profile=replace(moons.profile, predicates=tuple(lacking)))
    _, model = run([GOOD], graph, question=LINKED, preset="paper", **ONE)
    asked = told(model).rpartition("###")[2]
    assert "Entities:\n<http://example.org/Jupiter>\n" in asked
    assert "Relations:\n<http://example.org/onto#orbits>" in asked


@for_each(
    ("without", "entities", "relations"),
    [("", True, True), ("entities", False, True), ("relations", True, False), ("both", *NEITHER)],
)
def test_what_is_left_out_is_in_no_part_of_the_prompt(
    moons: KnowledgeGraph, without: str, entities: bool, relations: bool
) -> None:
    _, model = run([GOOD], moons, question=LINKED, preset="paper", without=without, **ONE)

    prompt = told(model)
    assert prompt.count("<SPARQL>\n") == 3, "demonstrations stay"
    assert prompt.count("Entities:\n") == 4 * entities
    assert prompt.count("Relations:\n") == 4 * relations
    assert ("#type>" in prompt) is relations
    assert ("entities" in prompt.partition("Question:")[0]) is entities
    assert ("relations" in prompt.partition("Question:")[0]) is relations


def test_an_ablation_compares_by_what_is_left(moons: KnowledgeGraph) -> None:
    thing = QueryExample("Name a thing", EX + "SELECT ?x { :Mars onto:code ?x }")
    other = QueryExample("Name another", EX + "SELECT ?x { :Io onto:orbits ?x }")
    graph = replace(moons, examples=(thing, other))
    given = ("http://example.org/Mars", "http://example.org/onto#orbits")
    asked = Question("Name one more", given=given)

    def nearest(without: str) -> str:
        settings = {"preset": "paper", "k": 1, "without": without, **ONE}
        _, model = run([GOOD], graph, question=asked, **settings)
        [shown, _] = re.findall(r"Question: (Name \w+)", told(model))
        return str(shown)

    assert nearest("entities") == "Name another"
    assert nearest("relations") == "Name a"


def test_the_nearest_example_is_found_by_meaning_with_an_embedder(moons: KnowledgeGraph) -> None:
    texts = ("What orbits Jupiter? Which moons?", "Which moons has Jupiter?")
    query = EX + "SELECT ?m { ?m onto:orbits :Jupiter }"
    graph = replace(moons, examples=tuple(QueryExample(text, query) for text in texts))
    for embedder, nearest in (("hashed", texts[0]), ("", texts[1])):
        _, model = run([GOOD], graph, k=1, match="question", embedder=embedder)
        assert re.findall(r"Question: (.*)", told(model)) == [nearest, ASKED]


def test_beams_keep_the_order_of_their_server_and_as_published_the_best_counts(
    moons: KnowledgeGraph,
) -> None:
    said = ((FLIPPED, -2.0), (GOOD, -0.1), (GOOD, -0.2))
    beams = [Choice(text, logprobs=(TokenLogprob("", sure),)) for text, sure in said]

    trace, model = run([beams], moons, hypotheses="beams", n=3)
    paper, published = run([beams], moons, question=LINKED, preset="paper")

    for [sent] in (model.requests, published.requests):
        assert sent.beams and sent.n == 3 and sent.max_tokens
    drafts = [step.query for step in trace.steps if isinstance(step, Draft)]
    assert [f"<sparql>{query}</sparql>" for query in drafts] == [FLIPPED, GOOD]
    assert isinstance(trace.outcome, Answer) and names(trace.outcome) == {"Io", "Europa"}
    [draft] = [step for step in paper.steps if isinstance(step, Draft)]
    assert ":Jupiter onto:orbits ?m" in draft.query and isinstance(paper.outcome, Refusal)


def test_fixed_examples_are_the_same_for_all_questions_or_picked_by_hand(
    moons: KnowledgeGraph,
) -> None:
    prompts = []
    for question in ("How many planets are there?", "Does Io orbit Jupiter?"):
        _, model = run([GOOD], moons, question=question, variant="fixed", k=2)
        prompts.append(told(model).partition("Question: ")[2].rpartition("###")[0])
    assert prompts[0] == prompts[1] != ""

    _, model = run([GOOD], moons, variant="fixed", pick="first", k=2)
    shown = re.findall(r"Question: (.*)", told(model))
    assert shown == [one.question for one in EXAMPLES[:2]] + [ASKED]


@for_each(
    ("reply", "settings", "why"),
    ("I cannot.", {}, ""),
    ("", {}, ""),
    ("<sparql>SELECT nonsense</sparql>", {}, ""),
    (f"{FLIPPED}<sparql>SELECT nonsense</sparql>", {"hypotheses": "prompt"}, "1 failed"),
)
def test_a_reply_without_a_query_that_runs_is_a_refusal_that_says_why(
    moons: KnowledgeGraph, reply: str, settings: dict[str, str], why: str
) -> None:
    trace, _ = run([reply], moons, **settings)
    assert isinstance(trace.outcome, Refusal) and why in trace.outcome.reason
    assert not why or trace.outcome.best is not None


def test_a_spent_budget_is_a_refusal_and_a_server_that_fails_is_none(moons: KnowledgeGraph) -> None:
    trace, _ = run([], moons, tokens=5)
    assert isinstance(trace.outcome, Refusal)
    with pytest.raises(Overloaded, match="busy"):
        run([Overloaded("busy")], moons)


def test_demonstrations_have_labels_however_many_examples_there_are(tmp_path: Path) -> None:
    things = range(1, 901)
    lines = [f'wd:Q{n} rdfs:label "{_called(n)}"@en ; wdt:P1 wd:Q{1 + n % 900} .' for n in things]
    prefixes = (
        "@prefix wd: <http://w.example/entity/> . @prefix wdt: <http://w.example/direct/> . "
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."
    )
    (tmp_path / "many.ttl").write_text("\n".join([prefixes, *lines]))
    graph = Workspace(tmp_path / "workspace").open(tmp_path / "many.ttl")
    query = "SELECT ?x {{ <http://w.example/entity/Q{}> <http://w.example/direct/P1> ?x }}"
    examples = tuple(
        QueryExample(f"Which one follows {_called(n)}?", query.format(n)) for n in things
    )
    asked = replace(graph, examples=examples)

    for match in ("form", "terms"):
        question = f"And what comes after {_called(899)}?"
        _, model = run([GOOD], asked, question=question, match=match, k=2)

        shown = re.findall(r"Question: Which one.* (\d+)\?\nEntities: (.*)", told(model))
        assert len(shown) == 2
        assert all(_called(int(number)) in entities for number, entities in shown)
    run_coroutine(graph.endpoint.close())


FIRST_PROMPT = """
import sys
from dataclasses import replace
from tests.methods.test_dfsl import GOOD, run, told
from askgraph.methods.shared.examples import load_examples
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import run_coroutine
graph = replace(Workspace(sys.argv[1]).graph("moons"), examples=load_examples(sys.argv[2]))
_, model = run([GOOD], graph, question="Which moons orbit planet 700, please?", match=sys.argv[3])
print(told(model))
run_coroutine(graph.endpoint.close())
"""


@pytest.mark.parametrize("match", ["form", "terms"])
def test_an_index_of_many_examples_is_opened_by_the_next_process(
    tmp_path: Path, match: str
) -> None:
    (tmp_path / "moons.ttl").write_text(MOONS)
    Workspace(tmp_path / "workspace").add("moons", [tmp_path / "moons.ttl"])
    asks = enumerate(f"{EX}SELECT ?m {{ ?m :in :P{n} }}" for n in range(1_100))
    lines = ({"question": f"Which moons orbit planet {n}?", "sparql": query} for n, query in asks)
    (tmp_path / "many.jsonl").write_text("\n".join(map(json.dumps, lines)))
    kept = tmp_path / "workspace" / "data" / "moons" / "indices" / "kept"

    def asked() -> tuple[str, dict[str, int]]:
        files = [str(tmp_path / "workspace"), str(tmp_path / "many.jsonl"), match]
        said = subprocess.check_output([sys.executable, "-c", FIRST_PROMPT, *files], text=True)
        return said, {str(one): one.stat().st_mtime_ns for one in kept.rglob("*")}

    first, built = asked()
    second, there = asked()

    assert built == there and built
    assert first == second and first.count("<sparql>\n") == 5
    assert "orbit planet 700?\nEntities: :P700\nRelations: :in" in first


def _called(number: int) -> str:
    return f"thing number {number}"


def test_without_examples_it_works_as_zero_shot(moons: KnowledgeGraph) -> None:
    trace, model = run([GOOD], replace(moons, examples=()))
    assert "###" not in told(model) and "examples" not in told(model)
    assert isinstance(trace.outcome, Answer)
    assert "no example" in "".join(s.text for s in trace.steps if isinstance(s, Thought))


class Late(CountingEndpoint):
    """An endpoint that takes its time over queries about what is ?late."""

    async def select(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> SelectResult:
        await asyncio.sleep(0.6 if "?late" in query else 0)
        return await super().select(query, timeout=timeout, limit=limit)


def test_no_further_query_runs_when_the_time_of_the_question_is_over(moons: KnowledgeGraph) -> None:
    late = Late(moons.endpoint)
    replies = "".join(
        f"<sparql>SELECT ?late {{ ?late onto:orbits :{name} }}</sparql>" for name in ("Io", "Mars")
    )

    trace, _ = run([replies], replace(moons, endpoint=late), hypotheses="prompt", seconds=0.5)

    assert isinstance(trace.outcome, Refusal)
    assert re.search("time limit of .* was reached", trace.outcome.reason)


@for_each(
    ("wrong", "said"),
    ({"variant": "few"}, "must be one of"),
    ({"match": "x"}, "must be one of"),
    ({"choose": "best"}, "must be one of"),
    ({"n": 0}, "'n' must be 1 or more"),
    ({"rows": 0}, "'rows' must be 1 or more"),
    ({"examples": "nowhere.jsonl"}, r"nowhere\.jsonl"),
    ({"links": "given"}, "given"),
)
def test_a_wrong_setting_is_told(moons: KnowledgeGraph, wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(SetupError, match=said):
        run([GOOD], moons, **wrong)


def test_values_that_words_name_are_told_with_what_has_them(moons: KnowledgeGraph) -> None:
    _, model = run([GOOD], moons, question="Which planet has the code MAR?")
    _, plain = run([GOOD], moons, question="Which planet has the code MAR?", ends=False)
    assert '- "MAR" | onto:code of :Mars' in told(model).rpartition("###")[2]
    assert '"MAR"' not in told(plain).rpartition("###")[2]
