"""A model's folder is judged before it is used: nothing of it is run, and damage is told."""

import io
import json
import shutil
from pathlib import Path

import pytest
from tests.tiny_models import tiny_qwen

from askgraph.errors import SetupError
from askgraph.llm.pretrained import pretrained, torch_device, torch_dtype


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_qwen(tmp_path_factory.mktemp("sound") / "m", ["SELECT what orbits Jupiter?"])


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "model"))


def test_a_sound_folder_is_read(folder: Path) -> None:
    found = pretrained(str(folder))

    assert found.tokenizer("SELECT")["input_ids"]
    assert found.tokenizer.pad_token_id is not None


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
        pretrained(str(folder))

    assert not mark.exists()


def test_a_folder_without_a_tokenizer_is_refused(folder: Path) -> None:
    for file in folder.glob("*token*"):
        file.unlink()

    with pytest.raises(SetupError, match="no tokenizer"):
        pretrained(str(folder))


def test_a_tokenizer_without_words_is_refused(folder: Path) -> None:
    for file in folder.glob("*token*"):
        file.unlink()
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "Qwen2Tokenizer"}')

    with pytest.raises(SetupError):
        pretrained(str(folder))


@pytest.mark.parametrize("kept", [0, 5, 300])
def test_weights_that_were_cut_off_are_told(folder: Path, kept: int) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:kept])

    with pytest.raises(SetupError, match="cannot be loaded"):
        pretrained(str(folder))


def test_a_model_that_is_not_there_is_told_with_the_way_to_it() -> None:
    with pytest.raises(SetupError, match=r"neither a folder .* --download, or `download = true`"):
        pretrained("someone/nothing-of-this-name")


@pytest.mark.parametrize("name", ["nn", "foo", "int8"])
def test_a_type_that_weights_cannot_have_is_refused(name: str) -> None:
    with pytest.raises(SetupError, match=f"no type '{name}'"):
        torch_dtype(name)


@pytest.mark.parametrize("name", ["mars", "cuda:99", "meta"])
def test_a_device_that_is_not_there_is_refused(name: str) -> None:
    with pytest.raises(SetupError, match=name):
        torch_device(name)


def test_the_processor_is_always_there() -> None:
    assert torch_device("cpu") == "cpu"
