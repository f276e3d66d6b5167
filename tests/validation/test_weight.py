"""Things of several classes, and tries that do no harm, are not called wrong."""

import pytest
from tests.validation.conftest import HEAD, only

from askgraph.validation import Kind
from askgraph.validation.knowledge import Services
from askgraph.validation.validate import findings_on, validated

SEVERAL_CLASSES = [
    "SELECT * { ?x a :Cup OPTIONAL { ?x a :Old ; :holds ?y } }",
    "SELECT * { ?x a :Cup FILTER NOT EXISTS { ?x a :Old } }",
    "SELECT * { ?x a :Cup MINUS { ?x a :Old } }",
    "SELECT * { ?x a :Old { ?x a :Cup } UNION { ?x a :Red } }",
    "SELECT * { ?x a :Old { SELECT ?x { ?x a :Cup } } }",
    "SELECT * { ?x a/rdfs:subClassOf* :Vessel ; :holds ?y }",
    "SELECT * { ?x a/rdfs:subClassOf+ :Thing ; a :Old }",
    "SELECT * { VALUES ?n { 5.0 } ?x :size ?n }",
    "SELECT * { :unheard :holds* ?x }",
]


@pytest.mark.parametrize("query", SEVERAL_CLASSES)
def test_a_thing_may_be_of_several_classes_and_of_those_above(query: str, cups: Services) -> None:
    assert findings_on(HEAD + query, cups) == ()


def test_classes_that_share_no_instance_do_not_go_together(cups: Services) -> None:
    finding = only("SELECT * { ?x a :Cup, :Tea }", cups)
    assert (finding.kind, finding.term) == (Kind.SUBJECT, "http://example.org/Tea")


TRIED = [  # harmless where they stand; the same in the only branch is not
    ("SELECT * { ?x :holds|:contains ?y }", "SELECT * { ?x :contains ?y }"),
    ("SELECT * { { ?x :holds ?y } UNION { ?x :contains ?y } }",
     "SELECT * { { ?x :contains ?y } UNION { ?y :contains ?x } }"),
    ("SELECT * { { ?x :holds ?y } UNION { ?y a :Cup ; :heldBy ?x } }",
     "SELECT * { ?y a :Cup ; :heldBy ?x }"),
    ("SELECT * { ?x a :Cup FILTER NOT EXISTS { ?x a :Red } }",
     "SELECT * { ?x a :Cup FILTER EXISTS { ?x a :Red } }"),
    ("SELECT * { ?x :holds/:contains* ?y }", "SELECT * { ?x :holds/:contains+ ?y }"),
]  # fmt: skip


@pytest.mark.parametrize(("tried", "alone"), TRIED)
def test_what_leaves_the_query_its_answers_is_told_but_not_called_wrong(
    tried: str, alone: str, cups: Services
) -> None:
    harmless = validated(HEAD + tried, cups)
    assert harmless.findings
    assert not harmless.is_wrong
    assert validated(HEAD + alone, cups).is_wrong
