"""Every candidate is read back in four languages without an IRI, a variable or an error."""

import json
import re
from collections.abc import Iterator, Mapping

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode
from tests.search.asking import Known
from tests.search.test_candidates import WORDS
from tests.search.zoo import QUESTIONS

from askgraph.answers.verbalize import in_words
from askgraph.sample import questions_path
from askgraph.sparql import Query, variables_of
from askgraph.sparql.prefixes import best_label
from askgraph.sparql.vocabulary import RDFS_LABEL

LANGUAGES = ("en", "de", "es", "fr")
SAMPLE = [
    (line["question"], line["lang"])
    for line in map(json.loads, questions_path().with_suffix(".jsonl").read_text().splitlines())
]


def labels(known: Known, language: str) -> Mapping[str, str]:
    found: dict[str, list[tuple[str, str | None]]] = {}
    for quad in known.store.quads_for_pattern(None, NamedNode(RDFS_LABEL), None):
        assert isinstance(quad.subject, NamedNode) and isinstance(quad.object, Literal)
        found.setdefault(quad.subject.value, []).append((quad.object.value, quad.object.language))
    return {iri: best_label(given, [language]) or "" for iri, given in found.items()}


@pytest.fixture(scope="module")
def zoo_labels(zoo: Known) -> Mapping[str, Mapping[str, str]]:
    return {language: labels(zoo, language) for language in LANGUAGES}


@pytest.fixture(scope="module")
def space_labels(space: Known) -> Mapping[str, Mapping[str, str]]:
    return {language: labels(space, language) for language in LANGUAGES}


def residue(query: Query, text: str) -> Iterator[str]:
    """What no reader should see: IRIs, variables, and what is left of a phrase."""
    yield from re.findall(r"https?:\S*|\w+://\S*|[{}<>]|\?\w+|,,|  | ,", text)
    hidden = {one.value for one in variables_of(query) if "_" in one.value}
    yield from (name for name in hidden if name in text)
    if len(text) < 3 or "cannot be put" in text:
        yield text


def check(known: Known, question: str, named: Mapping[str, Mapping[str, str]]) -> None:
    for candidate in known.proposal(question).candidates[:12]:
        for language in LANGUAGES:
            for nouns in (None, "en", ""):
                text = in_words(candidate.query, named[language], language=language, nouns=nouns)
                wrong = list(residue(candidate.query, text))
                assert not wrong, (text, wrong)


@pytest.mark.parametrize("question", [question for _, question, _ in QUESTIONS])
def test_candidates_for_a_question_are_read_back(
    question: str, zoo: Known, zoo_labels: Mapping[str, Mapping[str, str]]
) -> None:
    check(zoo, question, zoo_labels)


@pytest.mark.parametrize(("question", "language"), SAMPLE[::3])
def test_candidates_for_a_sample_question_are_read_back(
    question: str, language: str, space: Known, space_labels: Mapping[str, Mapping[str, str]]
) -> None:
    check(space, question, space_labels)


@given(words=st.lists(st.sampled_from(WORDS.split()), min_size=1, max_size=12))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_candidates_for_any_words_are_read_back(
    words: list[str], zoo: Known, zoo_labels: Mapping[str, Mapping[str, str]]
) -> None:
    check(zoo, " ".join(words), zoo_labels)
