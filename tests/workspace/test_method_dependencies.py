"""Methods that are handed the models and the other methods that their settings name."""

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.each import for_each
from tests.graphs import MOONS
from tests.methods.guiding import reply
from tests.servers.llm import LlmServer, Turn

import askgraph
from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.llm.scripted import ScriptedModel
from askgraph.methods import Method, can_follow_up, can_search_indices, closed, has_given_links
from askgraph.methods.dfsl import Dfsl
from askgraph.methods.graph_search import GraphSearch
from askgraph.methods.guided import Auto, Guided
from askgraph.methods.nearest_example import NearestExample
from askgraph.methods.sparql_llm import SparqlLlm
from askgraph.trace import Question, Refusal, Step
from askgraph.workspace import Workspace
from askgraph.workspace.graphs import prepare_graphs
from askgraph.workspace.plans import (
    RunOptions,
    TaskRunner,
    WorkerContext,
    parse_method_choices,
    plan_run,
)
from askgraph.workspace.run_sync import head_of, run_coroutine
from askgraph.workspace.selection import Selection, select_benchmarks

pytestmark = pytest.mark.usefixtures("no_model")
TABLES = """
[models.default]
model = "qwen"
base_url = "http://x.example/v1"

[models.large]
model = "qwen-large"
base_url = "http://y.example/v1"
"""


@dataclass(frozen=True)
class Council:
    """A method that has no model and consults others."""

    consult: str = ""
    others: Mapping[str, Method] = field(default_factory=dict)

    async def answer(
        self, question: Question, graphs: Sequence[KnowledgeGraph]
    ) -> AsyncIterator[Step]:
        yield Refusal("Nobody was asked.")


@dataclass(frozen=True)
class Named:
    """A method whose fields have these names and mean other things."""

    models: str = ""
    further: str = ""
    consult: str = ""
    others: str = ""


@pytest.fixture
def council(install: Callable[..., None]) -> None:
    """The methods above under the names `council` and `named`."""
    install(council=Council, named=Named)


def place(folder: Path, text: str = TABLES) -> Workspace:
    (folder / "askgraph.toml").write_text(text)
    return Workspace(folder)


def guided(workspace: Workspace, **settings: object) -> Guided:
    method = workspace.method("guided", settings)
    assert isinstance(method, Guided)
    return method


def test_methods_that_consult_others(tmp_path: Path) -> None:
    # Methods are named with plus between and each has settings of its own.
    workspace = place(tmp_path, TABLES + "[methods.sparql_llm]\nshots = 2\nconfirmed = false\n")
    method = guided(workspace, consult="graph-search + dfsl+sparql_llm")
    assert list(method.others) == ["graph-search", "dfsl", "sparql-llm"]
    search, few_shot, retrieval = method.others.values()
    assert isinstance(search, GraphSearch) and isinstance(few_shot, Dfsl)
    assert isinstance(retrieval, SparqlLlm) and retrieval.shots == 2
    assert few_shot.model is method.model and retrieval.model is method.model
    # A consulted method keeps the model of its own settings.
    workspace = place(tmp_path, TABLES + '[methods.dfsl]\nmodel = "large"\n')
    method = guided(workspace, consult="dfsl+sparql-llm", model="m", base_url="http://z.example/v1")
    few_shot, retrieval = method.others.values()
    assert isinstance(few_shot, Dfsl) and isinstance(retrieval, SparqlLlm)
    assert few_shot.model.identity.model == "qwen-large"
    assert retrieval.model is method.model and method.model.identity.model == "m"
    # A consulted method has the prices of the model that it shares.
    (tmp_path / "prices.toml").write_text("[models.qwen]\ninput = 1\noutput = 1\n")
    text = TABLES.replace('model = "qwen"\n', 'model = "qwen"\nprices = "prices.toml"\n')
    method = guided(place(tmp_path, text), consult="dfsl")
    few_shot = method.others["dfsl"]
    assert isinstance(few_shot, Dfsl) and few_shot.prices is method.prices is not None
    # Further models are tables or ids of the server that is named.
    method = guided(place(tmp_path), model="m", base_url="http://z.example/v1", models="large+tiny")
    addresses = {name: one.identity.address for name, one in method.further.items()}
    assert addresses == {"large": "http://y.example/v1", "tiny": "http://z.example/v1"}
    assert method.further["large"].identity.model == "qwen-large"
    named = place(tmp_path).method("multi-stage", {"entities": "reason", "picker": "large"})
    assert list(named.further) == ["large"]  # type: ignore[attr-defined]
    # Without names nobody else is asked.
    method = guided(place(tmp_path))
    assert (method.further, method.others) == ({}, {})
    # What a consulting method learns from holds for those that it consults.
    workspace = place(tmp_path, TABLES + '[methods.dfsl]\nexamples = "all.jsonl"\n')
    alone = guided(workspace, consult="dfsl+nearest-example").others["dfsl"]
    folds = guided(workspace, consult="dfsl+nearest-example", examples="fold.jsonl").others
    assert isinstance(alone, Dfsl) and alone.examples == "all.jsonl"
    few_shot, nearest = folds["dfsl"], folds["nearest-example"]
    assert isinstance(few_shot, Dfsl) and isinstance(nearest, NearestExample)
    assert (few_shot.examples, nearest.examples) == ("fold.jsonl", "fold.jsonl")


