"""Which predicates tell in what a number is given."""

from dataclasses import replace

from askgraph.metadata import PredicateProfile
from askgraph.metadata.units import is_unit_like
from askgraph.rdf import vocabulary as v


def predicate(triples: int, objects: int, datatype: str, *, naming: str | None = None) -> bool:
    profile = PredicateProfile(
        "http://x/p", triples=triples, subjects=triples, objects=objects,
        datatypes=((datatype, triples),),
    )  # fmt: skip
    return is_unit_like(profile if naming is None else replace(profile, naming=naming))


def test_few_texts_that_come_again_and_again_may_be_units() -> None:
    assert predicate(1_000, 12, v.XSD_STRING)
    assert predicate(1_000, 12, v.RDF_LANG_STRING)


def test_many_texts_numbers_and_names_are_none() -> None:
    assert not predicate(1_000, 900, v.XSD_STRING)
    assert not predicate(1_000, 12, v.XSD_INTEGER)
    assert not predicate(1_000, 12, v.XSD_STRING, naming="name")
