"""Pairs are judged before a model is asked."""

import pytest

from askgraph.errors import SetupError
from askgraph.llm.scripted import ScriptedModel
from askgraph.training.evaluate import evaluated
from askgraph.training.pairs import Pair
from askgraph.workspace.synchronous import result_of


def test_a_pair_that_wants_no_query_is_told_before_anything_is_asked() -> None:
    model = ScriptedModel([])
    pairs = [Pair("first", "How many?", (), "ASK { ?a ?b ?c }"), Pair("odd", "Who?", (), "SELECT")]

    with pytest.raises(SetupError, match="'odd' wants no query"):
        result_of(evaluated(model, pairs))
