"""Queries made to hold a server: long, deep, unfinished; each sent to every route that reads one.

    python tools/campaign/query_bombs.py [--characters 1000000] [--only NAME ...] [--json FILE]

Another caller asks `healthz` all the while. A query is survived if each route answers or refuses it
with a status below 500 and the server lives on; the table shows the slowest reply and the longest
that the other caller waited.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path

import httpx2

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from _measure import print_table
from _served import served

ROUTES: dict[str, dict[str, int]] = {
    **{name: {} for name in ("query", "answer", "validate", "format", "parts")},
    "evidence": {"row": 0},
}
MOST = 100_000  # characters that a route of the REST interface takes; `/sparql` takes 1,000,000

# head, what is repeated, tail
FORMS = {
    "services": ("SELECT * WHERE { ", "SERVICE <http://e/a> { ?s ?p ?o } ", "}"),
    "services to a variable": ("SELECT * WHERE { ", "SERVICE SILENT ?v { } ", "}"),
    "the word SERVICE": ("SELECT * WHERE { ", "SERVICE ", "}"),
    "a list": ("SELECT * WHERE { ?s ?p (", "1 ", ")}"),
    "lists in lists": ("SELECT * WHERE { ?s ?p ", "(1 ", "}"),
    "braces": ("SELECT * WHERE ", "{", ""),
    "braces that close nothing": ("SELECT * WHERE ", "}", ""),
    "brackets": ("SELECT * WHERE { ?s ?p ", "[ ?p ", "}"),
    "less than": ("SELECT * WHERE { ", "<", "}"),
    "less than, apart": ("SELECT * WHERE { FILTER(1 ", "< ", "}"),
    "short comments": ("SELECT * WHERE { ", "#\n", "?s ?p ?o}"),
    "a comment that does not end": ("SELECT * WHERE { ", "# ", "?s ?p ?o}"),
    "at": ("SELECT * WHERE { ", "@", "}"),
    "tagged texts": ("SELECT * WHERE { ?s ?p ", "'a'@en, ", "1}"),
    "a number": ("SELECT * WHERE { ?s ?p ", "1", "}"),
    "exponents": ("SELECT * WHERE { ?s ?p ", "1e", "}"),
    "numbers": ("SELECT * WHERE { ?s ?p ", "1,", "2}"),
    "a sum": ("SELECT * WHERE { FILTER(1", "+1", ")}"),
    "signs": ("SELECT * WHERE { FILTER(", "+", ")}"),
    "not": ("SELECT * WHERE { FILTER(", "!", "1)}"),
    "or": ("SELECT * WHERE { FILTER(1", "||1", ")}"),
    "quotes": ("SELECT * WHERE { ", "'", "}"),
    "long quotes": ("SELECT * WHERE { ", '"""', "}"),
    "backslashes": ("SELECT * WHERE { ?s ?p '", "\\\\", "'}"),
    "escapes": ("SELECT * WHERE { ?s ?p '", "\\u0041", "'}"),
    "colons": ("SELECT * WHERE { ", ":", "}"),
    "alternatives": ("SELECT * WHERE { ?s ", "<a:b>|", "<a:b> ?o}"),
    "prefixes": ("", "PREFIX a: <http://x/> ", "SELECT * {}"),
    "columns": ("SELECT ", "?a ", "{}"),
    "dots": ("SELECT * WHERE { ?s ?p ?o ", ".", "}"),
    "patterns": ("SELECT * WHERE { ", "?s ?p ?o . ", "}"),
    "optionals": ("SELECT * WHERE { ", "OPTIONAL { ?s ?p ?o } ", "}"),
    "unions": ("SELECT * WHERE { {} ", "UNION {} ", "}"),
    "values": ("SELECT * WHERE { VALUES ?x {", "<http://e/a> ", "}}"),
    "unknown prefixes": ("SELECT * WHERE { VALUES ?x {", "wd:Q1 ", "}}"),
    "one of many": ("SELECT * WHERE { ?s ?p ?o FILTER(?o IN (1", ",1", "))}"),
    "spaces": ("SELECT * WHERE { ", " ", "}"),
    "a word": ("SELECT * WHERE { ", "a", "}"),
    "emoji": ("SELECT * WHERE { ", "😀", "}"),
    "zeros": ("SELECT * WHERE { ", "\0", "}"),
    "keys of groups": ("SELECT (1 AS ?x) WHERE { } GROUP BY ", "?a ", ""),
    "keys of order": ("SELECT * WHERE { } ORDER BY ", "?a ", ""),
    "queries in queries": ("", "SELECT * WHERE { ", "}"),
    "a path": ("SELECT * WHERE { ?s ", "a/", "a ?o}"),
    "a deep path": ("SELECT * WHERE { ?s ", "(", "a ?o}"),
    "inverses": ("SELECT * WHERE { ?s ", "^", "a ?o}"),
    "calls in calls": ("SELECT * WHERE { FILTER(", "str(", "}"),
    "graphs": ("SELECT * ", "FROM <http://e/> ", "WHERE {}"),
    "quoted triples": ("SELECT * WHERE { ", "<< ", "}"),
}


