"""All that a grammar admits is a query that names only what is listed."""

import asyncio
import random
from collections.abc import Iterator

import pytest
from pyoxigraph import Store
from tests.each import for_each
from tests.late import xgrammar

from askgraph import sample
from askgraph.evaluation.benchmarks.formats import read_questions
from askgraph.graph import KnowledgeGraph
from askgraph.index.names import ItemKind
from askgraph.llm import Choice, TokenLogprob
from askgraph.llm.scripted import ScriptedModel
from askgraph.methods.writing import ListedTerm
from askgraph.methods.writing.model_writer import PromptedWriter, build_query_grammar, parse_query
from askgraph.methods.writing.term_names import FORMS, TermNames, list_required_terms
from askgraph.sparql.judge import check_query
from askgraph.sparql.parser import parse_tree
from askgraph.trace import Question
from askgraph.workspace import Workspace

EX = "http://example.org/"
NAMED = TermNames(
    [
        ListedTerm(ItemKind.ENTITY, EX + "Jupiter", "Jupiter"),
        ListedTerm(ItemKind.CLASS, EX + "Moon", "moon"),
        ListedTerm(ItemKind.PREDICATE, EX + "orbits", "orbits"),
        ListedTerm(ItemKind.PREDICATE, EX + "discoverer", "discoverer"),
        ListedTerm(ItemKind.VALUE, '"red spot"@en', "red spot"),
    ]
)
PLAIN = TermNames(NAMED.terms, "plain")
END = "</s>"
VOCABULARY = [*map(chr, range(32, 127)), "\n", END]
BEGINNINGS = [
    "",
    "SELECT ?v0 ",
    "SELECT ?v0 (",
    "SELECT DISTINCT ?v0 (COUNT(",
    "SELECT (YEAR(?v1) AS ?v2) (SUM(?v1) AS ?v0) ?v3 WHERE { ?v0 <orbits> ?v1 . } GROUP BY",
    "SELECT (?v0 AS ?v0) WHERE { BIND(3 AS ?v0) ",
    "SELECT ?v0 WHERE { { SELECT ",
    "SELECT (COUNT(?v0) AS ?v1) WHERE { ?v0 ?v1 ?v2 . } GROUP BY ?v0 HAVING ",
    "SELECT ?v0 WHERE { ?v1 ?v2 ?v0 . } ORDER BY ",
]


@pytest.fixture(scope="module")
def compiler() -> "xgrammar.GrammarCompiler":
    end = [VOCABULARY.index(END)]
    letters = xgrammar.TokenizerInfo(
        VOCABULARY, xgrammar.VocabType.RAW, vocab_size=len(VOCABULARY), stop_token_ids=end
    )
    return xgrammar.GrammarCompiler(letters, max_threads=1)


