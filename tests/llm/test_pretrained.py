"""A model's folder is judged before it is used: nothing of it is run, and damage is told."""

import io
import json
import shutil
from pathlib import Path

import pytest
from tests.each import for_each
from tests.tiny_models import tiny_gguf, tiny_qwen

from askgraph.errors import SetupError
from askgraph.llm import User, read_completion
from askgraph.llm.pretrained import (
    build_chat_prompt,
    get_torch_device,
    get_torch_dtype,
    load_pretrained,
)
from askgraph.training.train import merge_adapters
from askgraph.workspace.models import Models


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_qwen(tmp_path_factory.mktemp("sound") / "m", ["SELECT what orbits Jupiter?"])


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "model"))


@pytest.mark.parametrize("typed", ["y\n", ""])
def test_code_beside_a_model_is_never_run(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    mark = tmp_path / "was-run"
    (folder / "own.py").write_text(
        f"open({str(mark)!r}, 'w').close()\n"
        "from transformers import Qwen2Config as Own, Qwen2ForCausalLM as OwnModel\n"
    )
    config = json.loads((folder / "config.json").read_text())
    config["model_type"] = "our_own"
    config["auto_map"] = {"AutoConfig": "own.Own", "AutoModelForCausalLM": "own.OwnModel"}
    (folder / "config.json").write_text(json.dumps(config))

    with pytest.raises(SetupError, match="cannot be loaded"):
        load_pretrained(str(folder))

    assert not mark.exists()


def test_a_folder_without_a_tokenizer_is_refused(folder: Path) -> None:
    for file in folder.glob("*token*"):
        file.unlink()

    with pytest.raises(SetupError, match="no tokenizer"):
        load_pretrained(str(folder))


def test_a_tokenizer_without_words_is_refused(folder: Path) -> None:
    for file in folder.glob("*token*"):
        file.unlink()
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "Qwen2Tokenizer"}')

    with pytest.raises(SetupError):
        load_pretrained(str(folder))


@pytest.mark.parametrize("kept", [0, 5, 300])
def test_weights_that_were_cut_off_are_told(folder: Path, kept: int) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:kept])

    with pytest.raises(SetupError, match="cannot be loaded"):
        load_pretrained(str(folder))


def test_a_model_that_is_not_there_is_told_with_the_way_to_it() -> None:
    with pytest.raises(SetupError, match=r"neither a folder .* --download, or `download = true`"):
        load_pretrained("someone/nothing-of-this-name")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_gguf(tmp_path_factory.mktemp("gguf") / "tiny.gguf", ["SELECT what orbits Jupiter?"])


def test_a_gguf_file_is_read_with_its_tokenizer_and_template(file: Path) -> None:
    found = load_pretrained(str(file))

    read = found.tokenizer("SELECT what orbits Jupiter?")["input_ids"]
    assert found.tokenizer.decode(read) == "SELECT what orbits Jupiter?"
    assert found.model.get_input_embeddings().weight.shape == (found.tokenizer.vocab_size, 32)
    assert build_chat_prompt([User("Who?")], found.tokenizer).endswith("<|start|>assistant\n")


def test_a_gguf_file_saved_as_a_folder_has_the_same_weights(file: Path, tmp_path: Path) -> None:
    merge_adapters(file, tmp_path / "whole")

    pairs = zip(
        load_pretrained(str(file)).model.state_dict().items(),
        load_pretrained(str(tmp_path / "whole")).model.state_dict().items(),
        strict=True,
    )
    for (name, one), (same, other) in pairs:
        assert name == same and one.equal(other)


async def test_a_gguf_file_of_a_workspace_is_asked_by_its_name(file: Path, tmp_path: Path) -> None:
    shutil.copy(file, tmp_path / "tiny.gguf")
    model = Models(tmp_path).get_model("transformers/tiny.gguf")

    done = await read_completion(model.complete([User("Who?")], grammar='root ::= "yes" | "no"'))

    assert done.first.text in ("yes", "no")
    await model.close()


@for_each("share", [0.0, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99])
def test_a_gguf_file_that_was_cut_off_is_told(file: Path, tmp_path: Path, share: float) -> None:
    whole = file.read_bytes()
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(whole[: int(len(whole) * share)])

    with pytest.raises(
        SetupError, match=r"not a GGUF file, or its download is incomplete|cannot be loaded"
    ):
        load_pretrained(str(broken))


def test_gguf_of_a_kind_that_nobody_knows_is_told_by_its_name(tmp_path: Path) -> None:
    file = tiny_gguf(tmp_path / "odd.gguf", ["SELECT"], architecture="whatnot")

    with pytest.raises(SetupError, match=r"odd.gguf' cannot be loaded: .*whatnot"):
        load_pretrained(str(file))


def test_a_gguf_file_that_is_none_or_a_part_or_not_there_is_told(tmp_path: Path) -> None:
    page = tmp_path / "page.gguf"
    page.write_text("<html>404: not found</html>")
    part = tmp_path / "large-00001-of-00003.gguf"
    part.write_bytes(b"GGUF")

    for path, said in (
        (page, "is not a GGUF file"),
        (part, "--merge"),
        (tmp_path / "x.gguf", "no file"),
    ):
        with pytest.raises(SetupError, match=said):
            load_pretrained(str(path))


@pytest.mark.parametrize("name", ["nn", "foo", "int8"])
def test_a_type_that_weights_cannot_have_is_refused(name: str) -> None:
    with pytest.raises(SetupError, match=f"no weight type '{name}'"):
        get_torch_dtype(name)


@pytest.mark.parametrize("name", ["mars", "cuda:99", "meta"])
def test_a_device_that_is_not_there_is_refused(name: str) -> None:
    with pytest.raises(SetupError, match=name):
        get_torch_device(name)
