"""Real graphs behind a server that caps, refuses and delays: profiled within bounds, and honestly.

What a profile states to know in full is compared with what the triples say.
"""

import os
import time
from pathlib import Path

import pytest
from pyoxigraph import Store
from tests.servers import faults
from tests.servers.capped import CappedServer

from askgraph.endpoint.http import HttpEndpoint
from askgraph.graph import remote_profile as remote
from askgraph.graph.arrays import build_arrays
from askgraph.graph.local_profile import build_profile
from askgraph.graph.profile import Profile
from askgraph.graph.remote_profile import profile_endpoint

DATA = Path(os.environ.get("ASKGRAPH_DATA", Path(__file__).parents[3] / "shared" / "data"))
FILES = [
    *sorted((DATA / "spider4sparql" / "kg").glob("*.ttl*")),
    DATA / "supply-kgrep" / "kg" / "a-box-inverse.ttl",
]
WHOLE = r"(?s)^(?!.*(VALUES|LIMIT \d+ \}|<http)).*GROUP BY"  # queries that count over all triples

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not FILES[-1].exists(), reason=f"no {FILES[-1]}; ASKGRAPH_DATA names it"),
]


def stored(file: Path) -> Store:
    store = Store()
    store.bulk_load(path=str(file))
    return store


async def asked(server: CappedServer, **bounds: object) -> Profile:
    endpoint = HttpEndpoint(server.url)
    try:
        return (await profile_endpoint(endpoint, **bounds))[0]  # type: ignore[arg-type]
    finally:
        await endpoint.close()


def false_claims(found: Profile, exact: Profile) -> list[str]:
    """What a profile states to know in full, and does not."""
    full = {part.name for part in found.completeness if part.share == 1.0}
    wrong = []
    for name in ("classes", "predicates"):
        ours = {item.iri for item in getattr(found, name)}
        if ours - {item.iri for item in getattr(exact, name)}:
            wrong.append(f"{name} that are not there")
        if name in full and len(ours) != len(getattr(exact, name)):
            wrong.append(f"all {name}")
    counted = {one for one in found.partitions if not one.sampled}
    if "ends" in full and counted - set(exact.partitions):
        wrong.append("partitions that are counted")
    if {"partitions", "ends"} <= full and set(found.partitions) != set(exact.partitions):
        wrong.append("all partitions")
    return wrong


CASES = [(file, trouble) for file in FILES for trouble in ("none", "refused")]
CASES += [(file, "slow") for file in FILES[:1] + FILES[-1:]]


@pytest.mark.parametrize(
    ("file", "trouble"), CASES, ids=lambda case: getattr(case, "name", case).partition(".")[0]
)
async def test_what_is_stated_is_so_and_the_bound_holds(
    file: Path, trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "MAX_DOWNLOAD_TRIPLES", 0)
    store = stored(file)
    with CappedServer(store, cap=500) as server:
        if trouble == "refused":
            server.always = faults.refused_where(WHOLE, "the estimated execution time is too long")
        if trouble == "slow":
            server.always = faults.slow_where(WHOLE, 60)
        began = time.monotonic()
        found = await asked(server, max_queries=80, max_seconds=12.0)
        taken = time.monotonic() - began
        requests = len(server.requests)
    assert false_claims(found, build_profile(build_arrays(store))) == []
    assert found.predicates
    assert requests <= 80 * (2 if trouble == "refused" else 1)  # a 500 is tried once more
    assert taken < 60  # which each query that counts over all triples alone takes, if "slow"
