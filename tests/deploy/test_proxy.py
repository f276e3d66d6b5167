"""Behind nginx as `deploy/nginx.conf` sets it up: questions, events come through."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from tests.servers.postgres import free_port
from tests.servers.served import ServedThread, sample_workspace

ROOT = Path(__file__).parents[2]
NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
AROUND = """
daemon off; pid {folder}/nginx.pid; error_log stderr warn; worker_processes 1;
events {{ worker_connections 64; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  {site}
}}
"""


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an nginx before a server on the sample graph; TLS and names are left out."""
    if NGINX is None and os.environ.get("CI") != "true":
        pytest.skip("there is no nginx")
    assert NGINX is not None, "there is no nginx"
    folder = tmp_path_factory.mktemp("nginx")
    place = sample_workspace(tmp_path_factory.mktemp("proxied"))
    port = free_port()
    site = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    with ServedThread(place, trusted_proxies=("127.0.0.1",), anonymous=("ask",)) as server:
        site = site.replace("127.0.0.1:8000", server.url.removeprefix("http://"))
        site = site.replace("listen 443 ssl;", f"listen 127.0.0.1:{port};")
        site = site.replace("server_name ask.example.org;", "server_name 127.0.0.1;")
        lines = [line for line in site.splitlines() if "ssl_certificate" not in line]
        settings = folder / "nginx.conf"
        settings.write_text(AROUND.format(folder=folder, site="\n".join(lines)))
        command = [NGINX, "-p", str(folder), "-c", str(settings)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            try:
                _wait_for(port, process)
                yield f"127.0.0.1:{port}"
            finally:
                process.terminate()


def _wait_for(port: int, process: "subprocess.Popen[str]") -> None:
    for _ in range(200):
        if process.poll() is not None:
            assert process.stderr is not None
            raise RuntimeError(process.stderr.read())
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError("nginx does not listen")


def test_a_question_has_its_events_and_its_answer(behind: str) -> None:
    asked = {"question": "Which moons orbit Mars?"}
    headers = {"Accept": "text/event-stream"}
    with httpx2.stream(
        "POST", f"http://{behind}/api/v1/ask", json=asked, headers=headers, timeout=60
    ) as reply:
        lines = list(reply.iter_lines())
    events = [line for line in lines if line.startswith("event: ")]

    assert reply.headers["content-type"].startswith("text/event-stream"), lines
    assert (events[0], events[-1]) == ("event: run", "event: outcome")
