"""What every search for names promises; run over all that the registry knows.

Beside this file, `name_search/NAME.jsonl` holds an exchange with a server in its documented form.
"""

from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askgraph.endpoint.recorded import RecordedEndpoint
from askgraph.errors import SetupError
from askgraph.index.name_search import NameSearch, Naming, SparqlNameSearch, name_search
from askgraph.registry import load, names
from askgraph.sparql.lexer import lexed

SEARCHES = names("name_search")
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

every_search = pytest.mark.parametrize("name", SEARCHES)


def made(name: str) -> NameSearch:
    return cast(NameSearch, load("name_search", name)(Naming((LABEL,), ("en", "de"))))


def sparql(name: str) -> SparqlNameSearch:
    search = made(name)
    if not isinstance(search, SparqlNameSearch):
        pytest.skip("it speaks HTTP, which has its own encoding")
    return search


def test_the_searches_are_there() -> None:
    assert SEARCHES == ("plain", "virtuoso")


@every_search
async def test_an_exchange_as_documented_gives_the_things_of_each_text(name: str) -> None:
    endpoint = RecordedEndpoint(RECORDED / f"{name}.jsonl")
    ada, turing = await made(name).search(endpoint, TEXTS, languages=("en",), limit=5)
    assert ada[0].iri == "http://example.org/ada"
    assert ("Ada Lovelace", "en") in ada[0].names
    assert {thing.iri for thing in turing} == {"http://example.org/turing"}


@every_search
async def test_nothing_is_asked_for_texts_without_a_word(name: str) -> None:
    endpoint = RecordedEndpoint(RECORDED / f"{name}.jsonl")
    assert await made(name).search(endpoint, ["", " ?! "]) == [[], []]
    assert await made(name).search(endpoint, []) == []


@every_search
@settings(max_examples=60, deadline=None)
@given(texts=st.lists(st.sampled_from(HOSTILE) | st.text(max_size=25), min_size=1, max_size=3))
def test_no_text_breaks_out_of_the_query(name: str, texts: list[str]) -> None:
    search = sparql(name)
    for within in ((), ("http://example.org/C",)):
        query = search.query(texts, languages=("en", "x y", '"'), within=within)
        plain = search.query(["word"] * len(texts), languages=("en",), within=within)
        assert not query or shape(query) <= shape(plain)


def shape(query: str) -> set[str]:
    """The tokens of a query but for its texts and numbers."""
    given = lexed(query).given
    return {token.text for token in given if token.kind not in ("string", "number")}


@every_search
@settings(max_examples=30, deadline=None)
@given(text=st.sampled_from(HOSTILE) | st.text(max_size=25))
def test_any_query_is_sparql(name: str, text: str) -> None:
    from askgraph.sparql.judge import checked

    query = sparql(name).query([text, "Ada"], languages=("en",))
    assert checked(query).form == "SELECT"


def test_a_search_is_made_from_its_name() -> None:
    assert name_search("none", Naming()) is name_search("", Naming()) is None
    named = name_search("plain:somewhere", Naming((LABEL,)))
    assert named is not None and named.naming == Naming((LABEL,), (), "somewhere")
    with pytest.raises(SetupError, match="no name_search named 'plian'; did you mean 'plain'"):
        name_search("plian", Naming())
