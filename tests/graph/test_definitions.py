"""Definitions are read as they were written; what is wrong with a file is said with its place."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import NamedNode
from tests.each import for_each

from askgraph.errors import SetupError
from askgraph.graph.definitions import (
    DefinedProperty,
    Definitions,
    NodeName,
    TermComment,
    format_definitions,
    read_definitions,
    resolve_virtual_paths,
)
from askgraph.sparql import Path as PropertyPath
from askgraph.sparql.rewrite.virtual import parse_path
from askgraph.sparql.serializer import to_text

PLACE = "http://example.org/"
HEAD = f'[prefixes]\n"" = "{PLACE}"\n'
IRIS = st.sampled_from([PLACE + name for name in ("p", "has.dot", "a-b", "x/y", "q#1")])
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20)
STEPS = IRIS.map(lambda iri: NamedNode("urn:own:" + iri[19:]))
PATHS = st.one_of(
    STEPS.map(lambda step: PropertyPath("^", (step,))),
    st.builds(lambda a, b: PropertyPath("/", (a, PropertyPath("+", (b,)))), STEPS, STEPS),
)
PROPERTIES = st.builds(DefinedProperty, IRIS, PATHS, TEXTS, TEXTS, st.sampled_from(["en", "de"]))
DEFINITIONS = st.builds(
    lambda properties, comments, names: Definitions(
        tuple(sorted(properties, key=lambda one: one.inverse_of is not None)),
        tuple(comments),
        tuple(names),
        {"": PLACE, "own": "urn:own:"},
    ),
    st.lists(PROPERTIES, max_size=3, unique_by=lambda one: one.iri),
    st.lists(st.builds(TermComment, IRIS, TEXTS.filter(bool)), max_size=2),
    st.lists(st.builds(NodeName, IRIS, st.tuples(IRIS, IRIS)), max_size=2),
)


@settings(deadline=None, max_examples=60)
@given(DEFINITIONS)
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, definitions: Definitions
) -> None:
    path = tmp_path_factory.mktemp("definitions") / "one.toml"
    path.write_text(format_definitions(definitions), encoding="utf-8")
    found = read_definitions(path)
    assert found.properties == definitions.properties
    assert (found.comments, found.names) == (definitions.comments, definitions.names)


@for_each(
    ("text", "said"),
    ("[[shortcut]]\nproperty = ':p'", r"\[\[shortcut\]\] 1 has no 'path'"),
    ("[[shortcut]]\nproperty = ':p'\npath = '/:q'", "'/:q' cannot be read"),
    ("[[shortcut]]\nproperty = '\"p\"'\npath = ':q'", "cannot be read: .* not an IRI"),
    ("[[shortcut]]\nproperty = 'no:p'\npath = ':q'", "the prefix 'no:' of 'no:p' is not in"),
    ("[[shortcut]]\nproperty = ':p'\npath = ':q/:p'", "defined by itself"),
    (
        "[[shortcut]]\nproperty = ':p'\npath = ':q'\nunnamed = 1",
        "'unnamed' or its value is invalid",
    ),
    (
        "[[comment]]\nterm = ':p'\ntext = 'x'\nlanguage = 'e n'",
        "'language' or its value is invalid",
    ),
    (2 * "[[shortcut]]\nproperty = ':p'\npath = ':q'\n", "is defined 2 times"),
    ("[[inverse]]\nproperty = ':p'\nof = 3", "'of' or its value is invalid"),
    ("[inverse]\nproperty = ':p'", "two brackets"),
    ("[[inverses]]\nproperty = ':p'", "'inverses' is not one of shortcut, inverse"),
    ("[[comment", "cannot be read"),
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(HEAD + text)
    with pytest.raises(SetupError, match=said):
        read_definitions(path)
    with pytest.raises(SetupError, match=r"no file .*gone\.toml"):
        read_definitions(tmp_path / "gone.toml")


def test_a_path_may_use_another_definition() -> None:
    known = {"": PLACE}
    definitions = Definitions(
        (
            DefinedProperty(PLACE + "in", parse_path(":seat/:part+", known)),
            DefinedProperty(PLACE + "home", parse_path("^:in", known)),
        )
    )

    written = to_text(resolve_virtual_paths(definitions)[PLACE + "home"])

    assert written.replace(PLACE, "") == "^(<seat>/(<part>+))"