def bomb(form: str, characters: int) -> str:
    """Return a query of a form with so many characters."""
    head, part, tail = FORMS[form]
    return head + part * ((characters - len(head) - len(tail)) // len(part)) + tail


async def waited(url: str, stop: asyncio.Event) -> float:
    """Ask `healthz` until it stops; return the longest that one took, in seconds."""
    worst = 0.0
    async with httpx2.AsyncClient(base_url=url, timeout=60) as client:
        while not stop.is_set():
            began = time.perf_counter()
            (await client.get("/healthz")).raise_for_status()
            worst = max(worst, time.perf_counter() - began)
            await asyncio.sleep(0.01)
    return worst


async def sent(url: str, form: str, characters: int) -> dict[str, object]:
    """Send a query to each route, one after the other; return what came."""
    query, shorter = bomb(form, characters), bomb(form, min(characters, MOST))
    stop = asyncio.Event()
    other = asyncio.create_task(waited(url, stop))
    replies: list[tuple[float, str, int]] = []
    async with httpx2.AsyncClient(base_url=url, timeout=120) as client:
        for route in (*ROUTES, "sparql"):
            began = time.perf_counter()
            if route == "sparql":
                reply = await client.post("/sparql/space", data={"query": query})
            else:
                body = {"query": shorter, **ROUTES[route]}
                reply = await client.post(f"/api/v1/graphs/space/{route}", json=body)
            if reply.status_code >= 500:
                print(form, route, reply.text[:300], file=sys.stderr)
            replies.append((time.perf_counter() - began, route, reply.status_code))
    stop.set()
    slowest = max(replies)
    return {
        "query": form,
        "characters": len(query),
        "statuses": sorted({status for _, _, status in replies}),
        "slowest": round(slowest[0], 3),
        "route": slowest[1],
        "other caller": round(await other, 3),
        "survived": all(status < 500 for _, _, status in replies),
    }


def main() -> int:
    """Send every query and print the table; return 1 if one was not survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--characters", type=int, default=1_000_000)
    parser.add_argument("--only", nargs="*", choices=FORMS, metavar="NAME")
    parser.add_argument("--json", type=Path, help="also write what came to this file")
    given = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as folder, served(Path(folder), "--sample") as (url, _):
        asyncio.run(sent(url, "patterns", 100))
        for form in given.only or FORMS:
            found.append(asyncio.run(sent(url, form, given.characters)))
            print(*found[-1].values(), sep=" | ", file=sys.stderr, flush=True)
    keys = list(found[0])
    print_table(keys, *([one[key] for key in keys] for one in found))
    if given.json:
        given.json.write_text(json.dumps(found, indent=1))
    lost = [one for one in found if not one["survived"]]
    print(f"tried {len(found)}, survived {len(found) - len(lost)}")
    return bool(lost)


if __name__ == "__main__":
    sys.exit(main())
