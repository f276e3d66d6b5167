"""Each fault is found in its place, with what could be meant; sound queries are left alone."""

import json
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.answers.validation.conftest import HEAD, only
from tests.each import for_each

from askgraph import sample
from askgraph.answers.validation import FaultKind, ServiceKnowledge
from askgraph.answers.validation.validate import find_faults, validate_query

FAULTS = [  # query, kind, what stands at the place, one of the proposals
    ("SELECT * { ?m a onto:Mooon }", FaultKind.CLASS, "onto:Mooon", "onto:Moon"),
    ("SELECT * { ?m onto:orbitz ?p }", FaultKind.PREDICATE, "onto:orbitz", "onto:orbits"),
    ("SELECT * { ?p a onto:Planet ; onto:orbits ?m }",
     FaultKind.DIRECTION, "onto:orbits", "^onto:orbits"),
    ("SELECT * { :Mars onto:orbits ?m }", FaultKind.DIRECTION, "onto:orbits", "^onto:orbits"),
    ("SELECT * { ?m onto:orbits/rdfs:labl ?n }", FaultKind.PREDICATE, "rdfs:labl", "rdfs:label"),
    ('SELECT * { ?m rdfs:label "Io" }', FaultKind.LANGUAGE, '"Io"', '"Io"@en'),
    ('SELECT * { ?m rdfs:label "Io"@fr }', FaultKind.LANGUAGE, '"Io"@fr', '"Io"@en'),
    ("SELECT * { ?m onto:radius \"11.2667\" }", FaultKind.DATATYPE, '"11.2667"', "11.2667"),
    ('SELECT * { ?p onto:code "JUP"@en }', FaultKind.DATATYPE, '"JUP"@en', '"JUP"'),
    ("SELECT * { ?m onto:radius ?r FILTER(?r > \"9.5\") }",
     FaultKind.FILTER, 'FILTER(?r > "9.5")', "9.5"),
    ("SELECT * { ?m rdfs:label ?n FILTER(LANG(?n) = 'fr') }", FaultKind.FILTER, "", '"de"'),
    ("SELECT ?m ?x { ?m a onto:Moon }", FaultKind.UNBOUND, "?x", ""),
    ("SELECT ?p (COUNT(?m) AS ?n) { ?m onto:orbits ?p }", FaultKind.UNGROUPED, "?p", ""),
    ("SELECT ?m ?p { ?m a onto:Moon . ?p a onto:Planet }", FaultKind.UNJOINED, "", ""),
    (
        "SELECT * { ?m a onto:Moon . OPTIONAL { ?m onto:code ?c } }",
        FaultKind.SUBJECT, "onto:code", "",
    ),
    ("SELECT * { ?m a onto:Moon MINUS { ?m onto:cod ?c } }",
     FaultKind.PREDICATE, "onto:cod", "onto:code"),
    (
        "ASK { ?m a onto:Moon FILTER NOT EXISTS { ?m onto:code ?c } }",
        FaultKind.SUBJECT, "onto:code", "",
    ),
    ("SELECT * { { ?m onto:orbit ?p } UNION { ?m onto:radius ?p } }",
     FaultKind.PREDICATE, "onto:orbit", "onto:orbits"),
    ("SELECT * { { SELECT ?m { ?m a onto:Moon } } ?m onto:code ?c }",
     FaultKind.SUBJECT, "onto:code", ""),
    ("SELECT * { VALUES ?x { :Io } ?x onto:code ?c }", FaultKind.SUBJECT, "onto:code", ""),
    ("SELECT * { BIND(:Io AS ?x) ?x onto:code ?c }", FaultKind.SUBJECT, "onto:code", ""),
    (
        "SELECT * { GRAPH ?g { ?m onto:orbis ?p } }",
        FaultKind.PREDICATE, "onto:orbis", "onto:orbits",
    ),
]  # fmt: skip


@for_each(("query", "kind", "there", "instead"), FAULTS)
def test_a_fault_is_found_in_its_place_with_what_could_be_meant(
    query: str, kind: FaultKind, there: str, instead: str, moons: ServiceKnowledge
) -> None:
    finding = next(one for one in find_faults(HEAD + query, moons) if one.kind is kind)
    if there:
        assert finding.place is not None
        assert (HEAD + query)[finding.place.start : finding.place.end] == there
        assert finding.place.column == finding.place.start + 1
    assert not instead or instead in [one.text for one in finding.proposals]


