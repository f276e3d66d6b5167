"""The trees of confidence: gradient boosting that keeps the signs of the evidence."""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from tools.calibration_cases import Case, Floats, shares

from askgraph.search.decide import Tree, Trees, sign_of

__all__ = ["confidences", "fitted", "splits", "trees_text", "without"]

_ROUNDS, _RATE, _LEAVES, _LEAF, _L2 = 150, 0.06, 8, 20, 3.0
"""Trees, what each counts, its leaves, the fewest answers in one, and the pull of leaves to 0."""


def fitted(train: Sequence[Case]) -> Trees:
    """Fit trees to whether answers are right; cases weigh as `shares` has it.

    What speaks for an answer never lowers what the trees give, what speaks against it never
    raises it. Where all are right, or all wrong, there is nothing to tell apart, and no tree.
    """
    names = tuple(train[0].evidence)
    right, weights = np.array([case.right for case in train], dtype=float), shares(train)
    if right.min() == right.max() or len(train) < 2 * _LEAF:
        ahead, behind = 1 + float(weights @ right), 1 + float(weights @ (1 - right))
        return Trees(names, math.log(ahead / behind))
    from sklearn.ensemble import HistGradientBoostingClassifier  # seconds, only to fit

    model = HistGradientBoostingClassifier(
        max_iter=_ROUNDS, learning_rate=_RATE, max_leaf_nodes=_LEAVES, min_samples_leaf=_LEAF,
        l2_regularization=_L2, monotonic_cst=[sign_of(name) for name in names],
        early_stopping=False, random_state=0,
    )  # fmt: skip
    model.fit(_table(names, [case.evidence for case in train]), right, sample_weight=weights)
    # Nothing public gives the trees; the lock holds the version, and a test what they give.
    trees = tuple(_tree(found.nodes, 0) for [found] in model._predictors)
    return Trees(names, float(np.ravel(model._baseline_prediction)[0]), trees)


def _tree(nodes: Any, at: int) -> Tree:
    node = nodes[at]
    if node["is_leaf"]:
        return float(node["value"])
    below, above = (_tree(nodes, int(node[side])) for side in ("left", "right"))
    return int(node["feature_idx"]), float(node["num_threshold"]), below, above


def _table(names: Sequence[str], evidence: Sequence[Mapping[str, float]]) -> Floats:
    return np.array([[facts[name] for name in names] for facts in evidence], dtype=float)


def confidences(trees: Trees, evidence: Sequence[Mapping[str, float]]) -> Floats:
    """What the trees give for each evidence."""
    return np.array([trees(facts) for facts in evidence], dtype=float)


def without(found: Sequence[Case]) -> dict[str, Trees]:
    """The trees for each graph, or fold of graphs, fitted to the answers over all others."""
    firsts = [case for case in found if case.left == 1]
    return {
        held: fitted([case for case in firsts if case.held != held] or firsts)
        for held in sorted({case.held for case in found})
    }


def splits(trees: Trees) -> Counter[str]:
    """How many times trees ask for each evidence."""
    return Counter(trees.evidence[at] for tree in trees.trees for at in _asked(tree))


def _asked(tree: Tree) -> Iterator[int]:
    if isinstance(tree, tuple):
        at, _, below, above = tree
        yield at
        yield from _asked(below)
        yield from _asked(above)


def trees_text(trees: Trees, about: Sequence[str]) -> str:
    """Return trees as a file that `read_trees` reads, a tree a line, with what is said about it."""
    head = {"about": list(about), "evidence": list(trees.evidence), "start": _short(trees.start)}
    lines = json.dumps(head, indent=1, ensure_ascii=False).removesuffix("\n}")
    rows = ",\n  ".join(json.dumps(_shortened(tree)) for tree in trees.trees)
    return f'{lines},\n "trees": [\n  {rows}\n ]\n}}\n'


def _shortened(tree: Tree) -> object:
    if not isinstance(tree, tuple):
        return _short(tree)
    at, bound, below, above = tree
    return [at, _short(bound), _shortened(below), _shortened(above)]


def _short(number: float) -> float:
    return round(number, 5) + 0.0