def _wandered(grammar: "xgrammar.CompiledGrammar", chance: random.Random, names: TermNames) -> str:
    """A text that the grammar admits, letter by letter at random; a long one ends where it can."""
    matcher = xgrammar.GrammarMatcher(grammar)
    mask = xgrammar.allocate_token_bitmask(1, len(VOCABULARY))
    text = chance.choice(BEGINNINGS).replace("<orbits>", names.by_target[EX + "orbits"])
    assert matcher.accept_string(text)
    while True:
        matcher.fill_next_token_bitmask(mask)
        bits = mask[0].tolist()
        allowed = [at for at in range(len(VOCABULARY)) if bits[at // 32] >> (at % 32) & 1]
        if len(text) > 150:
            ends = [at for at in allowed if VOCABULARY[at] in ("}", ")", END)]
            allowed = ends or [at for at in allowed if VOCABULARY[at] in "?v0P1E.A"] or allowed
        letter = chance.choice(allowed)
        assert matcher.accept_token(letter)
        if VOCABULARY[letter] == END:
            return text
        text += VOCABULARY[letter]


@for_each("names", [PLAIN, NAMED])
def test_all_that_it_admits_is_a_query_of_listed_terms(
    compiler: "xgrammar.GrammarCompiler", names: TermNames
) -> None:
    grammar = compiler.compile_grammar(xgrammar.Grammar.from_ebnf(build_query_grammar(names)))
    chance = random.Random(7)

    for _ in range(60):
        query = parse_query(_wandered(grammar, chance, names), names)
        parse_tree(query)
        check_query(query)
        Store().query(query)
        assert {target for _, target in list_required_terms(query)} <= {
            each.target for each in NAMED.terms
        }


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_it_admits_the_sample_s_queries(compiler: "xgrammar.GrammarCompiler", form: str) -> None:
    path = sample.questions_path().with_suffix(".jsonl")

    for question in read_questions(path):
        if question.sparql is None:
            continue
        terms = [
            ListedTerm(kind, named, "") for kind, named in list_required_terms(question.sparql)
        ]
        names = TermNames(terms, form)
        matcher = xgrammar.GrammarMatcher(
            compiler.compile_grammar(xgrammar.Grammar.from_ebnf(build_query_grammar(names)))
        )
        text = names.encode_query(question.sparql)
        assert (matcher.accept_string(text), matcher.is_completed()) == (True, True), text
        if form == "plain":  # as an endpoint takes it
            Store().query(text)


@for_each(
    "text",
    "SELECT ?v0 WHERE { ?v0 <radius> <Jupiter> . }",
    "SELECT ?v0 WHERE { ?v0 <orbits> <Galileo> . }",
    "SELECT ?v0 WHERE { ?v0 <orbits> <http://example.org/x> . }",
    'SELECT ?v0 WHERE { ?v0 <orbits> "x" . }',
    "SELECT ?v0 WHERE { ?v0 wdt:P31 <Jupiter> . }",
    "SELECT ?v0 WHERE { SERVICE <Jupiter> { ?v0 <orbits> <Jupiter> . } }",
    "SELECT ?v0 WHERE { ?v0 rdf:type <Jupiter> . }",
    "INSERT",
)
def test_it_refuses_what_is_not_listed(compiler: "xgrammar.GrammarCompiler", text: str) -> None:
    grammar = compiler.compile_grammar(xgrammar.Grammar.from_ebnf(build_query_grammar(NAMED)))
    assert not xgrammar.GrammarMatcher(grammar).accept_string(text)


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    graph = Workspace(tmp_path_factory.mktemp("written")).open(sample.graph_path())
    yield graph
    asyncio.run(graph.endpoint.close())


EXAMPLE = "http://example.org/"
LISTED = [
    ListedTerm(ItemKind.ENTITY, EXAMPLE + "Jupiter", "Jupiter"),
    ListedTerm(ItemKind.PREDICATE, EXAMPLE + "orbits", "orbits"),
]
ORBITS = f"SELECT ?v0 WHERE {{ ?v0 <{EXAMPLE}orbits> <{EXAMPLE}Jupiter> . }}"
ORBITED = f"SELECT ?v0 WHERE {{ <{EXAMPLE}Jupiter> <{EXAMPLE}orbits> ?v0 . }}"


def _said(text: str, logprob: float) -> Choice:
    return Choice(text, logprobs=(TokenLogprob(text, logprob),))


async def test_the_model_is_shown_names_and_its_query_has_iris(space: KnowledgeGraph) -> None:
    model = ScriptedModel(["SELECT ?v0 WHERE { ?v0 <orbits> <Jupiter> . }"])
    written = await PromptedWriter(model).write(Question("What orbits Jupiter?"), LISTED, space)
    assert [each.query for each in written] == [ORBITS]
    assert "<Jupiter>" in str(model.requests[0].messages)
    assert EXAMPLE not in str(model.requests[0].messages)


async def test_one_query_in_other_words_is_one_the_likeliest_first(space: KnowledgeGraph) -> None:
    replies = [
        _said("SELECT ?v0 WHERE { ?v0 <orbits> <Jupiter> . }", -2.0),
        _said("SELECT ?v0 WHERE { <Jupiter> <orbits> ?v0 . }", -1.0),
        _said("SELECT ?moon\nWHERE { ?moon <orbits> <Jupiter> }", -0.5),
        _said("SELECT ?v0 WHERE { ?v0 <radius> <Jupiter> . }", -0.1),
        _said("Sorry.", -0.1),
    ]
    writer = PromptedWriter(ScriptedModel([replies]))

    written = await writer.write(Question("What orbits Jupiter?"), LISTED, space, n=5)

    assert [(each.query.replace("?moon", "?v0"), each.score) for each in written] == [
        (ORBITS, -0.5),
        (ORBITED, -1.0),
    ]


async def test_beams_are_asked_for_where_they_are_wanted(space: KnowledgeGraph) -> None:
    model = ScriptedModel(["SELECT ?v0 WHERE { ?v0 <orbits> <Jupiter> . }"])
    await PromptedWriter(model, search="beams").write(
        Question("What orbits Jupiter?"), LISTED, space, n=3
    )
    assert (model.requests[0].beams, model.requests[0].n) == (True, 3)
