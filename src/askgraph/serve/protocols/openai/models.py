"""Methods as models: `askgraph`, `grasp`, `grasp@space`."""

from collections.abc import Sequence

from askgraph.errors import SetupError
from askgraph.serve.choices import choices
from askgraph.serve.hub import Hub
from askgraph.serve.identity.principal import Principal
from askgraph.serve.problems import Missing
from askgraph.workspace import DEFAULT_METHOD

__all__ = ["DEFAULT", "asked_of", "model_ids"]

DEFAULT = "askgraph"
"""The model that stands for the default method."""


async def model_ids(hub: Hub, caller: Principal) -> list[str]:
    """Return the names of all models: each usable method, and each on each of several graphs."""
    usable = [one.name for one in (await choices(hub)).methods if one.usable]
    methods = [DEFAULT, *usable]
    graphs = hub.graphs.names(caller)
    if len(graphs) < 2:
        return methods
    return [*methods, *(f"{method}@{graph}" for graph in graphs for method in methods)]


def asked_of(
    model: str, *, named: Sequence[str], methods: Sequence[str], graphs: Sequence[str]
) -> tuple[str, list[str]]:
    """Return the method and the graphs that a request means by its model, or names besides.

    `methods` and `graphs` are those that there are. Raises `Missing` for a model that is none,
    `SetupError` where nobody says which of several graphs is meant.
    """
    method, at, graph = model.partition("@")
    plain = DEFAULT_METHOD if method == DEFAULT else method.replace("_", "-")
    if plain not in methods or (at and graph not in graphs):
        there = ", ".join([DEFAULT, *methods])
        places = ", ".join(graphs) or "none yet"
        raise Missing(
            f"there is no model {model!r}; models are {there}, each also as METHOD@GRAPH; "
            f"graphs are {places}"
        )
    wanted = [graph] if at else list(named)
    if not wanted and len(graphs) > 1:
        examples = ", ".join(f"{method}@{one}" for one in graphs[:5])
        raise SetupError(
            f"which graph? Take a model such as {examples}, or name one in the field 'graph'"
        )
    return plain, wanted or list(graphs)
