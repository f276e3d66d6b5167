"""A profile on disk is the profile, or an error that says what is wrong."""

import json
from pathlib import Path

import pytest
from tests.each import for_each

from askgraph.errors import SetupError
from askgraph.graph.profile import (
    ClassProfile,
    Part,
    Partition,
    PredicateProfile,
    Profile,
    load_profile,
    save_profile,
)

PROFILE = Profile(
    triples=7,
    classes=(ClassProfile("http://x/A", 3, (("Ä", "de"),), ("http://x/B",), None, nary=True),),
    predicates=(
        PredicateProfile(
            "http://x/p", 5, 4, 3, subject_classes=(("http://x/A", 4),), transitive=True
        ),
    ),
    languages=(("de", 2),),
    prefixes=(("x", "http://x/"),),
    cuts=("something",),
    source="here",
    graphs=(("http://x/g", 7),),
    partitions=(
        Partition("http://x/A", "http://x/p", 5, 4, 3, targets=(("http://x/B", 5),), sampled=True),
    ),
    completeness=(Part("classes", 1, None, "a sample"),),
)


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    save_profile(PROFILE, tmp_path / "profile.json")
    assert load_profile(tmp_path / "profile.json") == PROFILE


def test_it_is_plain_json(tmp_path: Path) -> None:
    save_profile(PROFILE, tmp_path / "profile.json")
    assert json.loads((tmp_path / "profile.json").read_text())["profile"]["triples"] == 7


@for_each(
    ("change", "said"),
    (lambda text: text.replace('"triples":7', '"triples":8'), "checksum"),
    (lambda text: text.replace('"version": 2', '"version": 0'), "version 0"),
    (lambda text: text[:40], "damaged"),
    (lambda text: "{}", "damaged"),
    (lambda text: "[]", "damaged"),
    (lambda text: "", "damaged"),
)
def test_a_changed_file_is_told(tmp_path: Path, change: object, said: str) -> None:
    path = tmp_path / "profile.json"
    save_profile(PROFILE, path)
    path.write_text(change(path.read_text()))  # type: ignore[operator]
    with pytest.raises(SetupError, match=said):
        load_profile(path)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="no profile"):
        load_profile(tmp_path / "profile.json")
