"""A real Oxigraph server on loopback, from the package `oxigraph`."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
from tests.servers.postgres import free_port

__all__ = ["oxigraph_server"]


@contextmanager
def oxigraph_server(graph: str, turtle: str) -> Iterator[str]:
    """Run a server whose data is all in one named graph; yield the address of its endpoint."""
    address = f"127.0.0.1:{free_port()}"
    program = str(Path(sys.executable).with_name("oxigraph"))
    command = [program, "serve", "--bind", address]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr
            assert "Listening" in (line := process.stderr.readline()), line
            url, head = f"http://{address}/store", {"Content-Type": "text/turtle"}
            reply = httpx2.put(url, params={"graph": graph}, content=turtle.encode(), headers=head)
            assert reply.status_code == 201, reply.text
            yield f"http://{address}/query"
        finally:
            process.terminate()