@pytest.mark.usefixtures("council")
@for_each(
    ("settings", "said"),
    ({"consult": "dfsl+guided"}, "cannot consult itself: remove 'guided' from"),
    ({"consult": "council"}, "cannot consult 'council', which consults methods itself"),
    ({"consult": "dfls"}, "no method named 'dfls'; did you mean 'dfsl'"),
    ({"consult": "zzz"}, "no method named 'zzz'; available: .*dfsl.*sparql-llm"),
    ({"consult": "dfsl+"}, r"a \+ without a name on either side: 'dfsl\+'"),
    ({"consult": "sparql-llm+sparql_llm"}, "'consult' names 'sparql-llm' twice"),
    ({"models": "large+large"}, "'models' names 'large' twice"),
    (
        {"models": "larg"},
        "'models' names 'larg': .*OPENAI_API_KEY.* Available tables .*: default, large",
    ),
    ({"consult": 3}, "'consult' must be text, not 3"),
    ({"models": ["large"]}, r"'models' must be text, not \['large'\]"),
    ({"others": {"dfsl": "dfsl"}}, "'others' is not a setting: name them in 'consult'"),
    ({"further": "large"}, "'further' is not a setting: name them in 'models'"),
    share_folder=True,
)
def test_what_cannot_be_consulted_is_told_before_anything_is_asked(
    tmp_path: Path, settings: dict[str, object], said: str
) -> None:
    with pytest.raises(SetupError, match=said):
        place(tmp_path).method("guided", settings)


def test_what_consulted_methods_need(tmp_path: Path) -> None:
    # A table of objects in the settings of a workspace is refused.
    workspace = place(tmp_path, TABLES + '[methods.guided.others]\ndfsl = "dfsl"\n')
    with pytest.raises(SetupError, match="'others' is not a setting"):
        workspace.method("guided")
    # What a consulted method needs the one that consults needs.
    search, model = Dfsl(ScriptedModel([])), ScriptedModel([])
    plain, retrieval = Council(others={"a": search}), Council(others={"b": SparqlLlm(model)})
    alone = Council()
    gold = Council(others={"a": search, "c": Dfsl(model, links="given")})
    assert [can_search_indices(one) for one in (plain, retrieval)] == [False, True]
    assert [can_follow_up(one) for one in (alone, plain)] == [False, True]
    assert [has_given_links(one) for one in (plain, gold)] == [False, True]
    # The indices of a consulted method are built first.
    (tmp_path / "moons.ttl").write_text(MOONS)
    workspace = Workspace(tmp_path)
    workspace.add("moons", [tmp_path / "moons.ttl"])
    method = Council(others={"sparql-llm": SparqlLlm(ScriptedModel([]))})
    run_coroutine(prepare_graphs(["moons"], workspace.graph, method).close())
    assert (workspace.get_data_folder("moons") / "indices" / "literals.json").exists()
    # A trace says who was asked and how.
    settings = head_of(guided(place(tmp_path), models="large", consult="dfsl"), []).settings
    further, others = settings["further"], settings["others"]
    assert isinstance(further, dict) and further["large"]["model"] == "qwen-large"
    assert isinstance(others, dict) and others["dfsl"]["k"] == 5
    assert others["dfsl"]["model"]["model"] == "qwen"


@pytest.mark.usefixtures("council")
def test_any_method_with_such_fields_is_handed_others_and_no_other_method_is(
    tmp_path: Path,
) -> None:
    workspace = place(tmp_path)

    handed = workspace.method("council", {"consult": "graph-search+dfsl"})
    named = workspace.method("named", {"consult": "dfsl", "others": "all", "further": "none"})

    assert isinstance(handed, Council) and list(handed.others) == ["graph-search", "dfsl"]
    few_shot = handed.others["dfsl"]
    assert isinstance(few_shot, Dfsl) and few_shot.model.identity.model == "qwen"
    assert isinstance(named, Named) and named.others == "all"


class Closing(ScriptedModel):
    """A model that counts how often it was closed."""

    closings = 0

    async def close(self) -> None:
        self.closings += 1


