"""The multi-stage method: what each stage finds, what is dropped, and what is refused, and why."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from pyoxigraph import Store
from tests.each import for_each
from tests.graphs import MOONS, store_of
from tests.methods.moons_asked import names
from tests.servers.sparql import Reply, SparqlServer
from tests.servers.sparql import Request as HttpRequest

from askgraph.errors import SetupError, Unreachable
from askgraph.evaluation.runs.one_question import trace_of
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import QueryExample
from askgraph.llm import Choice
from askgraph.llm import Request as LlmRequest
from askgraph.llm.scripted import ScriptedModel
from askgraph.methods.multi_stage import MultiStage
from askgraph.methods.shared.cooccurrence import REACH_TEXTS
from askgraph.trace import Answer, Draft, Findings, Prompt, Question, Refusal, Thought, Trace
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import run_coroutine

EX, ONTO = "http://example.org/", "http://example.org/onto#"
ASKED = "Which moons orbit Jupiter?"
LINKED = {"entities": "linked", "predicates": "linked"}


def run(graph: KnowledgeGraph, question: str | Question = ASKED, **settings: object) -> Trace:
    asked = question if isinstance(question, Question) else Question(question)
    method = MultiStage(**settings)  # type: ignore[arg-type]
    return run_coroutine(trace_of(asked, method=method, name="multi-stage", graphs=[graph]))


def stages(trace: Trace) -> list[set[str]]:
    """What each stage found, by the ends of the IRIs."""
    return [
        {mention.target.rsplit("/", 1)[-1] for mention in step.mentions}
        for step in trace.steps
        if isinstance(step, Findings)
    ]


def test_without_a_model_it_answers_and_each_stage_tells_its_finds(moons: KnowledgeGraph) -> None:
    trace = run(moons)
    things, matched, listed = stages(trace)

    assert {"Jupiter", "onto#Moon"} <= things and "onto#orbits" not in things
    assert matched == {"onto#orbits"}
    assert {"onto#orbits", "onto#code"} <= listed
    assert isinstance(trace.outcome, Answer) and names(trace.outcome) == {"Io", "Europa"}
    assert trace.outcome.usage.llm_calls == 0 and 0 < trace.outcome.confidence < 1


def test_a_predicate_of_no_thing_is_dropped_and_a_chain_kept_whole(moons: KnowledgeGraph) -> None:
    asked = Question("Jupiter?", given=(f"{EX}Jupiter", f"{ONTO}radius", f"{ONTO}code"))
    given = {"entities": "given", "predicates": "given", "near": 0}
    assert stages(run(moons, asked, **given))[2] == {"onto#code"}
    assert stages(run(moons, asked, restrict=False, **given))[1] == {"onto#code", "onto#radius"}

    text = "What is the abbreviation of what Io circles?"
    asked = Question(text, given=(f"{EX}Io", f"{ONTO}orbits", f"{ONTO}code"))
    assert stages(run(moons, asked, **given))[2] == {"onto#orbits", "onto#code"}


@pytest.mark.parametrize(("filter", "refused"), [("direct", True), ("reach", False)])
def test_the_filter_refuses_before_a_query_is_written(
    moons: KnowledgeGraph, filter: str, refused: bool
) -> None:
    asked = Question("The code?", given=(f"{EX}Io", f"{ONTO}code"))
    trace = run(moons, asked, entities="given", predicates="given", filter=filter)
    assert Thought(REACH_TEXTS[2]) in trace.steps
    assert isinstance(trace.outcome, Refusal) is refused
    assert bool([step for step in trace.steps if isinstance(step, Draft)]) is not refused


def test_where_a_class_is_named_its_instances_stand_for_an_entity(moons: KnowledgeGraph) -> None:
    kept = Question("radius?", given=(f"{ONTO}Moon", f"{ONTO}radius"))
    lost = Question("radius?", given=(f"{ONTO}Planet", f"{ONTO}radius"))
    given = {"entities": "given", "predicates": "given", "filter": "direct"}
    assert isinstance(run(moons, kept, **given).outcome, Answer)
    assert isinstance(run(moons, lost, **given).outcome, Refusal)


@for_each(
    ("question", "settings", "why", "best"),
    ("Which moons have a radius of more than 99999?", {}, "No query has a result", set()),
    (ASKED, {"answer_from": 1.0}, "sure enough", {"Io", "Europa"}),
    ("Who invented the zip fastener?", {"near": 0}, "is named by the words", None),
    (ASKED, {"writer": "model", "n": 1}, "writer says", None),
)
def test_what_is_empty_unsure_or_about_nothing_is_refused_with_the_best_attempt(
    moons: KnowledgeGraph,
    question: str,
    settings: dict[str, object],
    why: str,
    best: set[str] | None,
) -> None:
    model = ScriptedModel(["I cannot."]) if "writer" in settings else None
    outcome = run(moons, question, model=model, **settings).outcome
    assert isinstance(outcome, Refusal) and why in outcome.reason
    assert (outcome.best and names(outcome.best)) == best


def test_with_one_reading_no_two_terms_share_a_word(moons: KnowledgeGraph) -> None:
    mentions = [
        mention
        for step in run(moons, readings=1, near=0).steps[:1]
        if isinstance(step, Findings)
        for mention in step.mentions
    ]

    words = [word for mention in mentions for word in mention.words.split()]
    assert len(words) == len(set(words)) and words


def picking(request: LlmRequest) -> str:
    """Pick Jupiter and orbits, by the numbers that they have in the prompt."""
    told = str(getattr(request.messages[-1], "text", ""))
    wanted = re.findall(r"^(\d+)\. (?:Jupiter|orbits)", told, re.MULTILINE)
    return f"So be it.\nPICK: {', '.join(wanted) or 'none'}"


def test_a_model_picks_among_what_is_retrieved(moons: KnowledgeGraph) -> None:
    trace = run(moons, model=ScriptedModel(picking), entities="reason", predicates="reason", near=0)

    things, matched, _ = stages(trace)
    assert (things, matched) == ({"Jupiter"}, {"onto#orbits"})
    assert isinstance(trace.outcome, Answer) and names(trace.outcome) == {"Io", "Europa"}
    assert trace.outcome.usage.llm_calls == 2
    assert [type(step).__name__ for step in trace.steps].count("ModelTurn") == 2


def test_the_picker_is_another_model_than_the_writer(moons: KnowledgeGraph) -> None:
    writer = ScriptedModel(["SELECT ?m WHERE { ?m onto:orbits :Jupiter }"])
    picker = ScriptedModel(["So.\nPICK: :Jupiter.", "PICK: ex:61, `onto:orbits`"])
    models = {"model": writer, "further": {"p": picker}}
    trace = run(moons, ASKED, preset="paper", least_predicates=0, n=1, picker="p", **models)

    assert isinstance(trace.outcome, Answer) and names(trace.outcome) == {"Io", "Europa"}
    assert (len(picker.requests), len(writer.requests)) == (2, 1)
    assert "PICK" in str(picker.requests) and "PICK" not in str(writer.requests)
    assert {(asked.max_tokens, asked.temperature) for asked in picker.requests} == {(4_000, 0.0)}
    assert trace.outcome.usage.llm_calls == 3


@for_each(("settings", "number"), ({"preset": "paper"}, 10), ({"candidates": 100}, 100))
def test_ten_candidates_of_ten_predicates_are_shown_or_as_many_as_are_wanted(
    tmp_path: Path, settings: dict[str, object], number: int
) -> None:
    longer = ["moon moon moon no. near", "moon moon moon no. far far far far away, so far"]
    labels = enumerate([*longer, *(f"moon no. {at}" for at in range(120))])
    facts = [";".join(f"<urn:p{n}> {n}" for n in range(most)) for most in (7, 8)]
    many = (
        f'<urn:{at}> a <urn:M> ; rdfs:label "{name}" ; {facts[at > 0]} .' for at, name in labels
    )
    (tmp_path / "many.ttl").write_text(MOONS + "\n".join(many))
    graph = Workspace(tmp_path).open(tmp_path / "many.ttl")
    model = ScriptedModel(["PICK: none"])
    run(graph, "moon no.?", model=model, entities="reason", predicates="linked", **settings)
    run_coroutine(graph.endpoint.close())
    shown = getattr(model.requests[0].messages[-1], "text", "").partition("Candidates\n")[2]
    assert len(shown.splitlines()) == number
    assert ("far away" in shown.splitlines()[0]) is ("preset" in settings), "by its k1 and b"


@pytest.mark.parametrize("remote", [False, True], ids=["here", "remote"])
def test_entities_with_few_predicates_are_not_retrieved(
    moons: KnowledgeGraph, remote: bool
) -> None:
    graph = replace(moons, arrays=None) if remote else moons

    def candidates(least: int) -> set[str]:
        trace = run(
            graph, model=ScriptedModel(["PICK: none"]), entities="reason", least_predicates=least
        )
        prompts = [step for step in trace.steps if isinstance(step, Prompt)]
        shown = [getattr(prompt.messages[-1], "text", "") for prompt in prompts]
        return set(re.findall(r"^\d+\. (\w+)", "\n".join(shown), re.MULTILINE))

    assert candidates(0) > candidates(3) > candidates(9) == set()


def test_a_model_writes_the_query_over_names(moons: KnowledgeGraph) -> None:
    model = ScriptedModel(["SELECT ?v0 WHERE { ?v0 <orbits> <Jupiter> . }"])
    trace = run(moons, model=model, writer="model", n=1)
    assert isinstance(trace.outcome, Answer) and names(trace.outcome) == {"Io", "Europa"}
    assert [step.purpose for step in trace.steps if isinstance(step, Prompt)] == ["write"]


@pytest.mark.parametrize("strange", [False, True])
def test_a_model_writes_plain_sparql_from_what_is_linked(
    moons: KnowledgeGraph, strange: bool
) -> None:
    def writing(request: LlmRequest) -> str:
        shown = str(getattr(request.messages[-1], "text", ""))
        found = {label: iri for iri, label in re.findall(r"(<.*>): (.*)", shown)}
        target = "<http://example.org/Pluto>" if strange else found["Jupiter"]
        return f"```sparql\nSELECT ?m WHERE {{ ?m {found['orbits']} {target} }}\n```"

    query = "SELECT ?m { ?m <http://example.org/onto#orbits> <http://example.org/Mars> }"
    asked = (ASKED, "Which moons orbit Mars?")
    graph = replace(moons, examples=tuple(QueryExample(text, query) for text in asked))

    trace = run(graph, model=ScriptedModel(writing), writer="sparql", shots=1, n=1)

    [prompt] = [step for step in trace.steps if isinstance(step, Prompt)]
    assert [getattr(one, "text", "") for one in prompt.messages[1:3]] == [
        "Question: Which moons orbit Mars?",
        query,
    ]
    if strange:
        assert isinstance(trace.outcome, Refusal)
    else:
        assert isinstance(trace.outcome, Answer) and names(trace.outcome) == {"Io", "Europa"}


def test_as_published_a_writer_has_no_grammar_and_no_values(moons: KnowledgeGraph) -> None:
    beams = ("no query", f"SELECT ?v0 WHERE {{ ?v0 <{ONTO}orbits> <{EX}Jupiter> . }}")
    ours = {"writer": "model", "form": "plain", "search": "beams", "n": 2}
    for settings, is_published in (({"preset": "paper"}, True), (ours, False)):
        model = ScriptedModel([[Choice(text) for text in beams]])
        model.identity = replace(model.identity, grammar=True)
        trace = run(moons, "Which moons orbit Jupiter, JUP?", model=model, **settings, **LINKED)

        [prompt] = [step for step in trace.steps if isinstance(step, Prompt)]
        shown, [request] = str(prompt.messages[-1]), model.requests
        assert f"<{EX}Jupiter>: Jupiter" in shown and ("Values" not in shown) is is_published
        assert (request.beams, request.n, request.grammar is None) == (True, 2, is_published)
        assert isinstance(trace.outcome, Answer) and names(trace.outcome) == {"Io", "Europa"}


SPANS = [{"start": 18, "end": 25, "id": each} for each in ("Jupiter", "Nobody", "no> } #", "1%")]
FALCON = {
    "entities_wikidata": [{"URI": f"{EX}Jupiter", "surface form": "Jupiter"}],
    "relations_wikidata": [{"URI": f"{EX}elsewhere/orbits", "surface form": "orbit"}],
}


@for_each(
    ("said", "settings"),
    (SPANS, {"linker": "{url}#" + EX}),
    (FALCON, {"linker": "falcon", "linker_address": "{url}", "predicates": "outside"}),
)
def test_a_linker_outside_finds_what_the_graph_knows_and_is_asked_once(
    moons: KnowledgeGraph, said: object, settings: dict[str, str]
) -> None:
    class Server(SparqlServer):
        def honest(self, request: HttpRequest) -> Reply:
            return Reply(200, {"Content-Type": "application/json"}, json.dumps(said).encode())

    with Server(Store()) as server:
        chosen = {name: value.format(url=server.url) for name, value in settings.items()}
        graph = moons if "predicates" in settings else replace(moons, arrays=None)
        trace = run(graph, entities="outside", near=0, **chosen)

    assert stages(trace)[:2] == [{"Jupiter"}, {"onto#orbits"}]
    assert isinstance(trace.outcome, Answer) and names(trace.outcome) == {"Io", "Europa"}
    assert len(server.requests) == 1


def test_a_linker_that_is_down_and_links_that_do_not_come_are_told(moons: KnowledgeGraph) -> None:
    with SparqlServer(Store()) as gone:
        address = gone.url
    with pytest.raises(Unreachable, match="entities=linked needs no linker"):
        run(moons, entities="outside", linker="refined", linker_address=address)
    with pytest.raises(SetupError, match="given"):
        run(moons, entities="given")


def test_a_remote_graph_is_answered_as_a_local_one(tmp_path: Path) -> None:
    with SparqlServer(store_of(MOONS)) as server:
        graph = Workspace(tmp_path).open(server.url)
        trace = run(graph)
        run_coroutine(graph.endpoint.close())
    assert isinstance(trace.outcome, Answer) and names(trace.outcome) == {"Io", "Europa"}
    assert stages(trace)[1] == {"onto#orbits"} and trace.outcome.usage.requests > 0


@for_each(
    ("setting", "said"),
    ({"entities": "guessed"}, "entities"),
    ({"entities": "outside"}, "linker"),
    ({"entities": "reason"}, "reason"),
    ({"filter": "on"}, "filter"),
    ({"writer": "nobody"}, "writer"),
    ({"writer": "model"}, "writer"),
    ({"writer": "weights/x.npz"}, r"pointer writer was removed; askgraph 0\.2 was the last"),
    ({"form": "rdf"}, "form"),
    ({"form": "references"}, r"'references'.* askgraph 0\.2 was the last version"),
    ({"bm25_entities": "high"}, "BM25"),
    ({"n": 0}, "n"),
    ({"answer_from": 2}, "answer_from"),
)
def test_a_setting_that_makes_no_sense_is_refused(setting: dict[str, object], said: str) -> None:
    with pytest.raises(SetupError, match=said):
        MultiStage(**setting)  # type: ignore[arg-type]


def test_what_graph_search_proposes_is_all_that_is_listed(moons: KnowledgeGraph) -> None:
    model = ScriptedModel(["SELECT ?v0 WHERE { ?v0 <orbits> <Jupiter> . }"])

    trace = run(moons, entities="proposed", predicates="proposed", model=model, writer="model", n=1)

    things, predicates, used = stages(trace)
    assert "Jupiter" in things and predicates == used
    assert {one for one in predicates if one.startswith("onto#")} == predicates
    [prompted] = [step for step in trace.steps if isinstance(step, Prompt)]
    told = getattr(prompted.messages[-1], "text", "")
    assert len(re.findall(r"^[<\"]", told, re.MULTILINE)) == len(things) + len(used)
