"""Every check gives findings and raises nothing, whatever the query."""

from tests.each import for_each

from askgraph import plugins
from askgraph.answers.validation import Check, CheckInput, Finding, Knowledge, ServiceKnowledge
from askgraph.answers.validation.validate import CHECKS
from askgraph.errors import QuerySyntaxError
from askgraph.sparql.parser import parse_tree

QUERIES = ["", "SELECT", "SELECT ?x { ?x a <x:C> ; <x:p> 1 }", "ASK { ?s ?p ?o FILTER(?o > 'a') }"]


def subject(query: str) -> CheckInput:
    try:
        tree = parse_tree(query)
    except QuerySyntaxError:
        tree = None
    return CheckInput(query, tree, ServiceKnowledge(Knowledge({}, {}, completeness=0.0)))


def test_the_usual_checks_are_all_there_are() -> None:
    assert sorted(CHECKS) == list(plugins.list_names("check"))


@for_each("name", plugins.list_names("check"))
@for_each("query", QUERIES)
def test_a_check_gives_findings_whatever_the_query(name: str, query: str) -> None:
    check: Check = plugins.load("check", name)
    assert all(isinstance(finding, Finding) for finding in check(subject(query)))
