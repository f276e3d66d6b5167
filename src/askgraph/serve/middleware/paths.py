"""The path of a request as the server's routes know it, wherever a proxy has put the server."""

from starlette.types import Scope

__all__ = ["route_path"]


def route_path(scope: Scope) -> str:
    """Return the path without that under which the server lies (`root_path`), where it has it."""
    path, root = str(scope["path"]), str(scope.get("root_path", ""))
    inside = root and (path == root or path.startswith(f"{root}/"))
    return path.removeprefix(root) if inside else path
