"""Language models from settings, ids and the environment; and methods that get them."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.each import for_each
from tests.servers import faults
from tests.servers.llm import LlmServer, Turn

import askgraph
from askgraph import plugins, sample
from askgraph.errors import Overloaded, SetupError, TimedOut
from askgraph.graph import KnowledgeGraph
from askgraph.llm import LanguageModel, Message, User, read_completion
from askgraph.llm.budget import PriceTable
from askgraph.llm.scripted import ScriptedModel
from askgraph.methods import closed
from askgraph.trace import ModelTurn, Question, Refusal, Step, Usage
from askgraph.workspace import Workspace
from askgraph.workspace.models import Models, resolve_model
from askgraph.workspace.run_sync import run_coroutine

pytestmark = pytest.mark.usefixtures("no_model")
ASKED: list[Message] = [User("What orbits the Earth?")]


@dataclass(frozen=True)
class Talker:
    """A method that says what its model says."""

    model: LanguageModel
    loud: bool = False
    prices: PriceTable | None = None

    async def answer(
        self, question: Question, graphs: Sequence[KnowledgeGraph]
    ) -> AsyncIterator[Step]:
        said = await read_completion(self.model.complete([User(question.text)]))
        yield ModelTurn(said.first, Usage(llm_calls=1), said.model)
        yield Refusal(said.first.text.upper() if self.loud else said.first.text)


@dataclass(frozen=True)
class Silent:
    """A method that may have a model."""

    model: LanguageModel | None = None
    states: int = 1


@pytest.fixture
def talker(install: Callable[..., None]) -> None:
    """The methods above under the names `talker` and `silent`."""
    install(talker=Talker, silent=Silent)


def place(folder: Path, *lines: str) -> Workspace:
    folder.mkdir(exist_ok=True)
    (folder / "askgraph.toml").write_text("\n".join(lines))
    return Workspace(folder)


def said(model: LanguageModel, messages: list[Message] = ASKED) -> str:
    async def run() -> str:
        try:
            return (await read_completion(model.complete(messages))).first.text
        finally:
            await model.close()

    return run_coroutine(run())


def test_tables_and_caches(
    tmp_path: Path, llm_server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A table says which model and how it is asked.
    monkeypatch.setenv("MY_KEY", "abc-123")
    workspace = place(
        tmp_path, "[models.small]", 'model = "qwen"', f'base_url = "{llm_server.base}/v1"',
        'key_env = "MY_KEY"', "temperature = 0.25", "seed = 7", "max_tokens = 50",
        "requests_per_minute = 100", "tokens_per_minute = 100000", "parallel = 2", "timeout = 20",
    )  # fmt: skip
    model = workspace.model("small", temperature=0.5)
    assert said(model) == "The Moon."
    [body] = llm_server.bodies
    assert (body["model"], body["temperature"], body["seed"]) == ("qwen", 0.5, 7)
    assert 50 in body.values()
    headers = {name.lower(): value for name, value in llm_server.requests[0].headers.items()}
    assert headers["authorization"] == "Bearer abc-123" and "abc" not in repr(model)
    # A slow server gets the time that its table says.
    llm_server.always = faults.silence()
    address = f'base_url = "{llm_server.base}/v1"'
    table = ('model = "m"', address, "first_timeout = 0.2", "retries = 0")
    workspace = place(tmp_path, "[models.default]", *table)
    with pytest.raises(TimedOut, match=r"0\.2 seconds; .* the model's setting `first_timeout`"):
        said(workspace.model())


def test_a_cache_keeps_replies_below_the_workspace(tmp_path: Path, llm_server: LlmServer) -> None:
    workspace = place(
        tmp_path, "[models.default]", 'model = "qwen"', f'base_url = "{llm_server.base}/v1"',
        "cache = true",
    )  # fmt: skip
    assert [said(workspace.model()), said(workspace.model())] == ["The Moon."] * 2
    assert len(llm_server.requests) == 1 and list((tmp_path / "model-cache").rglob("*.json"))


def test_retries_are_as_many_as_wanted(tmp_path: Path, llm_server: LlmServer) -> None:
    llm_server.always = faults.status(503)
    url = f"{llm_server.base}/v1"
    with pytest.raises(Overloaded):
        said(Workspace(tmp_path).model("m", base_url=url, retries=0))
    assert len(llm_server.requests) == 1


def test_without_a_name_it_is_the_default_then_the_environment(
    tmp_path: Path, llm_server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SetupError, match=r"ASKGRAPH_MODEL.*\[models.default\].*localhost:11434"):
        Workspace(tmp_path).model()
    monkeypatch.setenv("ASKGRAPH_MODEL", "from-environment")
    monkeypatch.setenv("ASKGRAPH_BASE_URL", f"{llm_server.base}/v1")
    found = Workspace(tmp_path).model().identity
    assert (found.model, found.address) == ("from-environment", f"{llm_server.base}/v1")
    named = place(tmp_path / "a", "[models.default]", 'model = "m"', 'base_url = "http://x/v1"')
    assert named.model().identity.model == "m"
    # Equal settings share a model and its limits.
    models = Models(tmp_path)
    one, same = models.get_model("m", base_url=URL), models.get_model("m", base_url=URL)
    assert one is same and one is not models.get_model("m", base_url=URL, seed=1)


URL = "http://localhost:8000/v1"
Found = tuple[str, str, str | None, str | None]  # provider, model, address, variable of the key
CASES: list[tuple[str, dict[str, object], Found]] = [
    ("gpt-x", {}, ("openai", "gpt-x", None, "OPENAI_API_KEY")),
    ("openai/gpt-x", {}, ("openai", "gpt-x", None, "OPENAI_API_KEY")),
    ("anthropic/claude-x", {}, ("anthropic", "claude-x", None, None)),
    ("claude-x", {"provider": "anthropic"}, ("anthropic", "claude-x", None, None)),
    ("google/gemini-x", {}, ("google", "gemini-x", None, None)),
    ("Qwen/Qwen3", {"base_url": URL}, ("openai", "Qwen/Qwen3", URL, None)),
    ("openai/gpt-x", {"base_url": URL}, ("openai", "openai/gpt-x", URL, None)),
    ("m", {"base_url": URL, "key_env": "K"}, ("openai", "m", URL, "K")),
    ("mine", {}, ("openai", "qwen", URL, "MY_KEY")),
    ("mine", {"model": "other"}, ("openai", "other", URL, "MY_KEY")),
    ("mine", {"base_url": "http://y/v1"}, ("openai", "qwen", "http://y/v1", None)),
    ("mine", {"provider": "anthropic"}, ("anthropic", "qwen", None, None)),
]


@for_each(("name", "overrides", "found"), CASES, share_folder=True)
def test_a_name_and_what_is_said_besides_make_the_settings(
    tmp_path: Path, name: str, overrides: dict[str, object], found: Found
) -> None:
    place(tmp_path, "[models.mine]", 'model = "qwen"', f'base_url = "{URL}"', 'key_env = "MY_KEY"')

    made = Models(tmp_path).resolve_settings(name, **overrides)
    assert (made.provider, made.model, made.base_url, made.key_env) == found


def test_the_key_of_the_environment_goes_to_the_server_named_there_and_to_no_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASKGRAPH_API_KEY", "abc")
    place(tmp_path, "[models.mine]", 'model = "qwen"', f'base_url = "{URL}"')
    models = Models(tmp_path)
    assert models.resolve_settings("m", base_url=URL).key_env == "ASKGRAPH_API_KEY"
    assert models.resolve_settings("mine").key_env is None
    assert models.resolve_settings("gpt-x").key_env == "OPENAI_API_KEY"


WRONG = {
    'model = "m"\nspeed = 1': "no setting 'speed'; available: model, provider",
    'model = "m"\ntemperature = "hot"': "'temperature' must be a number or null, not 'hot'",
    'model = "m"\nfirst_timeout = 0': "first_timeout must be more than 0, not 0",
    'model = "m"\nparallel = 0': "parallel must be more than 0, not 0",
    'model = "m"\nretries = -1': "retries must be 0 or more, not -1",
    'provider = "openai"': "needs `model`",
    'model = "m"\nprovider = "acme"': "'acme' is unknown; .* openai",
    'model = "m"\nprovider = "cached"': "'cached' is unknown",
    'model = "m"': "OPENAI_API_KEY .* is not set",
    'model = "m"\nbase_url = "localhost"': "is not an http or https URL",
    'model = "m"\nbase_url = "http://x"\nprices = "none.toml"': "price table .* cannot be read",
    'model = "m"\nbase_url = "http://x"\nprices = "prices.toml"': "no price for 'm'",
}


@for_each("table", WRONG, share_folder=True)
def test_what_cannot_be_is_refused_before_anything_is_asked(tmp_path: Path, table: str) -> None:
    workspace = place(tmp_path, "[models.default]", table)
    (tmp_path / "prices.toml").write_text("[models.other]\ninput = 1\noutput = 1\n")
    with pytest.raises(SetupError, match=WRONG[table]):
        workspace.model()


@pytest.mark.usefixtures("talker")
def test_a_method_gets_the_model_that_its_settings_name(
    tmp_path: Path, llm_server: LlmServer
) -> None:
    workspace = place(
        tmp_path, "[models.default]", 'model = "qwen"', f'base_url = "{llm_server.base}/v1"',
        'prices = "prices.toml"', "[methods.talker]", "loud = true",
    )  # fmt: skip
    (tmp_path / "prices.toml").write_text("[models.qwen]\ninput = 1\noutput = 1\n")

    default = workspace.method("talker")
    other = workspace.method("talker", {"model": "m", "base_url": URL})

    assert isinstance(default, Talker) and isinstance(other, Talker)
    assert (default.model.identity.model, default.loud) == ("qwen", True)
    assert default.prices is not None and default.prices.get_price("qwen").input == 1
    assert (other.model.identity.model, other.model.identity.address) == ("m", URL)
    assert other.prices is None


@pytest.mark.usefixtures("talker")
async def test_a_model_that_is_there_already_is_taken_as_it_is_and_closed(tmp_path: Path) -> None:
    script, workspace = Closing([]), Workspace(tmp_path)
    method = workspace.method("talker", {"model": script})

    assert isinstance(method, Talker) and method.model is script
    with pytest.raises(SetupError, match="leave out base_url, which would have no effect"):
        workspace.method("talker", {"model": script, "base_url": URL})
    with pytest.raises(SetupError, match="without a language model: leave out model"):
        workspace.method("graph-search", {"model": "m"})
    # One that can do without a model gets it only if it is named.
    silent, models = plugins.load("method", "silent"), Models(tmp_path)
    assert resolve_model(silent, {"states": 2}, models) == {"states": 2}
    assert resolve_model(silent, {"model": "m", "base_url": URL}, models)["model"]
    # Whoever closes a method closes its model.
    await closed(method)
    await closed(workspace.method("graph-search"))
    assert script.closed


class Closing(ScriptedModel):
    """A model that knows whether it was closed."""

    closed = False

    async def close(self) -> None:
        self.closed = True


@for_each(
    ("name", "settings", "asked"),
    ("multi-stage", {"preset": "paper"}, True),
    ("multi-stage", {"entities": "reason"}, True),
    ("multi-stage", {"preset": "paper", "entities": "given", "predicates": "given"}, True),
    ("multi-stage", {}, False),
    ("graph-search", {"interpret": True}, True),
    ("graph-search", {}, False),
    share_folder=True,
)
def test_what_asks_a_model_as_it_is_set_gets_that_of_the_workspace(
    tmp_path: Path, name: str, settings: dict[str, object], asked: bool
) -> None:
    (tmp_path / "askgraph.toml").write_text(
        '[models.default]\nmodel = "a"\nbase_url = "http://x"\n'
    )
    method = Workspace(tmp_path).method(name, settings)
    assert (getattr(method, "model", None) is not None) is asked


@pytest.mark.usefixtures("talker")
def test_ask_takes_a_model_by_name_or_as_an_object(tmp_path: Path, llm_server: LlmServer) -> None:
    llm_server.turns.append(Turn("I am not sure."))

    named = askgraph.ask(
        "?", sample.graph_path(), method="talker", model="m", base_url=f"{llm_server.base}/v1",
        workspace=tmp_path,
    )  # fmt: skip
    given = askgraph.ask(
        "?", sample.graph_path(), method="talker", model=ScriptedModel(["Nor am I."]),
        settings={"loud": True}, workspace=tmp_path,
    )  # fmt: skip

    assert [one.json()["reason"] for one in (named, given)] == ["I am not sure.", "NOR AM I."]


def test_local_models(tmp_path: Path) -> None:
    # A folder is looked for from the workspace on.
    (tmp_path / "models" / "ours").mkdir(parents=True)
    model = Models(tmp_path).get_model("transformers/models/ours")
    assert model.identity.provider == "transformers"
    assert model.identity.model == str(tmp_path / "models" / "ours")
    # Settings of servers are refused.
    with pytest.raises(SetupError, match="timeout would have no effect"):
        Models(tmp_path).get_model("transformers/ours", timeout=3.0)
