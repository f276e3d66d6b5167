"""What is left of a graph that was not to come to be, taken away."""

import contextlib
import shutil

from askgraph.serve.graphs.uploads import upload_folder, uploads_of
from askgraph.workspace import Workspace
from askgraph.workspace.replacing import locked

__all__ = ["cleared"]


def cleared(workspace: Workspace, name: str, job: str) -> None:
    """Remove the uploads of a job, with the graph where it was read from them already.

    A graph of this name that was read from elsewhere is another one, and stays.
    """
    folder, data = workspace.folder, workspace.data(name)
    uploads = upload_folder(folder, job)
    with locked(folder / "uploads" / ".locks" / name):
        there = workspace.graphs().get(name)
        if there is not None and uploads_of(folder, there) == uploads:
            workspace.remove(name)
            there = None
        shutil.rmtree(uploads, ignore_errors=True)
        if there is not None:
            return
        for left in data.parent.glob(f".{data.name}~*~*"):
            shutil.rmtree(left, ignore_errors=True)
        shutil.rmtree(data, ignore_errors=True)
        with contextlib.suppress(FileNotFoundError):
            data.with_name(f".{name}.answers.jsonl").unlink()
