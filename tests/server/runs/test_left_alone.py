"""Models whose servers have just failed are counted by the server's metrics."""

from pathlib import Path

import httpx2
import pytest
from tests.servers.served import ServedThread, sample_workspace

_DEAD = '[models.default]\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\nretries = 0\n'


@pytest.mark.parametrize("processes", [0, 1])
def test_a_model_whose_server_has_failed_is_left_alone_and_counted(
    tmp_path: Path, processes: int
) -> None:
    place = sample_workspace(tmp_path)
    with (tmp_path / "askgraph.toml").open("a") as settings:
        settings.write(_DEAD)
    with (
        ServedThread(place, processes=processes) as server,
        httpx2.Client(base_url=server.url, timeout=120) as client,
    ):
        assert "askgraph_models_left_alone 0.0" in client.get("/metrics").text
        asked = {"question": "Which moons does Jupiter have?", "method": "guided"}
        for _ in range(5):  # on a busy machine the seconds may be over before it is read
            assert client.post("/api/v1/ask", json=asked).status_code == 200
            if "askgraph_models_left_alone 1.0" in client.get("/metrics").text:
                return
    pytest.fail("no model is said to be left alone")