SOUND = [
    "SELECT ?m { ?m a onto:Moon ; onto:orbits ?p . ?p onto:code ?c }",
    "SELECT ?m { ?p ^onto:orbits ?m . ?p a onto:Planet }",
    "SELECT ?m { ?m onto:orbits/onto:code ?c }",
    "SELECT ?m { ?m (onto:orbits|^onto:orbits)+ ?n }",
    "SELECT ?m { ?m !(onto:orbits|rdf:type) ?n }",
    "SELECT ?m { ?m onto:orbits*/onto:code ?c }",
    "SELECT ?m { ?m ?p ?o . ?o a ?t }",
    "SELECT ?m { ?m a/rdfs:subClassOf* ?c }",
    "SELECT ?x { { ?x a onto:Moon } UNION { ?x a onto:Planet } ?x rdfs:label ?n }",
    "SELECT ?x { ?x rdfs:label ?n OPTIONAL { ?x onto:radius ?r } OPTIONAL { ?x onto:code ?r } }",
    "SELECT ?x { ?x rdfs:label ?n MINUS { ?x a onto:Moon } FILTER EXISTS { ?x onto:code ?c } }",
    "SELECT ?d ?m { :Io onto:radius ?d ; onto:orbits ?m }",
    "SELECT (?a / ?b AS ?c) { { SELECT (COUNT(?m) AS ?a) { ?m a onto:Moon } }"
    " { SELECT (COUNT(?p) AS ?b) { ?p a onto:Planet } } }",
    "SELECT ?p (COUNT(?m) AS ?n) { ?m onto:orbits ?p } GROUP BY ?p HAVING(COUNT(?m) > 1)",
    "SELECT ?m { SERVICE <http://elsewhere.example/> { ?m onto:unheard ?p } }",
    "SELECT ?m { ?m onto:radius ?r FILTER(?r > 5 && LANG(?n) = 'en') . ?m rdfs:label ?n }",
    "CONSTRUCT { ?m onto:new ?p } WHERE { ?m onto:orbits ?p }",
]


@for_each("query", [one for one in SOUND if "subClassOf" not in one])
def test_a_sound_query_is_left_alone(query: str, moons: ServiceKnowledge) -> None:
    query = query.replace("rdf:type", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>")
    assert find_faults(HEAD + query, moons) == ()
    assert validate_query(HEAD + query, moons).repaired == HEAD + query


def test_every_gold_query_of_the_sample_is_sound(space: ServiceKnowledge) -> None:
    path = sample.graph_path().parent / "questions.jsonl"
    for line in path.read_text(encoding="utf-8").splitlines():
        query = json.loads(line).get("sparql")
        assert not query or find_faults(query, space) == ()


def test_what_is_unknown_is_not_called_wrong(moons: ServiceKnowledge) -> None:
    unsure = ServiceKnowledge(replace(moons.queried_graph, completeness=0.3))
    found = validate_query(HEAD + "SELECT * { ?m onto:mass ?x }", unsure)
    assert [finding.certainty for finding in found.findings] == [0.3]
    assert not found.is_wrong


def test_variables_all_linked_with_each_other_cost_as_much_as_their_patterns(
    moons: ServiceKnowledge,
) -> None:
    names = [f"?v{at}" for at in range(8)]
    lines = [f"{name} a onto:Moon ." for name in names]
    lines += [f"{a} onto:orbits {b} ." for a in names for b in names if a != b]
    found = find_faults(HEAD + f"SELECT * {{ {' '.join(lines)} }}", moons)
    assert found
    assert {finding.kind for finding in found} <= {
        FaultKind.OBJECT,
        FaultKind.SUBJECT,
        FaultKind.DIRECTION,
    }


def test_deep_nesting_is_read_once_per_level(moons: ServiceKnowledge) -> None:
    inner = "?m a onto:Moon"
    for _ in range(40):
        inner = f"{{ {inner} }} UNION {{ ?m onto:radius ?r }}"
    assert find_faults(HEAD + f"SELECT ?m {{ {inner} }}", moons) == ()


TERMS = st.sampled_from([":Io", ":Mars", "?a", "?b", "?c"])
TRIPLES = [
    "?a a onto:Moon .",
    "?a onto:orbits ?b .",
    "?b onto:code ?c .",
    "?a onto:radius ?d .",
    "?a rdfs:label ?e .",
    "?b rdfs:label ?f .",
    "OPTIONAL { ?b a onto:Planet . }",
    "{ ?a onto:orbits ?b } UNION { ?a onto:orbits/^onto:orbits ?g } .",
    "FILTER EXISTS { ?a onto:orbits :Jupiter }",
]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(TRIPLES), min_size=1, max_size=6, unique=True))
def test_patterns_that_the_graph_matches_are_never_flagged(
    moons: ServiceKnowledge, lines: list[str]
) -> None:
    body = "?a onto:orbits ?b . " + " ".join(lines)
    assert find_faults(HEAD + f"SELECT * {{ {body} }}", moons) == ()


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


