"""Weights from a file: what is read is what was written, and what is no ranking is told."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.each import for_each
from tests.search.asking import Known
from tools.ranking import format_ranking

from askgraph.errors import SetupError
from askgraph.search.pipeline import build_schema, link_text, propose_from_links
from askgraph.search.query_pieces import list_negated_groups, list_patterns
from askgraph.search.rank import (
    DEFAULT_RANKING_PATH,
    FEATURES,
    FeatureWeights,
    RankedCandidates,
    load_weights,
    read_ranking,
)

EVEN = dict.fromkeys(FEATURES, 1.0)
TABLES = st.fixed_dictionaries(
    {name: st.integers(-10_000, 10_000).map(lambda n: n / 1000) for name in FEATURES}
)


def _written(folder: Path, text: str) -> Path:
    path = folder / "ranking.toml"
    path.write_text(text, encoding="utf-8")
    return path


@given(weights=TABLES, graphs=st.dictionaries(st.text(max_size=12), TABLES, max_size=3))
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_ranking_is_read_as_it_was_written(
    weights: dict[str, float],
    graphs: dict[str, dict[str, float]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    ranking = FeatureWeights(weights, graphs)
    path = _written(
        tmp_path_factory.mktemp("ranking"), format_ranking(ranking, ["made", "by hand"])
    )

    assert read_ranking(path) == ranking


def test_a_graph_has_its_own_weights_and_any_other_the_common_ones(tmp_path: Path) -> None:
    own = EVEN | {"covered": 7.0}
    path = _written(tmp_path, format_ranking(FeatureWeights(EVEN, {"zoo": own}), []))

    assert load_weights("zoo", str(path)) == own
    assert load_weights("space", str(path)) == EVEN


def test_the_package_weighs_every_feature_and_no_graph_apart() -> None:
    ranking = read_ranking(DEFAULT_RANKING_PATH)

    assert ranking.weights.keys() == set(FEATURES)
    assert not ranking.graphs
    assert ranking.weights["covered"] > 0 > ranking.weights["trivial"]


@for_each(
    ("text", "said"),
    ("[weights]\ncovered = 1.0\n", "each feature needs one weight"),
    (format_ranking(FeatureWeights(EVEN), []) + "beauty = 1.0\n", "check beauty"),
    (format_ranking(FeatureWeights(EVEN), []).replace("1.0", "true", 1), "a finite number"),
    (format_ranking(FeatureWeights(EVEN), []).replace("1.0", "nan", 1), "a finite number"),
    (
        format_ranking(FeatureWeights(EVEN), []) + "[graphs]\nzoo = 1\n",
        "contains no ranking weights",
    ),
    (format_ranking(FeatureWeights(EVEN), []).replace("1.0", "1" + "0" * 400, 1), "too large"),
    ("graphs = {}", "'weights'"),
    ("weights =", "contains no ranking weights"),
)
def test_a_file_without_a_ranking_is_told(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(SetupError, match=said):
        read_ranking(_written(tmp_path, text))


def test_a_missing_file_is_told_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"gone\.toml"):
        load_weights("zoo", str(tmp_path / "gone.toml"))


def test_other_weights_give_another_order(zoo: Known) -> None:
    common, turned = (
        _asked(zoo, "Which birds eat fish?", weights)
        for weights in (None, dict.fromkeys(FEATURES, 0.0) | {"patterns": 1.0})
    )

    assert turned.candidates[0].patterns == max(c.patterns for c in turned.candidates)
    assert common.candidates[0].patterns < turned.candidates[0].patterns


def test_what_says_and_denies_the_same_is_no_candidate(zoo: Known) -> None:
    found = zoo.proposal("Which keepers are no keeper of a bird?").candidates

    assert found
    for one in found:
        said = set(list_patterns(one.tree.where))
        assert not any(
            said.issuperset(group.elements) for group in list_negated_groups(one.tree.where)
        )


def test_of_what_goes_by_the_same_words_the_lesser_known_is_obscure(space: Known) -> None:
    found = space.proposal("Which launch sites are in Europe?").candidates
    told = {
        node.link.target.rpartition("/")[2]: one.features["obscure"]
        for one in found
        for node in one.state.node.walk()
        if node.link is not None and len(list(one.state.node.walk())) < 4
    }

    assert told["Europa"] > 0.0 == told["Europe"]


def _asked(known: Known, question: str, weights: dict[str, float] | None) -> RankedCandidates:
    linked = link_text(question, None, known.names)
    return propose_from_links(linked, build_schema(known.arrays, known.profile), weights=weights)
