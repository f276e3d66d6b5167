"""Every operator of the table has a handler."""

from importlib import import_module

from askgraph.search import operators
from askgraph.search.operators import OPERATORS


def test_every_operator_has_a_handler() -> None:
    for rule in OPERATORS.values():
        module = import_module(f"{operators.__name__}.{rule.module}")
        assert callable(getattr(module, rule.handler)), rule
