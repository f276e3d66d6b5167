"""A ranker reads unsure candidates beside the question, and has a say in their order."""

import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("tokenizers", reason="needs the extra 'semantic'")

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from askgraph import sample
from askgraph.answers.encoder import Sizes, saved, shapes
from askgraph.answers.ranker import (
    CONSIDERED,
    EncoderRanker,
    LanguageRanker,
    Say,
    listed_of,
    losses_of,
    ranked,
)
from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.index.names import Kind
from askgraph.llm import Message
from askgraph.methods.graph_search import GraphSearch
from askgraph.methods.writing import Listed
from askgraph.methods.writing.prompt import target
from askgraph.methods.writing.references import References
from askgraph.search.pipeline import propose
from askgraph.search.rank import clusters
from askgraph.trace import Draft, Question
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import result_of

UNSURE = "Which moons are near Mars or Saturn and by whom?"
WORDS = "which moons are near mars or saturn and by whom the moon that orbits planet".split()


def tokenizer() -> str:
    vocabulary = {word: at for at, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS])}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )  # fmt: skip
    return str(made.to_str())


def weights_file(path: Path, say: Say, *, graphs: tuple[str, ...] = (), seed: int = 0) -> Path:
    """A ranker of random weights."""
    text = tokenizer()
    sizes = Sizes(len(WORDS) + 4, 64, 16, 32, 4, 2, len(text.encode("utf-8")))
    random = np.random.default_rng(seed)
    weights = {
        name: random.normal(0, 0.5, shape).astype(np.float32)
        for name, shape in shapes(sizes).items()
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        header = {"say": asdict(say), "about": {"graphs": list(graphs)}}
        saved(file, weights, text, sizes, header)
    return path


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    workspace = Workspace(tmp_path_factory.mktemp("space"))
    workspace.add("space", [sample.graph_path()])
    found = workspace.find("space")
    yield found
    result_of(found.endpoint.close())


async def drafts_of(graph: KnowledgeGraph, question: str, ranker: str = "") -> list[Draft]:
    steps = GraphSearch(ranker=ranker).answer(Question(question), [graph])
    return [one async for one in steps if isinstance(one, Draft)]


async def test_unsure_candidates_lose_what_the_ranker_holds_against_them(
    graph: KnowledgeGraph, tmp_path: Path
) -> None:
    path = weights_file(tmp_path / "r.npz", Say(weight=3.0, below=1.0))

    before, after = await drafts_of(graph, UNSURE), await drafts_of(graph, UNSURE, str(path))

    assert before != after
    assert max(one.score or 0 for one in after) <= max(one.score or 0 for one in before)


async def test_what_is_sure_is_left_as_it_is(graph: KnowledgeGraph, tmp_path: Path) -> None:
    path = weights_file(tmp_path / "r.npz", Say(weight=3.0, below=0.5))
    asked = "What is the diameter of Jupiter?"

    assert await drafts_of(graph, asked) == await drafts_of(graph, asked, str(path))


async def test_a_ranker_without_a_say_changes_nothing(
    graph: KnowledgeGraph, tmp_path: Path
) -> None:
    path = weights_file(tmp_path / "r.npz", Say())
    assert await drafts_of(graph, UNSURE) == await drafts_of(graph, UNSURE, str(path))


async def test_of_a_folder_that_is_taken_which_did_not_learn_from_the_graph(
    graph: KnowledgeGraph, tmp_path: Path
) -> None:
    folder = tmp_path / "rankers"
    weights_file(folder / "ranker.npz", Say(3.0, 1.0), graphs=("space", "other"), seed=1)
    own = weights_file(folder / "fold1.npz", Say(3.0, 1.0), graphs=("other",))

    assert await drafts_of(graph, UNSURE, str(folder)) == await drafts_of(graph, UNSURE, str(own))

    own.unlink()
    (folder / "training.json").write_text("{}")
    with pytest.raises(SetupError, match="has not learned from 'space'"):
        await drafts_of(graph, UNSURE, str(folder))


def test_a_judgement_does_not_depend_on_what_else_is_judged(tmp_path: Path) -> None:
    ranker = EncoderRanker.load(weights_file(tmp_path / "r.npz", Say()))
    readings = [
        "The moon that orbits Mars.",
        "The planet.",
        "The moons that are near Saturn or by.",
    ]

    together = ranker.judgements(UNSURE, readings)

    assert together == pytest.approx(
        [ranker.judgements(UNSURE, [one])[0] for one in readings], abs=1e-4
    )
    assert len({round(one, 3) for one in together}) == 3
    assert ranker.judgements(UNSURE, []) == []


def test_what_is_liked_best_loses_nothing() -> None:
    assert losses_of([0.5, 2.0, -1.0], 0.1) == pytest.approx([0.15, 0.0, 0.3])


def test_other_files_are_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "r.npz"
    for content in (None, b"", b"PK", _cut(weights_file(tmp_path / "whole.npz", Say()))):
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(SetupError, match="askgraph finetune ranker"):
            EncoderRanker.load(path)


def test_a_tokenizer_that_is_none_or_of_another_model_is_refused(tmp_path: Path) -> None:
    for text, said in (
        ("{}", "tokenizer of a ranker cannot be read"),
        (tokenizer(), "more pieces"),
    ):
        sizes = Sizes(9, 64, 16, 32, 4, 1, len(text.encode("utf-8")))
        weights = {name: np.zeros(shape, np.float32) for name, shape in shapes(sizes).items()}
        path = tmp_path / "r.npz"
        with path.open("wb") as file:
            saved(file, weights, text, sizes, {"say": asdict(Say())})
        with pytest.raises(SetupError, match=said):
            EncoderRanker.load(path)


def _cut(path: Path) -> bytes:
    whole = path.read_bytes()
    return whole[: len(whole) // 2]


def test_sizes_that_a_file_only_claims_are_refused(tmp_path: Path) -> None:
    text = tokenizer()
    sizes = Sizes(len(WORDS) + 4, 64, 16, 32, 4, 2, len(text.encode("utf-8")))
    weights = {name: np.zeros(shape, np.float32) for name, shape in shapes(sizes).items()}
    for wrong in (replace(sizes, layers=3), replace(sizes, heads=3), replace(sizes, places=0)):
        file = io.BytesIO()
        more = {name: np.zeros(shape, np.float32) for name, shape in shapes(wrong).items()}
        saved(file, more | weights, text, sizes, {"say": asdict(Say())})
        path = tmp_path / "r.npz"
        path.write_bytes(_with_sizes(file.getvalue(), wrong))
        with pytest.raises(SetupError, match="holds no ranker"):
            EncoderRanker.load(path)


def _with_sizes(data: bytes, sizes: Sizes) -> bytes:
    """The same arrays under a header of other sizes."""
    with np.load(io.BytesIO(data)) as arrays:
        found = {name: arrays[name] for name in arrays.files}
    header = json.loads(str(found["header"]))
    found["header"] = np.array(json.dumps({**header, "sizes": asdict(sizes)}))
    out = io.BytesIO()
    np.savez_compressed(out, allow_pickle=False, **found)
    return out.getvalue()


class Judge:
    """Finds each reply as likely as it is short, or long, and notes what it was asked."""

    def __init__(self, sign: int) -> None:
        self.sign = sign
        self.told: list[tuple[str, tuple[str, ...]]] = []

    async def log_probabilities(
        self, messages: Sequence[Message], replies: Sequence[str]
    ) -> tuple[float, ...]:
        self.told.append((getattr(messages[-1], "text", ""), tuple(replies)))
        return tuple(self.sign * len(one) / 10 for one in replies)


@pytest.mark.parametrize("sign", [1, -1])
async def test_a_language_model_prefers_what_it_would_have_written(
    graph: KnowledgeGraph, sign: int
) -> None:
    judge = Judge(sign)
    proposal = await propose(Question(UNSURE), graph)

    after = await ranked(proposal, LanguageRanker(Say(5.0, 1.0), {}, judge), graph)

    [(prompt, replies)] = judge.told
    assert prompt.startswith(f"Question: {UNSURE}")
    assert 2 <= len(replies) <= CONSIDERED
    assert all(one.startswith("SELECT ") for one in replies)
    listed = await listed_of([graph.plain_text(after.candidates[0].query)], graph, "en")
    assert all(one.label.replace(" ", "_")[1:] in prompt for one in listed)
    wanted = max(replies, key=lambda one: sign * len(one))
    shown = await listed_of(
        [graph.plain_text(one.best.query) for one in clusters(proposal.candidates)[:CONSIDERED]],
        graph, "en",
    )  # fmt: skip
    assert target(graph.plain_text(after.candidates[0].query), References(shown, "names")) == wanted


async def test_queries_that_cannot_be_written_are_as_likely_as_the_first_that_can() -> None:
    ranker = LanguageRanker(Say(1.0, 1.0), {}, Judge(-1))
    terms = [Listed(Kind.PREDICATE, "http://e.org/p", "p")]
    known, longer = "SELECT ?x { ?x <http://e.org/p> 1 }", "SELECT ?x ?y { ?x <http://e.org/p> ?y }"

    liked = await ranker.judgements(
        "?", ["SELECT ?x { ?x <http://e.org/q> 1 }", longer, known], terms
    )

    assert liked[0] == liked[1] < liked[2]
    assert await ranker.judgements("?", [known], terms) == [0.0]


def test_a_file_that_names_no_language_model_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    for content in (
        "", "[]", '{"say": {"weight": 1, "below": 1}}', '{"say": 1, "model": "m"}',
        '{"say": {"weight": 1, "below": 1}, "model": "m", "about": 1}',
    ):  # fmt: skip
        path.write_text(content)
        with pytest.raises(SetupError, match="askgraph finetune ranker"):
            LanguageRanker.load(path)
