"""The context of a validation: the graphs that a query asks, those behind a SERVICE too."""

from askgraph.sparql.federation.service import called_services
from askgraph.validation.graph_knowledge import graph_knowledge
from askgraph.validation.knowledge import Knowledge, Services
from askgraph.workspace import Progress, Workspace, silent


async def known_services(
    workspace: Workspace, name: str | None, query: str, *, progress: Progress | None = None
) -> Services:
    """Return what is known of a graph, and of the workspace's graphs that the query calls.

    What a SERVICE outside the workspace holds is not known. Raises `SetupError` as opening does.
    """

    async def known(one: str | None) -> Knowledge:
        graph = workspace.graph(one, progress=progress or silent)
        try:
            return graph_knowledge(graph)
        finally:
            await graph.endpoint.close()

    own = await known(name)
    graphs = workspace.graphs()
    by_target = {f"askgraph:{one}": one for one in graphs}
    by_target |= {settings.url: one for one, settings in graphs.items() if settings.url}
    others = {
        target: await known(by_target[target])
        for target in called_services(query)
        if target in by_target
    }
    return Services(own, others)