@for_each("query", SEVERAL_CLASSES)
def test_a_thing_may_be_of_several_classes_and_of_those_above(
    query: str, cups: ServiceKnowledge
) -> None:
    assert find_faults(HEAD + query, cups) == ()


def test_classes_that_share_no_instance_do_not_go_together(cups: ServiceKnowledge) -> None:
    finding = only("SELECT * { ?x a :Cup, :Tea }", cups)
    assert (finding.kind, finding.term) == (FaultKind.SUBJECT, "http://example.org/Tea")


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


@for_each(("tried", "alone"), TRIED)
def test_what_leaves_the_query_its_answers_is_told_but_not_called_wrong(
    tried: str, alone: str, cups: ServiceKnowledge
) -> None:
    harmless = validate_query(HEAD + tried, cups)
    assert harmless.findings
    assert not harmless.is_wrong
    assert validate_query(HEAD + alone, cups).is_wrong


def test_a_known_prefix_is_declared(moons: ServiceKnowledge) -> None:
    found = validate_query("SELECT * { ?m a onto:Moon }", moons)
    assert found.repaired == (
        "PREFIX onto: <http://example.org/onto#>\nSELECT * { ?m a onto:Moon }"
    )
    assert [finding.kind for finding in found.findings] == [FaultKind.PREFIX]


def test_another_name_is_proposed_but_not_put_in(moons: ServiceKnowledge) -> None:
    query = HEAD + "SELECT * { ?m a onto:Moon ; onto:code ?radius }"
    found = validate_query(query, moons)
    assert found.repaired == query
    finding = next(one for one in found.findings if one.term.endswith("code"))
    assert finding.proposals[0].text == "onto:radius"


def test_a_misprint_in_one_branch_is_repaired_beside_a_sound_one(cups: ServiceKnowledge) -> None:
    found = validate_query(HEAD + "SELECT * { { ?x :holds ?y } UNION { ?x :heldby ?y } }", cups)
    assert found.is_wrong
    assert found.repaired.endswith("UNION { ?x :heldBy ?y } }")


MENDED = [  # as people write them, what comes out, what was done
    ("SELECT ?n { :Io rdfs:label ?n } ;", "SELECT ?n { :Io rdfs:label ?n } ", None),
    ("SELECT COUNT(?m) { ?m a onto:Moon }", "SELECT (COUNT(?m) AS ?count) { ?m a onto:Moon }",
     "an aggregate was given parentheses and a name"),
    ("SELECT ?m { ?p onto:orbits ?m . ?p a onto:Planet }",
     "SELECT ?m { ?p ^onto:orbits ?m . ?p a onto:Planet }", "a predicate was reversed"),
    ('SELECT ?m { ?m rdfs:label "Europa" }', 'SELECT ?m { ?m rdfs:label "Europa" }', None),
    ('SELECT ?p { ?p onto:code "MAR"@en }', 'SELECT ?p { ?p onto:code "MAR" }',
     "a datatype was corrected"),
    ("SELECT ?m { ?m a onto:moons }", "SELECT ?m { ?m a onto:Moon }", None),
    ("SELECT ?m { ?m a onto:moon }", "SELECT ?m { ?m a onto:Moon }",
     "the name of a class was corrected"),
    ("SELECT ?m { ?m onto:radus ?r }", "SELECT ?m { ?m onto:radius ?r }",
     "the name of a predicate was corrected"),
]  # fmt: skip


@for_each(("query", "mended", "note"), MENDED)
def test_a_repair_says_what_it_did(
    query: str, mended: str, note: str | None, moons: ServiceKnowledge
) -> None:
    found = validate_query(HEAD + query, moons)
    if note is not None:
        assert found.repaired == HEAD + mended
        assert found.remaining == ()
        assert [repair.note for repair in found.repairs] == [note]
    else:
        assert found.repairs == ()


def test_the_label_service_becomes_optional_labels(moons: ServiceKnowledge) -> None:
    query = (
        "SELECT ?m ?mLabel { ?m a onto:Moon SERVICE <http://wikiba.se/ontology#label>"
        " { <http://www.bigdata.com/rdf#serviceParam> <http://wikiba.se/ontology#language> 'en' } }"
    )
    found = validate_query(HEAD + query, moons)
    assert "SERVICE" not in found.repaired
    assert "?mLabel" in found.repaired[found.repaired.index("OPTIONAL") :]
    assert found.remaining == ()
    assert found.repairs
