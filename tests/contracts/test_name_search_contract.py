"""What every search for names promises; run over all that the registry knows.

Beside this file, `name_search/NAME.jsonl` holds an exchange with a server in its documented form.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Store
from tests.each import for_each
from tests.servers import faults
from tests.servers.sparql import Fault, Reply, Request, SparqlServer

from askgraph.endpoint.recorded import RecordedEndpoint
from askgraph.errors import ErrorReply, MalformedReply, Overloaded, ServiceError, SetupError
from askgraph.index.name_search import (
    NameSearch,
    NameSettings,
    SparqlNameSearch,
    create_name_search,
    load_sparql_plugin,
)
from askgraph.plugins import list_names, load
from askgraph.sparql.judge import check_query
from askgraph.sparql.lexer import tokenize

SEARCHES = list_names("name_search")
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
RECORDED = Path(__file__).parent / "name_search"
TEXTS = ("Ada Lovelace", "Turing")
HOSTILE = [
    '"',
    "'",
    '" } UNION { ?s ?p ?o } #',
    "' OR '1",
    "a AND b OR NOT c",
    "*",
    "Ada*",
    "\\",
    "\\u0022",
    "\n\r\t\0",
    "東京タワー",
    "Ελλάδα (χώρα)",
    "l'été",
    "C++ && !x || +y -z ^2 ~1 [a TO b] {c} /d/ e:f",
]

IN_SPARQL = [one for one in SEARCHES if load_sparql_plugin(one)]
OVER_HTTP = [one for one in SEARCHES if one not in IN_SPARQL]
every_query = for_each("name", IN_SPARQL)
every_search = for_each("name", SEARCHES)


PLACES = {
    "wikibase": "wiki.example",
    "wbsearchentities": "https://wiki.example/w/api.php",
    "dbpedia": "https://lookup.example/api/search",
}


def made(name: str, place: str = "") -> NameSearch:
    naming = NameSettings((LABEL,), ("en", "de"), place or PLACES.get(name, ""))
    return cast(NameSearch, load("name_search", name)(naming))


def test_the_searches_are_there() -> None:
    assert sorted((*IN_SPARQL, *OVER_HTTP)) == list(SEARCHES)
    assert OVER_HTTP == ["dbpedia", "wbsearchentities"]


class Service(SparqlServer):
    """A service that replies to a text as a file has it."""

    def __init__(self, replies: Path) -> None:
        super().__init__(Store())
        self.replies = json.loads(replies.read_text(encoding="utf-8"))

    def honest(self, request: Request) -> Reply:
        given = request.parameters
        reply = json.dumps(self.replies[(given.get("search") or given["query"])[0]]).encode()
        return Reply(200, {"Content-Type": "application/json"}, reply)


@contextmanager
def recorded(name: str) -> Iterator[tuple[NameSearch, RecordedEndpoint]]:
    """A search, and the endpoint that it asks, which replies as recorded."""
    if name in IN_SPARQL:
        yield made(name), RecordedEndpoint(RECORDED / f"{name}.jsonl")
        return
    with Service(RECORDED / f"{name}.json") as server:
        yield made(name, server.url), RecordedEndpoint(RECORDED / "plain.jsonl")


@every_search
async def test_an_exchange_as_documented_gives_the_things_of_each_text(name: str) -> None:
    with recorded(name) as (search, endpoint):
        ada, turing = await search.search(endpoint, TEXTS, languages=("en",), limit=5)
    assert ada[0].iri == "http://example.org/ada"
    assert "Ada Lovelace" in dict(ada[0].names)
    assert {thing.iri for thing in turing} == {"http://example.org/turing"}


@every_search
async def test_nothing_is_asked_for_texts_without_a_word(name: str) -> None:
    with recorded(name) as (search, endpoint):
        assert await search.search(endpoint, ["", " ?! "]) == [[], []]
        assert await search.search(endpoint, []) == []


@every_query
@settings(max_examples=60, deadline=None)
@given(texts=st.lists(st.sampled_from(HOSTILE) | st.text(max_size=25), min_size=1, max_size=3))
def test_no_text_breaks_out_of_the_query(name: str, texts: list[str]) -> None:
    search = cast(SparqlNameSearch, made(name))
    for within in ((), ("http://example.org/C",)):
        query = search.build_query(texts, languages=("en", "x y", '"'), within=within)
        plain = search.build_query(["word"] * len(texts), languages=("en",), within=within)
        assert not query or shape(query) <= shape(plain)


def shape(query: str) -> set[str]:
    """The tokens of a query but for its texts and numbers."""
    given = tokenize(query).tokens
    return {token.text for token in given if token.kind not in ("string", "number")}


@every_query
@settings(max_examples=30, deadline=None)
@given(text=st.sampled_from(HOSTILE) | st.text(max_size=25))
def test_any_query_is_sparql(name: str, text: str) -> None:
    search = cast(SparqlNameSearch, made(name))
    query = search.build_query([text, "Ada"], languages=("en",))
    assert check_query(query, allowed_services=search.services).form == "SELECT"


def test_a_search_is_made_from_its_name() -> None:
    assert (
        create_name_search("none", NameSettings()) is create_name_search("", NameSettings()) is None
    )
    named = create_name_search("plain:somewhere", NameSettings((LABEL,)))
    assert named is not None and named.settings == NameSettings((LABEL,), (), "somewhere")
    with pytest.raises(SetupError, match="no name_search named 'plian'; did you mean 'plain'"):
        create_name_search("plian", NameSettings())


@for_each("name", OVER_HTTP)
@for_each(
    ("fault", "error"),
    (faults.status(503), Overloaded),
    (faults.status(404), ErrorReply),
    (faults.body("<html>Sign in</html>"), MalformedReply),
)
async def test_a_service_that_fails_says_so(
    name: str, fault: Fault, error: type[ServiceError]
) -> None:
    with recorded(name) as (search, endpoint), SparqlServer(Store()) as server:
        server.acts.extend([fault, fault])
        broken = made(name, server.url)
        with pytest.raises(error, match=server.url):
            await broken.search(endpoint, ["Ada"])
        assert not await broken.is_available(endpoint, "Ada")
        assert await search.is_available(endpoint, "Ada Lovelace")


@for_each("name", OVER_HTTP)
@for_each("reply", ["[]", "{}", '{"search": 1, "docs": "x"}', "null", "7"])
async def test_a_reply_of_another_form_is_no_thing(name: str, reply: str) -> None:
    with SparqlServer(Store()) as server:
        server.acts.append(faults.body(reply))
        search = made(name, server.url)
        assert await search.search(RecordedEndpoint(RECORDED / "plain.jsonl"), ["Ada"]) == [[]]


@pytest.mark.parametrize("name", ["wikibase", *OVER_HTTP])
def test_a_search_that_has_to_know_its_place_says_so(name: str) -> None:
    with pytest.raises(SetupError, match="needs"):
        create_name_search(name, NameSettings())
