"""What a page says of a resource in the words of schema.org."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askgraph.errors import SetupError
from askgraph.graph.descriptions import DatasetDescription, format_json_ld, parse_descriptions

PAGE = """<!doctype html><html><head><title>Moons</title>
<script>if (1 < 2) { var x = "{" }</script>
<script type="application/ld+json">
{"@context": "%s", "@type": "Dataset", "name": "Moons",
 "description": "All <b>known</b> moons &amp; more.", "keywords": "moons, planets,moons",
 "license": {"@id": "https://example.org/license"},
 "publisher": {"@type": "Organization", "name": "The Observatory"},
 "distribution": {"@type": "DataDownload", "encodingFormat": "application/sparql-results+json",
                  "contentUrl": "https://example.org/sparql"}}
</script></head><body><h1>Moons</h1></body></html>"""


@pytest.mark.parametrize("space", ["https://schema.org/", "http://schema.org", ""])
def test_a_page_describes_its_data_set(space: str) -> None:
    assert parse_descriptions(PAGE.replace("%s", space)) == (
        DatasetDescription(
            "Dataset",
            "Moons",
            "All known moons & more.",
            ("moons", "planets"),
            "The Observatory",
            "https://example.org/license",
            endpoint="https://example.org/sparql",
        ),
    )


@pytest.mark.parametrize("space", ["https://schema.org/", "http://schema.org/", "schema:"])
def test_names_may_be_written_in_full(space: str) -> None:
    text = f'[{{"@type": ["{space}Dataset"], "{space}name": [{{"@value": "Moons"}}]}}]'
    assert [one.name for one in parse_descriptions(text)] == ["Moons"]


def test_a_graph_of_resources_gives_the_data_sets_first() -> None:
    text = """{"@graph": [{"@type": "WebSite", "name": "Home"}, {"@type": "Person", "name": "Ann"},
      {"@type": "Dataset", "headline": "Moons", "keywords": ["a", {"name": "b"}], "version": 2}]}"""
    assert [
        (one.kind, one.name, one.keywords, one.version) for one in parse_descriptions(text)
    ] == [("Dataset", "Moons", ("a", "b"), "2"), ("WebSite", "Home", (), "")]


def test_a_page_without_any_has_none() -> None:
    assert parse_descriptions("<html><body>Moons</body></html>") == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"@type": "Dataset", ', "is invalid: Expecting"),
        ("moons", "neither"),
        ('<script type="application/ld+json">{</script>', "is invalid: Expecting"),
    ],
)
def test_what_cannot_be_read_is_told(text: str, said: str) -> None:
    with pytest.raises(SetupError, match=said):
        parse_descriptions(text)


@given(st.text("<>{}[]\"':,@a script/ld+json=-!", max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = parse_descriptions(text)
    except SetupError:
        return
    assert found == ()


words = st.text("ab<>&;\"'é, ", max_size=12).map(lambda text: " ".join(text.split()))
marked = st.builds(
    DatasetDescription,
    st.sampled_from(["Dataset", "WebAPI"]),
    words.filter(bool),
    words,
    st.lists(st.text("ab é", min_size=1).map(str.strip).filter(bool), unique=True).map(tuple),
    words,
    words,
    words,
    words,
    words,
    words,
)


@given(st.lists(marked, max_size=3, unique=True))
def test_what_is_written_reads_as_the_same(descriptions: list[DatasetDescription]) -> None:
    assert set(parse_descriptions(format_json_ld(descriptions))) == set(descriptions)
