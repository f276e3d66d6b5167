"""Vocabularies: their files, what a profile takes from them, and what the names of a graph do."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.each import for_each
from tests.graphs import store_of
from tests.search.asking import Known

from askgraph.errors import SetupError
from askgraph.graph.arrays import build_arrays
from askgraph.graph.local_profile import build_profile
from askgraph.graph.names import iterate_names, iterate_schema_names
from askgraph.graph.profile import ClassProfile, PredicateProfile, Profile
from askgraph.graph.vocabularies import (
    LANGUAGES,
    NAMING_ROLES,
    Vocabularies,
    add_vocabulary_names,
    compute_vocabulary_digest,
    load_vocabularies,
    parse_vocabulary,
)

SHOP = "http://example.org/shop#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
CRM = "http://www.cidoc-crm.org/cidoc-crm/"
TOP = f'title = "Shop"\nnamespaces = ["{SHOP}"]\n'
HEAD = f"@prefix : <{SHOP}> . @prefix skos: <{SKOS}> .\n"

Tables = Mapping[str, Mapping[str, object]]

words = st.text("abcdefghij", min_size=2, max_size=8)
local_names = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,11}", fullmatch=True)
names = st.fixed_dictionaries({}, optional={tag: st.lists(words, max_size=4) for tag in LANGUAGES})
properties = st.tuples(
    names,
    st.fixed_dictionaries(
        {},
        optional={
            "naming": st.sampled_from(NAMING_ROLES),
            "bookkeeping": st.booleans(),
            "value": st.booleans(),
        },
    ),
).map(lambda parts: {**parts[0], **parts[1]})


def write(classes: Tables, members: Tables) -> str:
    """Return a vocabulary as TOML; its texts, lists and numbers are written as in JSON."""
    tables = {"classes": classes, "properties": members}
    lines = [
        line
        for kind, terms in tables.items()
        for local, table in terms.items()
        for line in (f"[{kind}.{local}]", *(f"{k} = {json.dumps(v)}" for k, v in table.items()))
    ]
    return TOP + "\n".join(lines)


@given(st.dictionaries(local_names, names), st.dictionaries(local_names, properties))
def test_what_a_file_says_of_a_term_is_read(
    classes: dict[str, dict[str, Any]], members: dict[str, dict[str, Any]]
) -> None:
    vocabulary = parse_vocabulary(write(classes, members), "shop.toml")
    for local, table in classes.items():
        term = vocabulary.find(SHOP + local, vocabulary.classes)
        assert term is not None
        assert term.names == tuple((text, tag) for tag in LANGUAGES for text in table.get(tag, []))
    for local, table in members.items():
        term = vocabulary.find(SHOP + local, vocabulary.properties)
        assert term is not None
        assert term.naming == table.get("naming", "")
        assert term.bookkeeping == table.get("bookkeeping", False)
        assert term.value == table.get("value", False)
    assert vocabulary.find("http://example.org/other#Thing", vocabulary.classes) is None


@given(
    st.sampled_from(("en", "naming", "bookkeeping", "value", "colour")),
    st.one_of(
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.lists(st.integers(), min_size=1),
    ),
)
def test_a_wrong_value_is_an_error_that_names_file_term_and_key(key: str, value: object) -> None:
    with pytest.raises(SetupError, match=rf"shop\.toml: \[properties\.sells\].*{key}"):
        parse_vocabulary(write({}, {"sells": {key: value}}), "shop.toml")


@for_each(
    "text, message",
    ("title = 'Shop'", "shop.toml: 'namespaces' must be a list of namespace IRIs"),
    (f"namespaces = ['{SHOP}']", "shop.toml: 'title' must be the name of the vocabulary"),
    ("title = 'Shop'\nnamespaces = ['shop']", "shop.toml: 'namespaces' must be a list"),
    (f"{TOP}codes = 1", "shop.toml: 'codes' must be true or false, it is 1"),
    (f"{TOP}[class.Till]", "shop.toml: 'class' is none of title, namespaces"),
    (f"{TOP}properties = 3", "shop.toml: 'properties' must hold a table for each term"),
    (f"{TOP}[classes]\nTill = 3", r"shop.toml: \[classes.Till\] must be a table, it is 3"),
    (f"{TOP}[classes.Till]\nvalue = true", r"\[classes.Till\] has an unknown key 'value'"),
    (f"{TOP}[classes.Till]\nen = ['']", r"\[classes.Till\] en must be a list of names"),
    (f"{TOP}[properties.of]\nnaming = 'no'", r"naming 'no' is none of name, alternative"),
    ("title = ", "the vocabulary shop.toml is no TOML"),
)
def test_an_invalid_file_is_an_error_that_says_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(SetupError, match=message):
        parse_vocabulary(text, "shop.toml")


def test_every_file_of_the_package_is_valid_and_every_term_of_it_says_something() -> None:
    everything = [f"http://{place}" for place in ("www.", "purl.", "xmlns.", "schema.", "rdfs.")]
    digest = compute_vocabulary_digest()
    assert len(digest) == 16 and load_vocabularies(everything) == Vocabularies()
    folder = Path(__file__).parents[2] / "src" / "askgraph" / "graph" / "vocabularies"
    vocabularies = [parse_vocabulary(path.read_text("utf-8"), path.name)
                    for path in sorted(folder.glob("*.toml"))]  # fmt: skip
    assert len(vocabularies) >= 27
    namespaces = [namespace for item in vocabularies for namespace in item.namespaces]
    assert len(set(namespaces)) == len(namespaces)
    for item in vocabularies:
        terms = (*item.classes.values(), *item.properties.values(), *item.individuals.values())
        for term in terms:
            assert term.names or term.naming or term.bookkeeping or term.value


def test_only_vocabularies_that_a_graph_uses_are_read_those_of_users_first(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        f'title = "Own"\nnamespaces = ["{SKOS}"]\n[properties.broader]\nen = ["boss"]\n', "utf-8"
    )
    used = load_vocabularies([f"{SKOS}broader"], [own])
    assert [item.title for item in used.items] == ["Own", "SKOS and SKOS-XL"]
    broader = used.find_property(f"{SKOS}broader")
    assert broader is not None and broader.names == (("boss", "en"),)
    assert load_vocabularies([f"{SHOP}sells"], [own]).items == ()
    with pytest.raises(SetupError, match="there is no vocabulary file"):
        load_vocabularies([f"{SHOP}sells"], [tmp_path / "absent.toml"])


def test_a_code_stands_for_all_versions_of_a_local_name() -> None:
    used = load_vocabularies([f"{CRM}P98i_was_born"])
    birth, other = (used.find_property(CRM + name) for name in ("P98i_was_born", "P999_has_echo"))
    assert birth is not None and ("geboren", "de") in birth.names
    assert other is not None and other.names == (("echo", "en"),)
    for version in ("E22_Man-Made_Object", "E22_Human-Made_Object"):
        item = used.find_class(CRM + version)
        assert item is not None and ("object", "en") in item.names


def test_individuals_without_a_label_have_the_names_of_their_vocabulary(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(f"{TOP}[individuals.c7]\nen = ['straw']\n[individuals.c8]\nen = ['felt']")
    turtle = """@prefix gn: <http://www.geonames.org/ontology#> .
        :peru a gn:Feature; gn:featureCode gn:A.PCLI; :tip :c7. :chad a gn:Feature;
        gn:featureCode gn:A.PCLI. :cusco a gn:Feature; gn:featureCode gn:P.PPL."""
    graph = Known(store_of(HEAD + turtle))
    names = list(iterate_names(graph.arrays, graph.profile, [own]))
    targets = {name.text: name.target.rpartition("#")[2] for name in names if name.whole}
    assert targets["Land"] == "A.PCLI" and targets["straw"] == "c7"
    assert not {"felt", "lake"} & targets.keys()
    assert sorted(graph.best_rows("Which countries are there?")) == [("chad",), ("peru",)]
    assert graph.best_rows("Welche Städte gibt es?", "de") == [("cusco",)]


def test_the_names_of_the_graph_come_before_those_of_its_vocabulary() -> None:
    turtle = (
        ":a a skos:Concept; skos:prefLabel 'Hat'; skos:broader :b; :parent :b; skos:altLabel 'Cap'."
    )
    profile = build_profile(build_arrays(store_of(HEAD + turtle)))
    broader = next(p for p in profile.predicates if p.iri == f"{SKOS}broader")
    texts = [text for text, _ in broader.other_names]
    assert "hypernym" in texts and "Oberbegriff" in texts
    assert "parent" not in texts  # the graph has a predicate of that name
    names = {n.text: n for n in iterate_schema_names(profile) if n.target == broader.iri}
    assert names["broader"].preferred and not names["broader"].whole
    assert names["hypernym"].whole and not names["hypernym"].preferred


def test_a_vocabulary_says_what_names_things_and_what_is_bookkeeping(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        f"{TOP}[properties.motto]\nnaming = 'never'\n[properties.tag]\nnaming = 'name'\n"
        "[properties.stamp]\nbookkeeping = true\n[properties.amount]\nvalue = true\n",
        "utf-8",
    )
    turtle = "".join(
        f":{at} :motto 'Motto {at}{at}'; :tag 'Tag {at}'; :stamp 'x'; :amount {at}.\n"
        for at in range(1, 9)
    )
    arrays = build_arrays(store_of(HEAD + turtle))
    plain = {p.iri.removeprefix(SHOP): p for p in build_profile(arrays).predicates}
    assert plain["motto"].naming == "name"  # its texts are unique
    known = {
        p.iri.removeprefix(SHOP): p
        for p in build_profile(arrays, vocabulary_files=[own]).predicates
    }
    assert known["motto"].naming == "" and known["tag"].naming == "name"
    assert [name for name, p in known.items() if p.bookkeeping] == ["stamp"]
    assert [name for name, p in known.items() if p.value] == ["amount"]


def test_only_an_ontology_is_asked_for_the_terms_of_its_schema() -> None:
    schema = (
        "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        ":Hat a owl:Class; rdfs:comment 'Worn on a head.'. :Cap a owl:Class; owl:deprecated true.\n"
    )
    data = ":a a :Hat. :b a :Hat. :c a :Cap.\n"
    ontology, graph = (
        build_profile(build_arrays(store_of(HEAD + turtle))) for turtle in (schema, schema + data)
    )
    assert [c.iri.rpartition("#")[2] for c in ontology.classes if c.other_names] == ["Class"]
    named = {p.iri.rpartition("#")[2] for p in ontology.predicates if p.other_names}
    assert named == {"comment", "deprecated"}
    assert not any(c.other_names for c in graph.classes)
    assert not any(p.other_names for p in graph.predicates)


def test_a_profile_without_terms_of_a_vocabulary_stays_as_it_is() -> None:
    profile = Profile(
        3, (ClassProfile(f"{SHOP}Till", 2),), (PredicateProfile(f"{SHOP}of", 1, 1, 1),)
    )
    assert add_vocabulary_names(profile, load_vocabularies([f"{SHOP}Till", f"{SHOP}of"])) == profile
