"""How answers speak of a property can be taught by the glossary."""

import pytest

from askgraph.answers.verbalize import verbalize_query
from askgraph.answers.verbalize.labels import SchemaFacts
from askgraph.errors import SetupError
from askgraph.graph.glossary import format_glossary, parse_glossary

PREFIX = "PREFIX : <http://x/> "
GLOSSARY = """
[[entry]]
word = "crew member"
means = ["http://x/crewMember"]
phrase = "crewed by"
inverse = "crewed"
person = true

[[entry]]
word = "girth"
means = ["http://x/girth"]
most = "widest"
least = "narrowest"
"""


def read(query: str) -> str:
    facts = SchemaFacts(wordings=parse_glossary(GLOSSARY, "words.toml").wordings)
    return verbalize_query(PREFIX + query, {}, facts=facts)


def test_a_wording_says_how_answers_speak_of_a_property() -> None:
    assert read("SELECT ?m { ?m a :Mission ; :crewMember :Ann }") == "Missions crewed by Ann."
    assert read("SELECT ?p { ?p a :Pilot . :Saturn :crewMember ?p }") == (
        "Pilots who crewed Saturn."
    )
    widest = "SELECT ?t { ?t a :Tree ; :girth ?g } ORDER BY DESC(?g) LIMIT 1"
    assert read(widest) == "The widest tree."


def test_a_wording_is_kept_in_the_file() -> None:
    glossary = parse_glossary(GLOSSARY, "words.toml")
    assert parse_glossary(format_glossary(glossary), "again.toml") == glossary


@pytest.mark.parametrize("line", ['phrase = "x"\nsame_as = "b"', 'means = ["u:a"]\nperson = "yes"'])
def test_a_wording_that_has_no_term_or_no_sense_is_refused(line: str) -> None:
    with pytest.raises(SetupError, match=r"words\.toml"):
        parse_glossary(f'[[entry]]\nword = "a"\n{line}\n', "words.toml")
