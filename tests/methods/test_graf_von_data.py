"""Graf von Data with scripted models: written actions are done, told, confirmed, and replayed."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.each import for_each
from tests.methods.moons_asked import last_message as told
from tests.methods.moons_asked import names, run_method

from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.llm import Request, User
from askgraph.llm.scripted import ScriptedModel, ScriptedReply
from askgraph.methods.graf_von_data import Action, GrafVonData, parse_actions
from askgraph.trace import Answer, Refusal

ALL = "SELECT DISTINCT ?moon WHERE { ?moon onto:orbits :Jupiter }"
NONE = "SELECT ?moon WHERE { ?moon onto:orbits :Io }"
BROKEN = "query('SELECT ?x { ?x onto:radius ?r . FILTER(?r > }') | success('big ones')"


run = partial(run_method, GrafVonData)


@pytest.mark.parametrize(
    "replies",
    [
        [f"Think: clear.\nAct: query('{ALL}')", "Think: fits.\nAct: success('done')"],
        [f"Act: query('{ALL}') | success('done')"],
    ],
)
def test_a_query_is_confirmed_in_1_or_2_turns(moons: KnowledgeGraph, replies: list[str]) -> None:
    trace, model = run(replies, moons)
    assert len(model.requests) == len(replies) and "2 rows" in str(trace.steps)
    assert isinstance(trace.outcome, Answer) and names(trace.outcome) == {"Io", "Europa"}
    assert all(not request.tools for request in model.requests), "any model will do"


def test_search_and_deref_show_names_and_what_is_said_of_them(moons: KnowledgeGraph) -> None:
    replies = ["Act: search('Jupiter') | deref(':Io')", f"Act: query('{ALL}') | success('')"]
    _, model = run(replies, moons, propose=False)
    shown = told(model, 1)
    assert ":Jupiter" in shown and "1821.6" in shown
    assert shown.index("search(") < shown.index("deref(")


@for_each(
    ("iri", "settings", "shown"),
    (":Jupiter", {"individuals": "outgoing"}, None),
    (":Jupiter", {"individuals": "neighbourhood"}, "onto:orbits"),
    ("onto:Moon", {"individuals": "outgoing", "schema": "outgoing"}, None),
    ("onto:Moon", {"individuals": "outgoing", "schema": "specific"}, "onto:radius"),
)
def test_the_boundaries_of_things_and_of_classes_are_settings(
    moons: KnowledgeGraph, iri: str, settings: dict[str, str], shown: str | None
) -> None:
    _, model = run(
        [f"Act: deref('{iri}')", "Act: fail('enough')"], moons, propose=False, **settings
    )
    found = [one for one in ("onto:orbits", "onto:radius") if one in told(model, 1)]
    assert (shown in found) if shown else not found


def test_as_published_a_resource_is_all_of_its_triples(
    moons: KnowledgeGraph, local: KnowledgeGraph
) -> None:
    looks = " | ".join(f"deref('http://example.org/{name}')" for name in ("Io", "Jupiter"))
    body = "Act: deref('https://example.org/space/ontology#CelestialBody')"

    replies = [f"Act: {looks}", f"Act: query('{ALL}') | success('I looked at  Io.')"]
    trace, model = run(replies, moons, preset="paper")
    _, other = run([body, "Act: fail('')"], local, preset="paper")

    shown = told(model, 1)
    assert '"Io"@de' in shown and '"Io"@en' in shown and "ont:CelestialBody" in told(other, 1)
    assert shown.count("onto:orbits :Jupiter") == 1 and "ont:Moon" not in told(other, 1)
    assert isinstance(trace.outcome, Answer)
    assert trace.outcome.interpretation == "I looked at Io."
    assert (model.requests[0].temperature, model.requests[0].top_p) == (0.0, 1.0)


@for_each(
    ("replies", "request", "said", "end"),
    (["success('easy')", f"query('{ALL}') | success('now')"], 1, "run the query first", Answer),
    ([f"query('{ALL}')", BROKEN, "fail('no')"], 2, "nothing to confirm", Refusal),
    ([f"query('{NONE}')", *["success('none')"] * 2], 2, "no rows", Answer),
)
def test_success_confirms_the_last_query_that_ran_and_may_insist_on_no_rows(
    moons: KnowledgeGraph, replies: list[str], request: int, said: str, end: type
) -> None:
    trace, model = run([f"Act: {reply}" for reply in replies], moons)
    assert said in told(model, request)
    assert isinstance(trace.outcome, end)
    if NONE in replies[0] and isinstance(trace.outcome, Answer):
        assert not trace.outcome.result.rows


def test_old_results_are_shortened_the_question_and_last_ones_not(moons: KnowledgeGraph) -> None:
    def explores(request: Request) -> ScriptedReply:
        return f"Act: query('SELECT * {{ ?s ?p ?o }} # {len(request.messages)}')"

    _, model = run(explores, moons, question="Which moons?", cycles=6, transcript=800)

    _, first, *later = model.requests[-1].messages
    results = [m.text for m in later if isinstance(m, User)]
    assert first == model.requests[0].messages[1]
    assert "shortened" in results[0] and "shortened" not in results[-1]


@pytest.mark.parametrize("action", ["fail('no comets here')", "chat('no comets here')"])
def test_fail_and_chat_end_without_an_answer(moons: KnowledgeGraph, action: str) -> None:
    trace, _ = run([f"Act: {action}"], moons)
    assert isinstance(trace.outcome, Refusal)
    assert trace.outcome.reason == "no comets here"
    assert names(trace.outcome.best) == {"Io", "Europa"}, "graph search's candidate is at hand"


def test_a_reply_without_action_is_told_so_and_three_end_the_run(moons: KnowledgeGraph) -> None:
    trace, model = run(["Hm.", "Let me think.", "It is Io.", f"Act: query('{ALL}')"], moons)
    assert "no action" in told(model, 1)
    assert len(model.requests) == 3
    assert isinstance(trace.outcome, Answer), "graph search's candidate stands in"


def test_a_model_that_never_ends_costs_at_most_its_cycles(moons: KnowledgeGraph) -> None:
    def explores(request: Request) -> ScriptedReply:
        return f"Act: query('{ALL} # {len(request.messages)}')"

    trace, model = run(explores, moons, question="Which moons?", cycles=4)

    assert len(model.requests) == 4
    assert isinstance(trace.outcome, Answer) and trace.outcome.confidence <= 0.4


def test_of_graphs_the_one_that_fits_is_taken(moons: KnowledgeGraph, pets: KnowledgeGraph) -> None:
    replies = ["Act: query('SELECT ?who WHERE { :Rex :owner ?who }') | success('')"]
    trace, _ = run(replies, moons, pets, question="Who is the owner of Rex?")
    assert isinstance(trace.outcome, Answer)
    assert trace.outcome.graph == "pets" and names(trace.outcome) == {"Ann"}


@pytest.mark.parametrize("wrong", [{"individuals": "specific"}, {"schema": "all"}])
def test_a_wrong_boundary_says_which_there_are(wrong: dict[str, str]) -> None:
    with pytest.raises(SetupError, match="outgoing"):
        GrafVonData(ScriptedModel([]), **wrong)  # type: ignore[arg-type]


NAMES = ("search", "deref", "query", "success", "fail", "chat")


def read(text: str) -> list[tuple[str, str]]:
    return [(action.name, action.argument) for action in parse_actions(text, NAMES)]


@for_each(
    ("written", "argument"),
    ("query('ASK { ?x :p|:q ?y }')", "ASK { ?x :p|:q ?y }"),
    ("query('ASK { ?x :name 'Io')' }')", "ASK { ?x :name 'Io')' }"),
    ('query("""ASK { ?x :name "Io" }""")', 'ASK { ?x :name "Io" }'),
    ("```\nquery('ASK { ?x a :Moon }')\n```", "ASK { ?x a :Moon }"),
    ("query(“ASK { ?x a :Moon }”)", "ASK { ?x a :Moon }"),
    ("query(SELECT (COUNT(?x) AS ?n) { ?x a :M })", "SELECT (COUNT(?x) AS ?n) { ?x a :M }"),
    ("QUERY ( 'ASK {}' )", "ASK {}"),
    ("query('ASK {}'", "'ASK {}'"),
)
def test_an_argument_may_hold_quotes_bars_and_brackets(written: str, argument: str) -> None:
    assert read(f"Think: so.\n**Act:** {written}") == [("query", argument)]


@for_each(
    ("text", "actions"),
    (
        "Think: two.\nAct: search('Io') | deref(\"http://example.org/Jupiter\")",
        [("search", "Io"), ("deref", "http://example.org/Jupiter")],
    ),
    ("Act: search('Io')\nObserve: ex:Io\nAct is done. search('Europa')", [("search", "Io")]),
    ("Act: I could search('Io').\nThink: no.\nAct: fail('nothing')", [("fail", "nothing")]),
    ("Act: search('Io') | search('Io')", [("search", "Io")]),
    ("Act: research('Io') and subquery('x')", []),
)
def test_the_last_act_s_actions_are_read_once(text: str, actions: list[tuple[str, str]]) -> None:
    assert read(text) == actions


@given(st.text(max_size=300))
def test_no_text_breaks_the_reader(text: str) -> None:
    assert all(action.name in NAMES for action in parse_actions(text, NAMES))


@given(st.text(st.characters(exclude_characters="'\"`“”‘’„«»)("), max_size=80))
def test_an_argument_in_quotes_comes_as_it_was_written(argument: str) -> None:
    found = parse_actions(f"Act: search('{argument}')", ("search",))
    made_up = "observ" in argument.lower() or "system" in argument.lower()
    assert made_up or "act" in argument.lower() or found == (Action("search", argument.strip()),)