async def test_closing_a_method_closes_every_model_once() -> None:
    shared, further, own = Closing([]), Closing([]), Closing([])
    others: list[Method] = [Dfsl(shared), SparqlLlm(own), GraphSearch()]
    named = {type(one).__name__: one for one in others}
    await closed(Guided(shared, further={"large": further}, others=named))
    assert [one.closings for one in (shared, further, own)] == [1, 1, 1]


def test_a_changed_setting_of_a_consulted_method_makes_it_another_run(tmp_path: Path) -> None:
    choices = parse_method_choices(["guided:consult=dfsl,models=large"])

    def made() -> str:
        return repr(TaskRunner(WorkerContext(tmp_path, choices)).get_method(choices[0].label))

    place(tmp_path)
    first, same = made(), made()
    place(tmp_path, TABLES + "[methods.dfsl]\nk = 1\n")
    others = made()
    place(tmp_path, TABLES.replace("qwen-large", "qwen-huge"))
    models = made()

    assert first == same and len({first, others, models}) == 3


def test_other_examples_of_a_consulted_method_make_it_another_run(tmp_path: Path) -> None:
    (tmp_path / "moons.ttl").write_text(MOONS)
    line = {"id": "1", "question": "Which moons orbit Mars?", "sparql": "ASK { ?s ?p ?o }"}
    for name in ("asked", "learnt"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(line) + "\n")
    workspace = place(
        tmp_path, TABLES + f'[methods.dfsl]\nexamples = "{tmp_path / "learnt.jsonl"}"\n'
    )
    workspace.add("moons", [tmp_path / "moons.ttl"])
    choices = parse_method_choices(["guided:consult=dfsl"])

    async def fingerprint() -> str:
        asked = select_benchmarks(
            workspace, [str(tmp_path / "asked.jsonl")], Selection(graph="moons")
        )
        async with TaskRunner(WorkerContext(tmp_path, choices)) as host:
            return (await plan_run(host, asked, RunOptions(choices))).tasks[0].fingerprint

    first, same = run_coroutine(fingerprint()), run_coroutine(fingerprint())
    (tmp_path / "learnt.jsonl").write_text(json.dumps(line | {"question": "Any?"}) + "\n")

    assert first == same != run_coroutine(fingerprint())


GUIDED_TABLES = """
[methods.guided]
model = "m"
base_url = "http://x.example/v1"
ask = "always"
looks = 0

[methods.auto]
sure_from = 0.8
"""


@for_each(
    ("tables", "settings", "kind", "values"),
    ("", {"sure_from": 0.9, "seconds": 3.0, "answer_from": 0.6}, GraphSearch, (3.0, 0.6)),
    ("[methods.graph-search]\nanswer_from = 0.7", {}, GraphSearch, (20.0, 0.7)),
    ('[models.default]\nmodel = "without-a-key"', {"seconds": 3.0}, GraphSearch, (3.0, 0.33)),
    (TABLES, {"sure_from": 0.9}, Auto, (0.9, "unsure", 1)),
    (GUIDED_TABLES, {}, Auto, (0.8, "unsure", 0)),
    ("", {"model": ScriptedModel([]), "looks": 2}, Auto, (0.95, "unsure", 2)),
)
def test_the_default_is_graph_search_or_guided_with_its_settings(
    tmp_path: Path, tables: str, settings: dict[str, object], kind: type, values: tuple[object, ...]
) -> None:
    workspace = place(tmp_path, tables)
    method = workspace.method("auto", settings)
    names = ("sure_from", "ask", "looks") if kind is Auto else ("seconds", "answer_from")

    assert type(method) is kind and tuple(getattr(method, name) for name in names) == values
    assert workspace.resolve_method("auto", settings)[0] in ("auto", "graph-search")
    with pytest.raises(SetupError, match=r"'auto' has no setting 'states'|OPENAI_API_KEY"):
        workspace.method("auto", {**settings, "states": 50})


def test_all_who_are_consulted_are_asked_and_what_they_cost_is_told(
    tmp_path: Path, llm_server: LlmServer
) -> None:
    (tmp_path / "moons.ttl").write_text(MOONS)
    llm_server.turns.extend(Turn(reply(choose=1)) for _ in range(4))

    result = askgraph.ask(
        "Which moons orbit Mars?",
        tmp_path / "moons.ttl",
        method="guided",
        model="m",
        base_url=f"{llm_server.base}/v1",
        settings={"models": "other", "consult": "dfsl+graph-search"},
        workspace=tmp_path / "workspace",
    )

    assert sorted({body["model"] for body in llm_server.bodies}) == ["m", "other"]
    answer = result.json()
    assert [row[0] for row in answer["rows"]] == ["http://example.org/Phobos"]  # type: ignore[attr-defined]
    assert answer["usage"]["llm_calls"] == len(llm_server.requests)  # type: ignore[index]
