"""The weights of evidence: those in use fit it and its signs, and a file is read again."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.search.asking import Known

from askgraph.errors import SetupError
from askgraph.search.decide.confidence import (
    EVIDENCE,
    FOR,
    own_weights,
    read_weights,
    weighed,
    weights_text,
)
from askgraph.search.decide.evidence import evidence_for
from askgraph.search.rank.clusters import clusters

numbers = st.floats(0, 5)


def _text(weights: dict[str, float]) -> str:
    """A file of the package's weights with some of others in their place."""
    return weights_text({**own_weights(), **weights}, ["Made by a test."])


def test_each_evidence_has_a_weight_and_each_weight_its_evidence(space: Known) -> None:
    proposal = space.proposal("Which moons orbit Jupiter?")

    evidence = evidence_for(proposal, clusters(proposal.candidates))

    assert evidence.keys() | {"bias"} == own_weights().keys()
    assert evidence.keys() == EVIDENCE >= FOR


@given(st.sampled_from(sorted(own_weights().keys() - {"bias"})), numbers, numbers)
def test_more_of_an_evidence_only_ever_moves_the_confidence_its_way(
    name: str, some: float, other: float
) -> None:
    less, more = sorted((some, other))
    low, high = weighed({name: less}), weighed({name: more})

    assert low <= high if name in FOR else low >= high


@pytest.mark.parametrize(("bias", "chance"), [(-1e4, 0.0), (1e4, 1.0)])
def test_weights_of_any_size_give_a_chance(bias: float, chance: float) -> None:
    assert weighed({}, {"bias": bias}) == pytest.approx(chance)


def test_evidence_without_a_weight_counts_nothing() -> None:
    assert weighed({"score": 1.0, "unheard of": 9.0}) == weighed({"score": 1.0})


@given(st.fixed_dictionaries({"bias": st.floats(-9, 9), "score": numbers}))
def test_what_is_written_is_read_again(weights: dict[str, float]) -> None:
    text = weights_text(weights, ["Made by a test."])

    assert text.startswith("# Made by a test.\n\n[weights]\n")
    lines = dict(line.split(" = ") for line in text.splitlines()[3:])
    assert {name: float(value) for name, value in lines.items()} == pytest.approx(weights, abs=1e-3)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[weights]\nscore = 1.0", "see bias"),
        ("[weights]\nbias = 1.0\nscore = -1.0", "wrong sign"),
        ("[weights]\nbias = 1.0\nfaults = 1.0", "wrong sign"),
        (_text({"unheard_of": -1.0}), "see unheard_of"),
        (_text(dict.fromkeys(own_weights(), 0.0)).replace("margin = 0.000\n", ""), "see margin"),
        (_text({"bias": 1.0}).replace("bias = 1.000", f"bias = 1{'0' * 400}"), "too large"),
        ('[weights]\nbias = "1"', "no number"),
        ("[weights]\nbias = inf", "no number"),
        ("bias = 1", "weights"),
        ("weights = 3", "weights"),
    ],
)
def test_a_file_that_holds_no_weights_says_so(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "confidence.toml"
    path.write_text(text, "utf-8")

    with pytest.raises(SetupError, match=said):
        read_weights(path)


def test_a_missing_file_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"make it anew with tools/calibrate\.py --write"):
        read_weights(tmp_path / "none.toml")
